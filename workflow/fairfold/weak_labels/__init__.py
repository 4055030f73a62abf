"""Weak labels: hiding them, estimating how many are hidden, and imputing them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
