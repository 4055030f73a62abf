from .registry import METRICS as METRICS
from .scores import multilabel_scores as multilabel_scores
