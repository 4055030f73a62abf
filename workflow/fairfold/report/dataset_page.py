"""HTML page of a final model for readers without Python: cells to check, labels and features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fairfold import __version__
from fairfold.core.files import read_json, read_table, write_text
from fairfold.errors import count, shortened
from fairfold.metrics.registry import METRICS
from fairfold.report.tables import table_html, table_of
from fairfold.report.templates import render

# Tables of a final model, with their columns of text.
TABLES: dict[str, tuple[str, ...]] = {
    "label_scores": ("label",),
    "likely_label_errors": ("sample", "label"),
    "label_error_precision": (),
    "feature_importance": ("features",),
    "label_words": ("label", "column", "words"),
    "partial_dependence": ("label", "feature"),
    "pool_weights": ("member",),
    "explained_prediction": ("sample", "label", "column", "value"),
}
_SHOWN = 20  # Rows of likely label errors, and of features.
_MOST_CONTRIBUTIONS = 5
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


def final_tables(folder: Path) -> dict[str, pd.DataFrame]:
    """Read the tables of a final model.

    Parameters
    ----------
    folder : Path
        Folder of the model.

    Returns
    -------
    dict of str to DataFrame
        Tables of :mod:`fairfold.final` by the names of their files.
    """
    return {name: read_table(folder / f"{name}.csv", *texts) for name, texts in TABLES.items()}


def render_dataset_page(dataset: str, model: str, data: str, tables: Mapping[str, pd.DataFrame], folder: str) -> str:
    """Render the page as self-contained HTML.

    Parameters
    ----------
    dataset : str
        Id of the dataset.
    model : str
        Id of the final model.
    data : str
        One sentence that describes the data.
    tables : mapping of str to DataFrame
        Tables of :func:`final_tables`.
    folder : str
        Folder of the model.

    Returns
    -------
    str
        HTML page.
    """
    return render(
        "dataset.html.jinja",
        **{"version": __version__, "dataset": dataset, "data": data, "model": model, "folder": folder},
        parts=final_parts(tables),
    )


def final_parts(tables: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Describe a final model in three parts: cells to check, labels and features.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Tables of :func:`final_tables`.

    Returns
    -------
    list of dict
        Parts with the keys ``id``, ``title``, ``sentences`` and ``tables``. A table has a title and HTML.
    """
    label_scores, label_errors, precision, importance, *others, explained = (tables[name] for name in TABLES)
    words, dependence, weights = others
    faults = unlearned(label_scores)
    found = [
        f"After {row.hidden_rate} % of positives were hidden on purpose, {row.n_found} of the first {row.depth} cells "
        f"of such a list were hidden positives; of random cells, {row.depth * row.chance:.1f} would be."
        for row in precision[precision["depth"].isin([20, 50])].itertuples()
    ]
    n_learned = int((label_scores["roc_auc_low"] > 0.5).sum())
    learned = f"By AUROC, {n_learned} of {len(label_scores)} examined labels are ranked better than by guessing."
    examples = [*_example(explained)]
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
            "sentences": [
                _OF_FEATURES if len(features) else _TOO_MANY_FEATURES,
                " ".join([_OF_SAMPLES, *(sentence for sentence, _ in examples)]),
            ],
            "tables": [
                *([_table("Features, the most important first", features, _SHOWN)] if len(features) else []),
                *(
                    _table(title, table.drop(columns=["dataset", "model"]), _MOST_LABELS)
                    for title, table in ((_OF_DEPENDENCE, dependence), (_OF_WEIGHTS, weights))
                    if len(table)
                ),
                *(table for _, table in examples),
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


def _example(explained: pd.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """Describe the explanation of a prediction, if there is one: largest contributions, and the sum of the others."""
    if explained.empty:
        return
    kind, first = explained.columns[-1], explained.iloc[0]
    rows = explained[["column", "value", "contribution"]][:_MOST_CONTRIBUTIONS]
    if n_others := len(explained) - len(rows):
        rest = explained["contribution"][_MOST_CONTRIBUTIONS:].sum()
        rows.loc[len(rows)] = count(n_others, "other column"), "", rest
    label, sample = first["label"], first["sample"]
    sentence = (
        f"For example, the {kind} of {label} is {first[kind]:.2f} for the left-out sample {sample}, and "
        f"{first['base']:.2f} on average over other samples. The columns contribute the difference."
    )
    yield sentence, _table(f"Contributions of the columns to {label} for sample {sample}", rows, len(rows))


def write_page(made: Mapping[str, str], dataset: str, data: str) -> None:
    """Write the page of a final model from the tables next to it.

    Parameters
    ----------
    made : mapping of str to str
        File ``columns`` in the folder of the model, and file ``page`` to write.
    dataset : str
        Id of the dataset.
    data : str
        One sentence that describes the data.
    """
    folder = Path(made["columns"]).parent
    model = read_json(made["columns"])["name"]
    write_text(render_dataset_page(dataset, model, data, final_tables(folder), str(folder)), made["page"])
