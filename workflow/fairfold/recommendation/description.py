"""Describe the configuration, models, software and datasets of a study, and audit the datasets."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import yaml

from fairfold.core.files import concat_tables, write_table, write_tables, write_text
from fairfold.core.versions import gather_versions
from fairfold.datasets.audit import audit_dataset, finding_lines, stop_on_errors
from fairfold.datasets.audit.rows import row_table
from fairfold.datasets.columns import account_for_columns
from fairfold.datasets.dataset import Dataset
from fairfold.datasets.distributions import feature_table, label_pairs
from fairfold.models.description import describe_models
from fairfold.models.legend import legend_table
from fairfold.splitting.group_warnings import group_warnings

if TYPE_CHECKING:
    from fairfold.settings import Study


class Description(NamedTuple):
    """Tables of a dataset.

    Attributes
    ----------
    size : DataFrame
        One row with the number of samples, features and labels.
    columns : DataFrame
        Use of each column of the user's file.
    audit : DataFrame
        Findings of the audit.
    rows : DataFrame
        Rows of the findings.
    features, pairs : DataFrame
        Distributions of the features, and pairs of labels.
    """

    size: pd.DataFrame
    columns: pd.DataFrame
    audit: pd.DataFrame
    rows: pd.DataFrame
    features: pd.DataFrame
    pairs: pd.DataFrame


def describe_dataset(data: Dataset, labels_are: str, n_splits: int) -> Description:
    """Describe a dataset and audit it.

    Parameters
    ----------
    data : Dataset
        The data.
    labels_are : str
        Declared state of the labels.
    n_splits : int
        Number of folds of the study.

    Returns
    -------
    Description
        Tables of the dataset.
    """
    numbers = dict(zip(("n_samples", "n_features", "n_labels"), data.shape, strict=True))
    labels = {"label_cardinality": data.label_cardinality, "label_density": data.label_density}
    size = pd.DataFrame([{"dataset": data.id, **numbers, **labels, "labels_are": labels_are}])
    # Folds defined in the data do not depend on groups.
    groups = data.groups if data.fold_of is None else None
    about_groups = group_warnings(groups, data.group_names, n_splits, *data.left_out.get("groups", ("",)))
    audit = audit_dataset(data, n_splits, about_groups)
    audit.insert(0, "dataset", data.id)
    more = row_table(data), feature_table(data), label_pairs(data)
    return Description(size, account_for_columns(data), audit, *more)


def describe_study(
    datasets: Iterable[str],
    made: Any,
    *,
    study: Study,
    used: Sequence[str],
    labels_are: Iterable[str],
    left_out: Sequence[Mapping[str, str]],
) -> str:
    """Describe a study and audit its datasets.

    Parameters
    ----------
    datasets : iterable of str
        Files of the datasets.
    made : mapping of str to str or sequence of str
        Files to write: ``config, models, legend, versions, sizes, columns, audit``, a file for each dataset in
        ``audits``, ``rows``, ``features`` and ``pairs``, and ``unavailable`` if datasets are left out.
    study : Study
        Checked configuration.
    used : sequence of str
        Models of the study.
    labels_are : iterable of str
        Declared state of the labels of each dataset.
    left_out : sequence of mapping of str to str
        Rows that name the excluded datasets.

    Returns
    -------
    str
        Errors and warnings, one a line.

    Raises
    ------
    DataError
        If the configuration is strict and the audit of a dataset found an error.
    """
    trained = study.weak_labels
    config = yaml.safe_dump(study.model_dump(by_alias=True), sort_keys=True, allow_unicode=True)
    write_text(config, made["config"])
    legend = legend_table(used, study.models.entries(), trained.scoring)  # This adds the models to the registry.
    of_models = describe_models(trained.models, trained.variant)
    write_tables({"models": of_models, "versions": gather_versions(), "legend": legend}, made)
    if left_out:
        write_table(pd.DataFrame(left_out), made["unavailable"])
    each = [
        describe_dataset(Dataset.load(path), state, study.folds.n_splits)
        for path, state in zip(datasets, labels_are, strict=True)
    ]
    of_each = {"audits": "audit", "rows": "rows", "features": "features", "pairs": "pairs"}
    write_tables({name: [getattr(one, kind) for one in each] for name, kind in of_each.items()}, made)
    for name, tables in (("sizes", [one.size for one in each]), ("columns", [one.columns for one in each])):
        write_table(pd.concat(tables, ignore_index=True), made[name])
    write_table(concat_tables(made["audits"]), made["audit"])
    lines = [line for one in each for line in finding_lines(one.audit)]
    for line in lines:
        logging.warning(line)
    for one in each if study.data.strict else ():
        stop_on_errors(one.audit)
    return "".join(f"{line}\n" for line in lines)
