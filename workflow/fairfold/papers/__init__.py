"""Reproduce published results: the experiments of the papers, and comparisons with printed numbers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
