from .commands.in_python import study as study
from .evaluation import compare_models as compare_models
from .missing_labels import estimate_label_frequency as estimate_label_frequency
from .models import make_model as make_model

__version__: str
