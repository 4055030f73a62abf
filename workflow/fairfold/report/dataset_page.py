"""The page of one dataset, for a reader who has no Python: the answer, the doubts, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import pandas as pd

from fairfold import __version__
from fairfold.evaluation.metrics import METRICS
from fairfold.report.answers import group_sentences
from fairfold.report.images import embedded_image
from fairfold.report.tables import table_html, table_of
from fairfold.report.templates import render

_SHOWN = 20  # cells to look at, and features
_NAMED = 12  # labels in a sentence


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
    """HTML that needs no other file and no network.

    Parameters
    ----------
    dataset, model : ids of the data, and of the model to take home.
    data : what the data are, in a sentence.
    sentences : the study's recommendation, columns ``dataset, use, sentence``; None where the model was named.
    label_scores, suspects, precision, importance : tables of :mod:`fairfold.final` for these data.
    figure : PNG file of the label scores.
    folder : where the model is.
    """
    sections = [
        _answer(dataset, model, sentences),
        _labels(label_scores, figure),
        _next(suspects, precision),
        _features(importance),
        _model(model, folder),
    ]
    return render("dataset.html.jinja", version=__version__, dataset=dataset, data=data, sections=sections)


def unlearned(label_scores: pd.DataFrame) -> dict[str, list[str]]:
    """Labels that should not be relied on, by the reason."""
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


def _section(name: str, title: str, **content: Any) -> dict[str, Any]:
    empty = {"sentences": [], "points": [], "figures": [], "tables": [], "code": None}
    return {"id": name, "title": title, **empty, **content}


def _answer(dataset: str, model: str, sentences: pd.DataFrame | None) -> dict[str, Any]:
    if sentences is None:
        return _section("answer", "The answer", sentences=[f"The model is {model}, which the configuration names."])
    uses = group_sentences(sentences).get(dataset, {})
    doubts, *answers = (uses.pop("The data", []), *uses.items())
    first = f"The model to take home is {model}, the best by average precision of left-out samples."
    points = [f"{use}: {' '.join(said)}" for use, said in answers]
    return _section("answer", "The answer, and its doubts", sentences=[first, " ".join(doubts)], points=points)


def _labels(scores: pd.DataFrame, figure: str | PathLike[str]) -> dict[str, Any]:
    alt = "AUROC, average precision and Matthews correlation of each label, with intervals"
    drawn = {
        "id": "label-scores",
        "title": "Scores of the labels",
        "images": [{**embedded_image(figure), "alt": alt, "file": None}],
        "caption": "A row for each label, the worst first, with its 95 % interval; of many labels the first are drawn. "
        "Behind a name is the number of positives. In grey what guesses would have: 0.5 of AUROC, a label's share of "
        "positives of average precision, 0 of Matthews correlation.",
    }
    faults = unlearned(scores)
    n_faulty = sum(map(len, faults.values()))
    said = [
        f"Of {len(scores)} labels {len(scores) - n_faulty} are predicted better than by guesses, from ten positives or "
        "more. Samples are predicted by models that did not see them; the number of positives is behind a label's name."
    ]
    points = [f"{reason[0].upper()}{reason[1:]}: {_listed(names)}." for reason, names in faults.items()]
    columns = {"label": "label", "n_positives": "positives", "n_expected": "expected positives"}
    columns |= {"roc_auc": METRICS["roc_auc"].name}  # by which the labels are sorted
    columns |= {name: METRICS[name].name for name in scores if name in METRICS and name not in columns}
    table = _table("All labels, the worst first", scores[list(columns)].rename(columns=columns), len(scores))
    return _section(
        "labels", "Which labels can be learned", sentences=said, points=points, figures=[drawn], tables=[table]
    )


def _next(suspects: pd.DataFrame, precision: pd.DataFrame) -> dict[str, Any]:
    said = ["Cells whose label left-out samples' predictions contradict most. Look at these first."]
    for row in precision.itertuples():
        if row.depth in (20, 50):
            said.append(
                f"When {row.hidden_rate} % were hidden on purpose, {row.n_found} of the first {row.depth} such cells "
                f"were hidden positives; of as many at random, {row.depth * row.chance:.1f} would be."
            )
    columns = {
        "sample": "sample",
        "label": "label",
        "posterior": "probability",
        "neighbours": "near samples that have it",
    }
    titles = {
        "missing": "May be positive, and are not marked so",
        "wrong negative": "Are marked negative, and may not be",
        "unmeasured": "May be positive, and nobody has looked",
        "wrong": "Are marked positive, and may not be",
    }
    tables = []
    for kind, title in titles.items():
        rows = suspects.loc[suspects["kind"] == kind, list(columns)][:_SHOWN].rename(columns=columns)
        if len(rows):
            tables.append(_table(title, rows, _SHOWN))
    return _section("next", "What to look at next", sentences=said, tables=tables)


def _features(importance: pd.DataFrame) -> dict[str, Any]:
    if importance.empty:
        return _section("features", "What predictions rest on", sentences=["There are too many features to say."])
    said = [
        "The average precision that left-out samples lose when a feature, or several that go together, is permuted "
        "among them: what the model uses, not what causes a label. Lowest and highest are of folds."
    ]
    return _section(
        "features",
        "What predictions rest on",
        sentences=said,
        tables=[_table("Features, the most important first", importance[:_SHOWN].drop(columns="n_features"), _SHOWN)],
    )


def _model(model: str, folder: str) -> dict[str, Any]:
    said = [
        f"{model}, fitted on all samples, is in {folder}, with a card that says what it was made of. On a machine with "
        "fairfold this line writes its predictions for the rows of a new table:"
    ]
    code = f"python -m fairfold predict {folder} new.csv -o predictions.csv"
    return _section("model", "How to get the model", sentences=said, code=code)


def _table(title: str, table: pd.DataFrame, most_rows: int) -> Mapping[str, Any]:
    return {"title": title, "html": table_html(table_of(table, most_rows), title)}


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
