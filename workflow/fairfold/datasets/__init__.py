"""Data: what exists (catalog), how it gets here (fetch), how it is read (formats), and what can be made (generate)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
