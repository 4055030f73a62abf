"""Model cards in the form of Hugging Face and skops, and their scores as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from markupsafe import Markup

from fairfold import __version__
from fairfold.answer.answer import RECOMMENDATION
from fairfold.core.files import write_json, write_text
from fairfold.metrics.registry import METRICS
from fairfold.publish.facts import LABEL_SCORES, Facts
from fairfold.publish.methods import references
from fairfold.publish.sentences import page, phrase_of, sentences, state, without_citations

_SETTINGS = "## Settings and versions"


def write_cards(facts: Facts, folder: Path) -> None:
    """Write the model card and the scores of each final model.

    Parameters
    ----------
    facts : Facts
        Facts of the study.
    folder : Path
        Folder with a folder for each dataset. ``README.md`` starts with the metadata of Hugging Face and has the
        sections of skops; ``scores.json`` has scores and limits.
    """
    for dataset, model in facts.finals.items():
        scores = _scores(facts, dataset, model)
        named = [each | {"name": METRICS[each["metric"]].name} for each in scores["scores"]]
        has_file = facts.study.publish.with_data
        metadata = yaml.safe_dump(_metadata(dataset, model, named, has_file), sort_keys=False, allow_unicode=True)
        about = {
            "dataset": dataset,
            "model": model,
            "metadata": Markup(metadata),
            "scores": named,
            "has_file": has_file,
            "phrase": without_citations(phrase_of(model, facts)),
            "settings": Markup(_settings(facts, dataset)),
            "citation": Markup(references([], ["fairfold"])),
        }
        write_text(page("model_card.md.jinja", facts, **about), folder / dataset / "README.md")
        write_json(scores, folder / dataset / "scores.json")


def _settings(facts: Facts, dataset: str) -> str:
    """Return the settings and versions that the card of the final model lists."""
    card = facts.results / "final" / dataset / "README.md"
    return card.read_text(encoding="utf-8").partition(_SETTINGS)[2].strip() if card.is_file() else ""


def _scores(facts: Facts, dataset: str, model: str) -> dict[str, Any]:
    rows = facts.of(RECOMMENDATION, dataset, model=model)
    if dataset in facts.checked:
        rows = _by_checked_cells(rows, facts.of(f"recommendation/checked/{dataset}.csv", dataset))
    labels = facts.of(f"final/{dataset}/label_scores.csv", dataset)
    by_label = ["label", "n_positives", *(name for name in LABEL_SCORES if name in labels)]
    columns = {"mean": "value", "low": "low", "high": "high", "observed": "on_observed_labels", "n_folds": "n_folds"}
    scores = rows.rename(columns=columns)[["metric", *columns.values()]] if len(rows) else rows
    return {
        "model": model,
        "dataset": dataset,
        "fairfold": __version__,
        "scores": json.loads(scores.to_json(orient="records")),
        "labels": json.loads(labels[by_label].to_json(orient="records")),
        "limits": [*state(facts), sentences("limits", facts)],
        "sources": [{"name": each.name, "sha256": each.sha256} for each in facts.sources if each.dataset == dataset],
    }


def _by_checked_cells(rows: pd.DataFrame, checked: pd.DataFrame) -> pd.DataFrame:
    """Replace the scores of a model by those from checked cells."""
    own = checked.merge(rows[["model", "metric"]]).drop_duplicates("metric") if len(checked) else checked
    if own.empty:
        return rows
    found = own.set_index("metric")[["estimate", "low", "high"]].reindex(rows["metric"])
    return rows.assign(mean=found["estimate"].to_numpy(), low=found["low"].to_numpy(), high=found["high"].to_numpy())


def _metadata(dataset: str, model: str, scores: list[dict[str, Any]], has_file: bool) -> dict[str, Any]:
    results = [
        {"type": each["metric"], "value": each["value"], "name": METRICS[each["metric"]].label}
        for each in scores
        if each["value"] is not None
    ]
    index = {
        "task": {"type": "tabular-classification", "name": "multilabel classification"},
        "dataset": {"type": dataset, "name": dataset, "split": "out-of-fold"},
        "metrics": results,
    }
    return {
        "library_name": "fairfold",
        "pipeline_tag": "tabular-classification",
        "tags": ["tabular-classification", "multilabel-classification", "fairfold"],
        **({"model_file": "model.fairfold"} if has_file else {}),
        "model-index": [{"name": model, "results": [index] if results else []}],
    }
