"""Model card of a final model: its data, scores, limits and settings."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from fairfold.core.arrays import positives_by_label
from fairfold.core.defaults import CONFIDENCE, PRECISION, SCORE
from fairfold.core.digits import decimals_of
from fairfold.core.markdown import escape_markdown
from fairfold.core.validation import LabelFrequency, is_corrected
from fairfold.datasets import Dataset
from fairfold.datasets.columns import account_line
from fairfold.errors import ModelError, count, listed
from fairfold.evaluation.certified import Certified, n_held_out_of
from fairfold.metrics.corrections import NOT_CORRECTED
from fairfold.metrics.registry import METRICS
from fairfold.recommendation.complete_scores import is_correctable
from fairfold.recommendation.leaderboard import BEST

_NOT_SCORED = "The study did not score this model on this dataset."
_HEAD = "| score | mean | 95 % interval |\n|---|---|---|"
_MOST_CERTIFIED = 50  # rows of the table
_PACKAGES = ("fairfold", "numpy", "scipy", "scikit-learn", "lightgbm", "skops")


def recommended_model(recommendation: pd.DataFrame, dataset: str, score: str = SCORE) -> str:
    """Return the best model on a dataset by the score of the study, estimated on complete labels.

    Parameters
    ----------
    recommendation : DataFrame
        Table of :func:`~fairfold.recommendation.comparison.recommend`, or the leaderboard if cells were checked.
    dataset : str
        Identifier of the dataset.
    score : str, default="average_precision"
        Score of the study.

    Returns
    -------
    str
        Name of the model.

    Raises
    ------
    ModelError
        If no model has a score in every fold, or the metric is undefined.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairfold.final.card import recommended_model
    >>> columns = ["dataset", "metric", "model", "rank"]
    >>> rows = [("plants", "average_precision", "kNN", 2.0), ("plants", "average_precision", "Stack+", 1.0)]
    >>> recommended_model(pd.DataFrame(rows, columns=columns), "plants")
    'Stack+'
    """
    rows = recommendation[(recommendation["dataset"] == dataset) & (recommendation["metric"] == score)]
    if "verdict" in rows:
        rows = recommendation = rows.assign(rank=np.where(rows["verdict"] == BEST, 1.0, np.nan))
    best = rows.loc[rows["rank"] == rows["rank"].min(), "model"]
    if best.empty:
        if recommendation.loc[recommendation["dataset"] == dataset, "rank"].notna().any():
            raise ModelError(f"{dataset}: {METRICS[score].undefined}. Name a model as final.model.")
        raise ModelError(f"no model has a score in every fold of {dataset}; name one as final.model.")
    return str(best.iloc[0])


def model_card(
    data: Dataset,
    name: str,
    *,
    settings: Mapping[str, Any],
    seed: int,
    scores: pd.DataFrame | None = None,
    checked: tuple[int, int] = (0, 0),
    checked_scores: pd.DataFrame | None = None,
    curves: pd.DataFrame | None = None,
    weights: pd.DataFrame | None = None,
    elsewhere: Sequence[str] = (),
) -> str:
    """Write the model card of a final model.

    Parameters
    ----------
    data : Dataset
        Data that the model was fitted to.
    name : str
        Name of the model.
    settings : mapping of str -> object
        Settings of the model.
    seed : int
        Seed of the study.
    scores : DataFrame or None, default=None
        Scores of the study with the columns ``dataset, missing_rate, model, metric, observed, corrected, low, high``;
        see :func:`~fairfold.recommendation.complete_scores.complete_scores`. None if the model was not scored.
    checked : tuple of int, default=(0, 0)
        Number of labels that a person checked before the fit, and of those that were changed.
    checked_scores : DataFrame or None, default=None
        Scores from checked cells, see :func:`~fairfold.recommendation.checked.checked_table`. They replace `scores`.
    curves : DataFrame or None, default=None
        Table of ``fairfold.evaluation.certified.curve_table``. None leaves certified decisions out.
    weights : DataFrame or None, default=None
        Columns ``member, weight`` of a pool of models.
    elsewhere : sequence of str, default=()
        Sentences on scores of samples that are unlike the training samples.

    Returns
    -------
    str
        Text in Markdown.
    """
    frequency = settings.get("label_frequency", data.label_frequency())
    is_incomplete = is_corrected(frequency)
    corrects = is_incomplete and name.endswith("+")
    scored = _scores(data, name, scores) if checked_scores is None else _checked_scores(name, checked_scores)
    certified = _certified(curves) if curves is not None else ()
    return "\n".join(
        [
            *_head(data, name),
            *_data(data, *checked),
            *_labels(data, frequency, corrects=corrects, is_checked=checked[0] > 0),
            *scored,
            *certified,
            *_limits(elsewhere, corrects=corrects, is_estimated=is_incomplete and checked_scores is None),
            *_made(settings, seed, weights),
        ]
    )


def _head(data: Dataset, name: str) -> Iterator[str]:
    yield f"# {name}, fitted on {data.id}\n"
    yield (
        "The model predicts the probability of each label. To predict a new table, whose columns are matched by name, "
        "run\n"
    )
    yield "```sh\nfairfold predict THIS_FOLDER new.csv -o predictions.csv\n```\n"
    yield "```python\nfrom fairfold.final import load_final"
    yield 'found = load_final("THIS_FOLDER").predict(table)  # a data frame with a column for each feature'
    yield 'found["probability"], found["decision"]\n```\n'


def _data(data: Dataset, n_checked: int, n_changed: int) -> Iterator[str]:
    positives = positives_by_label(data.Y)
    yield "## Data\n"
    mean = f"A sample has {data.label_cardinality:.2f} positive labels on average."
    yield f"{data.shape[0]} samples; {escape_markdown(account_line(data))}. {mean}\n"
    order = np.argsort(positives, kind="stable")
    rare = [f"{escape_markdown(data.label_names[label])} ({positives[label]})" for label in order[:5]]
    yield f"Labels with the fewest positives: {', '.join(rare)}.\n"
    if data.hierarchy is not None and len(data.hierarchy.edges):
        yield "The labels form a hierarchy: no label is more probable than a label above it.\n"
    if n_checked:
        yield f"A person checked {n_checked} labels before the fit and changed {n_changed} of them.\n"


def _labels(data: Dataset, frequency: LabelFrequency, *, corrects: bool, is_checked: bool) -> Iterator[str]:
    """Name the declared state of the labels, and the correction of models with a `+`."""
    if not corrects:
        yield f"State of the labels: {data.labels_are}. Probabilities are those of labels as given.\n"
        return
    share = "estimated from the training labels"
    if not isinstance(frequency, str):
        share = f"{100 * float(np.mean(frequency)):.1f} % by {'checked cells' if is_checked else 'declaration'}"
    yield (
        f"State of the labels: {data.labels_are}. A model with a + divides probabilities by the share of positives "
        f"that is observed, {share}.\n"
    )


def _checked_scores(name: str, scores: pd.DataFrame) -> Iterator[str]:
    yield "## Scores\n"
    own = scores[scores["model"] == name].drop_duplicates("metric")
    if own.empty:
        yield f"{_NOT_SCORED}\n"
        return
    n_checked = int(own["n_checked"].iloc[0])
    yield (
        f"Estimated from {n_checked:,} checked cells, for the test samples of all folds. The 95 % intervals are for "
        "the choice of the cells.\n"
    )
    yield _HEAD
    for row in own.itertuples():
        yield f"| {METRICS[row.metric].label} | {' | '.join(_with_interval(row, row.estimate))} |"
    yield ""


def _scores(data: Dataset, name: str, scores: pd.DataFrame | None) -> Iterator[str]:
    yield "## Scores\n"
    own = None
    if scores is not None:
        own = scores[(scores["dataset"] == data.id) & (scores["model"] == name)]
    if own is None or own["observed"].isna().all():
        yield f"{_NOT_SCORED}\n"
        return
    rate = own["missing_rate"].min()
    hidden = f", with {rate} % of each label's positives hidden from training and tests" if rate else ""
    is_incomplete = data.declared(rate)["labels_are"] == "incomplete"
    rows = own[own["missing_rate"] == rate]
    if is_incomplete:
        is_estimated = isinstance(data.label_frequency(rate), str)
        yield from _estimated_rows(rows, hidden, is_hierarchical=data.hierarchy is not None, is_estimated=is_estimated)
    else:
        yield from _rows(rows, hidden)
    yield ""


def _certified(curves: pd.DataFrame) -> Iterator[str]:
    yield "## Certified decisions\n"
    found = Certified().certificates(curves)
    rows, by = found[found["reason"] == ""], "The certificates are about out-of-fold predictions."
    if n_held_out := n_held_out_of(curves):
        by = f"The certificates are about this model, by {n_held_out:,} samples that were held out before the study."
    yield (
        f"{len(rows)} of {count(len(found), 'label')} have a threshold above which at least {100 * PRECISION:g} % of "
        f"decisions are right, with {100 * CONFIDENCE:g} % confidence for each label, if recorded positives are right. "
        f"{by} `--precision 0.9` of the command above applies them.\n"
    )
    if len(rows):
        yield "| label | threshold | precision at least | recorded positives found |\n|---|---|---|---|"
        for row in rows[:_MOST_CERTIFIED].itertuples():
            numbers = f"{row.threshold:.3f} | {100 * row.precision_low:.1f} % | {100 * row.recall:.0f} %"
            yield f"| {escape_markdown(row.label)} | {numbers} |"
        yield ""


def _rows(scores: pd.DataFrame, hidden: str) -> Iterator[str]:
    yield f"Means over test folds{hidden}, on the labels as they are. The 95 % intervals are for new samples.\n"
    yield _HEAD
    for row in scores.itertuples():
        yield f"| {METRICS[row.metric].label} | {' | '.join(_with_interval(row, row.observed))} |"


def _estimated_rows(scores: pd.DataFrame, hidden: str, *, is_hierarchical: bool, is_estimated: bool) -> Iterator[str]:
    uncertain = "include the sampling error and the uncertainty of the missing rate"
    they = uncertain if is_estimated else "take the declared missing rate as exact"
    yield (
        f"Means over test folds{hidden}: on observed labels, and estimated for complete labels. The 95 % intervals "
        f"are for new samples. They {they}.\n"
    )
    yield "| score | on observed labels | on complete labels | 95 % interval |\n|---|---|---|---|"
    for row in scores.itertuples():
        observed, corrected, interval = _with_interval(row, row.observed, row.corrected)
        if not is_correctable(METRICS[row.metric], hierarchical=is_hierarchical):
            corrected, interval = NOT_CORRECTED, "–"
        yield f"| {METRICS[row.metric].label} | {observed} | {corrected} | {interval} |"


def _with_interval(row: Any, *values: float) -> list[str]:
    """Format scores and their interval."""
    decimals = decimals_of(row.low, row.high)
    interval = f"{row.low:.{decimals}f} to {row.high:.{decimals}f}" if np.isfinite(row.low) else "–"
    return [*("–" if np.isnan(value) else f"{value:.{decimals}f}" for value in values), interval]


def _limits(elsewhere: Sequence[str], *, corrects: bool, is_estimated: bool) -> Iterator[str]:
    yield "## Limits\n"
    yield "- The scored models were fitted to fewer rows than this one. Scores on data from other sources may differ."
    if elsewhere:
        yield f"- {escape_markdown(' '.join(elsewhere))}"
    if is_estimated:
        yield (
            "- Scores on complete labels assume that labels are missing at random, all at the same rate, and that no "
            "positive is wrong. If hard positives are missing more often, more are missing than estimated."
        )
    if corrects:
        yield (
            "- Posteriors assume that all labels are missing at random, at the same rate. They are too low for hard or "
            "rare positives that are missing more often."
        )
    else:
        yield "- Probabilities are those of labels as given. If positives are missing, they are too low."
    yield "- Check the scores of a label with few positives before you rely on it."
    yield "- The file of a kernel or nearest-neighbor model contains features of training samples."
    yield "- Unless the study is private, the file contains averages of training samples and deciles of features.\n"


def _made(settings: Mapping[str, Any], seed: int, weights: pd.DataFrame | None) -> Iterator[str]:
    yield "## Settings and versions\n"
    text = ", ".join(f"{key} {value}" for key, value in settings.items()) or "defaults"
    yield f"Settings: {escape_markdown(text)}; seed {seed}.\n"
    if weights is not None and len(weights):
        yield f"{sentence_on_weights(weights)}\n"
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    yield f"Python {platform.python_version()}, {versions}.\n"


def sentence_on_weights(weights: pd.DataFrame) -> str:
    """Name the members of a pool with their weights.

    Parameters
    ----------
    weights : DataFrame
        Columns ``member, weight``.

    Returns
    -------
    str
        A sentence.

    Examples
    --------
    >>> sentence_on_weights(pd.DataFrame({"member": ["lines", "trees"], "weight": [0.75, 0.25]}))
    'The model is a weighted mean of lines (75 %) and trees (25 %).'
    """
    members = (f"{row.member} ({100 * row.weight:.0f} %)" for row in weights.itertuples())
    return f"The model is a weighted mean of {listed([*members])}."
