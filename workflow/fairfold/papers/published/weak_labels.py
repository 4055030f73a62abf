"""Scores and run times published by the authors of Ilidio, Cerri, Vens & Nakano (2024)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairfold.papers.published.rows import Tables, joined, missing_reason, with_distances, with_results

if TYPE_CHECKING:
    from fairfold.settings import Study
    from fairfold.weak_labels.settings import WeakLabels

PAPER = "Ilidio, Cerri, Vens & Nakano (2024)"
PLACES = {
    "best_oob": "authors' files, best out-of-bag level",
    "last": "authors' files, last level",
    "level0": "authors' files, level 0",
}
_FOLDS = 5
_SECONDS = "timings/models.csv"
_FOREST = {"n_trees": 150, "max_levels": 10, "min_samples_leaf": 5, "threshold": 0.5, "percentile": 0.95}
_UNIT = ["dataset", "missing_rate", "model"]
_KEYS = [*_UNIT, "level", "metric"]


def compare_scores(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare mean scores over five folds, by the choice of the cascade level.

    Parameters
    ----------
    published : DataFrame
        Columns ``dataset, missing_rate, model, level, metric, value, sd``. ``level`` is a key of ``PLACES``; ``sd`` is
        the standard deviation over folds.
    ours : mapping of str to DataFrame
        ``scores`` has the columns ``dataset, missing_rate, model, fold, level, is_final, metric, value``. ``best_oob``
        is compared with the final level, which the model selected by that metric.
    study : Study
        Configuration. Notes describe differences from the published setting.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`. Standard errors treat folds as independent,
        although they share training samples.
    """
    theirs = published.astype({"missing_rate": int, "sd": float})
    both = with_results(theirs, _means(ours.get("scores")), _KEYS, ["mean", "std", "count"])
    departures = _departures(study)
    return with_distances(
        both,
        PAPER,
        place=both["level"].map(PLACES),
        what=joined(both, [*_UNIT, "metric"]),
        ours=both["mean"],
        scatter=np.sqrt(both["sd"] ** 2 / _FOLDS + both["std"] ** 2 / both["count"]),
        file=[_file(data, rate, model, study.weak_labels) for data, rate, model in both[_UNIT].to_numpy()],
        note=[
            f"{departures}{_levels_by(row, study)}" if row["count"] > 0 else _absent(row, study)
            for row in both.to_dict("records")
        ],
    )


def compare_seconds(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """List the CPU seconds of all fits without a comparison, because the machines differ.

    Parameters
    ----------
    published : DataFrame
        Columns ``dataset, model, value``. The missing rate of these times is unknown.
    ours : mapping of str to DataFrame
        ``fit_seconds`` has the columns ``dataset, missing_rate, model, fold, step, seconds``; it is optional. Our time
        is the mean over all missing rates.
    study : Study
        Configuration of the study.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`.
    """
    both = with_results(published, _fit_seconds(ours.get("fit_seconds")), ["dataset", "model"], ["seconds"])
    labels = study.weak_labels
    text = "of another machine, so not compared; ours the mean over missing rates"
    absent = [
        missing_reason({f"weak_labels.{key}s": (row[key], getattr(labels, f"{key}s")) for key in ("dataset", "model")})
        or (f"{text}, in {_SECONDS}" if np.isnan(row["seconds"]) else text)
        for row in both.to_dict("records")
    ]
    return with_distances(
        both,
        PAPER,
        place="authors' files, processor seconds",
        what=joined(both, ["dataset", "model"]) + ", processor seconds of the fits on five folds",
        ours=both["seconds"],
        is_apart=True,
        file=_SECONDS,
        note=absent,
    )


def _fit_seconds(times: pd.DataFrame | None) -> pd.DataFrame | None:
    if times is None:
        return None
    fits = times[times["step"] == "fit"].groupby(_UNIT)["seconds"].sum()
    return fits.groupby(["dataset", "model"]).mean().reset_index()


def _file(dataset: str, rate: int, model: str, labels: WeakLabels) -> str:
    """Return the file with the scores of a model, or of the first job if the study lacks the model."""
    models = labels.models
    number = models.index(model) if model in models else 0
    return f"weak_labels/{dataset}/rate-{rate}/scores_{number // (labels.models_per_job or len(models))}.csv"


def _means(scores: pd.DataFrame | None) -> pd.DataFrame | None:
    """Compute mean, standard deviation and number of our scores for each key of ``PLACES``."""
    if scores is None:
        return None
    last = scores.groupby([*_UNIT, "fold"])["level"].transform("max")
    shown = {"best_oob": scores["is_final"], "last": scores["level"] == last, "level0": scores["level"] == 0}
    parts = pd.concat([scores[rows.astype(bool)].assign(level=name) for name, rows in shown.items()])
    return parts.groupby(_KEYS, sort=False)["value"].agg(["mean", "std", "count"]).reset_index()


def _departures(study: Study) -> str:
    """Describe the differences between our weak-label study and the published one."""
    labels, folds = study.weak_labels, study.folds
    differing = [
        f"{name} {getattr(labels.forest, name)}, published {value}"
        for name, value in _FOREST.items()
        if getattr(labels.forest, name) != value
    ]
    if folds.n_splits != _FOLDS:
        differing.append(f"{folds.n_splits} folds, published {_FOLDS}")
    if folds.n_repeats != 1:
        differing.append(f"{folds.n_repeats} cross-validations, published 1")
    if labels.variant != "authors-code":
        differing.append(f"variant {labels.variant}, not authors-code")
    return "; ".join(["other folds and other hidden labels", *differing])


def _levels_by(row: Mapping[str, Any], study: Study) -> str:
    """Describe the labels used to select a level if they differ; see ``CascadeForest.choose_levels_by``."""
    differs = row["level"] == "best_oob" and study.weak_labels.levels_by != "complete"
    return "; levels by observed labels, published by complete ones" if differs else ""


def _absent(row: Mapping[str, Any], study: Study) -> str:
    names = {"dataset": "datasets", "missing_rate": "missing_rates", "model": "models"}
    wanted = {f"weak_labels.{key}": (row[name], getattr(study.weak_labels, key)) for name, key in names.items()}
    return missing_reason(wanted) or "no number here: tables/weak_label_scores.csv has the reason"
