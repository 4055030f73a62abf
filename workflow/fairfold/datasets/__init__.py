"""Datasets: the catalog, downloads, readers of file formats, and generators."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
