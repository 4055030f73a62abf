"""HTML page of a final model for readers without Python: cells to check, labels and features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fairfold import __version__
from fairfold.core.files import read_json, read_table
from fairfold.errors import shortened
from fairfold.metrics.registry import METRICS
from fairfold.report.tables import table_html, table_of
from fairfold.report.templates import render

_SHOWN = 20  # Rows of likely label errors, and of features.
_NAMED = 12  # Labels listed in a sentence.
_MOST_LABELS = 500  # Rows of the table of labels.
_OF_FEATURES = (
    "Loss of average precision on left-out samples if a feature, or a group of correlated features, is permuted. It "
    "shows what the model uses, not what causes a label."
)
_OF_SAMPLES = "Predict with the option --explain to see what each column contributes to the labels of a sample."
_OF_DEPENDENCE = (
    "Mean probability of each label if a feature takes its lowest to its highest value (5 % and 95 % quantiles) in all "
    "samples, for the two features that change it most"
)
_OF_WEIGHTS = "Weights of the members, whose probabilities the model averages"
_OF_WORDS = "Words of each label, the strongest first"
_TOO_MANY_FEATURES = "The dataset has too many features to measure their importance."
_CONTRADICTED = (
    "Predictions of left-out samples contradict these labels the most. Likely positive cells have a probability of at "
    "least one half, and likely wrong positives a lower one."
)
_NOT_CONTRADICTED = "No prediction of a left-out sample contradicts a label."
_LABEL_ERRORS = {
    "missing": "Likely missing positives",
    "wrong negative": "Likely wrong negatives",
    "unmeasured": "Unmeasured labels that are likely positive",
    "wrong": "Likely wrong positives",
}


def render_dataset_page(
    dataset: str,
    model: str,
    data: str,
    *,
    label_scores: pd.DataFrame,
    label_errors: pd.DataFrame,
    precision: pd.DataFrame,
    importance: pd.DataFrame,
    words: pd.DataFrame,
    dependence: pd.DataFrame,
    weights: pd.DataFrame,
    folder: str,
) -> str:
    """Render the page as self-contained HTML.

    Parameters
    ----------
    dataset : str
        Id of the dataset.
    model : str
        Id of the final model.
    data : str
        One sentence that describes the data.
    label_scores, label_errors, precision, importance, words, dependence, weights : DataFrame
        Tables of :mod:`fairfold.final` for the dataset.
    folder : str
        Folder of the model.

    Returns
    -------
    str
        HTML page.
    """
    parts = final_parts(label_scores, label_errors, precision, importance, words, dependence, weights)
    return render(
        "dataset.html.jinja",
        **{"version": __version__, "dataset": dataset, "data": data, "model": model, "folder": folder},
        parts=parts,
    )


def final_parts(
    label_scores: pd.DataFrame,
    label_errors: pd.DataFrame,
    precision: pd.DataFrame,
    importance: pd.DataFrame,
    words: pd.DataFrame,
    dependence: pd.DataFrame,
    weights: pd.DataFrame,
) -> list[dict[str, Any]]:
    """Describe a final model in three parts: cells to check, labels and features.

    Parameters
    ----------
    label_scores, label_errors, precision, importance, words, dependence, weights : DataFrame
        Tables of :mod:`fairfold.final` for the dataset.

    Returns
    -------
    list of dict
        Parts with the keys ``id``, ``title``, ``sentences`` and ``tables``. A table has a title and HTML.
    """
    faults = unlearned(label_scores)
    found = [
        f"After {row.hidden_rate} % of positives were hidden on purpose, {row.n_found} of the first {row.depth} cells "
        f"of such a list were hidden positives; of random cells, {row.depth * row.chance:.1f} would be."
        for row in precision[precision["depth"].isin([20, 50])].itertuples()
    ]
    n_learned = int((label_scores["roc_auc_low"] > 0.5).sum())
    learned = f"By AUROC, {n_learned} of {len(label_scores)} examined labels are ranked better than by guessing."
    features = importance[:_SHOWN].drop(columns=["dataset", "model", "n_features"])
    return [
        {
            "id": "cells",
            "title": "Cells to check",
            "sentences": [_CONTRADICTED if len(label_errors) else _NOT_CONTRADICTED, *found],
            "tables": list(_label_error_tables(label_errors)),
        },
        {
            "id": "labels",
            "title": "Labels",
            "sentences": [
                learned,
                *(f"Labels {reason}: {shortened(names, _NAMED)}." for reason, names in faults.items()),
                *(["label_scores.csv lists all labels."] if max(map(len, faults.values()), default=0) > _NAMED else []),
            ],
            "tables": [_label_table(label_scores)],
        },
        {
            "id": "features",
            "title": "Features",
            "sentences": [_OF_FEATURES if len(features) else _TOO_MANY_FEATURES, _OF_SAMPLES],
            "tables": [
                *([_table("Features, the most important first", features, _SHOWN)] if len(features) else []),
                *(
                    _table(title, table.drop(columns=["dataset", "model"]), _MOST_LABELS)
                    for title, table in ((_OF_DEPENDENCE, dependence), (_OF_WEIGHTS, weights))
                    if len(table)
                ),
                *([_table(_OF_WORDS, words[["label", "column", "words"]], _MOST_LABELS)] if len(words) else []),
            ],
        },
    ]


def unlearned(label_scores: pd.DataFrame) -> dict[str, list[str]]:
    """Group the labels that should not be relied on by reason.

    Parameters
    ----------
    label_scores : DataFrame
        Table of label scores, with the columns ``label, n_positives, n_true_positives, roc_auc, roc_auc_low``.

    Returns
    -------
    dict of str to list of str
        Labels, with their numbers of positives, by reason. A label may have several.
    """
    defined = label_scores["roc_auc"].notna()
    chance = defined & ~(label_scores["roc_auc_low"] > 0.5)
    rare = defined & ~chance & (label_scores["n_positives"] < 10)
    missed = defined & (label_scores["n_true_positives"] == 0)
    named = [f"{row.label} ({row.n_positives})" for row in label_scores.itertuples()]
    table = pd.Series(named, index=label_scores.index)
    reasons = {
        "with a single value, so they have no scores": ~defined,
        "without a true positive at the threshold 0.5": missed,
        "that are not ranked better than by guessing on these samples": chance,
        "with fewer than ten positives, so their scores are uncertain": rare,
    }
    return {reason: table[chosen].tolist() for reason, chosen in reasons.items() if chosen.any()}


def _label_table(scores: pd.DataFrame) -> dict[str, Any]:
    columns = {"label": "label", "n_positives": "positives", "n_expected": "expected positives"}
    columns |= {"roc_auc": METRICS["roc_auc"].name}  # The labels are sorted by this score.
    columns |= {name: METRICS[name].name for name in scores if name in METRICS and name not in columns}
    title = "Examined labels, the hardest first"
    if len(scores) > _MOST_LABELS:
        title = f"The {_MOST_LABELS} hardest of {len(scores):,} examined labels; label_scores.csv has all"
    return _table(title, scores[list(columns)].rename(columns=columns), _MOST_LABELS)


def _label_error_tables(label_errors: pd.DataFrame) -> Iterator[dict[str, Any]]:
    columns = {
        "sample": "sample",
        "label": "label",
        "posterior": "probability",
        "neighbors": "similar samples with the label",
    }
    for kind, title in _LABEL_ERRORS.items():
        rows = label_errors.loc[label_errors["kind"] == kind, list(columns)][:_SHOWN].rename(columns=columns)
        if len(rows):
            yield _table(title, rows, _SHOWN)


def _table(title: str, table: pd.DataFrame, most_rows: int) -> dict[str, Any]:
    return {"title": title, "html": table_html(table_of(table, most_rows), title)}


def render_page_of_files(made: Mapping[str, str], dataset: str, data: str) -> str:
    """Render the page of a final model from the tables next to it.

    Parameters
    ----------
    made : mapping of str to str
        Files ``columns, scores, label_errors, precision, importance, words, dependence, weights``.
    dataset : str
        Id of the dataset.
    data : str
        One sentence that describes the data.

    Returns
    -------
    str
        HTML page.
    """
    return render_dataset_page(
        dataset,
        read_json(made["columns"])["name"],
        data,
        label_scores=read_table(made["scores"], "label"),
        label_errors=read_table(made["label_errors"], "sample", "label"),
        precision=read_table(made["precision"]),
        importance=read_table(made["importance"], "features"),
        words=read_table(made["words"], "label", "column", "words"),
        dependence=read_table(made["dependence"], "label", "feature"),
        weights=read_table(made["weights"], "member"),
        folder=str(Path(made["columns"]).parent),
    )
