"""Score a model on several splits of one dataset, and rank it among the methods of a published comparison."""

import pandas as pd

from adapter import logged
from fairfold import papers
from fairfold.core.files import write_table
from fairfold.core.memory import key_of_job, reused
from fairfold.datasets import Dataset

with logged(snakemake.log):

    def compare() -> pd.DataFrame:
        """Score and rank the model."""
        options = {"seed": snakemake.params.seed, "n_jobs": snakemake.threads, **snakemake.params.options}
        scores = papers.mlc_comparison.score_splits(Dataset.load(snakemake.input.data), **options)
        return papers.mlc_comparison.rank_among(scores, pd.read_csv(snakemake.input.published))

    write_table(reused(key_of_job(snakemake), compare), snakemake.output[0])
