"""What each part of ``Stack+`` adds: its scores beside those of the same model without that part.

Both are trained on the same folds and the same hidden labels, on several splits. A part's gain is the difference of
their mean scores over the folds of a split; its interval over splits counts that these share their samples
(:mod:`fairfold.evaluation.corrected_t`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib import Memory
from scipy.special import stdtrit
from sklearn.base import BaseEstimator, clone

from fairfold.core.arrays import Matrix
from fairfold.evaluation.corrected_t import correlation_of_cross_validations
from fairfold.evaluation.metrics import HIGHER_IS_BETTER
from fairfold.evaluation.score_tables import where_defined
from fairfold.models.one_level import OneLevelModel
from fairfold.models.registry import make_model

WHOLE = "whole"
MODEL = "Stack+"
# Part -> settings of the model without it; of the imputation, which is no part, of the model with it.
WITHOUT: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "forests": {"members": ("boosting", "kernel ridge")},
        "boosting": {"members": ("forests", "kernel ridge")},
        "kernel ridge": {"members": ("forests", "boosting")},
        "chosen shapes": {"shape": "paper"},
        "levels": {"max_levels": 0},
        "weights": {"weighted": False},
        "calibration": {"calibrated": False},
        "label frequency": {"corrected": False},
    }
)
ADDED: Mapping[str, Mapping[str, Any]] = MappingProxyType({"imputation": {"imputation": "fla"}})
THRESHOLD = "threshold for MCC"  # the model as it is, its labels predicted for the objective
PARTS = (*WITHOUT, *ADDED, THRESHOLD)
_UNIT = ["dataset", "missing_rate", "metric"]
_COLUMNS = [*_UNIT, "part", "n_repeats", "whole", "gain", "low", "high"]


def make_variant(part: str, **settings: Any) -> BaseEstimator:
    """Unfitted model without a part, or with one that it does not have.

    Parameters
    ----------
    part : ``WHOLE`` or one of ``PARTS``.
    **settings : as of :func:`~fairfold.models.registry.make_model`.
    """
    if part == THRESHOLD:
        return _AtThreshold(make_model(MODEL, **settings))
    return make_model(MODEL, **{**settings, **{WHOLE: {}, **WITHOUT, **ADDED}[part]})


@dataclass(eq=False, repr=False)
class _AtThreshold(BaseEstimator):
    """Probabilities moved, in the same order, so that one half is where the model's threshold for MCC was."""

    model: OneLevelModel
    _: KW_ONLY
    objective: str = "mcc"

    def learns_sparse(self, Y: Matrix) -> bool:
        """Return False: probabilities are moved as arrays."""
        return False

    def fit(
        self, X: Matrix, Y: Matrix, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        self.model_ = clone(self.model).fit(X, Y, groups=groups, sample_weight=sample_weight)
        self.best_levels_ = self.model_.best_levels_
        return self

    def staged_predict_proba(self, X: Matrix) -> Iterator[np.ndarray]:
        threshold = np.array(self.model_.estimator_.thresholds_[self.objective]["pooled"])
        for proba in self.model_.staged_predict_proba(X):
            above = 0.5 + 0.5 * (proba - threshold) / (1 - threshold)
            below = 0.5 * proba / np.maximum(threshold, np.finfo(float).tiny)
            yield np.where(proba > threshold, above, below)


def ablation_table(
    scores: pd.DataFrame, *, n_splits: int, level: float = 0.95, better: Mapping[str, bool] = HIGHER_IS_BETTER
) -> pd.DataFrame:
    """What each part adds on each dataset, and on the mean of all.

    Parameters
    ----------
    scores : columns ``dataset, missing_rate, repeat, part, fold, metric, value, reason``, of ``WHOLE`` and of parts.
    n_splits : folds of a split.
    level : of the intervals.
    better : for each metric whether more is better; gains are positive where the part helps.

    Returns
    -------
    DataFrame with the columns ``dataset, missing_rate, metric, part, n_repeats, whole, gain, low, high, n_failed,
        reason``. ``whole`` is the mean score of the whole model. The dataset ``all`` has means over datasets, whose
        interval is over splits, too, so that it says nothing of other datasets. Intervals are NaN for a single split.
        Folds in which a metric is undefined for all parts are left out. Where another fold has no score, there is no
        gain; ``n_failed`` counts such folds, ``reason`` is that of the first.
    """
    scores = scores.fillna({"reason": ""})
    cells = [*_UNIT, "repeat", "part"]
    defined = where_defined(scores, [*_UNIT, "repeat", "fold"])
    means = defined.groupby(cells, sort=False)["value"].agg(_mean_of_all).unstack("part")
    over_all = means.groupby(["missing_rate", "metric", "repeat"], sort=False).agg(_mean_of_all)
    over_all = pd.concat({"all": over_all}, names=["dataset"])
    means = means.reindex(scores.groupby(cells, sort=False).size().unstack("part").index)
    rows = []
    for cell, part_means in pd.concat([means, over_all]).groupby(_UNIT, sort=False):
        sign = 1 if better[cell[2]] else -1
        for part in [name for name in PARTS if name in part_means]:
            added = part in ADDED or part == THRESHOLD
            lead = sign * (part_means[WHOLE] - part_means[part]) * (-1 if added else 1)
            gain, half = lead.mean(), _half_width(lead.to_numpy(), n_splits, level)
            rows.append((*cell, part, len(lead), part_means[WHOLE].mean(), gain, gain - half, gain + half))
    failed = scores[scores["reason"] != ""].groupby([*_UNIT, "part"])["reason"].agg(n_failed="size", reason="first")
    found = pd.DataFrame(rows, columns=_COLUMNS).join(failed, on=[*_UNIT, "part"])
    return found.fillna({"n_failed": 0, "reason": ""}).astype({"n_failed": int})


def _mean_of_all(values: pd.Series) -> float:
    """NaN where one has no score."""
    return values.mean(skipna=False)


def _half_width(lead: np.ndarray, n_splits: int, level: float) -> float:
    n = len(lead)
    if n < 2:
        return np.nan
    rho = correlation_of_cross_validations(n_splits)
    return stdtrit(n - 1, (1 + level) / 2) * lead.std(ddof=1) * np.sqrt(1 / n + rho / (1 - rho))


def scores_of_parts(
    score: Callable[[Callable[[int], BaseEstimator], int], pd.DataFrame],
    settings: Callable[[int], Mapping[str, Any]],
    n_splits: int,
    parts: Sequence[str] = PARTS,
) -> pd.DataFrame:
    """Scores of the whole model and of it without each part, on one split.

    Members that several of these have in common are fitted once a fold, and kept in a temporary folder until its end.

    Parameters
    ----------
    score : from (fold -> unfitted estimator) and a fold to its final scores, columns ``fold, metric, value``.
    settings : fold -> settings of the model, with its seed.
    n_splits : number of folds.
    parts : of ``PARTS``.
    """
    tables = []
    for fold in range(n_splits):
        with TemporaryDirectory() as folder:
            memory = Memory(folder, verbose=0)
            for part in (WHOLE, *parts):
                make = partial(_variant_of_fold, part, settings, memory)
                tables.append(score(make, fold).assign(part=part))
    return pd.concat(tables, ignore_index=True)


def _variant_of_fold(
    part: str, settings: Callable[[int], Mapping[str, Any]], memory: Memory, fold: int
) -> BaseEstimator:
    return make_variant(part, **settings(fold), memory=memory)
