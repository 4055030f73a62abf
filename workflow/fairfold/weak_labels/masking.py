"""Hide labels on purpose to study the effect of missing labels."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.folds import parts_of
from fairfold.core.hierarchy import Hierarchy, choose_free
from fairfold.core.seeds import seed_sequence
from fairfold.core.validation import Negatives, check_binary, check_negatives, with_nan
from fairfold.errors import DataError
from fairfold.weak_labels.mechanisms import Mechanism, OddsOfCells, odds_of


def n_hidden(n_positives: np.ndarray, rate: float | np.ndarray) -> np.ndarray:
    """Compute the number of positives to hide per label, ``floor(rate * n_positives)``.

    Parameters
    ----------
    n_positives : array-like of int of shape (n_labels,)
        Number of positives of each label.
    rate : float or ndarray of shape (n_labels,)
        Share of the positives to hide.

    Returns
    -------
    ndarray of int64 of shape (n_labels,)
        Number of positives to hide.

    Notes
    -----
    The product is increased by a relative 1e-12, because 0.29 * 100 is slightly below 29 in floating point.

    Examples
    --------
    >>> n_hidden([10, 100], 0.29)
    array([ 2, 29])
    """
    return np.floor(np.asarray(n_positives) * rate * (1 + 1e-12)).astype(np.int64)


def mask_positives(
    Y: Matrix,
    rate: float,
    *,
    mechanism: Mechanism = "random",
    reference: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    hierarchy: Hierarchy | None = None,
    wrong_positives: float = 0.0,
    random_state: int | np.random.SeedSequence | np.random.Generator | None = None,
) -> Matrix:
    """Turn a share of each label's positives into negatives, at random or by another mechanism.

    Exactly ``floor(rate * n_j)`` positives are hidden for label j with n_j positives. A label therefore never loses all
    its positives (Ilidio et al. 2024, Section 4.1).

    Parameters
    ----------
    Y : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1. NaN is an unmeasured label, which stays NaN.
    rate : float
        Share of the positives to hide, at least 0 and below 1. With ``mechanism="rarity"`` this is the share over all
        labels together.
    mechanism : {"random", "difficulty", "rarity", "sample", "group"}, default="random"
        Mechanism that selects the hidden positives. See :func:`~fairfold.weak_labels.mechanisms.odds_of`.
    reference : {array-like, sparse matrix} of shape (n_samples, n_labels) or None, default=None
        Predicted probabilities that define difficult labels. Required by ``mechanism="difficulty"``.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each sample. Required by ``mechanism="group"``.
    hierarchy : Hierarchy or None, default=None
        Hierarchy of the labels. The masked labels still respect its true-path rule. See Notes.
    wrong_positives : float, default=0.0
        Share of each label's observed positives that are wrong after masking, at least 0 and below 1. Zeros of ``Y``
        are drawn at random and become 1, and so do all labels above them in the hierarchy. The number is rounded down.
    random_state : int, SeedSequence, Generator or None, default=None
        Source of random numbers.

    Returns
    -------
    {ndarray, csr_array} of shape (n_samples, n_labels)
        Masked copy of ``Y``, sparse if ``Y`` is sparse. The dtype is that of ``Y``, or float32 if ``Y`` contains
        unmeasured labels.

    Raises
    ------
    DataError
        If a rate is outside [0, 1), ``Y`` is not a matrix of 0/1, the mechanism is unknown or its input is missing, or
        ``Y`` does not match the hierarchy.

    Notes
    -----
    In a hierarchy, a label can be hidden only if all labels below it are hidden. The most specific labels come first.
    For each label, ``floor(rate * n_j)`` positives are hidden among the samples that keep no label below it, or all of
    these if they are fewer. The most specific labels lose exactly this share, and more general ones lose at most this
    share.

    Time and memory grow with the number of ones. With wrong positives they grow with the number of cells, and a sparse
    ``Y`` can then have at most ``fairfold.core.arrays.DENSE_CELLS`` cells.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.weak_labels import mask_positives
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [1, 0], [1, 1], [0, 0]])
    >>> mask_positives(Y, 0.5, random_state=0).sum(axis=0)
    array([2, 2])
    """
    random = np.random.default_rng(random_state)
    by: dict[str, Any] = {"mechanism": mechanism, "reference": reference, "groups": groups, "hierarchy": hierarchy}
    masked = mask_labels(Y, rate, **by, random_state=random)
    return _with_wrong_positives(Y, masked, wrong_positives, hierarchy, random)


def mask_labels(
    Y: Matrix,
    rate: float,
    *,
    negatives: Negatives = "unlabeled",
    mechanism: Mechanism = "random",
    reference: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    hierarchy: Hierarchy | None = None,
    random_state: int | np.random.SeedSequence | np.random.Generator | None = None,
) -> Matrix:
    """Hide a share of each label, as positives or as unmeasured labels.

    With ``negatives="unlabeled"``, hidden positives become 0, as in :func:`mask_positives`. With
    ``negatives="confirmed"``, the same share of the positives and of the zeros of each label becomes unmeasured (NaN).
    The hidden positives are the same in both cases.

    Parameters
    ----------
    Y : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1. NaN is an unmeasured label, which stays NaN.
    rate : float
        Share of each label to hide, at least 0 and below 1.
    negatives : {"unlabeled", "confirmed"}, default="unlabeled"
        Meaning of a 0: not observed to be positive, or known to be negative.
    mechanism : {"random", "difficulty", "rarity", "sample", "group"}, default="random"
        Mechanism that selects the hidden labels. See :func:`~fairfold.weak_labels.mechanisms.odds_of`.
    reference : {array-like, sparse matrix} of shape (n_samples, n_labels) or None, default=None
        Predicted probabilities that define difficult labels. Required by ``mechanism="difficulty"``.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each sample. Required by ``mechanism="group"``.
    hierarchy : Hierarchy or None, default=None
        Hierarchy of the labels. A positive is hidden only if all labels below it are hidden. A 0 is hidden only if all
        labels above it are hidden, because it follows from any 0 above.
    random_state : int, SeedSequence, Generator or None, default=None
        Source of random numbers.

    Returns
    -------
    {ndarray, csr_array} of shape (n_samples, n_labels)
        Masked copy of ``Y``, sparse if ``Y`` is sparse. With confirmed negatives the dtype is float32.

    Raises
    ------
    DataError
        If the rate is outside [0, 1), ``Y`` is not a matrix of 0/1, an option is unknown or its input is missing, or
        ``Y`` does not match the hierarchy.

    See Also
    --------
    mask_positives : Hide positives only, and optionally add wrong ones.

    Notes
    -----
    Memory grows with the number of ones, or with the number of cells if negatives are confirmed. In the second case a
    sparse ``Y`` can have at most ``fairfold.core.arrays.DENSE_CELLS`` cells.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.weak_labels import mask_labels
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [1, 0], [1, 1], [0, 0]])
    >>> masked = mask_labels(Y, 0.5, negatives="confirmed", random_state=0)
    >>> np.isnan(masked).sum(axis=0)
    array([3, 2])
    """
    random = np.random.default_rng(random_state)
    by: dict[str, Any] = {"mechanism": mechanism, "reference": reference, "groups": groups, "hierarchy": hierarchy}
    return _without(Y, *_choose_hidden(Y, rate, random, negatives, **by), negatives)


def hide_in_training_parts(
    Y: Matrix, fold_of: np.ndarray, rate: float, *, seed: int, names: tuple, **rules: Any
) -> np.ndarray:
    """Choose the labels to hide in the training part of each fold. Labels of the test fold stay visible.

    Parameters
    ----------
    Y : {ndarray, csr_array} of shape (n_samples, n_labels)
        Labels of 0/1.
    fold_of : ndarray of int of shape (n_samples,) or (n_repeats, n_samples)
        Test fold of each sample, -1 for samples that are never tested. Folds of several splits are numbered one split
        after the other.
    rate : float
        Share of each label's positives in the training part to hide.
    seed : int
        Seed of the study.
    names : tuple
        Names of the unit of work. The random stream of a fold depends on the seed, these names and the fold number.
    **rules : object
        Options ``negatives`` and ``hierarchy`` of :func:`mask_labels`.

    Returns
    -------
    ndarray of int64 of shape (n_hidden, 3)
        Fold, row and label of each hidden label, sorted.

    Raises
    ------
    DataError
        If the rate, the labels or the hierarchy are invalid. See :func:`mask_positives`.
    SplitError
        If the folds are invalid. See :func:`~fairfold.core.folds.parts_of`.

    See Also
    --------
    observed_labels : Apply the result to the labels.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [1, 0], [1, 1], [0, 0]])
    >>> hidden = hide_in_training_parts(Y, np.array([0, 0, 0, 1, 1, 1]), 0.5, seed=1, names=("flags",))
    >>> hidden
    array([[0, 4, 0],
           [1, 0, 0],
           [1, 1, 1]])
    >>> observed_labels(Y, hidden, fold=0)[4]
    array([0, 1])
    """
    return _hide_in([train for train, _ in parts_of(fold_of, Y.shape[0])], Y, rate, seed, names, **rules)


def hide_in_test_parts(
    Y: Matrix, fold_of: np.ndarray, rate: float, *, seed: int, names: tuple, **rules: Any
) -> np.ndarray:
    """Choose the labels to hide in each test fold, for scores on test samples with missing labels.

    Parameters
    ----------
    Y : {ndarray, csr_array} of shape (n_samples, n_labels)
        Labels of 0/1.
    fold_of : ndarray of int of shape (n_samples,) or (n_repeats, n_samples)
        Test fold of each sample. See :func:`hide_in_training_parts`.
    rate : float
        Share of each label's positives in the test fold to hide.
    seed : int
        Seed of the study.
    names : tuple
        Names of the unit of work, which determine the random streams.
    **rules : object
        Options ``negatives`` and ``hierarchy`` of :func:`mask_labels`.

    Returns
    -------
    ndarray of int64 of shape (n_hidden, 3)
        Fold, row and label of each hidden label, sorted.

    Raises
    ------
    DataError
        If the rate, the labels or the hierarchy are invalid. See :func:`mask_positives`.
    SplitError
        If the folds are invalid. See :func:`~fairfold.core.folds.parts_of`.

    See Also
    --------
    hide_in_training_parts : Hide labels from the training parts.
    """
    tests = [test for _, test in parts_of(fold_of, Y.shape[0])]
    return _hide_in(tests, Y, rate, seed, (*names, "test part"), **rules)


def _hide_in(parts: list[np.ndarray], Y: Matrix, rate: float, seed: int, names: tuple, **by: Any) -> np.ndarray:
    hidden = []
    for fold, part in enumerate(parts):
        rows, labels = _choose_hidden(Y[part], rate, np.random.default_rng(seed_sequence(seed, *names, fold)), **by)
        triples = np.column_stack([np.full(rows.size, fold), part[rows], labels])
        hidden.append(triples[np.lexsort((labels, rows))])
    return np.concatenate(hidden)


def observed_labels(Y: Matrix, hidden: np.ndarray, fold: int | None, negatives: Negatives = "unlabeled") -> Matrix:
    """Hide the chosen labels of a fold in a label matrix.

    Parameters
    ----------
    Y : {ndarray, csr_array} of shape (n_samples, n_labels)
        Labels of 0/1.
    hidden : ndarray of int64 of shape (n_hidden, 3)
        Result of :func:`hide_in_training_parts` or :func:`hide_in_test_parts`.
    fold : int or None
        Test fold that selects the hidden labels. None hides the labels of all folds.
    negatives : {"unlabeled", "confirmed"}, default="unlabeled"
        Meaning of a 0. Hidden labels become NaN if negatives are confirmed, otherwise 0.

    Returns
    -------
    {ndarray, csr_array} of shape (n_samples, n_labels)
        Observed labels.
    """
    _, rows, labels = (hidden if fold is None else hidden[hidden[:, 0] == fold]).T
    return _without(Y, rows, labels, negatives)


def _choose_hidden(
    Y: Matrix,
    rate: float,
    random: np.random.Generator,
    negatives: Negatives = "unlabeled",
    *,
    mechanism: Mechanism = "random",
    hierarchy: Hierarchy | None = None,
    **by: ArrayLike | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and labels of the cells to hide."""
    check_negatives(negatives, DataError)
    _check_share("missing rate", rate)
    checked = check_binary(Y, "Y", DataError, unmeasured=True)
    if checked.ndim != 2:
        raise DataError(f"Y: found {checked.ndim} dimension(s). Give a matrix of shape (n_samples, n_labels).")
    n_samples, n_labels = checked.shape
    if hierarchy is not None:
        check_true_paths(checked, hierarchy)
    positives = _positives(checked)
    n_positives = np.bincount(positives[1], minlength=n_labels)
    odds = odds_of(mechanism, rate, n_positives, n_samples, random, **by)
    upwards = None if hierarchy is None else _Chain(hierarchy, below=True)
    hidden = _some_of(positives, n_hidden(n_positives, odds.rates), odds.of_positives, random, upwards)
    if negatives == "unlabeled":
        return hidden
    zeros = np.nonzero(to_dense(checked, "Y", DataError) == 0)
    n_zeros = np.bincount(zeros[1], minlength=n_labels)
    downwards = None if hierarchy is None else _Chain(hierarchy, below=False)
    of_zeros = _some_of(zeros, n_hidden(n_zeros, odds.rates), odds.of_zeros, random, downwards)
    return np.concatenate((hidden[0], of_zeros[0])), np.concatenate((hidden[1], of_zeros[1]))


def _check_share(name: str, rate: float) -> None:
    if not isinstance(rate, Real) or not 0 <= rate < 1:
        raise DataError(f"{name}: found {rate!r}. Give a number of at least 0 and below 1, for example 0.3.")


def _positives(Y: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and labels of the positives."""
    cells = sparse.coo_array(Y == 1)
    cells.eliminate_zeros()
    return cells.coords


def check_true_paths(Y: Matrix, hierarchy: Hierarchy) -> None:
    """Check that labels match a hierarchy and respect its true-path rule.

    Parameters
    ----------
    Y : {ndarray, csr_array} of shape (n_samples, n_labels)
        Labels of 0/1.
    hierarchy : Hierarchy
        Hierarchy of the labels.

    Raises
    ------
    DataError
        If the number of labels differs, or a sample has a label but not all labels above it.
    """
    if Y.shape[1] != hierarchy.n_labels:
        raise DataError(f"hierarchy: found {hierarchy.n_labels} labels, but Y has {Y.shape[1]}. Use the same labels.")
    if (found := hierarchy.first_violation(Y)) is not None:
        cause = f"label {found[1]} is positive, but not label {found[2]} above it in the hierarchy"
        raise DataError(f"Y, row {found[0]}: {cause}. Apply Hierarchy.with_ancestors to the labels.")


class _Chain(NamedTuple):
    """Order of hiding in a hierarchy: a positive depends on the labels below it, a zero on the labels above it."""

    hierarchy: Hierarchy
    below: bool

    def choose(self, rows: np.ndarray, n_cells: np.ndarray, n_of_label: np.ndarray) -> np.ndarray:
        """Return whether each cell is hidden. Cells are sorted by label and by preference."""
        starts, order = np.concatenate([[0], np.cumsum(n_cells)]), self.hierarchy.order
        n_samples, neighbors = rows.max(initial=-1) + 1, self.hierarchy.neighbors(below=self.below)
        return choose_free(rows, starts, n_of_label, n_samples, order if self.below else order[::-1], *neighbors)


def _some_of(
    cells: tuple[np.ndarray, ...],
    n_of_label: np.ndarray,
    odds: OddsOfCells | None,
    random: np.random.Generator,
    chain: _Chain | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the given number of cells for each label; a hierarchy can reduce the number."""
    rows, labels = cells
    # Each cell gets a random key, and the cells with the smallest keys of a label are hidden. Keys are drawn in
    # (label, row) order, so dense, CSR and unsorted input give the same result.
    order = np.lexsort((rows, labels))
    rows, labels = rows[order], labels[order]
    keys = random.random(rows.size)
    if odds is not None:  # Exponential waiting times. Equal odds keep the order of the keys.
        keys = -np.log1p(-keys) / odds(rows, labels)
    by_key = np.lexsort((keys, labels))
    n_cells = np.bincount(labels, minlength=len(n_of_label))
    if chain is not None:
        hidden = by_key[chain.choose(rows[by_key], n_cells, n_of_label)]
        return rows[hidden], labels[hidden]
    rank_in_label = np.arange(rows.size) - np.repeat(np.cumsum(n_cells) - n_cells, n_cells)
    hidden = by_key[rank_in_label < np.repeat(n_of_label, n_cells)]
    return rows[hidden], labels[hidden]


def _with_wrong_positives(
    Y: Matrix, masked: Matrix, share: float, hierarchy: Hierarchy | None, random: np.random.Generator
) -> Matrix:
    """Turn zeros of Y into ones until they are the given share of each label's positives, or no zeros remain."""
    _check_share("share of wrong positives", share)
    if share == 0:
        return masked
    before, after = (check_binary(each, "Y", DataError, unmeasured=True) for each in (Y, masked))
    n_right = np.bincount(_positives(after)[1], minlength=before.shape[1])
    zeros = np.nonzero(to_dense(before, "Y", DataError) == 0)
    rows, labels = _some_of(zeros, n_hidden(n_right, share / (1 - share)), None, random)
    if hierarchy is not None:
        rows, labels = _implied(rows, labels, hierarchy, after)
    if not sparse.issparse(masked):
        masked[rows, labels] = 1
        return masked
    ones = sparse.coo_array((np.ones(len(rows), dtype=masked.dtype), (rows, labels)), shape=masked.shape)
    return (masked + ones).tocsr()


def _implied(rows: np.ndarray, labels: np.ndarray, hierarchy: Hierarchy, Y: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells and all cells above them in the hierarchy, without those that are 1 in Y."""
    cells = sparse.coo_array((np.ones(len(rows), dtype=np.int32), (rows, labels)), shape=Y.shape).tocsr()
    implied = sparse.coo_array(cells + cells @ hierarchy.ancestors)
    found, known = (np.ravel_multi_index(position, Y.shape) for position in (implied.coords, _positives(Y)))
    is_new = ~np.isin(found, known)
    return implied.coords[0][is_new], implied.coords[1][is_new]


def _without(Y: Matrix, rows: np.ndarray, labels: np.ndarray, negatives: Negatives) -> Matrix:
    """Return a copy of Y with zeros at ``(rows, labels)``, or with NaN if negatives are confirmed."""
    checked, confirmed = with_nan(check_binary(Y, "Y", DataError, unmeasured=True)), negatives == "confirmed"
    if not sparse.issparse(Y):
        masked = np.array(checked, dtype=np.float32 if confirmed else None)
        masked[rows, labels] = np.nan if confirmed else 0
        return masked
    masked = sparse.coo_array(checked, copy=True, dtype=np.float32 if confirmed else None)
    stored, hidden = (np.ravel_multi_index(position, Y.shape) for position in (masked.coords, (rows, labels)))
    masked.data[np.isin(stored, hidden)] = 0
    masked.eliminate_zeros()
    if confirmed:
        unmeasured = np.full(len(rows), np.nan, dtype=np.float32)
        masked = masked + sparse.coo_array((unmeasured, (rows, labels)), shape=Y.shape)
    return masked.tocsr()
