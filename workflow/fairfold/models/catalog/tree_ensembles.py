"""Random forest (Breiman 2001) and extremely randomized trees (Geurts et al. 2006) of scikit-learn, on all labels.

The number of trees equals that of the deep forests, which makes the benefit of the latter measurable. Other settings
are the defaults of scikit-learn. Each leaf stores a share for every label. Memory is at most 32 bytes times the product
of trees, samples and labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairfold.core.defaults import N_TREES
from fairfold.models.spec import ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def make(class_name: str, n_trees: int = N_TREES) -> BaseEstimator:
    """Create an unfitted random forest or extremely randomized trees of scikit-learn.

    Parameters
    ----------
    class_name : str
        Name of a class of :mod:`sklearn.ensemble`.
    n_trees : int, default=150
        Number of trees.

    Returns
    -------
    estimator object
        Classifier of several labels. Distinct feature values that scikit-learn would merge stay distinct.
    """
    from sklearn import ensemble

    from fairfold.core.precision import SCIKIT_LEARN_GAP, DistinctValues
    from fairfold.models.binary import prepared

    forest = getattr(ensemble, class_name)(n_trees)
    return prepared(forest, distinct=DistinctValues(least_gap=SCIKIT_LEARN_GAP), fills=False)


def _specs(name: str, phrase: str) -> tuple[ModelSpec, ModelSpec]:
    return with_correction(
        ModelSpec(
            name,
            make=f"{__name__}:make",
            parameters={"class_name": f"{name}Classifier"},
            settings=("n_trees",),
            phrase=phrase,
            traits=("forest", "passed gaps", "close values"),
        )
    )


SPECS = (
    *_specs("RandomForest", "a random forest [@breiman2001]"),
    *_specs("ExtraTrees", "extremely randomized trees [@geurts2006]"),
)
