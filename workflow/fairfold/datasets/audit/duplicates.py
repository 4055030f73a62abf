"""Find copies of rows, near copies, and neighbors that resemble each other more than other rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import sparse, stats

from fairfold.core.arrays import Matrix, canonical
from fairfold.datasets.audit.alignment import standardized
from fairfold.datasets.audit.spec import Audited, Check, Finding

_MOST_ROWS = 10_000
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
    if not data.X.shape[1] or _must_repeat(data.X):
        return
    features, labels = (pd.Series(list(_digests(each))) for each in (data.X, sparse.csr_array(table.labels.T)))
    groups = pd.Series(np.zeros(n) if data.groups is None else data.groups)
    repeated = features.duplicated() & ((groups.groupby(features).transform("nunique") > 1) | (data.groups is None))
    other = labels.groupby(features).transform("first") != labels
    if n_repeated := int(repeated.sum()):
        also = f", {other.sum()} of them with other labels" if other.sum() else ""
        first = data.sample_ids[repeated] if data.sample_ids is not None else np.flatnonzero(repeated) + 1
        sentence = (
            f"{n_repeated} {'row has' if n_repeated == 1 else 'rows have'} the features of an earlier row{also}, so a "
            "sample may be in training and in test at once; remove copies, or give the copies of a sample one group "
            "(groups)"
        )
        parts = _identical_parts(features)
        evidence = f"{n_repeated / n:.1%} of rows, the first is row {first[0]}{parts}"
        yield Finding("error" if parts else "warning", "rows", sentence, evidence, "duplicated rows")
    elif n >= _FEWEST_ROWS and data.groups is None:
        yield from _near_copies(table)


def _identical_parts(features: pd.Series) -> str:
    """Return a text if the last rows repeat the first rows, as when train and test files are the same."""
    half = len(features) // 2
    is_same = half >= _FEWEST_ROWS and set(features[-half:]) == set(features[:half]) and features.nunique() > half // 2
    return ", and both halves of the table are identical" if is_same else ""


def _must_repeat(X: Matrix) -> bool:
    """Return whether the features have fewer combinations of values than the number of rows."""
    n_combinations = 1
    for j in range(X.shape[1]):
        n_combinations *= len(np.unique(X[:, [j]].toarray() if sparse.issparse(X) else X[:, j]))
        if n_combinations >= X.shape[0]:
            return False
    return True


def _digests(matrix: Matrix) -> Iterator[bytes]:
    """Yield a digest of each row. Rows of equal numbers have equal digests."""
    rows = canonical(matrix)
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        yield digest(rows.indices[start:end], rows.data[start:end])


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
    """Find rows that are much closer to one row than to all others.

    The ratio of the distances of the second and the first neighbor has a Pareto distribution, whose exponent is the
    intrinsic dimension. The ratios of later neighbors give that dimension.
    """
    from sklearn.neighbors import NearestNeighbors

    n, rng = min(table.n_samples, _MOST_ROWS), table.rng("duplicates")
    Z = standardized(table.data.X[:n], rng)
    if Z.shape[1] < 2:
        return
    distances, near = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(Z).kneighbors()
    ratios = distances[:, 1:] / np.maximum(distances[:, :-1], 1e-12)
    later = np.log(ratios[:, 2:3]) * 3
    dimension = 1 / max(later.mean(), 1e-3)
    close = np.flatnonzero((ratios[:, 0] > _RATIO) & (near[near[:, 0], 0] == np.arange(n)))
    chance = stats.binom.sf(len(close) - 1, n, min(_RATIO**-dimension, 1.0))
    if len(close) > max(4, n // 100) and chance < _LEVEL:
        Y = table.labels[:, close].toarray(), table.labels[:, near[close, 0]].toarray()
        same = np.mean((Y[0] == Y[1]).all(axis=0))
        message = (
            f"{len(close)} rows are near copies of another row, so a sample may be in training and in test at once; "
            "remove copies, or give the copies of a sample one group (groups)"
        )
        evidence = f"{len(close) / n:.1%} of rows, {same:.0%} with the same labels, rows {close[0] + 1} and "
        evidence += f"{near[close[0], 0] + 1}" + (f", first {n:,} rows" if n < table.n_samples else "")
        yield Finding("warning", "rows", message, evidence, "near duplicates")
    else:
        yield from _near_rows(near[:, 0], table)


def _near_rows(near: np.ndarray, table: Audited) -> Iterator[Finding]:
    """Find tables in which the nearest neighbor of a row is often next to it, although labels are not sorted."""
    n, labels = len(near), table.alignment(len(near)).labels
    is_near = np.abs(near - np.arange(n)) <= _WINDOW
    same = np.abs(labels[1:] - labels[:-1]).sum(axis=1) < 1e-9
    expected = 2 * _WINDOW / n + same.mean() * (2 * _WINDOW * np.abs(np.diff(same)).sum() / n)
    share = is_near.mean()
    if share > 0.25 and stats.binom.sf(is_near.sum() - 1, n, min(2 * _WINDOW / n, 1)) < _LEVEL and share > expected:
        message = "neighboring rows resemble each other, so folds of single rows are optimistic; use groups or dates"
        evidence = f"for {share:.0%} of rows, the nearest row is at most {_WINDOW} rows away; by chance {6 / n:.1%}"
        yield Finding("warning", "rows", message, evidence, "order dependence")


SPECS = (Check("duplicates", find),)
