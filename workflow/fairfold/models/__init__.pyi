from . import training as training
from .registry import DEFAULT as DEFAULT, MODEL_NAMES as MODEL_NAMES, make_model as make_model, register as register
from .spec import ModelSpec as ModelSpec
from .storage import load_model as load_model
