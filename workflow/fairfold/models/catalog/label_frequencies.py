"""Observed frequency of each label, regardless of the features: the baseline for any classifier."""

from fairfold.models.spec import ModelSpec, with_correction

SPECS = with_correction(
    ModelSpec(
        "dummy",
        make="sklearn.dummy:DummyClassifier",
        parameters={"strategy": "prior"},
        is_stable=True,
        phrase="the observed frequency of each label, without features",
        traits=("no-feature",),
    )
)
