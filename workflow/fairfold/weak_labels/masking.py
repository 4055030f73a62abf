"""Hide labels on purpose, to study what missing labels do."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.folds import parts_of
from fairfold.core.hierarchy import Hierarchy, choose_free
from fairfold.core.seeds import seed_sequence
from fairfold.core.validation import Negatives, check_binary, check_negatives, with_nan
from fairfold.errors import DataError
from fairfold.weak_labels.mechanisms import Mechanism, OddsOfCells, odds_of


def n_hidden(n_positives: np.ndarray, rate: float) -> np.ndarray:
    """Number of positives to hide per label: floor(rate · positives).

    The product is nudged by a relative 1e-12, because in binary 0.29 · 100 falls just short of 29.
    """
    return np.floor(np.asarray(n_positives) * rate * (1 + 1e-12)).astype(np.int64)


def mask_positives(
    Y: Matrix | pd.DataFrame,
    rate: float,
    *,
    mechanism: Mechanism = "random",
    reference: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    hierarchy: Hierarchy | None = None,
    wrong_positives: float = 0.0,
    random_state: int | np.random.SeedSequence | np.random.Generator | None = None,
) -> Matrix | pd.DataFrame:
    """Turn a share of each label's positives into negatives, chosen label by label, at random or otherwise.

    For label j with n_j positives exactly floor(rate · n_j) are hidden, so a label never loses all its positives
    (Ilidio et al. 2024, Section 4.1).

    Parameters
    ----------
    Y : {array-like, DataFrame, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1. NaN is an unmeasured label, which stays as it is.
    rate : share of positives to hide, at least 0 and below 1.
    mechanism, reference, groups : which positives are hidden, and what that goes by; see
        :func:`~fairfold.weak_labels.mechanisms.odds_of`. With ``"rarity"`` the rate is that of all labels together.
    hierarchy : of labels that keep the true-path rule, and keep it when some are hidden: a label is hidden only where
        all below it are. Labels are gone through upwards, the most specific first; of each, floor(rate · n_j) positives
        are hidden among those of samples that keep no label below it, or all of these where they are fewer. So no label
        loses more than that share, the most specific ones exactly that, and general ones less, as far as what is below
        them is still seen.
    wrong_positives : share of each label's positives afterwards that is wrong, at least 0 and below 1: zeros that
        become ones, chosen at random among those that were zeros before, as many as that needs, rounded down. In a
        hierarchy all that is above them becomes 1 besides.
    random_state : seed, seed sequence or generator.

    Returns
    -------
    (n_samples, n_labels) matrix of Y's kind, a frame with its names. Y is not changed. The dtype is that of Y, or
    float32 where an array or a sparse matrix has unmeasured labels. Time and memory grow with the number of ones. With
    wrong positives they grow with the number of cells; sparse labels may then have at most
    ``fairfold.core.arrays.DENSE_CELLS``.

    Raises
    ------
    DataError
        When a rate is outside [0, 1), Y is not a matrix of 0/1, the mechanism is none or lacks what it goes by, or Y
        breaks the true-path rule of the hierarchy, or has another number of labels.
    """
    random = np.random.default_rng(random_state)
    by = {"mechanism": mechanism, "reference": reference, "groups": groups, "hierarchy": hierarchy}
    masked = mask_labels(Y, rate, **by, random_state=random)
    return _with_wrong_positives(Y, masked, wrong_positives, hierarchy, random)


def mask_labels(
    Y: Matrix | pd.DataFrame,
    rate: float,
    *,
    negatives: Negatives = "unlabelled",
    mechanism: Mechanism = "random",
    reference: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    hierarchy: Hierarchy | None = None,
    random_state: int | np.random.SeedSequence | np.random.Generator | None = None,
) -> Matrix | pd.DataFrame:
    """Hide a share of each label as it is missing in such data.

    Where negatives are unlabelled, a missing positive is a 0 among others: :func:`mask_positives`. Where they are
    confirmed, a label is missing by not having been measured, and whatever it is: the same share of the positives and
    of the zeros of each label becomes unmeasured, the positives being those that are hidden otherwise. In a hierarchy a
    0 is hidden only where all that are above it are hidden, as it would follow from them: the most general first.

    Parameters, errors : as :func:`mask_positives`.

    Returns
    -------
    As :func:`mask_positives`. With confirmed negatives the dtype is float32, and memory grows with the number of cells;
    sparse labels may have at most ``fairfold.core.arrays.DENSE_CELLS``.
    """
    random = np.random.default_rng(random_state)
    by = {"mechanism": mechanism, "reference": reference, "groups": groups, "hierarchy": hierarchy}
    return _without(Y, *_choose_hidden(Y, rate, random, negatives, **by), negatives)


def hide_in_training_parts(
    Y: Matrix,
    fold_of: np.ndarray,
    rate: float,
    *,
    seed: int,
    names: tuple,
    negatives: Negatives = "unlabelled",
    hierarchy: Hierarchy | None = None,
) -> np.ndarray:
    """Labels to hide from training when each fold in turn is left out; the left-out fold keeps its labels.

    Parameters
    ----------
    Y : (n_samples, n_labels) of 0/1.
    fold_of : (n_samples,) test fold of each sample, -1 for one that is never tested; or (n_repeats, n_samples) of
        several splits, whose folds follow each other.
    rate : share of each label's positives *in the training part* to hide.
    seed, names : the study's seed and the unit's names; each fold has a random stream of its own.
    negatives : whether zeros are known to be negative; then as many of them are hidden, see :func:`mask_labels`.
    hierarchy : see :func:`mask_positives`.

    Returns
    -------
    (n_hidden, 3) int64: fold, row and label of each hidden label, sorted.

    Raises
    ------
    DataError
        As :func:`mask_positives`.
    SplitError
        As :func:`~fairfold.core.folds.parts_of`.
    """
    parts = [train for train, _ in parts_of(fold_of, Y.shape[0])]
    return _hide_in(parts, Y, rate, seed, names, negatives=negatives, hierarchy=hierarchy)


def hide_in_test_parts(
    Y: Matrix,
    fold_of: np.ndarray,
    rate: float,
    *,
    seed: int,
    names: tuple,
    negatives: Negatives = "unlabelled",
    hierarchy: Hierarchy | None = None,
) -> np.ndarray:
    """Labels to hide from each left-out fold, for scores as they are measured where labels are missing there, too.

    Parameters, errors and result are those of :func:`hide_in_training_parts`; the rate is of each label's positives in
    the left-out fold.
    """
    tests = [test for _, test in parts_of(fold_of, Y.shape[0])]
    return _hide_in(tests, Y, rate, seed, (*names, "test part"), negatives=negatives, hierarchy=hierarchy)


def _hide_in(parts: list[np.ndarray], Y: Matrix, rate: float, seed: int, names: tuple, **by: Any) -> np.ndarray:
    hidden = []
    for fold, part in enumerate(parts):
        rows, labels = _choose_hidden(Y[part], rate, np.random.default_rng(seed_sequence(seed, *names, fold)), **by)
        triples = np.column_stack([np.full(rows.size, fold), part[rows], labels])
        hidden.append(triples[np.lexsort((labels, rows))])
    return np.concatenate(hidden)


def observed_labels(Y: Matrix, hidden: np.ndarray, fold: int | None, negatives: Negatives = "unlabelled") -> Matrix:
    """Labels that may be seen when a fold is left out, of what one of the functions above hides.

    With None for the fold nothing is seen that any fold hides: of :func:`hide_in_test_parts`, what is seen of the data.
    """
    _, rows, labels = (hidden if fold is None else hidden[hidden[:, 0] == fold]).T
    return _without(Y, rows, labels, negatives)


def _choose_hidden(
    Y: Matrix | pd.DataFrame,
    rate: float,
    random: np.random.Generator,
    negatives: Negatives,
    *,
    mechanism: Mechanism = "random",
    hierarchy: Hierarchy | None = None,
    **by: ArrayLike | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of the cells to hide."""
    check_negatives(negatives, DataError)
    _check_share("missing rate", rate)
    checked = check_binary(Y, "Y", DataError, unmeasured=True)
    if checked.ndim != 2:
        raise DataError(f"Y has {checked.ndim} dimension(s); it must be (n_samples, n_labels).")
    n_samples, n_labels = checked.shape
    if hierarchy is not None:
        check_true_paths(checked, hierarchy)
    positives = _positives(checked)
    n_positives = np.bincount(positives[1], minlength=n_labels)
    odds = odds_of(mechanism, rate, n_positives, n_samples, random, **by)
    upwards = None if hierarchy is None else _Chain(hierarchy, below=True)
    hidden = _some_of(positives, n_hidden(n_positives, odds.rates), odds.of_positives, random, upwards)
    if negatives == "unlabelled":
        return hidden
    zeros = np.nonzero(to_dense(checked, "Y", DataError) == 0)
    n_zeros = np.bincount(zeros[1], minlength=n_labels)
    downwards = None if hierarchy is None else _Chain(hierarchy, below=False)
    of_zeros = _some_of(zeros, n_hidden(n_zeros, odds.rates), odds.of_zeros, random, downwards)
    return np.concatenate((hidden[0], of_zeros[0])), np.concatenate((hidden[1], of_zeros[1]))


def _check_share(name: str, rate: float) -> None:
    if not isinstance(rate, Real) or not 0 <= rate < 1:
        raise DataError(f"{name} is {rate!r}; it must be at least 0 and below 1, for example 0.3.")


def _positives(Y: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Their rows and labels."""
    cells = sparse.coo_array(Y == 1)
    cells.eliminate_zeros()
    return cells.coords


def check_true_paths(Y: Matrix, hierarchy: Hierarchy) -> None:
    """Raise :class:`DataError` for labels that break the true-path rule, or are of another number."""
    if Y.shape[1] != hierarchy.n_labels:
        raise DataError(f"Y has {Y.shape[1]} labels, and the hierarchy {hierarchy.n_labels}; it must be of the same.")
    found = hierarchy.first_violation(Y)
    if found is not None:
        raise DataError(
            f"row {found[0]} has label {found[1]}, but not label {found[2]}, which is above it in the hierarchy: give "
            "what Hierarchy.with_ancestors makes of the labels."
        )


class _Chain(NamedTuple):
    """Which labels a cell follows from: a positive from those below it, a zero from those above."""

    hierarchy: Hierarchy
    below: bool

    def choose(self, rows: np.ndarray, n_cells: np.ndarray, n_of_label: np.ndarray) -> np.ndarray:
        """Whether each cell is hidden; cells are label by label, the first ones of a label are preferred."""
        starts, order = np.concatenate([[0], np.cumsum(n_cells)]), self.hierarchy.order
        n_samples, neighbours = rows.max(initial=-1) + 1, self.hierarchy.neighbours(below=self.below)
        return choose_free(rows, starts, n_of_label, n_samples, order if self.below else order[::-1], *neighbours)


def _some_of(
    cells: tuple[np.ndarray, np.ndarray],
    n_of_label: np.ndarray,
    odds: OddsOfCells | None,
    random: np.random.Generator,
    chain: _Chain | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of so many of each label's cells, or fewer in a chain."""
    rows, labels = cells
    # One random key per cell; within each label the smallest keys are hidden. Keys are drawn in (label, row) order,
    # so that dense, CSR and unsorted input give the same result.
    order = np.lexsort((rows, labels))
    rows, labels = rows[order], labels[order]
    keys = random.random(rows.size)
    if odds is not None:  # waiting times; with equal odds their order is that of the keys
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
    Y: Matrix | pd.DataFrame,
    masked: Matrix | pd.DataFrame,
    share: float,
    hierarchy: Hierarchy | None,
    random: np.random.Generator,
) -> Matrix | pd.DataFrame:
    """Ones in place of zeros of Y, until they are this share of each label's positives, or as many as there are."""
    _check_share("share of wrong positives", share)
    if share == 0:
        return masked
    before, after = (check_binary(each, "Y", DataError, unmeasured=True) for each in (Y, masked))
    n_right = np.bincount(_positives(after)[1], minlength=before.shape[1])
    zeros = np.nonzero(to_dense(before, "Y", DataError) == 0)
    rows, labels = _some_of(zeros, n_hidden(n_right, share / (1 - share)), None, random)
    if hierarchy is not None:
        rows, labels = _and_all_above(rows, labels, hierarchy, after)
    if isinstance(masked, pd.DataFrame):
        made = masked.copy()
        for label in np.unique(labels):
            column = made.iloc[:, label]
            one = True if column.dtype.kind == "b" else 1
            made.isetitem(label, column.mask(np.isin(np.arange(len(column)), rows[labels == label]), one))
        return made
    if not sparse.issparse(masked):
        masked[rows, labels] = 1
        return masked
    ones = sparse.coo_array((np.ones(len(rows), dtype=masked.dtype), (rows, labels)), shape=masked.shape)
    return (masked + ones).tocsr()


def _and_all_above(
    rows: np.ndarray, labels: np.ndarray, hierarchy: Hierarchy, Y: Matrix
) -> tuple[np.ndarray, np.ndarray]:
    """Cells, and those above them, as far as they are not 1 in Y."""
    cells = sparse.coo_array((np.ones(len(rows), dtype=np.int32), (rows, labels)), shape=Y.shape).tocsr()
    implied = sparse.coo_array(cells + cells @ hierarchy.ancestors)
    at = [np.ravel_multi_index(position, Y.shape) for position in (implied.coords, _positives(Y))]
    is_new = ~np.isin(*at)
    return implied.coords[0][is_new], implied.coords[1][is_new]


def _without(
    Y: Matrix | pd.DataFrame, rows: np.ndarray, labels: np.ndarray, negatives: Negatives
) -> Matrix | pd.DataFrame:
    """Copy of Y with zeros at ``(rows, labels)``, or with unmeasured labels where zeros mean something."""
    checked, confirmed = with_nan(check_binary(Y, "Y", DataError, unmeasured=True)), negatives == "confirmed"
    if isinstance(Y, pd.DataFrame):
        is_hidden = np.zeros(Y.shape, dtype=bool)
        is_hidden[rows, labels] = True
        if confirmed:
            return pd.DataFrame(checked.astype(np.float32), Y.index, Y.columns).mask(is_hidden)
        has_objects = any(map(pd.api.types.is_object_dtype, Y.dtypes))
        return (pd.DataFrame(checked, Y.index, Y.columns) if has_objects else Y) * ~is_hidden
    if not sparse.issparse(Y):
        masked = np.array(checked, dtype=np.float32 if confirmed else None)
        masked[rows, labels] = np.nan if confirmed else 0
        return masked
    masked = sparse.coo_array(checked, copy=True, dtype=np.float32 if confirmed else None)
    at = [np.ravel_multi_index(position, Y.shape) for position in (masked.coords, (rows, labels))]
    masked.data[np.isin(*at)] = 0
    masked.eliminate_zeros()
    if confirmed:
        unmeasured = np.full(len(rows), np.nan, dtype=np.float32)
        masked = masked + sparse.coo_array((unmeasured, (rows, labels)), shape=Y.shape)
    return masked.tocsr()
