"""Find copies of rows, near copies, and neighbors that resemble each other more than other rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical, with_sparsity
from fairfold.datasets.audit.alignment import standardized
from fairfold.datasets.audit.spec import Audited, Check, Finding

_MOST_ROWS, _BLOCK = 10_000, 100
_FEWEST_ROWS = 30
_RATIO = 4.0  # ratio of the distances of the second and the first neighbor of a near copy
_LEVEL = 1e-6
_WINDOW = 3  # rows


def find(table: Audited) -> Iterator[Finding]:
    """Find rows with the features of an earlier row, by a digest of each row, and near copies.

    Copies within a group are ignored, because groups stay in one fold.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        An error if one half of the table repeats the other half, and otherwise a warning.
    """
    data, n = table.data, table.n_samples
    if not data.X.shape[1] or must_repeat(data.X):
        return
    firsts = exact_copies(table)
    repeated = np.flatnonzero(firsts >= 0)
    if len(repeated):
        Y = sparse.csr_array(table.labels.T)
        n_other = int((abs(Y[repeated] - Y[firsts[repeated]]).sum(axis=1) > 0).sum())
        of_group = "" if data.groups is None else " of another group"
        also = f", {n_other} of them with other labels" if n_other else ""
        also = " with other labels" if len(repeated) == n_other == 1 else also
        first = repeated[0] + 1 if data.sample_ids is None else data.sample_ids[repeated[0]]
        sentence = (
            f"{len(repeated)} {'row has' if len(repeated) == 1 else 'rows have'} the features of an earlier row"
            f"{of_group}{also}, so a sample may be in training and in test at once; remove copies, or give the copies "
            "of a sample one group (groups)"
        )
        parts = _identical_parts(firsts)
        share = _share_of_tests(firsts, table)
        effect = f"; {share:.1%} of test rows have a copy in training" if data.groups is None else ""
        evidence = f"{len(repeated) / n:.1%} of rows, the first is row {first}{effect}{parts}"
        yield Finding("error" if parts else "warning", "rows", sentence, evidence, "duplicated rows")
    elif n >= _FEWEST_ROWS and data.groups is None:
        yield from _near_copies(table)


def exact_copies(table: Audited) -> np.ndarray:
    """Return the first row with the same features. Within a group, only the first of equal rows counts.

    Rows without any value are no copies.

    Parameters
    ----------
    table : Audited
        The table.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        Index of the first such row for each row that repeats it, and otherwise -1.
    """
    groups = table.data.groups
    features = pd.Series(digests(table.data.X))
    first = pd.Series(np.arange(table.n_samples)).groupby(features).transform("first").to_numpy()
    is_copy = features.duplicated().to_numpy()
    if not sparse.issparse(table.data.X):
        is_copy = is_copy & ~np.isnan(table.data.X).all(axis=1)
    if groups is not None:
        is_copy = is_copy & ~pd.DataFrame({"features": features, "group": groups}).duplicated().to_numpy()
    return np.where(is_copy, first, -1)


def _share_of_tests(firsts: np.ndarray, table: Audited) -> float:
    """Return the share of test rows with a copy in the training part, in the folds of the data or in random ones."""
    fold_of, sets = table.data.fold_of, np.where(firsts >= 0, firsts, np.arange(len(firsts)))
    if fold_of is None:
        sizes = np.bincount(sets)
        return float((sizes * (1 - table.n_splits ** (1.0 - sizes))).sum() / len(firsts))
    is_apart = pd.Series(fold_of).groupby(sets).transform("nunique") > 1
    return float(is_apart[fold_of >= 0].mean())


def _identical_parts(firsts: np.ndarray) -> str:
    """Return a text if the last rows repeat the first rows, as when train and test files are the same."""
    half = len(firsts) // 2
    last = firsts[-half:] if half else firsts
    is_same = half >= _FEWEST_ROWS and bool(((last >= 0) & (last < half)).all()) and len(np.unique(last)) > half // 2
    return ", and both halves of the table are identical" if is_same else ""


def must_repeat(X: Matrix) -> bool:
    """Return whether the features have fewer combinations of values than the number of rows.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.

    Returns
    -------
    bool
        Whether rows must repeat.
    """
    n_combinations = 1
    for j in range(X.shape[1]):
        n_combinations *= len(np.unique(with_sparsity(X[:, [j]], False)))
        if n_combinations >= X.shape[0]:
            return False
    return True


def digests(matrix: Matrix) -> list[bytes]:
    """Return a digest of each row. Rows of equal numbers have equal digests.

    Parameters
    ----------
    matrix : {ndarray, sparse matrix} of shape (n_samples, n_columns)
        The rows.

    Returns
    -------
    list of bytes
        Digests.
    """
    rows = canonical(matrix)
    ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    return [digest(rows.indices[start:end], rows.data[start:end]) for start, end in ends]


def digest(*arrays: np.ndarray) -> bytes:
    """Return a digest of the bytes of arrays.

    Parameters
    ----------
    *arrays : ndarray
        The arrays.

    Returns
    -------
    bytes
        Digest of 16 bytes.
    """
    return hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=16).digest()


def _near_copies(table: Audited) -> Iterator[Finding]:
    rows, close, near = near_copies_of(table)
    if len(close):
        other = near[np.isin(rows, close)]
        Y = table.labels[:, close].toarray(), table.labels[:, other].toarray()
        same = np.mean((Y[0] == Y[1]).all(axis=0))
        drawn = f" of {len(rows):,} drawn" if len(rows) < table.n_samples else ""
        message = (
            f"{len(close)}{drawn} rows are near copies of another row, so a sample may be in training and in test at "
            "once; remove copies, or give the copies of a sample one group (groups)"
        )
        evidence = f"{len(close) / len(rows):.1%} of rows, {same:.0%} with the same labels, rows {close[0] + 1} and "
        evidence += f"{other[0] + 1}"
        yield Finding("warning", "rows", message, evidence, "near duplicates")
    elif len(near):
        yield from _near_rows(rows, near, table)


def drawn_rows(n_rows: int, rng: np.random.Generator, most: int = _MOST_ROWS) -> np.ndarray:
    """Draw blocks of 100 neighboring rows, so that neighbors stay together, or return all rows.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    rng : Generator
        Random numbers.
    most : int, default=10_000
        Maximum number of rows.

    Returns
    -------
    ndarray of int
        Rows in order.

    Examples
    --------
    >>> rows = drawn_rows(1000, np.random.default_rng(0), most=200)
    >>> len(rows), len(np.unique(rows // 100))
    (200, 2)
    """
    if n_rows <= most:
        return np.arange(n_rows)
    blocks = np.sort(rng.choice(n_rows // _BLOCK, most // _BLOCK, replace=False))
    return (blocks[:, np.newaxis] * _BLOCK + np.arange(_BLOCK)).ravel()


def near_copies_of(table: Audited) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find near copies among up to 10,000 drawn rows of a table.

    Parameters
    ----------
    table : Audited
        The table.

    Returns
    -------
    rows : ndarray of int
        The drawn rows.
    close : ndarray of int
        Rows that are near copies.
    near : ndarray of int
        Nearest row of each drawn row. Empty if fewer than two features vary.
    """
    rng = table.rng("duplicates")
    rows = drawn_rows(table.n_samples, rng)
    close, near = near_copies(table.data.X[rows], rng)
    return rows, rows[close], rows[near]


def near_copies(X: Matrix, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Find rows that are much closer to one row than to all others.

    The ratio of the distances of the second and the first neighbor has a Pareto distribution, whose exponent is the
    intrinsic dimension. The ratios of later neighbors give that dimension.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.
    rng : Generator
        Random numbers.

    Returns
    -------
    close : ndarray of int
        Rows that are near copies. Empty if chance may explain them.
    near : ndarray of int
        Nearest neighbor of each row. Empty if fewer than two features vary.
    """
    from scipy import stats  # slow to import, as scikit-learn is
    from sklearn.neighbors import NearestNeighbors

    n, Z, none = X.shape[0], standardized(X, rng), np.zeros(0, dtype=np.int64)
    if Z.shape[1] < 2:
        return none, none
    distances, near = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(Z).kneighbors()
    ratios = distances[:, 1:] / np.maximum(distances[:, :-1], 1e-12)
    later = np.log(ratios[:, 2:3]) * 3
    dimension = 1 / max(later.mean(), 1e-3)
    close = np.flatnonzero((ratios[:, 0] > _RATIO) & (near[near[:, 0], 0] == np.arange(n)))
    chance = stats.binom.sf(len(close) - 1, n, min(_RATIO**-dimension, 1.0))
    return close if len(close) > max(4, n // 100) and chance < _LEVEL else none, near[:, 0]


def _near_rows(rows: np.ndarray, near: np.ndarray, table: Audited) -> Iterator[Finding]:
    """Find tables in which the nearest neighbor of a row is often next to it, although labels are not sorted."""
    from scipy import stats

    n, labels = len(near), table.labels[:, rows]
    is_near = np.abs(near - rows) <= _WINDOW
    same = np.asarray(abs(labels[:, 1:] - labels[:, :-1]).sum(axis=0)).ravel() == 0
    expected = 2 * _WINDOW / n + same.mean() * (2 * _WINDOW * np.abs(np.diff(same)).sum() / n)
    share = is_near.mean()
    if share > 0.25 and stats.binom.sf(is_near.sum() - 1, n, min(2 * _WINDOW / n, 1)) < _LEVEL and share > expected:
        message = "neighboring rows resemble each other, so folds of single rows are optimistic; use groups or dates"
        evidence = f"for {share:.0%} of rows, the nearest row is at most {_WINDOW} rows away; by chance {6 / n:.1%}"
        yield Finding("warning", "rows", message, evidence, "order dependence")


SPECS = (Check("duplicates", find),)
