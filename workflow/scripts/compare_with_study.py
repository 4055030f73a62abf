"""Score a model on several splits of one dataset, and rank it among the methods of a published comparison."""

import pandas as pd

from adapter import logged
from fairfold.core.files import write_table
from fairfold.core.memory import key_of_job, reused
from fairfold.datasets.dataset import Dataset
from fairfold.models.registry import make_model
from fairfold.papers.mlc_comparison import rank_among, score_splits

with logged(snakemake.log):

    def compare() -> pd.DataFrame:
        """Score and rank the model."""
        data, params = Dataset.load(snakemake.input.data), snakemake.params
        options = {"make_model": make_model, "seed": params.seed, "n_jobs": snakemake.threads, **params.options}
        scores = score_splits(data, **options)
        return rank_among(scores, pd.read_csv(snakemake.input.published))

    write_table(reused(key_of_job(snakemake), compare), snakemake.output[0])
