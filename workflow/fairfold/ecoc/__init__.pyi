from .classifier import ECOCClassifier as ECOCClassifier, PosteriorError as PosteriorError
from .coding import DESIGNS as DESIGNS, check_coding as check_coding, make_coding as make_coding
from .decoding import DECODINGS as DECODINGS, neg_loss as neg_loss
from .learners import GentleBoost as GentleBoost, LogitBoost as LogitBoost, make_learner as make_learner
from .losses import BINARY_LOSSES as BINARY_LOSSES, BinaryLoss as BinaryLoss, default_loss as default_loss
from .partitioned import FoldPredictions as FoldPredictions, PartitionedECOC as PartitionedECOC
from .posterior import kl_divergence as kl_divergence, kl_posterior as kl_posterior, qp_posterior as qp_posterior
