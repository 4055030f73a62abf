"""Write the warnings about one dataset to a table, the screen and the log."""

import logging
import sys

from adapter import logged
from fairfold.core.files import write_table
from fairfold.datasets import Dataset
from fairfold.datasets.data_warnings import find_data_warnings, warning_lines
from fairfold.splitting.group_warnings import group_warnings

with logged(snakemake.log):
    data, n_splits = Dataset.load(snakemake.input[0]), snakemake.params.n_splits
    # Folds defined in the data do not depend on groups.
    groups = data.groups if data.fold_of is None else None
    about_groups = group_warnings(groups, data.group_names, n_splits, *data.left_out.get("groups", ("",)))
    data_warnings = find_data_warnings(data, n_splits, about_groups)
    write_table(data_warnings, snakemake.output[0])
    lines = warning_lines(data_warnings, snakemake.output[0])
    for line in lines:
        logging.warning(line)

for line in lines:
    print(line, file=sys.stderr)
