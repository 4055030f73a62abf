"""Win percentage: how likely each classifier is to win a random search over feature sets."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
