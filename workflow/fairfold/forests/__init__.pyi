from . import diagnostics as diagnostics, models as models, storage as storage
from .models import MODEL_NAMES as MODEL_NAMES, make_model as make_model
from .storage import load_model as load_model
