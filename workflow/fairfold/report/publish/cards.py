"""Model cards in the form of Hugging Face and skops, and their scores as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from fairfold import __version__
from fairfold.core.files import atomic_open
from fairfold.evaluation.metrics import METRICS
from fairfold.report.publish import about_data, about_models, about_use
from fairfold.report.publish.facts import Facts
from fairfold.report.publish.methods import without_citations

_LABEL_SCORES = ("average_precision", "roc_auc", "mcc")


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
        with atomic_open(folder / dataset / "README.md", "w", encoding="utf-8") as stream:
            stream.write(model_card(facts, dataset, model, scores["scores"]))
        with atomic_open(folder / dataset / "scores.json", "w", encoding="utf-8") as stream:
            json.dump(scores, stream, indent=1, ensure_ascii=False)


def _scores(facts: Facts, dataset: str, model: str) -> dict[str, Any]:
    rows = facts.of("tables/recommendation.csv", dataset)
    rows = rows[rows["model"] == model] if len(rows) else rows
    labels = facts.of(f"final/{dataset}/label_scores.csv", dataset)
    by_label = ["label", "n_positives", *(name for name in _LABEL_SCORES if name in labels)]
    columns = {"mean": "value", "low": "low", "high": "high", "observed": "on_observed_labels", "n_folds": "n_folds"}
    scores = rows.rename(columns=columns)[["metric", *columns.values()]] if len(rows) else rows
    return {
        "model": model,
        "dataset": dataset,
        "fairfold": __version__,
        "scores": json.loads(scores.to_json(orient="records")),
        "labels": json.loads(labels[by_label].to_json(orient="records")),
        "limits": [without_citations(line) for line in about_models.limits(facts)],
        "sources": [{"name": each.name, "sha256": each.sha256} for each in facts.sources if each.dataset == dataset],
    }


def model_card(facts: Facts, dataset: str, model: str, scores: list[dict[str, Any]]) -> str:
    """Compose the model card of a final model.

    Parameters
    ----------
    facts : Facts
        Facts of the study.
    dataset : str
        Identifier of the dataset.
    model : str
        Name of the model.
    scores : list of dict
        Scores with the keys ``metric, value, low, high``.

    Returns
    -------
    str
        Markdown with metadata in YAML, as Hugging Face reads it.
    """
    sections = {
        "Model description": [f"{model}, fitted to all samples of {dataset}.", *about_use.model_output(facts)],
        "Intended uses & limitations": about_models.limits(facts),
        "Training data": [*about_data.dataset(facts), *about_data.missing_cells(facts)],
        "Training procedure": [*about_models.preprocessing(facts), *about_models.hyperparameters(facts)],
        "Evaluation results": [*about_models.intervals(facts), *about_models.performance(facts)],
        "How to get started with the model": about_use.bad_input(facts),
        "Model card authors": [each["name"] for each in facts.config["publish"]["authors"]] or ["Not given."],
        "Citation": ["references.bib lists the references of the methods."],
    }
    metadata = yaml.safe_dump(_metadata(facts, dataset, model, scores), sort_keys=False, allow_unicode=True)
    parts = [f"## {name}\n\n{without_citations(' '.join(lines))}\n" for name, lines in sections.items()]
    parts[5] += "\n```sh\nfairfold predict THIS_FOLDER new.csv -o predictions.csv\n```\n"
    rows = [f"| {METRICS[each['metric']].name} | {_shown(each['value'])} | {_interval(each)} |" for each in scores]
    parts[4] += "\n" + "\n".join(["| metric | estimate | 95 % interval |", "|---|---|---|", *rows]) + "\n"
    return f"---\n{metadata}---\n\n# {model} for {dataset}\n\n" + "\n".join(parts)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(score: dict[str, Any]) -> str:
    return "–" if score["low"] is None else f"{score['low']:.3f} to {score['high']:.3f}"


def _metadata(facts: Facts, dataset: str, model: str, scores: list[dict[str, Any]]) -> dict[str, Any]:
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
        "tags": ["tabular-classification", "multilabel-classification", "fairfold", "skops"],
        "model_file": "model.fairfold",
        "model-index": [{"name": model, "results": [index] if results else []}],
    }
