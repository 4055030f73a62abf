"""Convert the predicted probabilities of different classifiers to one format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.errors import ModelError

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

_ROUNDING = 1e-6  # Tolerance for rounding in single precision.
FLOOR = 1e-3
"""Smallest stored probability. Calibrations do not distinguish smaller values."""


class ProbabilityError(ModelError):
    """Error for predicted probabilities outside 0 to 1."""


def label_probabilities(model: ClassifierMixin, X: Matrix, n_labels: int) -> Matrix:
    """Predict the probability of each label with any fitted multilabel classifier.

    Parameters
    ----------
    model : ClassifierMixin
        Fitted classifier. Its ``predict_proba`` returns one matrix, or a list with one matrix per label.
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Features.
    n_labels : int
        Number of labels.

    Returns
    -------
    {ndarray, csr_array} of float64 of shape (n_samples, n_labels)
        Probabilities that labels are positive, sparse if the classifier returns a sparse matrix.

    Raises
    ------
    ModelError
        If probabilities have the wrong shape or are not finite.
    ProbabilityError
        If a probability is negative or above 1, up to rounding.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[1, 0], [1, 1], [0, 1]])
    >>> label_probabilities(KNeighborsClassifier(2).fit(X, Y), np.array([[0.4], [1.6]]), n_labels=2)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    P: Matrix = model.predict_proba(X)
    classes: Any = getattr(model, "classes_", None)
    if n_labels == 1 and not isinstance(P, list) and np.asarray(classes).dtype.kind in "biuf":
        P, classes = [P], [classes]  # scikit-learn treats a single label as two classes.
    if isinstance(P, list):  # One (n_samples, n_classes) array per label. Labels without positives have one class.
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


def logits(P: np.ndarray) -> np.ndarray:
    """Compute log odds of probabilities, clipped to [0.001, 0.999].

    Parameters
    ----------
    P : ndarray
        Probabilities.

    Returns
    -------
    ndarray
        Log odds.

    Examples
    --------
    >>> logits(np.array([0.0, 0.5, 0.9])).round(2)
    array([-6.91,  0.  ,  2.2 ])
    """
    return scipy.special.logit(np.clip(P, FLOOR, 1 - FLOOR))
