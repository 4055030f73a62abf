"""Procedures that choose a classifier and estimate its performance on the same data, with permutation tests."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
