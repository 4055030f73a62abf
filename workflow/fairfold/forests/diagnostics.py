"""Evaluation of label imputations by level and label."""

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

_COUNTS = ("n_imputed", "true_positives", "false_negatives")


def imputation_table(model: BaseCascade, truth: Matrix) -> pd.DataFrame:
    """Compare the imputations of a fitted cascade with the true labels.

    Parameters
    ----------
    model : BaseCascade
        Fitted cascade.
    truth : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels of 0/1 of the training samples; NaN is unmeasured.

    Returns
    -------
    DataFrame
        One row per level and label, with the columns ``level, label, label_frequency, cap, frozen, n_observed,
        n_imputed, true_positives, false_negatives, precision, recall, note``. Level 0 has no imputations. Without
        imputation, the label frequencies, caps and frozen flags are missing, and all hidden positives are false
        negatives.

    Raises
    ------
    ModelError
        If ``truth`` has another shape or lacks an observed positive.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.cascade import CascadeForest
    >>> from fairfold.forests.diagnostics import imputation_table
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> truth = (X[:, :1] > 0).astype(int)
    >>> observed = truth.copy()
    >>> observed[:20] = 0
    >>> model = CascadeForest(imputation="fla", n_trees=10, max_levels=1, random_state=0).fit(X, observed)
    >>> table = imputation_table(model, truth)
    >>> table[["level", "n_observed", "n_imputed", "true_positives", "false_negatives"]]
       level  n_observed  n_imputed  true_positives  false_negatives
    0      0          18          0               0               11
    1      1          18         11              10                1
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
    """Replace NaN by 0, because unmeasured labels are not imputed."""
    return with_data(labels, np.fmax(labels.data, 0)) if sparse.issparse(labels) else np.fmax(labels, 0)


def summarize_imputation(table: pd.DataFrame, units: Sequence[str]) -> pd.DataFrame:
    """Summarize imputations per unit and level, pooled over the labels of a fold and averaged over folds.

    Parameters
    ----------
    table : DataFrame
        Concatenated tables of :func:`imputation_table`, with the additional columns ``fold`` and ``units``.
    units : sequence of str
        Columns that identify the data and the model.

    Returns
    -------
    DataFrame
        Table with the columns ``*units, level, n_folds, label_frequency, n_imputed, true_positives, false_negatives,
        precision, recall``. Only levels with imputation are listed. A fold whose cascade is shorter keeps the values of
        its last level, and ``n_folds`` counts the folds whose cascade has the level. ``precision`` is NaN if no fold
        has imputed labels, and ``recall`` is NaN if no fold has hidden labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairfold.forests.diagnostics import summarize_imputation
    >>> counts = {"n_imputed": [4, 2], "true_positives": [3, 1], "false_negatives": [1, 1]}
    >>> table = pd.DataFrame({"model": "SLCForest", "fold": [0, 1], "level": 1, "label_frequency": 0.5, **counts})
    >>> summarize_imputation(table, ["model"])[["level", "n_folds", "precision", "recall"]]
       level  n_folds  precision  recall
    0      1        2      0.625   0.625
    """
    needed = [*units, "fold", "level", "label_frequency", *_COUNTS]
    imputed = table.reindex(columns=needed).dropna(subset="label_frequency").astype({"level": int})
    folds = imputed.groupby([*units, "level", "fold"], sort=False)
    pooled = folds[["label_frequency"]].mean().join(folds[list(_COUNTS)].sum())
    pooled["precision"] = pooled["true_positives"] / pooled["n_imputed"]
    pooled["recall"] = pooled["true_positives"] / (pooled["true_positives"] + pooled["false_negatives"])
    n_folds = pooled.groupby([*units, "level"], sort=False).size().rename("n_folds")
    folds = [*units, "fold"]
    # Infinity marks undefined values, because only missing levels are carried forward.
    carried = pooled.fillna(np.inf).unstack(folds).sort_index().ffill().replace(np.inf, np.nan)
    means = carried.stack(folds, future_stack=True).groupby([*units, "level"]).mean()
    return n_folds.to_frame().join(means).reset_index()


def imputation_tables(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Compute all imputation tables of a study.

    Parameters
    ----------
    table : DataFrame
        Concatenated tables of :func:`imputation_table`, with the additional columns ``dataset, missing_rate, model,
        fold``.

    Returns
    -------
    dict of str to DataFrame
        ``"imputation"`` contains precision and recall at each level, averaged over folds. ``"frequencies"`` contains
        the estimated and the kept share of positives of each label and fold. ``"errors"`` contains the errors of the
        estimates over folds, labels and datasets.
    """
    units = ["dataset", "missing_rate", "model"]
    frequencies = label_frequencies(table, units)
    return {
        "imputation": summarize_imputation(table, units),
        "frequencies": frequencies,
        "errors": summarize_label_frequencies(frequencies, units[1:]),
    }


def label_frequencies(table: pd.DataFrame, units: Sequence[str]) -> pd.DataFrame:
    """Compare estimated label frequencies with the shares of positives that were kept, at the last level of each fold.

    Parameters
    ----------
    table : DataFrame
        Concatenated tables of :func:`imputation_table`, see :func:`summarize_imputation`.
    units : sequence of str
        Columns that identify the data and the model.

    Returns
    -------
    DataFrame
        Table with the columns ``*units, fold, label, level, estimated, kept``. Labels and models without an estimate
        are omitted.

    Notes
    -----
    The label frequency is the share of a label's positives that are observed (Ilidio et al. 2024, Section 3.3). The
    kept share is ``n_observed / (n_observed + true_positives + false_negatives)``. It equals the label frequency if the
    labels were complete before some were hidden. SLC estimates the label frequency once; FLA estimates it at every
    level.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairfold.forests.diagnostics import label_frequencies
    >>> counts = {"n_observed": [6, 3], "true_positives": [3, 1], "false_negatives": [1, 1]}
    >>> labels = {"fold": 0, "level": 1, "label": [0, 1], "label_frequency": 0.5}
    >>> table = pd.DataFrame({"model": "SLCForest", **labels, **counts})
    >>> label_frequencies(table, ["model"])
           model  fold  label  level  estimated  kept
    0  SLCForest     0      0      1        0.5   0.6
    1  SLCForest     0      1      1        0.5   0.6
    """
    needed = [*units, "fold", "label", "level", "label_frequency", "n_observed", "true_positives", "false_negatives"]
    estimates = table.reindex(columns=needed).dropna(subset="label_frequency").astype({"level": int, "label": int})
    last = estimates.sort_values("level", kind="stable").groupby([*units, "fold", "label"], sort=False).tail(1)
    last = last.sort_index()
    kept = last["n_observed"] / (last["n_observed"] + last["true_positives"] + last["false_negatives"])
    last = last.rename(columns={"label_frequency": "estimated"}).assign(kept=kept)
    return last[[*units, "fold", "label", "level", "estimated", "kept"]].reset_index(drop=True)


def summarize_label_frequencies(frequencies: pd.DataFrame, units: Sequence[str]) -> pd.DataFrame:
    """Compute the bias and the mean absolute error of estimated label frequencies over folds and labels.

    Parameters
    ----------
    frequencies : DataFrame
        Table of :func:`label_frequencies`.
    units : sequence of str
        Columns that identify the groups to summarize.

    Returns
    -------
    DataFrame
        Table with the columns ``*units, n, bias, mean_absolute_error``, where ``n`` is the number of estimates. A
        positive bias means that the estimated number of hidden positives is too low.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairfold.forests.diagnostics import summarize_label_frequencies
    >>> frequencies = pd.DataFrame({"model": "SLCForest", "estimated": [0.75, 0.5], "kept": [0.5, 0.5]})
    >>> summarize_label_frequencies(frequencies, ["model"])
           model  n   bias  mean_absolute_error
    0  SLCForest  2  0.125                0.125
    """
    error = frequencies["estimated"] - frequencies["kept"]
    errors = frequencies[list(units)].assign(bias=error, mean_absolute_error=error.abs())
    groups = errors.groupby(list(units), sort=False)
    return groups.size().rename("n").to_frame().join(groups.mean()).reset_index()
