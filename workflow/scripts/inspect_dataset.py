"""Table of what looks wrong in one dataset; told on the screen, too."""

import sys

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.datasets.suspects import find_suspects, warning_lines
from fairfold.files import write_table

with logged(snakemake.log):
    suspects = find_suspects(Dataset.load(snakemake.input[0]), snakemake.params.n_splits)
    write_table(suspects, snakemake.output[0])

for line in warning_lines(suspects, snakemake.output[0]):
    print(line, file=sys.stderr)
