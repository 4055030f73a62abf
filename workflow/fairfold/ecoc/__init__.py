"""Error-correcting output codes: many classes told apart by binary learners."""

from fairfold.ecoc.classifier import ECOCClassifier, PosteriorError
from fairfold.ecoc.coding import DESIGNS, check_coding, make_coding
from fairfold.ecoc.decoding import DECODINGS, neg_loss
from fairfold.ecoc.learners import GentleBoost, LogitBoost, make_learner
from fairfold.ecoc.losses import BINARY_LOSSES, BinaryLoss, default_loss
from fairfold.ecoc.partitioned import FoldPredictions, PartitionedECOC
from fairfold.ecoc.posterior import kl_divergence, kl_posterior, qp_posterior

__all__ = [
    "BINARY_LOSSES",
    "DECODINGS",
    "DESIGNS",
    "BinaryLoss",
    "ECOCClassifier",
    "FoldPredictions",
    "GentleBoost",
    "LogitBoost",
    "PartitionedECOC",
    "PosteriorError",
    "check_coding",
    "default_loss",
    "kl_divergence",
    "kl_posterior",
    "make_coding",
    "make_learner",
    "neg_loss",
    "qp_posterior",
]
