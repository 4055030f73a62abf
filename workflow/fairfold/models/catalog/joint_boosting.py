"""Gradient boosting with a step for every label in each leaf (:mod:`fairfold.forests.boosting`).

The trees are extremely randomized and use half of the features per split, with small leaves and small steps.
Cross-fitting determines the number of rounds. The correction for missing labels reuses its out-of-sample probabilities.
"""

from fairfold.models.spec import SINGLE, ModelSpec, with_correction

SPECS = with_correction(
    ModelSpec(
        "joint-GB",
        make="fairfold.forests.boosting:MultilabelBoosting",
        phrase="gradient boosting with one tree per round for all labels [@fairfold]",
        traits=("joint boosting", "placed gaps", SINGLE, "chosen rounds"),
    )
)
