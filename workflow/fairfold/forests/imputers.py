"""Label imputers that keep their state from one cascade level to the next.

The functions of :mod:`fairfold.weak_labels.imputation` convert probabilities to labels. The classes of this module
store the state between levels: estimated label frequencies, labels that are frozen with their imputations, and a log.
All other labels restart from the observed labels at each level (Ilidio et al. 2024, Equation 1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfold.core.hierarchy import Hierarchy
from fairfold.core.validation import unmeasured_cells
from fairfold.weak_labels import (
    fluid_label_addition,
    label_complement,
    label_frequency,
    positive_cap,
    strict_label_complement,
)

_NO_POSITIVES = "no observed positives: nothing can be learned or imputed"
_ALL_POSITIVE = "all samples are positive: there is nothing to impute"


@dataclass(eq=False, repr=False)
class BaseImputer:
    """Base class of label imputers with a log of imputations.

    Parameters
    ----------
    observed : ndarray of shape (n_samples, n_labels)
        Observed labels of 0/1. NaN is an unmeasured label; it stays NaN and is not imputed.
    hierarchy : Hierarchy or None, default=None
        Label hierarchy. Ancestors of an imputed label are imputed too, even if they are frozen, above their cap or
        unmeasured.

    Attributes
    ----------
    labels : ndarray of shape (n_samples, n_labels)
        Observed and imputed labels.
    frequency : ndarray of shape (n_labels,)
        Label frequencies.
    cap : ndarray of shape (n_labels,)
        Maximum number of positives of each label.
    frozen : ndarray of bool of shape (n_labels,)
        Whether a label is no longer imputed.
    log : list of dict
        One entry per level and label.
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
        self.log: list[dict[str, Any]] = []

    def _and_all_above(self, labels: np.ndarray) -> np.ndarray:
        """Raise each label, or its weight, to at least the value of its descendants in the hierarchy."""
        if self.hierarchy is None:
            return labels
        known = np.fmax(labels, 0)
        raised = self.hierarchy.reconcile(known, "maximum")
        return np.where(raised > known, raised, labels).astype(labels.dtype)

    def _write_log(self, level: int) -> None:
        n_observed = self.observed.sum(axis=0).astype(int)
        n_positive = np.fmax(self.labels, 0).sum(axis=0, dtype=np.float64)
        columns: dict[str, Any] = {
            "level": level,
            "label": range(len(n_observed)),
            "label_frequency": self.frequency,
            "cap": self.cap,
        }
        columns |= {"observed": n_observed, "imputed": n_positive - n_observed, "frozen": self.frozen}
        notes = np.where(n_observed == len(self.observed), _ALL_POSITIVE, "")
        columns["note"] = np.where(n_observed == 0, _NO_POSITIVES, notes)
        self.log += pd.DataFrame(columns).to_dict("records")


class LabelImputer(BaseImputer, ABC):
    """Base class of the published imputers.

    Parameters
    ----------
    observed : ndarray of shape (n_samples, n_labels)
        Observed labels of 0/1. NaN is an unmeasured label.
    hierarchy : Hierarchy or None, default=None
        Label hierarchy.
    """

    @property
    def active(self) -> np.ndarray:
        """Indices of the labels that may still change."""
        return np.flatnonzero(~self.frozen)

    @property
    def is_complete(self) -> bool:
        """Whether every label is frozen."""
        return bool(self.frozen.all())

    def impute(self, level: int, probabilities: np.ndarray) -> np.ndarray:
        """Impute labels for the predictors of a level.

        Parameters
        ----------
        level : int
            Number of the level.
        probabilities : ndarray of shape (n_forests, n_samples, n_active)
            Probabilities of the active labels from forests that did not see the sample.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Observed and imputed labels.
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

    def _estimate(self, probabilities: np.ndarray) -> None:
        """Update ``frequency`` and ``cap`` from the probabilities, if the imputer estimates them."""

    @abstractmethod
    def _propose(self, active: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """Return labels (n_samples, n_active)."""

    def _has_reached_limit(self, active: np.ndarray) -> np.ndarray:
        return np.fmax(self.labels[:, active], 0).sum(axis=0) >= self.cap[active]


@dataclass(eq=False, repr=False)
class StrictLabelComplement(LabelImputer):
    """Strict label complement (SLC) of Ilidio et al. (2024), Section 3.2 and Equation 8.

    Label frequencies are estimated once, at level 1, and limit the number of positives.

    Parameters
    ----------
    observed : ndarray of shape (n_samples, n_labels)
        Observed labels of 0/1. NaN is an unmeasured label.
    hierarchy : Hierarchy or None, default=None
        Label hierarchy.
    percentile : float
        Quantile used to estimate the label frequency, see :func:`fairfold.weak_labels.label_frequency`.
    threshold : float
        Value above which a label can be imputed.
    cap_rounding : {"ceil", "floor"}
        Rounding of the maximum number of positives.
    threshold_on : {"probability", "posterior"}
        Value compared with the threshold: the mean probability of the forests, or this probability divided by the label
        frequency.
    freezes : bool
        Whether a label that has reached its cap keeps its imputations at all further levels. In the text of the paper
        only LC does this.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.imputers import StrictLabelComplement
    >>> options = {"percentile": 0.95, "threshold": 0.5, "cap_rounding": "ceil", "threshold_on": "probability"}
    >>> imputer = StrictLabelComplement(np.array([[1], [0], [0], [0]]), **options, freezes=False)
    >>> imputer.impute(1, np.array([[[0.6], [0.7], [0.55], [0.1]]])).ravel()
    array([1, 1, 0, 0])
    >>> imputer.frequency, imputer.cap
    (array([0.6]), array([2]))
    """

    _: KW_ONLY
    percentile: float
    threshold: float
    cap_rounding: Literal["ceil", "floor"]
    threshold_on: Literal["probability", "posterior"]
    freezes: bool
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

    def _has_reached_limit(self, active: np.ndarray) -> np.ndarray:
        return super()._has_reached_limit(active) & self.freezes


@dataclass(eq=False, repr=False)
class FluidLabelAddition(LabelImputer):
    """Fluid label addition (FLA) of Ilidio et al. (2024), Section 3.2 and Equation 9.

    Label frequencies are estimated at every level, and the number of positives is not limited.

    Parameters
    ----------
    observed : ndarray of shape (n_samples, n_labels)
        Observed labels of 0/1. NaN is an unmeasured label.
    hierarchy : Hierarchy or None, default=None
        Label hierarchy.
    percentile : float
        Quantile used to estimate the label frequency, see :func:`fairfold.weak_labels.label_frequency`.
    threshold : float
        Probability, divided by the label frequency, above which a label is imputed.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.imputers import FluidLabelAddition
    >>> imputer = FluidLabelAddition(np.array([[1], [0], [0], [0]]), percentile=0.95, threshold=0.5)
    >>> imputer.impute(1, np.array([[[0.6], [0.7], [0.55], [0.1]]])).ravel()
    array([1, 1, 1, 0])
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
    """Label complement (LC) of Wang, Yang & Li (2020); Equation 2 of Ilidio et al. (2024).

    A label is imputed if all forests agree.

    A label may exceed its cap. It is then frozen with the excess.

    Parameters
    ----------
    observed : ndarray of shape (n_samples, n_labels)
        Observed labels of 0/1. NaN is an unmeasured label.
    hierarchy : Hierarchy or None, default=None
        Label hierarchy.
    known_frequency : ndarray of shape (n_labels,)
        Label frequencies estimated with TIcE.
    threshold : float
        Probability that all forests must exceed.
    cap_rounding : {"ceil", "floor"}
        Rounding of the maximum number of positives.
    """

    _: KW_ONLY
    known_frequency: np.ndarray
    threshold: float
    cap_rounding: Literal["ceil", "floor"]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.frequency = self.known_frequency
        self.cap = positive_cap(self.observed, self.known_frequency, rounding=self.cap_rounding)

    def _propose(self, active: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        return label_complement(self.observed[:, active], probabilities, threshold=self.threshold)


@dataclass(eq=False, repr=False)
class PosteriorImputer(BaseImputer):
    """Label imputer of the cascades on out-of-bag features.

    Parameters
    ----------
    observed : ndarray of shape (n_samples, n_labels)
        Observed labels of 0/1. NaN is an unmeasured label.
    hierarchy : Hierarchy or None, default=None
        Label hierarchy.
    is_strict : bool
        Whether to impute only the most likely labels above the threshold, up to the number implied by the label
        frequency. If False, every unobserved label is replaced by its probability.
    threshold : float
        Probability above which a strict imputation can impute a label.

    Notes
    -----
    By Bayes' rule, an unobserved label is positive with probability p (1 - c) / (c (1 - p)), where p is the probability
    that the label is observed and c is the label frequency (Elkan & Noto 2008, Equation 3).

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.imputers import PosteriorImputer
    >>> imputer = PosteriorImputer(np.array([[1], [0], [0]]), is_strict=False, threshold=0.5)
    >>> imputer.impute(1, np.array([[0.9], [0.2], [0.0]]), frequency=0.5).ravel()
    array([1.  , 0.25, 0.  ])
    """

    _: KW_ONLY
    is_strict: bool
    threshold: float

    def impute(self, level: int, seen_proba: np.ndarray, frequency: ArrayLike) -> np.ndarray:
        """Impute labels for the encoders of a level.

        Parameters
        ----------
        level : int
            Number of the level.
        seen_proba : ndarray of shape (n_samples, n_labels)
            Probabilities that a label is observed, from models that did not see the sample.
        frequency : float or sequence of float
            Label frequency in (0, 1], shared by all labels or one per label.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Observed and imputed labels.
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
    """Set unmeasured cells to NaN."""
    return np.where(unmeasured, np.nan, labels) if unmeasured.any() else labels
