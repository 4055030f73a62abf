"""Random forest (Breiman 2001) and extremely randomised trees (Geurts et al. 2006) of scikit-learn, on all labels.

As many trees as the deep forests' own, so that what these add to plain forests can be told; all else is
scikit-learn's. Each leaf keeps a share for every label: memory grows with trees · samples · labels · 32 bytes at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairfold.models.spec import ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def make(class_name: str, n_trees: int = 150) -> BaseEstimator:
    """Unfitted classifier of several labels.

    Parameters
    ----------
    class_name : of :mod:`fairfold.models.exact_forests`.
    n_trees : how many.
    """
    from fairfold.models import exact_forests

    return getattr(exact_forests, class_name)(n_trees)


def _spec(name: str, class_name: str) -> tuple[ModelSpec, ...]:
    parameters: dict[str, Any] = {"class_name": class_name}
    return with_correction(ModelSpec(name, make=f"{__name__}:make", parameters=parameters, settings=("n_trees",)))


SPECS = (*_spec("RandomForest", "ExactRandomForest"), *_spec("ExtraTrees", "ExactExtraTrees"))
