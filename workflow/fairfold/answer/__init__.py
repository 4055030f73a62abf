"""The answer of a study: recommended model, leaderboard, and all sentences that pages, terminal and papers show."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
