"""Our gradient boosting with a step for every label in each leaf (:mod:`fairfold.forests.boosting`).

Extra trees over half of the features, small leaves and small steps. Cross-fitting says when to stop, and spares the
correction for missing labels a cross-fitting of its own.
"""

from fairfold.models.spec import ModelSpec, with_correction

SPECS = with_correction(ModelSpec("joint-GB", make="fairfold.forests.boosting:MultilabelBoosting"))
