"""Predicted probabilities, whichever way a classifier tells them."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin

from fairfold.core.arrays import Matrix
from fairfold.errors import ModelError

_ROUNDING = 1e-6  # what sums of single precision may be off by


class ProbabilityError(ModelError):
    """What a model calls probabilities is none."""


def label_probabilities(model: ClassifierMixin, X: Matrix, n_labels: int) -> Matrix:
    """Probability that each label is positive, whichever way a fitted classifier tells it.

    Returns
    -------
    (n_samples, n_labels) of float64, CSR where the classifier gives a sparse matrix

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
    P = sparse.csr_array(P, dtype=np.float64) if sparse.issparse(P) else np.asarray(P, dtype=np.float64)
    values = P.data if sparse.issparse(P) else P
    if P.shape != (X.shape[0], n_labels) or not np.isfinite(values).all():
        raise ModelError(
            f"predict_proba gives shape {P.shape} with {np.count_nonzero(~np.isfinite(values))} values that are not "
            f"finite; ({X.shape[0]}, {n_labels}) finite numbers are needed, one column per label"
        )
    lowest, highest = values.min(initial=0), values.max(initial=0)
    if lowest < -_ROUNDING or highest > 1 + _ROUNDING:
        worst = lowest if -lowest > highest - 1 else highest
        raise ProbabilityError(f"predict_proba gives {worst:.4g}; probabilities are numbers from 0 to 1")
    return P
