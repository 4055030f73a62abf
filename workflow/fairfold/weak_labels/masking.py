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
from fairfold.validation import check_binary


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
    return _without(Y, *_choose_hidden(Y, rate, np.random.default_rng(random_state)))


def hide_in_training_parts(Y: Matrix, fold_of: np.ndarray, rate: float, *, seed: int, names: tuple) -> np.ndarray:
    """Positives to hide from training when each fold in turn is left out; the left-out fold keeps its labels.

    Parameters
    ----------
    Y : (n_samples, n_labels) of 0/1.
    fold_of : (n_samples,) test fold of each sample, -1 for one that is never tested.
    rate : share of each label's positives *in the training part* to hide.
    seed, names : the study's seed and the unit's names; each fold has a random stream of its own.

    Returns
    -------
    (n_hidden, 3) int64: fold, row and label of each hidden positive, sorted.

    Raises
    ------
    DataError
        As :func:`mask_positives`.
    SplitError
        As :func:`~fairfold.folds.parts_of`.
    """
    return _hide_in([train for train, _ in parts_of(fold_of, Y.shape[0])], Y, rate, seed, names)


def hide_in_test_parts(Y: Matrix, fold_of: np.ndarray, rate: float, *, seed: int, names: tuple) -> np.ndarray:
    """Positives to hide from each left-out fold, for scores as they are measured where labels are missing there, too.

    Parameters, errors and result are those of :func:`hide_in_training_parts`; the rate is of each label's positives in
    the left-out fold.
    """
    return _hide_in([test for _, test in parts_of(fold_of, Y.shape[0])], Y, rate, seed, (*names, "test part"))


def _hide_in(parts: Sequence[np.ndarray], Y: Matrix, rate: float, seed: int, names: tuple) -> np.ndarray:
    hidden = []
    for fold, part in enumerate(parts):
        random = np.random.default_rng(seed_sequence(seed, *names, fold))
        rows, labels = _choose_hidden(Y[part], rate, random)
        triples = np.column_stack([np.full(rows.size, fold), part[rows], labels])
        hidden.append(triples[np.lexsort((labels, rows))])
    return np.concatenate(hidden)


def observed_labels(Y: Matrix, hidden: np.ndarray, fold: int) -> Matrix:
    """Labels that may be seen when a fold is left out, of what one of the functions above hides."""
    _, rows, labels = hidden[hidden[:, 0] == fold].T
    return _without(Y, rows, labels)


def _choose_hidden(Y: Matrix | pd.DataFrame, rate: float, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of the positives to hide."""
    if not 0 <= rate < 1:
        raise DataError(f"missing rate is {rate}; it must be at least 0 and below 1, for example 0.3.")
    checked = check_binary(Y, "Y", DataError, unmeasured=True)
    if checked.ndim != 2:
        raise DataError(f"Y has {checked.ndim} dimension(s); it must be (n_samples, n_labels).")
    positives = sparse.coo_array(checked == 1)
    positives.eliminate_zeros()
    rows, labels = positives.coords
    # One random key per positive; within each label the smallest keys are hidden. Keys are drawn in (label, row) order,
    # so that dense, CSR and unsorted input give the same result.
    order = np.lexsort((rows, labels))
    rows, labels = rows[order], labels[order]
    by_key = np.lexsort((random.random(rows.size), labels))
    n_positives = np.bincount(labels, minlength=checked.shape[1])
    rank_in_label = np.arange(rows.size) - np.repeat(np.cumsum(n_positives) - n_positives, n_positives)
    hidden = by_key[rank_in_label < np.repeat(n_hidden(n_positives, rate), n_positives)]
    return rows[hidden], labels[hidden]


def _without(Y: Matrix | pd.DataFrame, rows: np.ndarray, labels: np.ndarray) -> Matrix | pd.DataFrame:
    """Copy of Y with zeros at ``(rows, labels)``."""
    if isinstance(Y, pd.DataFrame):
        is_kept = np.ones(Y.shape, dtype=bool)
        is_kept[rows, labels] = False
        return Y * is_kept
    if not sparse.issparse(Y):
        masked = np.array(Y)
        masked[rows, labels] = 0
        return masked
    masked = sparse.coo_array(Y, copy=True)
    at = [np.ravel_multi_index(position, Y.shape) for position in (masked.coords, (rows, labels))]
    masked.data[np.isin(*at)] = 0
    masked.eliminate_zeros()
    return masked.tocsr()
