"""Random forest (Breiman 2001) and extremely randomized trees (Geurts et al. 2006) of scikit-learn, on all labels.

The number of trees equals that of the deep forests, which makes the benefit of the latter measurable. Other settings
are the defaults of scikit-learn. Each leaf stores a share for every label. Memory is at most 32 bytes times the product
of trees, samples and labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairfold.models.spec import ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def make(class_name: str, n_trees: int = 150) -> BaseEstimator:
    """Make the unfitted classifier.

    Parameters
    ----------
    class_name : str
        Name of a class of :mod:`fairfold.models.exact_forests`.
    n_trees : int, default=150
        Number of trees.

    Returns
    -------
    estimator object
        Classifier of several labels.
    """
    from fairfold.models import exact_forests

    return getattr(exact_forests, class_name)(n_trees)


def _spec(name: str, class_name: str) -> tuple[ModelSpec, ...]:
    parameters: dict[str, Any] = {"class_name": class_name}
    return with_correction(ModelSpec(name, make=f"{__name__}:make", parameters=parameters, settings=("n_trees",)))


SPECS = (*_spec("RandomForest", "ExactRandomForest"), *_spec("ExtraTrees", "ExactExtraTrees"))
