"""Ours: forests, boosting and kernel ridge regression, pooled by what each says of samples that it did not see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairfold.models.spec import ModelSpec

if TYPE_CHECKING:
    from fairfold.models.stacking import StackedClassifier


def make(n_trees: int = 150, max_levels: int = 10) -> StackedClassifier:
    """Unfitted classifier of several labels.

    Parameters
    ----------
    n_trees, max_levels : of the cascade of forests.
    """
    from fairfold.forests import make_model
    from fairfold.forests.boosting import MultilabelBoosting
    from fairfold.models.kernel_ridge import KernelRidgeClassifier
    from fairfold.models.stacking import StackedClassifier

    return StackedClassifier(
        [
            ("forests", make_model("gcForest+", shape="auto", patience=1, n_trees=n_trees, max_levels=max_levels)),
            ("boosting of extra trees", MultilabelBoosting()),
            ("boosting", MultilabelBoosting(kind="random_forest", max_features="sqrt")),
            ("kernel ridge", KernelRidgeClassifier()),
        ]
    )


SPECS = (ModelSpec("Stack+", make=f"{__name__}:make", settings=("n_trees", "max_levels")),)
