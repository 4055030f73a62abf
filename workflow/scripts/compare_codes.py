"""Compute error and log-loss of codes, binary losses and decodings on one dataset."""

import numpy as np
import pandas as pd

from adapter import logged
from fairfold.core.files import write_table
from fairfold.core.memory import key_of_job, reused
from fairfold.datasets.dataset import Dataset
from fairfold.papers.ecoc_examples import compare_codes

with logged(snakemake.log):

    def compare() -> pd.DataFrame:
        """Compare all codes on the dataset."""
        data = Dataset.load(snakemake.input[0])
        options = {**snakemake.params.options, "seed": snakemake.params.seed, "n_jobs": snakemake.threads}
        table = compare_codes(data.X, np.array(data.label_names)[data.Y], **options)
        table.insert(0, "dataset", data.id)
        return table

    write_table(reused(key_of_job(snakemake), compare), snakemake.output[0])
