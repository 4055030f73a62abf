from .metrics import METRICS as METRICS
