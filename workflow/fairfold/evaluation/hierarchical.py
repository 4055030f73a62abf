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

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, finite_rows, stored_cells
from fairfold.core.folds import parts_of
from fairfold.core.hierarchy import Hierarchy
from fairfold.core.validation import UNMEASURED, check_binary
from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.evaluation.plain_scores import check_pair

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
    Y = check_binary(Y, "Y", DataError, unmeasured=True)
    if Y.ndim != 2 or Y.shape[1] != hierarchy.n_labels:
        raise DataError(f"Y has shape {Y.shape}; it must be (n_samples, {hierarchy.n_labels}), as the hierarchy has.")
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
    Y, P = check_pair(Y_true, P)
    information = np.asarray(information, dtype=np.float64)
    if information.shape != Y.shape[1:]:
        raise DataError(f"information has shape {information.shape}; it must be ({Y.shape[1]},), a number per label.")
    values = P.data if sparse.issparse(P) else P
    if not ((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)).all():
        raise DataError("probabilities must be numbers from 0 to 1.")
    counted = np.asarray((Y == 1).sum(axis=1)) > 0
    if not counted.any():
        return dict.fromkeys(SCORES, np.nan)
    Y, P = Y[counted], P[counted]
    cells = _Cells.of(Y, P)
    plain, weighted = (_Counts.of(cells, weights) for weights in (np.ones(Y.shape[1]), information))
    taken = (plain.predicted > 0).any(axis=0)
    taken = taken if taken.any() else ~taken
    return {
        "f_max": float(plain.f()[taken].max()),
        "weighted_f_max": float(weighted.f()[taken].max()),
        "s_min": float(weighted.s()[taken].min()),
    }


class _Cells(NamedTuple):
    """(n_cells,) rows, labels, truth, and how many thresholds the probability meets; without those that say nothing."""

    n_samples: int
    rows: np.ndarray
    labels: np.ndarray
    truth: np.ndarray
    n_met: np.ndarray

    @classmethod
    def of(cls, Y: Matrix, P: Matrix) -> _Cells:
        if sparse.issparse(P):
            rows, labels, truth, values = stored_cells(Y, P)
        else:
            rows, labels = (each.ravel() for each in np.indices(P.shape))
            truth, values = Y.ravel(), P.ravel()
        return cls(P.shape[0], rows, labels, truth, np.searchsorted(THRESHOLDS, values, side="right"))

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """(n_samples, n_thresholds) sums of the weights of the cells that meet each threshold."""
        n_bins = len(THRESHOLDS) + 1
        found = np.bincount(self.n_met + n_bins * self.rows, weights, minlength=self.n_samples * n_bins)
        return np.cumsum(found.reshape(-1, n_bins)[:, ::-1], axis=1)[:, -2::-1]


class _Counts(NamedTuple):
    """Weights of labels: (n_samples, n_thresholds) predicted, and rightly so; (n_samples,) true."""

    predicted: np.ndarray
    hit: np.ndarray
    true: np.ndarray

    @classmethod
    def of(cls, cells: _Cells, weights: np.ndarray) -> _Counts:
        of_cells = np.where(cells.truth == UNMEASURED, 0.0, weights[cells.labels])
        true = of_cells * (cells.truth == 1)
        return cls(cells.sums(of_cells), cells.sums(true), np.bincount(cells.rows, true, minlength=cells.n_samples))

    def f(self) -> np.ndarray:
        """(n_thresholds,) harmonic means of precision and recall."""
        n_predicted_for = (self.predicted > 0).sum(axis=0)
        precision = _ratio(_ratio(self.hit, self.predicted).sum(axis=0), n_predicted_for)
        recall = _ratio(self.hit, self.true[:, np.newaxis]).mean(axis=0)
        return _ratio(2 * precision * recall, precision + recall)

    def s(self) -> np.ndarray:
        """(n_thresholds,) distances from a prediction without fault."""
        uncertainty = (self.true[:, np.newaxis] - self.hit).mean(axis=0)
        return np.hypot(uncertainty, (self.predicted - self.hit).mean(axis=0))


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
