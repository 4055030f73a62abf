"""Decisions at certified thresholds, from stored counts of the decisions of each label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.defaults import CONFIDENCE, PRECISION
from fairfold.core.validation import Negatives, check_weights
from fairfold.errors import DataError, ModelError
from fairfold.evaluation.certificates import (
    Certificate,
    Curve,
    certificate_of,
    check_targets,
    curves_of,
    level_of,
)

UNSURE = "unsure"
TARGETS = (0.5, 0.6, 0.7, 0.8, 0.85, PRECISION, 0.95, 0.99)
"""Precisions of a table of certified decisions."""
_CERTIFIED = ["label", "precision", "threshold", "precision_low", "recall", "recall_low", "recall_high", "per_1000"]
N_HELD_OUT = "n_held_out"
"""Column with the number of held-out samples by which the final model is certified. Out-of-fold predictions lack it."""
COLUMNS = ["label", "decision", *Curve._fields]
"""Columns of a table of curves. ``decision`` is 1 above a threshold of the probability, 0 above one of the opposite."""
_ALL, _RATIO = 100, 1.05  # All numbers of decisions up to the first one are stored, larger ones with this ratio.


def curve_table(
    Y: Matrix,
    P: Matrix,
    labels: Sequence[str],
    *,
    negatives: Negatives = "unlabeled",
    groups: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> pd.DataFrame:
    """Count the decisions of each label, so that any target can be certified later without the samples.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Recorded labels, 0 or 1. NaN marks an unmeasured label.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Out-of-fold probabilities.
    labels : sequence of str
        Names of the labels.
    negatives : {"unlabeled", "confirmed"}, default="unlabeled"
        Meaning of labels of 0. Only confirmed ones are counted as right decisions that a label is absent.
    groups, weights : array-like of shape (n_samples,) or None, default=None
        Groups and weights of samples.

    Returns
    -------
    DataFrame
        Rows of :class:`~fairfold.evaluation.certificates.Curve` with the columns ``COLUMNS``, ``n_cells``, the sum of
        the weights of measured cells of the label, and ``prevalence``, the share of recorded positives in it. A label
        without a decision has one row.

    Examples
    --------
    >>> curve_table([[1], [0]], [[0.9], [0.1]], ["leaf"])[["label", "decision", "threshold", "right"]]
      label  decision  threshold  right
    0  leaf         1        0.1    1.0
    1  leaf         1        0.0    1.0
    """
    found = []
    weights = check_weights(weights, np.shape(Y)[0], DataError)
    Y, P = to_dense(Y, "Y", DataError), np.clip(to_dense(P, "P", DataError), 0, 1)
    measured = _measured(Y, weights)
    for decision in (1, 0) if negatives == "confirmed" else (1,):
        curves = curves_of(Y if decision else 1 - np.asarray(Y), P if decision else 1 - P, groups, weights)
        for label, curve, (n, prevalence) in zip(labels, curves, measured, strict=True):
            step = np.floor(np.log(np.maximum(curve.n_decisions, 1)) / np.log(_RATIO))
            stored = curve.at(np.flatnonzero((curve.n_decisions <= _ALL) | (np.diff(step, append=np.inf) > 0)))
            counts = pd.DataFrame(dict(zip(Curve._fields[:-1], stored, strict=False)))
            counts = counts if len(counts) else counts.reindex([0], fill_value=0)
            of_label = {"label": label, "n_positives": curve.n_positives, "n_cells": n, "prevalence": prevalence}
            found.append(counts.assign(decision=decision, **of_label))
    return pd.concat(found, ignore_index=True)[[*COLUMNS, "n_cells", "prevalence"]]


def n_held_out_of(table: pd.DataFrame) -> int:
    """Return the number of held-out samples that certify decisions, or 0 for out-of-fold predictions.

    Parameters
    ----------
    table : DataFrame
        Curves, or certified decisions.

    Returns
    -------
    int
        Number of samples.
    """
    return int(table[N_HELD_OUT].iloc[0]) if N_HELD_OUT in table and len(table) else 0


def _measured(Y: np.ndarray, weights: np.ndarray | None) -> list[tuple[float, float]]:
    """Return the weight of measured cells of each label, and the share of positives in it."""
    values = np.asarray(Y, dtype=float)
    is_measured, w = ~np.isnan(values), np.ones(len(values)) if weights is None else weights
    total, positives = w @ is_measured, w @ np.nan_to_num(values)
    prevalence = np.divide(positives, total, out=np.full(len(total), np.nan), where=total > 0)
    return [*zip(total, prevalence, strict=True)]


def certified_table(curves: pd.DataFrame, n_samples: int) -> pd.DataFrame:
    """Certify decisions at each of ``TARGETS``.

    Parameters
    ----------
    curves : DataFrame
        Table of :func:`curve_table`.
    n_samples : int
        Number of samples.

    Returns
    -------
    DataFrame
        For each target, the columns of :func:`~fairfold.evaluation.certify` for each label, with the target as
        ``precision``, and ``per_1000``, the number of decisions per 1,000 samples, instead of ``n_decisions``.
    """
    found = [Certified(target).certificates(curves).assign(precision=target) for target in TARGETS]
    table = pd.concat(found, ignore_index=True)
    return table.assign(per_1000=1000 * table["n_decisions"] / n_samples)[[*_CERTIFIED, "reason"]]


@dataclass(frozen=True)
class Certified:
    """Objective of decisions that are right often enough, with a confidence level.

    A label is decided where its precision is certified. All other cells are ``"unsure"``.

    Parameters
    ----------
    precision : float, default=0.9
        Share of the decisions that a label is present that must be right.
    negative_precision : float or None, default=None
        Share of the decisions that a label is absent that must be right. None makes no such decision. It needs labels
        that are declared complete.
    confidence : float, default=0.95
        Probability that the certificate of a label holds.
    wrong_positives : float, default=0.0
        Share of the recorded positives among the decisions that may be wrong.
    joint : bool, default=False
        Whether all certificates hold at once with this confidence.

    Raises
    ------
    DataError
        If a number is out of range.

    Examples
    --------
    >>> p = np.linspace(1, 0, 101)[:, np.newaxis]
    >>> curves = curve_table((p > 0.5).astype(int), p, ["leaf"])
    >>> Certified(0.9).decide(pd.DataFrame({"leaf": [0.8, 0.2]}), curves)["leaf"].tolist()
    [1, 'unsure']
    """

    precision: float = PRECISION
    negative_precision: float | None = None
    confidence: float = CONFIDENCE
    wrong_positives: float = 0.0
    joint: bool = False

    def __post_init__(self) -> None:
        check_targets(self.precision, self.confidence, None, self.wrong_positives)
        if self.negative_precision is not None:
            check_targets(self.negative_precision, self.confidence, None, 0, "negative_precision")

    def certificates(self, curves: pd.DataFrame, decision: int = 1) -> pd.DataFrame:
        """Find the certified threshold of each label.

        Parameters
        ----------
        curves : DataFrame
            Table of ``curve_table``.
        decision : {1, 0}, default=1
            Whether labels are decided to be present or absent. The threshold of an absent label is one of 1 minus the
            probability.

        Returns
        -------
        DataFrame
            Columns ``label, threshold, precision_low, n_decisions, recall, recall_low, recall_high, reason``; see
            :func:`~fairfold.evaluation.certify`.

        Raises
        ------
        ModelError
            If absent labels are asked for, but the labels were not declared complete.
        """
        own = curves[curves["decision"] == decision]
        if not decision and own.empty:
            raise ModelError(
                "negative_precision: expected complete labels, but a 0 of the training table may be a missing "
                "positive. Declare the labels complete and refit the model, or leave it out."
            )
        named = {str(label): _curve(part) for label, part in own.groupby("label", sort=False)}
        target = self.precision if decision else self.negative_precision or PRECISION
        wrong = self.wrong_positives if decision else 0.0
        alpha = level_of([*named.values()], target / (1 - wrong), 1 - self.confidence, joint=self.joint)
        found = [certificate_of(curve, target, alpha, wrong_positives=wrong) for curve in named.values()]
        return pd.DataFrame({"label": [*named], **pd.DataFrame(found, columns=Certificate._fields)})

    def decide(self, P: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
        """Decide the labels of samples.

        Parameters
        ----------
        P : DataFrame of shape (n_samples, n_labels)
            Probabilities, with the names of the labels.
        curves : DataFrame
            Table of ``curve_table``.

        Returns
        -------
        DataFrame of shape (n_samples, n_labels)
            1, 0 or ``"unsure"``.
        """
        made = np.full(P.shape, UNSURE, dtype=object)
        for decision in (0, 1) if self.negative_precision is not None else (1,):
            thresholds = self.certificates(curves, decision).set_index("label")["threshold"]
            limits = thresholds.reindex(P.columns).to_numpy(dtype=np.float64)  # NaN is never exceeded.
            made[(P if decision else 1 - P).to_numpy() > limits] = decision
        return pd.DataFrame(made, index=P.index, columns=P.columns)


def _curve(table: pd.DataFrame) -> Curve:
    parts = {name: table[name].to_numpy() for name in Curve._fields}
    return Curve(**parts)._replace(n_positives=float(table["n_positives"].iloc[0]))
