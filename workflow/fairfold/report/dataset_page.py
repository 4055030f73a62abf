"""HTML page of one dataset for readers without Python: answer, doubts and next steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

import pandas as pd

from fairfold import __version__
from fairfold.evaluation.metrics import METRICS
from fairfold.report.answers import group_sentences
from fairfold.report.images import embedded_image
from fairfold.report.tables import table_html, table_of
from fairfold.report.templates import render

_SHOWN = 20  # Rows of likely label errors, and of features.
_NAMED = 12  # Labels listed in a sentence.
_SUSPECTS = {
    "missing": "May be positive, and are not marked so",
    "wrong negative": "Are marked negative, and may not be",
    "unmeasured": "May be positive, and nobody has looked",
    "wrong": "Are marked positive, and may not be",
}


def render_dataset_page(
    dataset: str,
    model: str,
    data: str,
    *,
    sentences: pd.DataFrame | None,
    label_scores: pd.DataFrame,
    suspects: pd.DataFrame,
    precision: pd.DataFrame,
    importance: pd.DataFrame,
    figure: str | PathLike[str],
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
    sentences : DataFrame or None
        Recommendation of the study, with the columns ``dataset, use, sentence``. None if the user named the model.
    label_scores, suspects, precision, importance : DataFrame
        Tables of :mod:`fairfold.final` for the dataset.
    figure : str or path-like
        PNG file of the label scores.
    folder : str
        Folder of the model.

    Returns
    -------
    str
        HTML page.
    """
    answers, doubts = None, ""
    if sentences is not None:
        uses = group_sentences(sentences).get(dataset, {})
        doubts = " ".join(uses.pop("The data", []))
        answers = [f"{use}: {' '.join(said)}" for use, said in uses.items()]
    faults = unlearned(label_scores)
    found = [
        f"When {row.hidden_rate} % were hidden on purpose, {row.n_found} of the first {row.depth} such cells were "
        f"hidden positives; of as many at random, {row.depth * row.chance:.1f} would be."
        for row in precision[precision["depth"].isin([20, 50])].itertuples()
    ]
    features = importance[:_SHOWN].drop(columns="n_features")
    return render(
        "dataset.html.jinja",
        **{"version": __version__, "dataset": dataset, "data": data, "model": model, "folder": folder},
        **{"answers": answers, "doubts": doubts, "found": found, "image": embedded_image(figure)},
        n_labels=len(label_scores),
        n_learned=len(label_scores) - sum(map(len, faults.values())),
        faults=[f"{reason[0].upper()}{reason[1:]}: {_listed(names)}." for reason, names in faults.items()],
        label_tables=[_label_table(label_scores)],
        suspect_tables=list(_suspect_tables(suspects)),
        feature_tables=[_table("Features, the most important first", features, _SHOWN)] if len(features) else [],
    )


def unlearned(label_scores: pd.DataFrame) -> dict[str, list[str]]:
    """Group the labels that should not be relied on by reason.

    Parameters
    ----------
    label_scores : DataFrame
        Table of label scores, with the columns ``label, n_positives, roc_auc, roc_auc_low``.

    Returns
    -------
    dict of str to list of str
        Labels, with their numbers of positives, by reason.
    """
    defined = label_scores["roc_auc"].notna()
    chance = defined & ~(label_scores["roc_auc_low"] > 0.5)
    rare = defined & ~chance & (label_scores["n_positives"] < 10)
    named = [f"{row.label} ({row.n_positives})" for row in label_scores.itertuples()]
    table = pd.Series(named, index=label_scores.index)
    reasons = {
        "of one value only, so that nothing can be said": ~defined,
        "no better than guesses, as far as these samples tell": chance,
        "of fewer than ten positives, whose scores are uncertain whatever their intervals say": rare,
    }
    return {reason: table[chosen].tolist() for reason, chosen in reasons.items() if chosen.any()}


def _label_table(scores: pd.DataFrame) -> dict[str, Any]:
    columns = {"label": "label", "n_positives": "positives", "n_expected": "expected positives"}
    columns |= {"roc_auc": METRICS["roc_auc"].name}  # The labels are sorted by this score.
    columns |= {name: METRICS[name].name for name in scores if name in METRICS and name not in columns}
    return _table("All labels, the worst first", scores[list(columns)].rename(columns=columns), len(scores))


def _suspect_tables(suspects: pd.DataFrame) -> Iterator[dict[str, Any]]:
    columns = {
        "sample": "sample",
        "label": "label",
        "posterior": "probability",
        "neighbours": "near samples that have it",
    }
    for kind, title in _SUSPECTS.items():
        rows = suspects.loc[suspects["kind"] == kind, list(columns)][:_SHOWN].rename(columns=columns)
        if len(rows):
            yield _table(title, rows, _SHOWN)


def _table(title: str, table: pd.DataFrame, most_rows: int) -> dict[str, Any]:
    return {"title": title, "html": table_html(table_of(table, most_rows), title)}


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
