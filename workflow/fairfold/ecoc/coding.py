"""Coding matrices, which define the classes that each binary learner separates.

A coding matrix has one row per class and one column per learner. A learner treats classes with +1 as positive and
classes with -1 as negative. Classes with 0 are not used by this learner.

References
----------
- MATLAB documentation, ``designecoc``: the designs, and the rules of its section "Random Coding Design Matrices".
- T. G. Dietterich and G. Bakiri, Solving multiclass learning problems via error-correcting output codes, Journal of
  Artificial Intelligence Research 2 (1995): the complete code (section 2.3.1).
- E. L. Allwein, R. E. Schapire and Y. Singer, Reducing multiclass to binary, Journal of Machine Learning Research 1
  (2000): random codes (section 6).
"""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from fairfold.core.seeds import seed_sequence
from fairfold.core.validation import check_whole_number
from fairfold.errors import ModelError, unknown_name

Design = Literal["onevsone", "onevsall", "binarycomplete", "ternarycomplete", "ordinal", "denserandom", "sparserandom"]
DESIGNS: tuple[Design, ...] = get_args(Design)
MAX_COLUMNS = 100_000
_CANDIDATES_AT_ONCE = 256  # Limits the memory of random designs.


def make_coding(
    design: str | ArrayLike, n_classes: int, *, random_state: int = 0, n_candidates: int = 10_000
) -> np.ndarray:
    """Create a coding matrix from a named design, or check a given matrix.

    Parameters
    ----------
    design : str or array-like of shape (n_classes, n_learners)
        Name in ``DESIGNS``, or a matrix with entries -1, 0 and 1.

        - ``"onevsone"``: one column for each pair of classes i < j, in lexicographic order, with +1 for i and -1 for j.
        - ``"onevsall"``: +1 on the diagonal, -1 elsewhere. For two classes, only the first column is kept, because the
          second is its opposite.
        - ``"ordinal"``: column j has -1 for classes 0 to j and +1 for the others.
        - ``"binarycomplete"``: all 2^(K-1) - 1 splits of the classes into two sides. The first class always has +1.
        - ``"ternarycomplete"``: all (3^K - 2^(K+1) + 1) / 2 splits of some of the classes. The first class in a split
          has +1.
        - ``"denserandom"``: ceil(10 log2 K) columns, drawn with equal probabilities of -1 and +1.
        - ``"sparserandom"``: ceil(15 log2 K) columns, drawn with probability 1/2 of 0 and 1/4 each of -1 and +1.
    n_classes : int
        Number of classes K, at least 2.
    random_state : int, default=0
        Seed of the random designs.
    n_candidates : int, default=10000
        Number of random matrices to draw. The matrix with the largest minimum distance between two rows is kept, the
        first one if there are ties.

    Returns
    -------
    ndarray of shape (n_classes, n_learners), dtype=int8
        Coding matrix.

    Raises
    ------
    ModelError
        If the design is unknown, if there are fewer than two classes, if a complete design has more than 100,000
        columns, if the given matrix is not valid, or if no random candidate is valid.

    Notes
    -----
    The distance of rows u and v is ``sum |u| |v| |u - v| / 2``, the number of learners that separate the two classes.
    Columns of random matrices are removed if they lack a sign, or if they are equal or opposite to an earlier column. A
    random matrix may therefore have fewer columns than drawn.

    Examples
    --------
    >>> from fairfold.ecoc import make_coding
    >>> make_coding("onevsone", 3)
    array([[ 1,  1,  0],
           [-1,  0,  1],
           [ 0, -1, -1]], dtype=int8)
    >>> make_coding("ordinal", 3)
    array([[-1, -1],
           [ 1, -1],
           [ 1,  1]], dtype=int8)
    """
    check_whole_number("n_classes", n_classes, 2)
    if not isinstance(design, str):
        coding = check_coding(design)
        if len(coding) != n_classes:
            raise ModelError(f"coding: found {len(coding)} rows for {n_classes} classes. Give one row per class.")
        return coding
    if design not in DESIGNS:
        raise ModelError(unknown_name("coding design", design, DESIGNS) + f" Designs: {', '.join(DESIGNS)}.")
    if design.endswith("random"):
        return _random(design, int(n_classes), random_state, n_candidates)
    builders = {
        "onevsone": _one_vs_one,
        "onevsall": _one_vs_all,
        "ordinal": _ordinal,
        "binarycomplete": _binary_complete,
        "ternarycomplete": _ternary_complete,
    }
    return builders[design](int(n_classes))


def check_coding(coding: ArrayLike) -> np.ndarray:
    """Check a coding matrix.

    Parameters
    ----------
    coding : array-like of shape (n_classes, n_learners)
        Coding matrix.

    Returns
    -------
    ndarray of shape (n_classes, n_learners), dtype=int8
        Coding matrix.

    Raises
    ------
    ModelError
        If the input is not a matrix of -1, 0 and 1 with at least two rows and one column. Also if it has a row of
        zeros, a column that lacks a sign, two equal rows, or two equal or opposite columns.

    Examples
    --------
    >>> from fairfold.ecoc import check_coding
    >>> check_coding([[1, 1], [-1, 1], [0, -1]])
    array([[ 1,  1],
           [-1,  1],
           [ 0, -1]], dtype=int8)
    """
    M = check_entries(coding)
    if len(M) < 2 or not M.shape[1]:
        raise ModelError(f"coding: found shape {M.shape}. Give at least 2 rows (classes) and 1 column.")
    if len(unused := np.flatnonzero(~M.any(axis=1))):
        raise ModelError(f"coding, row {unused[0]}: all entries are 0. Each class needs at least one learner.")
    if len(one_sided := np.flatnonzero((M.max(axis=0) < 1) | (M.min(axis=0) > -1))):
        raise ModelError(f"coding, column {one_sided[0]}: 1 or -1 is missing. Each column needs both.")
    if equal := _first_equal(M):
        raise ModelError(f"coding: rows {equal[0]} and {equal[1]} are equal. Give each class its own row.")
    first_signs = np.take_along_axis(M, (M != 0).argmax(axis=0)[None], axis=0)
    if equal := _first_equal((M * first_signs).T):
        raise ModelError(f"coding: columns {equal[0]} and {equal[1]} are equal or opposite. Keep one of the two.")
    return M


def check_entries(coding: ArrayLike) -> np.ndarray:
    """Check that a matrix contains only -1, 0 and 1.

    Parameters
    ----------
    coding : array-like of shape (n_classes, n_learners)
        Matrix to check.

    Returns
    -------
    ndarray of shape (n_classes, n_learners), dtype=int8
        The matrix.

    Raises
    ------
    ModelError
        If the input is not a matrix or contains other values.
    """
    try:
        values = np.asarray(coding)
        numeric = values.dtype.kind in "biuf"
    except ValueError:  # Rows differ in length.
        numeric = False
    if not numeric or values.ndim != 2:
        raise ModelError("coding: expected a matrix of numbers. Give one row of -1, 0 or 1 per class.")
    if len(wrong := np.argwhere(~np.isin(values, (-1, 0, 1)))):
        row, column = wrong[0]
        raise ModelError(f"coding, row {row}, column {column}: found {values[row, column]}. Use -1, 0 or 1.")
    return values.astype(np.int8)


def _first_equal(rows: np.ndarray) -> tuple[int, int] | None:
    """Find the first row that repeats an earlier one, as (earlier, later)."""
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    earliest = first[group.ravel()]
    later = np.flatnonzero(earliest != np.arange(len(rows)))
    return (int(earliest[later[0]]), int(later[0])) if len(later) else None


def _one_vs_one(n_classes: int) -> np.ndarray:
    pairs = np.array(list(combinations(range(n_classes), 2)))
    M = np.zeros((n_classes, len(pairs)), np.int8)
    M[pairs[:, 0], np.arange(len(pairs))] = 1
    M[pairs[:, 1], np.arange(len(pairs))] = -1
    return M


def _one_vs_all(n_classes: int) -> np.ndarray:
    M = 2 * np.eye(n_classes, dtype=np.int8) - np.int8(1)
    return M[:, :1] if n_classes == 2 else M


def _ordinal(n_classes: int) -> np.ndarray:
    return np.where(np.arange(n_classes)[:, None] <= np.arange(n_classes - 1), -1, 1).astype(np.int8)


def _binary_complete(n_classes: int) -> np.ndarray:
    _check_size("binarycomplete", n_classes, 2 ** (n_classes - 1) - 1)
    columns = [(1, *rest) for rest in product((-1, 1), repeat=n_classes - 1)]
    return np.array(columns[:-1], np.int8).T  # The last column has no -1.


def _ternary_complete(n_classes: int) -> np.ndarray:
    _check_size("ternarycomplete", n_classes, (3**n_classes - 2 ** (n_classes + 1) + 1) // 2)
    columns = np.array(list(product((1, 0, -1), repeat=n_classes)), np.int8).T
    first_signs = np.take_along_axis(columns, (columns != 0).argmax(axis=0)[None], axis=0)[0]
    return columns[:, (first_signs == 1) & (columns.min(axis=0) == -1)]


def _check_size(design: str, n_classes: int, n_columns: int) -> None:
    if n_columns > MAX_COLUMNS:
        found = f"{design} has {n_columns:,} columns for {n_classes} classes, more than {MAX_COLUMNS:,}"
        raise ModelError(f"coding: {found}. Use a random design.")


def _random(design: str, n_classes: int, random_state: int, n_candidates: int) -> np.ndarray:
    check_whole_number("n_candidates", n_candidates, 1)
    # Both designs use the same lookup: values 0 and 1 are the signs, values 2 and 3 are entries of 0.
    n_columns, n_values = (10, 2) if design == "denserandom" else (15, 4)
    n_columns = math.ceil(n_columns * math.log2(n_classes))
    entries = np.array([-1, 1, 0, 0], np.float32)
    rng = np.random.default_rng(seed_sequence(random_state, design, n_classes))
    best, best_distance = None, -1.0
    for start in range(0, n_candidates, _CANDIDATES_AT_ONCE):
        shape = (min(_CANDIDATES_AT_ONCE, n_candidates - start), n_classes, n_columns)
        candidates = _without_useless_columns(entries[rng.integers(n_values, size=shape, dtype=np.uint8)])
        distances = _smallest_row_distances(candidates)
        if distances.max() > best_distance:
            best_distance, best = distances.max(), candidates[distances.argmax()]
    if best is None:
        found = f"none of {n_candidates} {design} matrices separates all {n_classes} classes"
        raise ModelError(f"coding: {found}. Increase n_candidates.")
    return best[:, best.any(axis=0)].astype(np.int8)


def _without_useless_columns(candidates: np.ndarray) -> np.ndarray:
    """Set columns of candidates (n, K, L) to zero that lack a sign, or are equal or opposite to an earlier column.

    Columns u and v are equal or opposite if and only if |u'v| is the number of nonzero entries of both.
    """
    both_signs = (candidates.max(axis=1) == 1) & (candidates.min(axis=1) == -1)
    columns = candidates.transpose(0, 2, 1)
    overlap = np.abs(columns @ candidates)
    sizes = np.abs(candidates).sum(axis=1)
    same = (overlap == sizes[:, :, None]) & (overlap == sizes[:, None, :])
    repeated = np.triu(same, k=1).any(axis=1)  # All equal columns except the first.
    return candidates * (both_signs & ~repeated)[:, None, :]


def _smallest_row_distances(candidates: np.ndarray) -> np.ndarray:
    """Compute the smallest distance between two rows of each candidate, -1 if a row is empty or two rows are equal."""
    n_classes = candidates.shape[1]
    first, second = np.triu_indices(n_classes, k=1)
    agreement = (candidates @ candidates.transpose(0, 2, 1))[:, first, second]
    used = np.abs(candidates)
    both = (used @ used.transpose(0, 2, 1))[:, first, second]
    distances = (both - agreement) / 2
    sizes = used.sum(axis=2)
    equal = (agreement == sizes[:, first]) & (agreement == sizes[:, second])
    invalid = equal.any(axis=1) | (sizes == 0).any(axis=1)
    return np.where(invalid, -1.0, distances.min(axis=1))
