"""Error-correcting output codes: many classes told apart by binary learners."""

from typing import TYPE_CHECKING

from fairfold.core.lazy import on_first_use

if TYPE_CHECKING:
    from fairfold.ecoc.classifier import ECOCClassifier, PosteriorError
    from fairfold.ecoc.coding import DESIGNS, check_coding, make_coding
    from fairfold.ecoc.decoding import DECODINGS, neg_loss
    from fairfold.ecoc.learners import GentleBoost, LogitBoost, make_learner
    from fairfold.ecoc.losses import BINARY_LOSSES, BinaryLoss, default_loss
    from fairfold.ecoc.partitioned import FoldPredictions, PartitionedECOC, crossval
    from fairfold.ecoc.posterior import kl_divergence, kl_posterior, qp_posterior

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
