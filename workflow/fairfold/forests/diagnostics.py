"""What an imputation did, level by level and label by label, and how much of it was right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, with_data
from fairfold.core.validation import check_binary, with_nan
from fairfold.errors import ModelError
from fairfold.weak_labels import imputation_quality

if TYPE_CHECKING:
    from fairfold.forests.base import BaseCascade

_COUNTS = ("n_imputed", "hits", "misses")


def imputation_table(model: BaseCascade, truth: Matrix) -> pd.DataFrame:
    """The imputation log of a fitted cascade beside hits and misses, which the truth tells.

    Parameters
    ----------
    model : fitted.
    truth : (n_samples, n_labels) of 0/1, the true labels of the training samples; NaN where unmeasured.

    Returns
    -------
    DataFrame
        A row per level, from level 0, where nothing is imputed yet, and label, with the columns ``level, label,
        label_frequency, cap, frozen, n_observed, n_imputed, hits, misses, precision, recall, note``. A cascade that
        imputes nothing has no label frequencies, caps and frozen labels, and misses all that was hidden.

    Raises
    ------
    ModelError
        When the truth has another shape, or lacks a label that was observed.
    """
    truth = _positives(with_nan(check_binary(truth, "truth", ModelError, unmeasured=True)))
    observed = _positives(model.training_labels_[0])
    n_observed, levels = np.asarray(observed.sum(axis=0)).ravel(), []
    for level, labels in enumerate(map(_positives, model.training_labels_)):
        quality = pd.DataFrame(imputation_quality(truth, observed, labels))
        counts = {"level": level, "label": np.arange(len(quality)), "n_observed": n_observed}
        levels.append(quality.assign(**counts))
    logged = ["level", "label", "label_frequency", "cap", "frozen", "note"]
    log = pd.DataFrame(model.imputation_log_, columns=logged)
    log = log.astype({"level": int, "label": int, "label_frequency": float, "cap": "Int64", "frozen": "boolean"})
    table = pd.concat(levels, ignore_index=True).merge(log, on=["level", "label"], how="left", validate="one_to_one")
    return table[[*logged[:-1], "n_observed", *_COUNTS, "precision", "recall", "note"]]


def _positives(labels: Matrix) -> Matrix:
    """Labels of 0/1; what is unmeasured is not imputed."""
    return with_data(labels, np.fmax(labels.data, 0)) if sparse.issparse(labels) else np.fmax(labels, 0)


def summarise_imputation(table: pd.DataFrame, units: Sequence[str]) -> pd.DataFrame:
    """Imputations per unit and level: labels pooled within a fold, means over folds.

    Parameters
    ----------
    table : tables of :func:`imputation_table` below each other, with ``fold`` and the columns in ``units``.
    units : columns that tell studies of different data or models apart.

    Returns
    -------
    DataFrame with the columns ``*units, level, n_folds, label_frequency, n_imputed, hits, misses, precision, recall``,
    levels with imputation only. A cascade may have fewer levels in one fold than in another; ``n_folds`` counts those
    that have the level. ``precision`` and ``recall`` are NaN where nothing was imputed or hidden in any fold.
    """
    needed = [*units, "fold", "level", "label_frequency", *_COUNTS]
    imputed = table.reindex(columns=needed).dropna(subset="label_frequency").astype({"level": int})
    folds = imputed.groupby([*units, "level", "fold"], sort=False)
    pooled = folds[["label_frequency"]].mean().join(folds[list(_COUNTS)].sum())
    pooled["precision"] = pooled["hits"] / pooled["n_imputed"]
    pooled["recall"] = pooled["hits"] / (pooled["hits"] + pooled["misses"])
    levels = pooled.groupby([*units, "level"], sort=False)
    return levels.size().rename("n_folds").to_frame().join(levels.mean()).reset_index()


def imputation_tables(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables about a study's imputations.

    Parameters
    ----------
    table : tables of :func:`imputation_table` below each other, with ``dataset, missing_rate, model, fold``.

    Returns
    -------
    dict
        ``imputation``, precision and recall at each level, means over folds; ``frequencies``, estimated and kept shares
        of positives of each label and fold; ``errors``, how far the former are off, over folds, labels and datasets.
    """
    units = ["dataset", "missing_rate", "model"]
    frequencies = label_frequencies(table, units)
    return {
        "imputation": summarise_imputation(table, units),
        "frequencies": frequencies,
        "errors": summarise_label_frequencies(frequencies, units[1:]),
    }


def label_frequencies(table: pd.DataFrame, units: Sequence[str]) -> pd.DataFrame:
    """Estimated label frequencies beside the shares of positives that were kept, at the last level of each fold.

    The label frequency is the share of a label's positives that are observed (Ilidio et al. 2024, Section 3.3). What
    was hidden on purpose is known, so n_observed / (n_observed + hits + misses) were kept: the true label frequency, if
    the labels were complete before.

    Parameters
    ----------
    table, units : see :func:`summarise_imputation`.

    Returns
    -------
    DataFrame with the columns ``*units, fold, label, level, estimated, kept``. SLC estimates once and keeps it, FLA at
    every level. Labels for which nothing could be estimated, and models that estimate nothing, are left out.
    """
    needed = [*units, "fold", "label", "level", "label_frequency", "n_observed", "hits", "misses"]
    estimates = table.reindex(columns=needed).dropna(subset="label_frequency").astype({"level": int, "label": int})
    last = estimates.sort_values("level", kind="stable").groupby([*units, "fold", "label"], sort=False).tail(1)
    last = last.sort_index()
    kept = last["n_observed"] / (last["n_observed"] + last["hits"] + last["misses"])
    last = last.rename(columns={"label_frequency": "estimated"}).assign(kept=kept)
    return last[[*units, "fold", "label", "level", "estimated", "kept"]].reset_index(drop=True)


def summarise_label_frequencies(frequencies: pd.DataFrame, units: Sequence[str]) -> pd.DataFrame:
    """How far :func:`label_frequencies` are off: mean error (bias) and mean absolute error over folds and labels.

    Returns
    -------
    DataFrame with the columns ``*units, n, bias, mean_absolute_error``; ``n`` counts the estimates. A positive bias
    means that fewer positives were thought hidden than were.
    """
    error = frequencies["estimated"] - frequencies["kept"]
    errors = frequencies[list(units)].assign(bias=error, mean_absolute_error=error.abs())
    groups = errors.groupby(list(units), sort=False)
    return groups.size().rename("n").to_frame().join(groups.mean()).reset_index()
