from .iterative import IterativeStratification as IterativeStratification
from .optisplit import OptiSplit as OptiSplit
from .partitioned import PartitionedSampling as PartitionedSampling
from .random import RandomSplit as RandomSplit
from .similarity import SimilarityFolds as SimilarityFolds
from .stratified_sampling import StratifiedSampling as StratifiedSampling
