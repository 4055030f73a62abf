"""Hide labels in the training part and in the test part of each fold.

Labels hidden in test parts count as unobserved in scores on observed labels. They do not depend on the number of
splits.
"""

from adapter import logged
from fairfold.core.files import read_arrays, write_arrays
from fairfold.core.folds import check_repeats
from fairfold.datasets import Dataset
from fairfold.weak_labels.masking import hide_in_test_parts, hide_in_training_parts

with logged(snakemake.log):
    data = Dataset.load(snakemake.input.dataset)
    folds = read_arrays(snakemake.input.folds)["fold_of"]
    check_repeats(folds, f"dataset {data.id}")
    rate = int(snakemake.wildcards.rate)
    of_unit = {"seed": snakemake.params.seed, "names": ("hidden labels", data.id, rate)}
    of_unit |= {"negatives": data.negatives, "hierarchy": data.hierarchy}
    hidden = hide_in_training_parts(data.Y, folds, rate / 100, **of_unit)
    hidden_in_tests = hide_in_test_parts(data.Y, folds[0], rate / 100, **of_unit)
    write_arrays(snakemake.output[0], hidden=hidden, hidden_in_tests=hidden_in_tests)
