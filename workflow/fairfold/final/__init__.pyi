from . import (
    described as described,
    examined as examined,
    importance as importance,
    labels as labels,
    out_of_fold as out_of_fold,
    model as model,
)
from .model import FinalModel as FinalModel, load_final as load_final
