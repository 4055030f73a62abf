"""Repeat the three procedures and their permutation tests on samples of one dataset."""

from tqdm import tqdm

from adapter import logged
from fairfold.core.files import write_table
from fairfold.datasets.dataset import Dataset
from fairfold.papers.cross_testing_experiment import Setting, run_repetitions

with logged(snakemake.log):
    data, experiment = Dataset.load(snakemake.input[0]), snakemake.params.experiment
    sizes, shares = experiment["data_sizes"], experiment["test_fractions"]
    setting = Setting(sizes, shares, **snakemake.params.search)
    table = run_repetitions(
        *(data.X, data.Y, tqdm(range(*snakemake.params.repetitions)), setting),
        seed=snakemake.params.seed,
        name=data.id,
    )
    x_name = "test_fraction" if len(shares) > 1 else "data_size"
    names = {"figure": experiment["figure"], "dataset": experiment["title"], "x_name": x_name}
    table = table.assign(**names, x=table[x_name])
    write_table(table[[*names, "x", *table.columns.drop([*names, "x"])]], snakemake.output[0])
