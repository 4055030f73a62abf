from .metrics import METRICS as METRICS
from .verdicts.compare import compare_models as compare_models
