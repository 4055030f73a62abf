"""Scores of sparse labels and probabilities that take more than a pool of cells."""

from __future__ import annotations

import numpy as np

from fairfold.core.arrays import Matrix, canonical, stored_cells, with_data
from fairfold.core.validation import UNMEASURED


def average_precision_score(Y: Matrix, P: Matrix, of_samples: np.ndarray | None = None) -> float:
    """Compute the micro average precision; NaN without a positive or without a negative.

    No array is longer than what P stores, and cells are not ordered.

    Parameters
    ----------
    Y, P : (n_samples, n_labels), CSR; ``UNMEASURED`` labels take no part.
    of_samples : (n_samples,) weights, or None.
    """
    from fairfold.core.sparse_rows import values_at
    from fairfold.evaluation.sparse_kernels import average_precision  # compiled, for which few wait

    Y, P = canonical(Y), canonical(P)
    truth = values_at(P.indptr, P.indices, Y.indptr, Y.indices, Y.data)
    weights = np.ones(P.shape[0]) if of_samples is None else of_samples
    n_of = {value: with_data(Y, Y.data == value).sum(axis=1) for value in (1, UNMEASURED)}
    n_absent = {value: n_of[value] - with_data(P, truth == value).sum(axis=1) for value in n_of}
    n_zeros = weights @ (P.shape[1] - np.diff(P.indptr) - n_absent[1] - n_absent[UNMEASURED])
    n_measured = P.shape[0] * P.shape[1] - n_of[UNMEASURED].sum()
    if not 0 < n_of[1].sum() < n_measured:
        return np.nan
    positives, negatives = np.append(P.data[truth == 1], np.zeros(n_absent[1].sum(), P.dtype)), P.data[truth == 0]
    if of_samples is None:
        positives.sort()
        negatives.sort()
        return float(average_precision(positives, negatives, None, None, n_zeros))
    of_cells = np.repeat(weights, np.diff(P.indptr))
    counts = np.append(of_cells[truth == 1], np.repeat(weights, n_absent[1]))
    orders = np.argsort(positives), np.argsort(negatives)
    scores, of_scores = (positives, negatives), (counts, of_cells[truth == 0])
    ordered = [each[order] for pair in (scores, of_scores) for each, order in zip(pair, orders, strict=True)]
    return float(average_precision(*ordered, n_zeros))


def label_ranking_loss(Y: Matrix, P: Matrix, of_samples: np.ndarray | None = None) -> float:
    """Share of (positive, negative) label pairs of a sample in which the positive has no higher score; mean of samples.

    Samples without a positive or without a negative label have a loss of 0; NaN where no sample has both. A sample's
    labels that store nothing are negatives, which tie at 0: they are one cell that counts for all of them.

    Parameters
    ----------
    Y, P : (n_samples, n_labels), CSR; ``UNMEASURED`` labels take no part. Some are measured.
    of_samples : (n_samples,) weights, or None.
    """
    n_samples, n_labels = P.shape
    rows, _, truth, score = stored_cells(Y, P)
    n_absent = n_labels - np.bincount(rows, minlength=n_samples)
    n_negatives = np.concatenate([truth == 0, n_absent])
    is_positive = np.append(truth == 1, np.zeros(n_samples, dtype=bool))
    rows, score = np.append(rows, np.arange(n_samples)), np.append(score, np.zeros(n_samples))
    order = np.lexsort((score, rows))
    rows, score, is_positive, n_negatives = (each[order] for each in (rows, score, is_positive, n_negatives))
    of_rows = [np.bincount(rows, each, minlength=n_samples) for each in (is_positive, n_negatives)]
    # Positives of at most a cell's score: of equal scores, the count at the last one.
    is_last = np.append((np.diff(score) != 0) | (np.diff(rows) != 0), True)
    at_most = np.cumsum(is_positive)[is_last][np.cumsum(is_last) - is_last]
    at_most = at_most - (np.cumsum(of_rows[0]) - of_rows[0])[rows]
    n_pairs = of_rows[0] * of_rows[1]
    losses = np.bincount(rows, n_negatives * at_most, minlength=n_samples) / np.maximum(n_pairs, 1)
    if not n_pairs.any():
        return np.nan
    known = of_rows[0] + of_rows[1] > 0
    return float(np.average(losses[known], weights=None if of_samples is None else of_samples[known]))
