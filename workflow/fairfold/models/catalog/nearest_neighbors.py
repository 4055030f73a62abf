"""k nearest neighbors and ML-kNN on standardized features, with k = 10 as in the paper of ML-kNN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairfold.models.spec import SCALED, ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

_NEIGHBORS = 10


def make_k_nearest_neighbors() -> BaseEstimator:
    """Create an unfitted classifier of k nearest neighbors.

    The probability of a label is the share of neighbors that have it.

    Returns
    -------
    estimator object
        Classifier of several labels.
    """
    from sklearn.neighbors import KNeighborsClassifier

    from fairfold.models.binary import prepared

    return prepared(KNeighborsClassifier(_NEIGHBORS), scale=True)


def make_ml_knn() -> BaseEstimator:
    """Create an unfitted ML-kNN classifier.

    Returns
    -------
    estimator object
        Classifier of several labels.
    """
    from fairfold.models.binary import prepared
    from fairfold.models.ml_knn import MLkNN

    return prepared(MLkNN(_NEIGHBORS), scale=True)


SPECS = (
    *with_correction(
        ModelSpec(
            "kNN",
            make=f"{__name__}:make_k_nearest_neighbors",
            phrase="the ten nearest neighbors on standardized features [@pedregosa2011]",
            traits=("nearest-neighbor", *SCALED),
        )
    ),
    *with_correction(
        ModelSpec(
            "ML-kNN",
            make=f"{__name__}:make_ml_knn",
            phrase="multilabel nearest neighbors with ten neighbors on standardized features [@zhang2007]",
            traits=("nearest-neighbor", *SCALED),
        )
    ),
)
