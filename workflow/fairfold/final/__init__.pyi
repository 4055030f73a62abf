from . import importance as importance, labels as labels, left_out as left_out, model as model
from .model import FinalModel as FinalModel, load_final as load_final
