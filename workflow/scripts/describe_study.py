"""Describe the configuration, models, software and datasets of the study, and audit the datasets."""

import logging
import sys

import pandas as pd
import yaml

from adapter import logged
from fairfold.core.files import concat_tables, write_table, write_text
from fairfold.core.versions import gather_versions
from fairfold.datasets.audit import audit_dataset, finding_lines, stop_on_errors
from fairfold.datasets.audit.rows import row_table
from fairfold.datasets.columns import account_for_columns
from fairfold.datasets.dataset import Dataset
from fairfold.models.description import describe_models
from fairfold.models.legend import legend_table
from fairfold.splitting.group_warnings import group_warnings

with logged(snakemake.log):
    params, made = snakemake.params, snakemake.output
    config, own, trained = params.config, params.config["models"], params.config["weak_labels"]
    write_text(yaml.safe_dump(config, sort_keys=True, allow_unicode=True), made.config)
    write_table(describe_models(trained["models"], trained["variant"], own), made.models)
    write_table(gather_versions(), made.versions)
    write_table(legend_table(params.used, own, trained["score"]), made.legend)
    if params.left_out:
        write_table(pd.DataFrame(params.left_out), made.unavailable)

    sizes, columns, audits, n_splits = [], [], [], config["folds"]["n_splits"]
    for path, labels_are, audit, rows in zip(
        *(snakemake.input, params.labels_are, made.audits, made.rows), strict=True
    ):
        data = Dataset.load(path)
        numbers = dict(zip(("n_samples", "n_features", "n_labels"), data.shape, strict=True))
        labels = {"label_cardinality": data.label_cardinality, "label_density": data.label_density}
        sizes.append({"dataset": data.id, **numbers, **labels, "labels_are": labels_are})
        columns.append(account_for_columns(data))
        # Folds defined in the data do not depend on groups.
        groups = data.groups if data.fold_of is None else None
        about_groups = group_warnings(groups, data.group_names, n_splits, *data.left_out.get("groups", ("",)))
        table = audit_dataset(data, n_splits, about_groups)
        table.insert(0, "dataset", data.id)
        write_table(table, audit)
        write_table(row_table(data), rows)
        audits.append(table)
    write_table(pd.DataFrame(sizes), made.sizes)
    write_table(pd.concat(columns, ignore_index=True), made.columns)
    write_table(concat_tables(made.audits), made.audit)
    lines = [line for table in audits for line in finding_lines(table)]
    for line in lines:
        logging.warning(line)
    if config["data"]["strict"]:
        for table in audits:
            stop_on_errors(table)

for line in lines:
    print(line, file=sys.stderr)
