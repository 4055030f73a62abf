"""Hide labels on purpose, to study what missing labels do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.arrays import Matrix
from fairfold.errors import DataError
from fairfold.folds import parts_of
from fairfold.seeds import seed_sequence
from fairfold.validation import UNMEASURED, Negatives, check_binary, check_negatives


def n_hidden(n_positives: np.ndarray, rate: float) -> np.ndarray:
    """Number of positives to hide per label: floor(rate · positives).

    The product is nudged by a relative 1e-12, because in binary 0.29 · 100 falls just short of 29.
    """
    return np.floor(np.asarray(n_positives) * rate * (1 + 1e-12)).astype(np.int64)


def mask_positives(
    Y: Matrix | pd.DataFrame,
    rate: float,
    *,
    random_state: int | np.random.SeedSequence | np.random.Generator | None = None,
) -> Matrix | pd.DataFrame:
    """Turn a share of each label's positives into negatives, chosen at random and label by label.

    For label j with n_j positives exactly floor(rate · n_j) are hidden, so a label never loses all its positives
    (Ilidio et al. 2024, Section 4.1).

    Parameters
    ----------
    Y : (n_samples, n_labels) array, DataFrame or CSR matrix of 0/1.
    rate : share of positives to hide, at least 0 and below 1.
    random_state : seed, seed sequence or generator.

    Returns
    -------
    (n_samples, n_labels) matrix of Y's kind and dtype, a frame with its names; Y itself is not changed. Time and memory
    grow with the number of ones.

    Raises
    ------
    DataError
        When the rate is outside [0, 1) or Y is not a matrix of 0/1.
    """
    return mask_labels(Y, rate, random_state=random_state)


def mask_labels(
    Y: Matrix | pd.DataFrame,
    rate: float,
    *,
    negatives: Negatives = "unlabelled",
    random_state: int | np.random.SeedSequence | np.random.Generator | None = None,
) -> Matrix | pd.DataFrame:
    """Hide a share of each label as it is missing in such data.

    Where negatives are unlabelled, a missing positive is a 0 among others: :func:`mask_positives`. Where they are
    confirmed, a label is missing by not having been measured, and whatever it is: the same share of the positives and
    of the zeros of each label becomes unmeasured, the positives being those that are hidden otherwise.

    Parameters, errors : as :func:`mask_positives`.

    Returns
    -------
    As :func:`mask_positives`; with confirmed negatives of int8, and memory grows with the number of cells.
    """
    random = np.random.default_rng(random_state)
    return _without(Y, *_choose_hidden(Y, rate, random, negatives), negatives)


def hide_in_training_parts(
    Y: Matrix, fold_of: np.ndarray, rate: float, *, seed: int, names: tuple, negatives: Negatives = "unlabelled"
) -> np.ndarray:
    """Labels to hide from training when each fold in turn is left out; the left-out fold keeps its labels.

    Parameters
    ----------
    Y : (n_samples, n_labels) of 0/1.
    fold_of : (n_samples,) test fold of each sample, -1 for one that is never tested.
    rate : share of each label's positives *in the training part* to hide.
    seed, names : the study's seed and the unit's names; each fold has a random stream of its own.
    negatives : whether zeros are known to be negative; then as many of them are hidden, see :func:`mask_labels`.

    Returns
    -------
    (n_hidden, 3) int64: fold, row and label of each hidden label, sorted.

    Raises
    ------
    DataError
        As :func:`mask_positives`.
    SplitError
        As :func:`~fairfold.folds.parts_of`.
    """
    return _hide_in([train for train, _ in parts_of(fold_of, Y.shape[0])], Y, rate, seed, names, negatives)


def hide_in_test_parts(
    Y: Matrix, fold_of: np.ndarray, rate: float, *, seed: int, names: tuple, negatives: Negatives = "unlabelled"
) -> np.ndarray:
    """Labels to hide from each left-out fold, for scores as they are measured where labels are missing there, too.

    Parameters, errors and result are those of :func:`hide_in_training_parts`; the rate is of each label's positives in
    the left-out fold.
    """
    tests = [test for _, test in parts_of(fold_of, Y.shape[0])]
    return _hide_in(tests, Y, rate, seed, (*names, "test part"), negatives)


def _hide_in(
    parts: Sequence[np.ndarray], Y: Matrix, rate: float, seed: int, names: tuple, negatives: Negatives
) -> np.ndarray:
    hidden = []
    for fold, part in enumerate(parts):
        random = np.random.default_rng(seed_sequence(seed, *names, fold))
        rows, labels = _choose_hidden(Y[part], rate, random, negatives)
        triples = np.column_stack([np.full(rows.size, fold), part[rows], labels])
        hidden.append(triples[np.lexsort((labels, rows))])
    return np.concatenate(hidden)


def observed_labels(Y: Matrix, hidden: np.ndarray, fold: int, negatives: Negatives = "unlabelled") -> Matrix:
    """Labels that may be seen when a fold is left out, of what one of the functions above hides."""
    _, rows, labels = hidden[hidden[:, 0] == fold].T
    return _without(Y, rows, labels, negatives)


def _choose_hidden(
    Y: Matrix | pd.DataFrame, rate: float, random: np.random.Generator, negatives: Negatives
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of the cells to hide."""
    check_negatives(negatives, DataError)
    if not 0 <= rate < 1:
        raise DataError(f"missing rate is {rate}; it must be at least 0 and below 1, for example 0.3.")
    checked = check_binary(Y, "Y", DataError, unmeasured=True)
    if checked.ndim != 2:
        raise DataError(f"Y has {checked.ndim} dimension(s); it must be (n_samples, n_labels).")
    positives = sparse.coo_array(checked == 1)
    positives.eliminate_zeros()
    hidden = _some_of(positives.coords, checked.shape[1], rate, random)
    if negatives == "unlabelled":
        return hidden
    zeros = np.nonzero((checked.toarray() if sparse.issparse(checked) else checked) == 0)
    of_zeros = _some_of(zeros, checked.shape[1], rate, random)
    return np.concatenate((hidden[0], of_zeros[0])), np.concatenate((hidden[1], of_zeros[1]))


def _some_of(
    cells: tuple[np.ndarray, np.ndarray], n_total: int, rate: float, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of the share of each label's cells."""
    rows, labels = cells
    # One random key per cell; within each label the smallest keys are hidden. Keys are drawn in (label, row) order,
    # so that dense, CSR and unsorted input give the same result.
    order = np.lexsort((rows, labels))
    rows, labels = rows[order], labels[order]
    by_key = np.lexsort((random.random(rows.size), labels))
    n_cells = np.bincount(labels, minlength=n_total)
    rank_in_label = np.arange(rows.size) - np.repeat(np.cumsum(n_cells) - n_cells, n_cells)
    hidden = by_key[rank_in_label < np.repeat(n_hidden(n_cells, rate), n_cells)]
    return rows[hidden], labels[hidden]


def _without(
    Y: Matrix | pd.DataFrame, rows: np.ndarray, labels: np.ndarray, negatives: Negatives
) -> Matrix | pd.DataFrame:
    """Copy of Y with zeros at ``(rows, labels)``, or with unmeasured labels where zeros mean something."""
    hidden = 0 if negatives == "unlabelled" else UNMEASURED
    if isinstance(Y, pd.DataFrame):
        is_hidden = np.zeros(Y.shape, dtype=bool)
        is_hidden[rows, labels] = True
        return Y.astype(np.int8).mask(is_hidden, hidden) if hidden else Y * ~is_hidden
    if not sparse.issparse(Y):
        masked = np.array(Y, dtype=np.int8 if hidden else None)
        masked[rows, labels] = hidden
        return masked
    masked = sparse.coo_array(Y, copy=True, dtype=np.int8 if hidden else None)
    at = [np.ravel_multi_index(position, Y.shape) for position in (masked.coords, (rows, labels))]
    masked.data[np.isin(*at)] = 0
    masked.eliminate_zeros()
    if hidden:
        unmeasured = np.full(len(rows), hidden, dtype=np.int8)
        masked = masked + sparse.coo_array((unmeasured, (rows, labels)), shape=Y.shape)
    return masked.tocsr()
