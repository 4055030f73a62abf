"""Test one dataset in random orders, with its labels and with permuted ones, for each share of the test part."""

from scipy import sparse
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from adapter import logged
from fairfold.cross_testing.experiment import published_candidates
from fairfold.cross_testing.shares import ShareSetting, simulate_test_shares
from fairfold.datasets import Dataset
from fairfold.files import write_table

with logged(snakemake.log):
    data, params = Dataset.load(snakemake.input[0]), snakemake.params
    # labels are not looked at, so that permutation tests stay valid
    X = StandardScaler(with_mean=not sparse.issparse(data.X)).fit_transform(data.X)
    table = simulate_test_shares(
        *(published_candidates(params.candidates), X, data.Y),
        *(tqdm(range(*params.simulations)), ShareSetting(**params.setting)),
        seed=params.seed,
        name=data.id,
    )
    unit = {"dataset": data.id, "n_samples": len(data.Y)}
    write_table(table.assign(**unit)[[*unit, *table]], snakemake.output[0])
