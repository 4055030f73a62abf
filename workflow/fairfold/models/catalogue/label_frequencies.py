"""How often each label is observed, whatever the features: what any classifier must beat."""

from fairfold.models.spec import ModelSpec, with_correction

SPECS = with_correction(ModelSpec("dummy", make="sklearn.dummy:DummyClassifier", parameters={"strategy": "prior"}))
