"""Models that represent the others in tests of code that all models share."""

from fairfold.models import MODEL_NAMES
from fairfold.models.registry import spec_of

# A correction changes the labels that a model learns, not how it processes features. The other deep forests combine the
# imputations, corrections and embeddings of those that stay.
REPRESENTED = (
    *("chains+", "dummy+", "ExtraTrees+", "HistGB+", "kernel-ridge+", "kNN+", "ML-kNN+", "RandomForest+", "RBF-SVM+"),
    *("logistic-C", "logistic-C+", "LCForest", "CaFE", "FLAForest", "CaFE-SLC", "SLCForest+", "CaFE-SLC+", "CaFE-FLA+"),
)
REPRESENTATIVES = [name for name in MODEL_NAMES if not (name in REPRESENTED or spec_of(name).package)]
