"""Evaluate the six Gaussian classifiers on all pairs of a dataset's features with permuted class labels."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_arrays
    from fairfold.papers.win_percentage_steps import permuted_histograms

    params = snakemake.params
    found = permuted_histograms(snakemake.input[0], params.permutations, params.setting, seed=params.seed)
    write_arrays(snakemake.output[0], **found)
