"""What the label imputers remember from one cascade level to the next.

The rules that turn probabilities into labels are pure functions of :mod:`fairfold.weak_labels.imputation`. The classes
here keep the state around them: which labels have reached their cap, which frequencies were estimated, and a log of
what was done. A label that has reached its cap is frozen with its imputations; every other label starts anew from the
observed labels at each level (Ilidio et al. 2024, Equation 1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from fairfold.core.hierarchy import Hierarchy
from fairfold.core.validation import unmeasured_cells
from fairfold.weak_labels import (
    fluid_label_addition,
    label_complement,
    label_frequency,
    positive_cap,
    strict_label_complement,
)


@dataclass(eq=False, repr=False)
class BaseImputer:
    """Labels of a cascade, and a log of what was imputed.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen. NaN is an unmeasured label, which stays NaN and
        is no candidate.
    hierarchy : of the labels, or None. What is above an imputed label is imputed with it, and be it frozen, over its
        cap or unmeasured.

    Attributes
    ----------
    labels : (n_samples, n_labels), observed and imputed so far.
    frequency, cap, frozen : (n_labels,) label frequencies, most positives, and whether a label is imputed no further.
    log : list of dicts, one per level and label.
    """

    observed: np.ndarray
    _: KW_ONLY
    hierarchy: Hierarchy | None = None

    def __post_init__(self) -> None:
        n_samples, n_labels = self.observed.shape
        self.labels, self._unmeasured = self.observed, unmeasured_cells(self.observed)
        self.observed = np.fmax(self.observed, 0)
        self.frequency = np.ones(n_labels)
        self.cap = np.full(n_labels, n_samples)
        self.frozen = np.zeros(n_labels, dtype=bool)
        self.log: list[dict[str, float | str]] = []

    def _and_all_above(self, labels: np.ndarray) -> np.ndarray:
        """Labels of 0/1, or weights of them, none of which is above that of a label that it follows from."""
        if self.hierarchy is None:
            return labels
        known = np.fmax(labels, 0)
        raised = self.hierarchy.reconcile(known, "maximum")
        return np.where(raised > known, raised, labels).astype(labels.dtype)

    def _write_log(self, level: int) -> None:
        n_observed = self.observed.sum(axis=0)
        n_positive = np.fmax(self.labels, 0).sum(axis=0, dtype=np.float64)
        for label in range(len(n_observed)):
            self.log.append(
                {
                    "level": level,
                    "label": label,
                    "label_frequency": float(self.frequency[label]),
                    "cap": int(self.cap[label]),
                    "observed": int(n_observed[label]),
                    "imputed": float(n_positive[label] - n_observed[label]),
                    "frozen": bool(self.frozen[label]),
                    "note": _note(n_observed[label], len(self.observed)),
                }
            )


class LabelImputer(BaseImputer, ABC):
    """The published imputations."""

    @property
    def active(self) -> np.ndarray:
        """Places of the labels that may still change."""
        return np.flatnonzero(~self.frozen)

    @property
    def is_complete(self) -> bool:
        """Whether every label is frozen."""
        return bool(self.frozen.all())

    def impute(self, level: int, probabilities: np.ndarray) -> np.ndarray:
        """Labels for the predictors of a level.

        Parameters
        ----------
        level : number of the level.
        probabilities : (n_forests, n_samples, n_active) of the active labels, of forests that did not see the sample.
        """
        active = self.active
        if len(active):
            probabilities = np.where(self._unmeasured[:, active], 0, probabilities)
            self._estimate(probabilities)
            self.labels = self.labels.copy()
            proposed = self._propose(active, probabilities)
            self.labels[:, active] = _with_gaps(proposed, self._unmeasured[:, active])
            self.labels = self._and_all_above(self.labels)
            self.frozen[active] = self._has_reached_limit(active)
        self._write_log(level)
        return self.labels

    @abstractmethod
    def _estimate(self, probabilities: np.ndarray) -> None:
        """Set ``frequency`` and ``cap``."""

    @abstractmethod
    def _propose(self, active: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """(n_samples, n_active) labels."""

    def _has_reached_limit(self, active: np.ndarray) -> np.ndarray:
        return np.fmax(self.labels[:, active], 0).sum(axis=0) >= self.cap[active]


@dataclass(eq=False, repr=False)
class StrictLabelComplement(LabelImputer):
    """SLC: frequencies are estimated once, at level 1, and cap the number of positives (Section 3.2, Equation 8).

    Parameters
    ----------
    percentile, threshold, cap_rounding : see :class:`~fairfold.forests.cascade.CascadeForest`.
    threshold_on : ``"probability"``, the mean probability of the forests, or ``"posterior"``, that divided by the label
        frequency.
    """

    _: KW_ONLY
    percentile: float
    threshold: float
    cap_rounding: Literal["ceil", "floor"]
    threshold_on: Literal["probability", "posterior"]
    _is_first_level = True

    def _estimate(self, probabilities: np.ndarray) -> None:
        if self._is_first_level:
            self.frequency = label_frequency(self.observed, probabilities.mean(axis=0), percentile=self.percentile)
            self.cap = positive_cap(self.observed, self.frequency, rounding=self.cap_rounding)
            self._is_first_level = False

    def _propose(self, active: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        return strict_label_complement(
            self.observed[:, active],
            probabilities.mean(axis=0),
            self.cap[active],
            threshold=self.threshold,
            frequency=self.frequency[active] if self.threshold_on == "posterior" else None,
        )


@dataclass(eq=False, repr=False)
class FluidLabelAddition(LabelImputer):
    """FLA: frequencies are estimated at every level, and there is no cap (Section 3.2, Equation 9).

    Parameters
    ----------
    percentile, threshold : see :class:`~fairfold.forests.cascade.CascadeForest`.
    """

    _: KW_ONLY
    percentile: float
    threshold: float

    def _estimate(self, probabilities: np.ndarray) -> None:
        self.frequency = label_frequency(self.observed, probabilities.mean(axis=0), percentile=self.percentile)

    def _propose(self, active: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        return fluid_label_addition(self.observed, probabilities.mean(axis=0), self.frequency, threshold=self.threshold)

    def _has_reached_limit(self, active: np.ndarray) -> np.ndarray:
        return np.zeros(len(active), dtype=bool)


@dataclass(eq=False, repr=False)
class LabelComplement(LabelImputer):
    """LC: every forest must agree (Wang, Yang & Li 2020; Equation 2 of Ilidio et al. 2024).

    A label may pass its cap, and is frozen with the overshoot then.

    Parameters
    ----------
    given : (n_labels,) label frequencies, by TIcE.
    threshold : probability that all forests must exceed.
    cap_rounding : ``"ceil"`` or ``"floor"``.
    """

    _: KW_ONLY
    given: np.ndarray
    threshold: float
    cap_rounding: Literal["ceil", "floor"]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.frequency = self.given
        self.cap = positive_cap(self.observed, self.given, rounding=self.cap_rounding)

    def _estimate(self, probabilities: np.ndarray) -> None:
        """Frequencies are given."""

    def _propose(self, active: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        return label_complement(self.observed[:, active], probabilities, threshold=self.threshold)


@dataclass(eq=False, repr=False)
class PosteriorImputer(BaseImputer):
    """Imputation of the cascades on out-of-bag features, from probabilities that a label is observed and one
    label frequency.

    By Bayes' rule an unobserved label is positive with probability p (1 - c) / (c (1 - p)), where p is the probability
    that it is observed (Elkan & Noto 2008, Equation 3).

    Parameters
    ----------
    is_strict : whether the likeliest labels above the threshold become positive, as many as c implies; otherwise every
        unobserved label becomes its probability, a fraction.
    threshold : of a strict imputation.
    """

    _: KW_ONLY
    is_strict: bool
    threshold: float

    def impute(self, level: int, seen_proba: np.ndarray, frequency: float | Sequence[float]) -> np.ndarray:
        """Labels for the encoders of a level.

        Parameters
        ----------
        level : number of the level.
        seen_proba : (n_samples, n_labels) probabilities that a label is observed, of models that did not see it.
        frequency : c, in (0, 1], or that of each label.
        """
        self.frequency[:] = frequency
        frequency = np.asarray(frequency)
        odds = seen_proba / np.maximum(1 - seen_proba, np.finfo(float).tiny)
        hidden_proba = np.where(self._unmeasured, 0, np.minimum(1, odds * (1 - frequency) / frequency))
        if self.is_strict:
            self.cap = positive_cap(self.observed, self.frequency)
            self.labels = strict_label_complement(self.observed, hidden_proba, self.cap, threshold=self.threshold)
        else:
            self.labels = np.where(self.observed == 1, 1.0, hidden_proba)
        self.labels = self._and_all_above(_with_gaps(self.labels, self._unmeasured))
        self._write_log(level)
        return self.labels


def _with_gaps(labels: np.ndarray, unmeasured: np.ndarray) -> np.ndarray:
    """Labels with NaN in these cells."""
    return np.where(unmeasured, np.nan, labels) if unmeasured.any() else labels


def _note(n_observed: int, n_samples: int) -> str:
    if n_observed == 0:
        return "no observed positives: nothing can be learned or imputed"
    if n_observed == n_samples:
        return "all samples are positive: nothing is left to impute"
    return ""
