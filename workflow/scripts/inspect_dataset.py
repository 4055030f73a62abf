"""Audit one dataset, and write the findings to a table, the screen and the log."""

import logging
import sys

from adapter import logged
from fairfold.core.files import write_table
from fairfold.datasets import Dataset
from fairfold.datasets.audit import audit_dataset, finding_lines, stop_on_errors
from fairfold.datasets.audit.rows import row_table
from fairfold.splitting.group_warnings import group_warnings

with logged(snakemake.log):
    data, n_splits = Dataset.load(snakemake.input[0]), snakemake.params.n_splits
    # Folds defined in the data do not depend on groups.
    groups = data.groups if data.fold_of is None else None
    about_groups = group_warnings(groups, data.group_names, n_splits, *data.left_out.get("groups", ("",)))
    table = audit_dataset(data, n_splits, about_groups)
    table.insert(0, "dataset", data.id)
    write_table(table, snakemake.output.findings)
    write_table(row_table(data), snakemake.output.rows)
    lines = finding_lines(table)
    for line in lines:
        logging.warning(line)
    if snakemake.params.strict:
        stop_on_errors(table)

for line in lines:
    print(line, file=sys.stderr)
