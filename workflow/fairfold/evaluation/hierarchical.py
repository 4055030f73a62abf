"""Scores of predicted labels in a hierarchy, as the Critical Assessment of Functional Annotation has them (CAFA).

F_max (Radivojac et al. 2013, "A large-scale evaluation of computational protein function prediction", Nature Methods
10): precision averages over the samples for which anything is predicted at a threshold, recall over all that have a
label; the best F1 of any threshold counts. S_min (Clark & Radivojac 2013, "Information-theoretic evaluation of
predicted ontological annotations", Bioinformatics 29): the information in labels that were not predicted (remaining
uncertainty) and in labels that were predicted wrongly (misinformation), each a mean over samples, as the two legs of a
triangle; the least hypotenuse of any threshold counts. All is as in CAFA's own evaluator: thresholds of .01 to .99,
which a probability meets that is equal; samples without any label take no part; of thresholds at which nothing is
predicted neither score is taken, as long as there are others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, finite_rows
from fairfold.core.folds import parts_of
from fairfold.core.hierarchy import Hierarchy
from fairfold.core.validation import check_label_matrix
from fairfold.errors import DataError
from fairfold.evaluation.corrected_cells import Cells
from fairfold.evaluation.fold_scores import FinalPredictions

THRESHOLDS = np.arange(0.01, 1, 0.01)
"""Of CAFA's evaluator, to the last bit."""


_ROUNDING = 1e-9  # a mean of ones may be above 1 by a bit


SCORES = ("f_max", "weighted_f_max", "s_min")
"""Names of the scores. Of the first two more is better, of the last one less."""


def information_accretion(Y: Matrix, hierarchy: Hierarchy) -> np.ndarray:
    """What a label tells of a sample of which all its parents are known, in bits: -log2 P(label | all its parents).

    Clark & Radivojac (2013), Equation 3, with shares of samples for probabilities, as CAFA computes them.

    Parameters
    ----------
    Y : (n_samples, n_labels) of 0/1 that keep the true-path rule, the annotations that were known beforehand; NaN where
        unmeasured, which counts as not annotated. Samples without any label take no part.
    hierarchy : of the labels.

    Returns
    -------
    (n_labels,) at least 0; 0 for labels that no sample has, of which nothing is known, and which then count in no
    weighted score, as in CAFA's evaluator.

    Raises
    ------
    DataError
        When Y is not such a matrix, or of another number of labels.
    """
    Y = check_label_matrix(Y, "Y", DataError, n_labels=hierarchy.n_labels)
    positive = sparse.csr_array(Y == 1)
    positive = positive[np.flatnonzero(np.diff(positive.indptr))].tocsc()
    parents, starts = hierarchy.neighbours(below=False)
    bits = np.zeros(hierarchy.n_labels)
    for label, n_with in enumerate(np.diff(positive.indptr)):
        own = parents[starts[label] : starts[label + 1]]
        if n_with:
            n_known = np.count_nonzero(positive[:, own].sum(axis=1) == len(own))
            bits[label] = np.log2(n_known / n_with)
    return bits


def hierarchical_scores(Y_true: Matrix, P: Matrix, information: np.ndarray) -> dict[str, float]:
    """F_max, the same weighted by information, and S_min; see above.

    Parameters
    ----------
    Y_true : (n_samples, n_labels) of 0/1 that keep the true-path rule; NaN where unmeasured, which takes no part.
    P : (n_samples, n_labels) probabilities from 0 to 1 that keep it, too; of a CSR matrix those not stored are 0.
    information : (n_labels,) of each label, from the training samples; see :func:`information_accretion`.

    Returns
    -------
    dict with the keys ``SCORES``; all NaN where no sample has a label. Where nothing is predicted at any threshold,
    F is 0, and S what saying nothing leaves. Time and memory grow with samples · (labels + thresholds), of sparse
    probabilities with what is stored in place of samples · labels.

    Raises
    ------
    DataError
        When shapes differ, labels are not 0/1, or probabilities are not from 0 to 1.
    """
    cells = Cells.of(Y_true, P, "Y_true")
    information = np.asarray(information, dtype=np.float64)
    if information.shape != cells.shape[1:]:
        raise DataError(f"information has shape {information.shape}; it must be {cells.shape[1:]}, one per label.")
    if not ((cells.P >= -_ROUNDING) & (cells.P <= 1 + _ROUNDING)).all():
        raise DataError("probabilities must be numbers from 0 to 1.")
    counted = cells.sums(cells.w) > 0
    if not counted.any():
        return dict.fromkeys(SCORES, np.nan)
    plain, weighted = (
        [sums[counted] for sums in _sums(cells, weights)] for weights in (np.ones(cells.n_labels), information)
    )
    taken = (plain[0] > 0).any(axis=0)
    taken = taken if taken.any() else ~taken
    best = _f(*plain)[taken].max(), _f(*weighted)[taken].max(), _s(*weighted)[taken].min()
    return dict(zip(SCORES, map(float, best), strict=True))


def _sums(cells: Cells, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights of each sample's labels: (n_samples, n_thresholds) predicted, and rightly so; (n_samples, 1) true."""
    n_bins = len(THRESHOLDS) + 1
    places = np.searchsorted(THRESHOLDS, cells.P, side="right") + n_bins * cells.rows
    of_cells = np.where(cells.is_measured, weights[cells.labels], 0.0)
    predicted, hit = (
        np.bincount(places, each, minlength=n_bins * cells.shape[0]).reshape(-1, n_bins)[:, ::-1]
        for each in (of_cells, of_cells * cells.w)
    )
    true = cells.sums(of_cells * cells.w)[:, np.newaxis]
    return np.cumsum(predicted, axis=1)[:, -2::-1], np.cumsum(hit, axis=1)[:, -2::-1], true


def _f(predicted: np.ndarray, hit: np.ndarray, true: np.ndarray) -> np.ndarray:
    """(n_thresholds,) harmonic means of precision and recall."""
    precision = _ratio(_ratio(hit, predicted).sum(axis=0), (predicted > 0).sum(axis=0))
    recall = _ratio(hit, true).mean(axis=0)
    return _ratio(2 * precision * recall, precision + recall)


def _s(predicted: np.ndarray, hit: np.ndarray, true: np.ndarray) -> np.ndarray:
    """(n_thresholds,) distances from a prediction without fault."""
    return np.hypot((true - hit).mean(axis=0), (predicted - hit).mean(axis=0))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """0 where the whole is."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


def score_hierarchy(Y: Matrix, predictions: FinalPredictions, hierarchy: Hierarchy, **unit: Any) -> pd.DataFrame:
    """Scores of out-of-fold predictions, fold by fold, with the information of each fold's training part.

    Each namespace of an ontology is scored by itself, as CAFA does it: by its own labels, the samples that have one of
    them, and what these labels tell where their parents in it are known.

    Parameters
    ----------
    Y : (n_samples, n_labels) all labels that the data have.
    predictions : probabilities of left-out samples; those count that average precision scores.
    hierarchy : of the labels.
    **unit : columns that stand first.

    Returns
    -------
    DataFrame with the columns ``*unit, fold, namespace, metric, value, n_violations``; the namespace is ``all`` where
    there is one, and the last is how often a probability of its labels is above that of a parent, which is to be never.
    """
    rows = []
    for fold, (train, test) in enumerate(parts_of(predictions.fold_of, Y.shape[0])):
        P = predictions.in_fold("average_precision", fold)
        predicted = finite_rows(P).all()
        for namespace, labels in hierarchy.by_namespace().items():
            scores, n_violations = dict.fromkeys(SCORES, np.nan), np.nan
            if predicted:
                information = information_accretion(Y[train][:, labels], hierarchy.of(labels))
                scores = hierarchical_scores(Y[test][:, labels], P[:, labels], information)
                n_violations = hierarchy.n_violations(P, labels)
            place = (*unit.values(), fold, namespace)
            rows += [(*place, metric, value, n_violations) for metric, value in scores.items()]
    return pd.DataFrame(rows, columns=[*unit, "fold", "namespace", "metric", "value", "n_violations"])


def summarise_hierarchies(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over folds.

    Parameters
    ----------
    scores : columns ``dataset, missing_rate, model`` and those of :func:`score_hierarchy`.

    Returns
    -------
    DataFrame with the columns ``dataset, missing_rate, model, namespace, metric, mean, sd, n_folds, n_violations``: the
    number of folds with a score, ``sd`` (divided by one less) being NaN below 2, and violations of all folds.
    """
    groups = scores.groupby(["dataset", "missing_rate", "model", "namespace", "metric"], sort=False)
    summary = groups["value"].agg(mean="mean", sd="std", n_folds="count")
    return summary.assign(n_violations=groups["n_violations"].sum().astype(int)).reset_index()
