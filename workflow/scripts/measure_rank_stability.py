"""Agreement of the models' ranks between repetitions of the study."""

import pandas as pd

from adapter import logged
from fairfold.evaluation.rank_stability import rank_stability
from fairfold.files import write_table

with logged(snakemake.log):
    scores = pd.concat(map(pd.read_csv, snakemake.input), ignore_index=True).fillna({"reason": ""})
    write_table(rank_stability(scores), snakemake.output[0])
