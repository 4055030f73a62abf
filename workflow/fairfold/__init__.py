"""fairfold: compare multilabel classifiers on data with many, imbalanced and partly missing labels."""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

del lazy_loader
