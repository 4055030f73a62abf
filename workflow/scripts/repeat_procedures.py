"""Repeat the three procedures and their permutation tests on samples of one dataset."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_table
    from fairfold.papers.cross_testing_experiment import run_experiment

    params = snakemake.params
    setting = (params.experiment, params.search, params.repetitions)
    write_table(run_experiment(snakemake.input[0], *setting, seed=params.seed), snakemake.output[0])
