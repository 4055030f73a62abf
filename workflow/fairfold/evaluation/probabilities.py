"""Predicted probabilities, whichever way a classifier tells them."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin

from fairfold.arrays import Matrix
from fairfold.errors import ModelError

_ROUNDING = 1e-6  # what sums of single precision may be off by


class ProbabilityError(ModelError):
    """What a model calls probabilities is none."""


def label_probabilities(model: ClassifierMixin, X: Matrix, n_labels: int) -> np.ndarray:
    """Probability that each label is positive, whichever way a fitted classifier tells it.

    Returns
    -------
    ndarray of float64, shape (n_samples, n_labels)

    Raises
    ------
    ModelError
        When the probabilities have another shape or are not finite; ProbabilityError, which is one, when some are
        negative or above 1.
    """
    P = model.predict_proba(X)
    classes = getattr(model, "classes_", None)
    if n_labels == 1 and not isinstance(P, list) and np.asarray(classes).dtype.kind in "biuf":
        P, classes = [P], [classes]  # a single label is one of two classes to scikit-learn, and not one of its columns
    if isinstance(P, list):  # of (n_samples, n_classes), one per label; a label without positives has one class
        P = np.column_stack([p @ (np.asarray(c) == 1) for p, c in zip(P, classes, strict=True)])
    P = np.asarray(P, dtype=np.float64)
    if P.shape != (X.shape[0], n_labels) or not np.isfinite(P).all():
        raise ModelError(
            f"predict_proba gives shape {P.shape} with {np.count_nonzero(~np.isfinite(P))} values that are not finite; "
            f"({X.shape[0]}, {n_labels}) finite numbers are needed, one column per label"
        )
    lowest, highest = P.min(initial=0), P.max(initial=0)
    if lowest < -_ROUNDING or highest > 1 + _ROUNDING:
        worst = lowest if -lowest > highest - 1 else highest
        raise ProbabilityError(f"predict_proba gives {worst:.4g}; probabilities are numbers from 0 to 1")
    return P
