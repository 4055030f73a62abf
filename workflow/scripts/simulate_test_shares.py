"""Test one dataset in random orders, with its labels and with permuted ones, for each share of the test part."""

from tqdm import tqdm

from adapter import logged
from fairfold import cross_testing
from fairfold.core.files import write_table
from fairfold.datasets import Dataset

with logged(snakemake.log):
    data, params = Dataset.load(snakemake.input[0]), snakemake.params
    X = cross_testing.shares.standardised(data.X)
    table = cross_testing.shares.simulate_test_shares(
        *(cross_testing.experiment.published_candidates(params.candidates), X, data.Y),
        *(tqdm(range(*params.simulations)), cross_testing.shares.ShareSetting(**params.setting)),
        seed=params.seed,
        name=data.id,
    )
    unit = {"dataset": data.id, "n_samples": len(data.Y)}
    write_table(table.assign(**unit)[[*unit, *table]], snakemake.output[0])
