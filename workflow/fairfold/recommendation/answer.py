"""Write the answer of a study in a few lines: the model to use, a leaderboard, and what is uncertain."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairfold.answer.guessing import NO_BETTER, is_no_better_than_guessing
from fairfold.answer.leaderboard import DECIDING, NOT_TESTED, SAME, better_for_decisions, shown
from fairfold.answer.missing_labels import missing_labels_sentences
from fairfold.answer.undecided import samples_sentence
from fairfold.errors import shortened
from fairfold.evaluation.compare import BEST, EQUIVALENT, GUESSING, UNDECIDED, WORSE
from fairfold.evaluation.corrected_t import ROPE
from fairfold.metrics.registry import METRICS

_MOST_LABELS = 3
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def verdict_sentence(board: pd.DataFrame, n_samples: int | None) -> str:
    """Name the model to use, and the number of models that may be as good.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.leaderboard.leaderboard` for one dataset.
    n_samples : int or None
        Number of samples. None omits it.

    Returns
    -------
    str
        One or two sentences.

    Examples
    --------
    >>> board = pd.DataFrame({"model": ["Stack+", "kNN", "dummy"], "verdict": ["best", "not different", "worse"]})
    >>> verdict_sentence(board, 1060)
    'Use Stack+. With 1,060 samples, one other model is not significantly different.'
    """
    verdicts = board["verdict"].value_counts()
    if BEST not in verdicts:
        return "No model has a score in every fold, so no model is recommended."
    is_checked = "n_checked" in board and board["n_checked"].notna().any()  # by intervals, without a test
    best = board.loc[board["verdict"] == BEST, "model"].iloc[0]
    if NOT_TESTED not in verdicts and is_no_better_than_guessing(board):
        return f"{NO_BETTER} {best} has the best score."
    use = f"Use {best}."
    n_alike, n_worse = verdicts.get(UNDECIDED, 0) + verdicts.get(EQUIVALENT, 0), verdicts.get(WORSE, 0)
    if NOT_TESTED in verdicts:
        return f"{use} Its score is the best, but a single fold does not allow a test."
    if n_alike:
        others = "one other model is" if n_alike == 1 else f"{_number(n_alike)} other models are"
        start = others.capitalize() if n_samples is None else f"With {n_samples:,} samples, {others}"
        return f"{use} {start} not {'clearly worse' if is_checked else 'significantly different'}."
    if n_worse:
        others = "the other model" if n_worse == 1 else f"the other {_number(n_worse)} models"
        return f"{use} It is {'better' if is_checked else 'significantly better'} than {others}."
    return f"{use} There is no other model to compare it with."


def answer_lines(
    board: pd.DataFrame,
    numbers: pd.DataFrame,
    missing_rates: pd.DataFrame,
    n_samples: int | None,
    label_scores: pd.DataFrame | None = None,
    labels: pd.DataFrame | None = None,
    *,
    most_models: int,
) -> Iterator[str]:
    """Yield the answer for a dataset.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.leaderboard.leaderboard` for the dataset.
    numbers : DataFrame
        Rows of :func:`~fairfold.recommendation.comparison.recommend` for the dataset.
    missing_rates : DataFrame
        Columns ``hidden_rate, labels_are, estimated_rate, low, high, reason`` for the dataset, in percent. The column
        ``n_checked`` is optional: the number of checked cells.
    n_samples : int or None
        Number of samples. None omits it.
    label_scores : DataFrame or None, default=None
        Columns ``label, mcc``: scores of each label by the final model.
    labels : DataFrame or None, default=None
        Columns ``label, n_models_above_chance`` of the most common labels.
    most_models : int
        Maximum number of models in the leaderboard.

    Yields
    ------
    str
        A line.
    """
    has_twin = board["verdict"].str.startswith(SAME)
    ranked, twins = board[~has_twin].reset_index(drop=True), board[has_twin]
    yield verdict_sentence(board, n_samples)
    estimate = missing_rates.set_index("hidden_rate").loc[0]
    n_checked = float(estimate.get("n_checked", np.nan))
    if np.isnan(n_checked):  # The numbers do not use checked cells.
        best = ranked["model"].iloc[0]
        if other := better_for_decisions(numbers[numbers["same_as"].isna()], best):
            yield f"To decide which labels a sample has, use {other}: by {METRICS[DECIDING].short}, {best} is worse."
    if sentence := samples_sentence(board, n_samples, numbers["rope"].iloc[0] if "rope" in numbers else ROPE):
        yield sentence
    yield ""
    yield from _table(ranked, most_models)
    if len(twins):
        groups = twins.groupby("verdict", sort=False)["model"].agg(" and ".join)
        same = [f"{models}: same scores as {verdict.removeprefix(SAME)}" for verdict, models in groups.items()]
        yield f"({'; '.join(same)}.)"
    yield ""
    yield from missing_labels_sentences(estimate, ranked.iloc[0], np.nan_to_num(n_checked))
    yield from _unlearned(labels)
    if label_scores is not None and len(hardest := label_scores.dropna(subset="mcc").sort_values("mcc", kind="stable")):
        hardest = hardest[: min(_MOST_LABELS, (len(label_scores) + 1) // 2)]
        named = [f"{label} (MCC {mcc:z.2f})" for label, mcc in zip(hardest["label"], hardest["mcc"], strict=True)]
        yield f"Hardest label{'s' if len(named) > 1 else ''}: {', '.join(named)}."


def _unlearned(labels: pd.DataFrame | None) -> Iterator[str]:
    """Name the labels that no model predicts better than by guessing."""
    if labels is None or not len(unlearned := labels[labels["n_models_above_chance"] == 0]):
        return
    names = shortened(unlearned["label"].astype(str).tolist(), _MOST_LABELS)
    yield f"No model predicts {len(unlearned)} of {count(len(labels), 'label')} better than by guessing: {names}."


def _table(board: pd.DataFrame, most_models: int) -> Iterator[str]:
    columns, values = shown(board)
    is_guess = board["verdict"] == GUESSING
    models = values[~is_guess]
    rows = pd.concat([models[:most_models], values[is_guess]])
    texts = {"": [str(model) for model in rows["model"]]}
    for each in columns:  # A terminal may lack the minus sign.
        texts[each.short] = [each.text(of, each.digits[1]).replace("−", "-") or "-" for of in rows[each.name]]
    texts = {heading: [heading, *cells] for heading, cells in texts.items() if {*cells} != {"-"}}
    widths = {heading: max(map(len, cells)) for heading, cells in texts.items()}
    for row in zip(*texts.values(), strict=True):
        cells = zip(row, widths.items(), strict=True)
        yield "  ".join(f"{cell:{'<' if head in ('', 'verdict') else '>'}{width}}" for cell, (head, width) in cells)
    if len(models) > most_models:
        yield f"... and {count(len(models) - most_models, 'more model')}"


def count(number: float, noun: str) -> str:
    """Return a number and a noun in the right form.

    Parameters
    ----------
    number : float
        Whole number.
    noun : str
        Noun in the singular.

    Returns
    -------
    str
        Number and noun.

    Examples
    --------
    >>> count(1060, "row")
    '1,060 rows'
    """
    return f"{number:,.0f} {noun}{'' if number == 1 else 's'}"


def _number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
