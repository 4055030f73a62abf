"""Weighted pool of forests, boosting and kernel ridge regression, fitted to out-of-sample probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairfold.core.defaults import MAX_LEVELS, N_TREES
from fairfold.models.spec import OUT_OF_BAG, SINGLE, ModelSpec

if TYPE_CHECKING:
    from fairfold.models.stacking import StackedClassifier

TREES_OF_MANY = 100  # maximum number of trees of each kind
LEAF_OF_LARGE = 5


def make(n_trees: int = N_TREES, max_levels: int = MAX_LEVELS, **options: Any) -> StackedClassifier:
    """Create an unfitted pool of forests, boosting of two kinds, and kernel ridge regression.

    For data with many labels, the pool consists of a forest with one level and a ridge regression. More levels do not
    improve the scores there. Boosting with symmetric trees finds interactions that other members miss. For large data,
    it comes first, others are left out if they have hardly any weight when they are tried on a sample, and the forest
    has one level, because it gains little there for most of the run time. Ridge regression on the frequencies of terms
    is an additional member for tables with text and for sparse counts. The forest has one level there unless trees have
    weight, because more levels take most of the run time.

    Parameters
    ----------
    n_trees : int, default=150
        Number of trees of the forests; see :class:`~fairfold.forests.out_of_bag.OutOfBagCascade`.
    max_levels : int, default=10
        Maximum number of levels of the forests.
    **options : object
        Parameters of :class:`~fairfold.models.stacking.StackedClassifier`.

    Returns
    -------
    StackedClassifier
        Classifier of several labels.
    """
    from fairfold.forests.boosting import MultilabelBoosting
    from fairfold.forests.out_of_bag import OutOfBagCascade
    from fairfold.models.kernel_ridge import KernelRidgeClassifier
    from fairfold.models.many_label_ridge import ManyLabelRidge
    from fairfold.models.stacking import StackedClassifier
    from fairfold.models.text_ridge import TextRidge

    forests = ("forests", OutOfBagCascade(n_trees=n_trees, max_levels=max_levels))
    boosting = ("boosting", MultilabelBoosting(kind="random_forest", max_features="sqrt"))
    symmetric = ("symmetric boosting", MultilabelBoosting(kind="symmetric"))
    kernel_ridge = ("kernel ridge", KernelRidgeClassifier())
    few_trees = OutOfBagCascade(n_trees=n_trees, max_levels=0, shape="paper", min_samples_leaf=LEAF_OF_LARGE)
    one_level = OutOfBagCascade(n_trees=min(n_trees, TREES_OF_MANY), max_levels=0)
    of_many = [("forests", one_level), ("ridge", ManyLabelRidge())]
    return StackedClassifier(
        [forests, boosting, kernel_ridge, symmetric],
        of_many=of_many,
        of_large=[symmetric, boosting, kernel_ridge, ("forests", few_trees)],
        of_terms=[("text ridge", TextRidge())],
        of_text=[("forests", few_trees)],
        **options,
    )


_SETTINGS = ("n_trees", "max_levels", "minutes")
_CHOSEN = ("chosen rounds", "chosen weights")
_POOLS = ("gcForest+", "joint-GB", "kernel-ridge")

SPECS = (
    ModelSpec(
        "Stack+",
        make=f"{__name__}:make",
        settings=_SETTINGS,
        pools=_POOLS,
        phrase="a weighted mean of the calibrated probabilities of a deep forest, boosted trees, kernel ridge "
        "regression and boosted symmetric trees as in CatBoost [@prokhorenkova2018]{of_terms}{of_large}{of_many}, "
        "divided by the label frequency where labels are incomplete [@fairfold]",
        additions={
            "of_terms": ", for text or sparse counts also of ridge regression on the frequencies of terms, and with a "
            "forest of one level if trees have little weight",
            "of_large": ", from 5,000 samples on with a forest of one level and without members that have hardly any "
            "weight when they are fitted to about 2,000 samples",
            "of_many": ", or with more than 128 labels of a forest and ridge regression",
        },
        traits=("pool", "placed gaps", "filled gaps", SINGLE, "kernel ridge", *OUT_OF_BAG, *_CHOSEN),
    ),
)
