from . import steps as steps
