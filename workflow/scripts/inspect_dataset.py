"""Write the table of warnings about one dataset, and show them on the screen and in the log."""

import logging
import sys

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.datasets.suspects import find_suspects, warning_lines
from fairfold.files import write_table

with logged(snakemake.log):
    suspects = find_suspects(Dataset.load(snakemake.input[0]), snakemake.params.n_splits)
    write_table(suspects, snakemake.output[0])
    lines = warning_lines(suspects, snakemake.output[0])
    for line in lines:
        logging.warning(line)

for line in lines:
    print(line, file=sys.stderr)
