"""Partial multi-label learning: forests on what is left when likely wrong positives are dropped.

`gcForest+` on labels of which out-of-bag probabilities of its first level have said which positives are wrong
(:mod:`fairfold.models.wrong_positives`); where none seem to be, it is `gcForest+`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairfold.models.spec import ModelSpec

if TYPE_CHECKING:
    from fairfold.models.wrong_positives import PartialLabelClassifier


def make(n_trees: int = 150, max_levels: int = 10, *, shape: str = "auto", **options: Any) -> PartialLabelClassifier:
    """Unfitted classifier of several labels.

    Parameters
    ----------
    n_trees, max_levels, shape : of the cascade; see :class:`~fairfold.forests.out_of_bag.OutOfBagCascade`.
    **options : of that, as ``label_frequencies``.
    """
    from fairfold.forests.out_of_bag import OutOfBagCascade
    from fairfold.models.wrong_positives import PartialLabelClassifier

    forests = {"n_trees": n_trees, "shape": shape, **options}
    return PartialLabelClassifier(
        OutOfBagCascade(max_levels=max_levels, **forests), OutOfBagCascade(max_levels=0, **forests)
    )


SPECS = (
    ModelSpec("PML+", make=f"{__name__}:make", settings=("n_trees", "max_levels", "min_samples_leaf", "label_frequencies")),
)
