"""Verdict of each dataset: the model to use, the leaderboard, and what limits the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairfold.answer.guessing import NO_BETTER, is_no_better_than_guessing
from fairfold.answer.leaderboard import ALIKE, DECIDING, NOT_TESTED, SAME, better_for_decisions, number, shown
from fairfold.answer.missing_labels import missing_labels_sentences, missing_rate_phrase
from fairfold.answer.undecided import samples_sentence
from fairfold.evaluation.compare import BEST, GUESSING, WORSE
from fairfold.evaluation.corrected_t import ROPE
from fairfold.metrics.corrections import ODDS_FACTOR, SENSITIVITY
from fairfold.metrics.registry import METRICS
from fairfold.report.labels import listed

LEADERBOARD = "recommendation/leaderboard.csv"
_TOO_FEW = 0.9  # Share of 95 % intervals that hold; below, the report warns.
_LOPSIDED = 2  # Ratio of the longer and the shorter half of an interval.
_LONGEST_TITLE = 3  # Datasets whose verdicts the title names.
_SIZES = {
    "n_samples": ("Rows", ","),
    "n_features": ("Features", ","),
    "n_labels": ("Labels", ","),
    "label_cardinality": ("Positives per row", ".2f"),
}
Tables = Mapping[str, pd.DataFrame]


def verdicts(tables: Tables, has_final: bool) -> list[dict[str, Any]]:
    """Collect what the first screen shows of each dataset.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Tables of the study by name: ``leaderboard``, and optionally ``datasets, missing_rates, complete_scores,
        score_summary, scar_tests, audit, recommendation``.
    has_final : bool
        Whether the study fits final models.

    Returns
    -------
    list of dict
        Values of the template of a verdict, in the order of the leaderboard.
    """
    return [
        _verdict(str(dataset), {name: _of(table, dataset) for name, table in tables.items()}, has_final)
        for dataset in tables["leaderboard"]["dataset"].unique()
    ]


def title_of(cards: Sequence[Mapping[str, Any]]) -> str:
    """Return the title of a report.

    Parameters
    ----------
    cards : sequence of dict
        Result of :func:`verdicts`.

    Returns
    -------
    str
        The verdicts of few datasets, or the number of datasets.

    Examples
    --------
    >>> title_of([{"best": "gcForest+", "dataset": "water"}, {"best": "kNN", "dataset": "plants"}])
    'Use gcForest+ on water, kNN on plants'
    >>> title_of([])
    'Results of the study'
    """
    if not cards:
        return "Results of the study"
    if len(cards) > _LONGEST_TITLE or not all(card["best"] for card in cards):
        return cards[0]["title"] if len(cards) == 1 else f"Verdicts on {len(cards)} datasets"
    return f"Use {', '.join('{best} on {dataset}'.format(**card) for card in cards)}"


def _of(table: pd.DataFrame, dataset: object) -> pd.DataFrame:
    return table[table["dataset"] == dataset] if "dataset" in table else table


def _verdict(dataset: str, tables: Tables, has_final: bool) -> dict[str, Any]:
    board = tables["leaderboard"]
    metric = METRICS[board["metric"].iloc[0]]
    best = board[board["verdict"] == BEST].head(1)
    name = None if best.empty else str(best["model"].iloc[0])
    own = _estimate(tables)
    missing = None if own is None else missing_rate_phrase(own, _n_checked(tables))
    n_samples = int(tables["datasets"]["n_samples"].iloc[0]) if len(tables.get("datasets", ())) else None
    n_rows = f"{n_samples:,} rows" if n_samples else "these rows"
    return {
        "dataset": dataset,
        "best": name,
        "title": f"Use {name} on {dataset}" if name else f"No model can be recommended on {dataset}",
        "warning": NO_BETTER if name and is_no_better_than_guessing(board) else None,
        "lead": _lead(best, metric.name, _digits(board), own),
        "coverage": _coverage(tables),
        "others": None if best.empty else _others(board, n_rows, is_checked=bool(_n_checked(tables))),
        "to_decide": samples_sentence(board, n_samples, _rope(tables)),
        "same": [
            f"{row.model} has the same scores as {row.verdict.removeprefix(SAME)}."
            for row in board.itertuples()
            if row.verdict.startswith(SAME)
        ],
        "strip": list(_strip(tables, missing)),
        "columns": shown(board)[0],
        "rows": _rows(board),
        "rope": f"{_rope(tables):g}",
        "n_alike": int(board["verdict"].isin(ALIKE).sum()),
        "axes": _axes(board),
        "cautions": [*_cautions(best, tables)],
        "has_final": has_final,
        "n_checked": _n_checked(tables),
    }


def _lead(best: pd.DataFrame, name: str, digits: int, own: pd.Series | None) -> str:
    if best.empty:
        return f"No model has a defined {name} in every fold."
    row = best.iloc[0]
    rate = row["missing_rate"]
    hidden = f" with {rate} % of positives hidden from training" if rate else ""
    interval = _range(row["low"], row["high"], digits)
    score = f"{name[0].upper()}{name[1:]} {row['score']:.{digits}f}{hidden}"
    if not interval:
        return score
    upper, lower = row["high"] - row["score"], row["score"] - row["low"]
    is_lopsided = METRICS[row["metric"]].direction > 0 and upper > _LOPSIDED * lower
    is_estimated = own is not None and own["labels_are"] == "incomplete" and own["high"] > 0
    allows = is_lopsided and is_estimated and not np.nan_to_num(row.get("n_checked", 0))
    return f"{score}, 95 % interval {interval}{', which allows for missing positives' if allows else ''}"


def _others(board: pd.DataFrame, n_rows: str, *, is_checked: bool) -> str:
    """Describe the verdicts on the other models in a sentence."""
    names = {verdict: board.loc[board["verdict"] == verdict, "model"].tolist() for verdict in board["verdict"].unique()}
    if untested := names.get(NOT_TESTED):
        return f"A single fold allows no test against {listed(untested)}."
    alike, worse = board.loc[board["verdict"].isin(ALIKE), "model"].tolist(), names.get(WORSE, [])
    if is_checked and (alike or worse):  # by intervals, without a test
        return (
            f"By checked cells, {listed(alike)} may be as good." if alike else "By checked cells, all others are worse."
        )
    if not alike:
        return "All other models are significantly worse." if worse else "No other model was compared."
    verb = "is" if len(alike) == 1 else "are"
    return f"With {n_rows}, {listed(alike)} {verb} not significantly different from it."


def _rope(tables: Tables) -> float:
    """Return the largest difference that does not matter in practice."""
    numbers = tables.get("recommendation", pd.DataFrame())
    return float(numbers["rope"].iloc[0]) if "rope" in numbers and len(numbers) else ROPE


def _strip(tables: Tables, missing: str | None) -> Iterator[tuple[str, str]]:
    """Yield names and values of the facts about the data."""
    for data in tables.get("datasets", pd.DataFrame())[:1].to_dict("records"):
        yield from ((name, f"{data[column]:{digits}}") for column, (name, digits) in _SIZES.items() if column in data)
    if "audit" in tables:
        yield "Data warnings", str(len(_warned(tables)) or "none")
    if missing:
        yield "Missing positives", missing
    if n_checked := _n_checked(tables):
        yield "Checked cells", f"{n_checked:,.0f}"


def _n_checked(tables: Tables) -> float:
    """Return the number of cells that a person has checked."""
    board = tables["leaderboard"]
    return 0.0 if "n_checked" not in board else float(np.nan_to_num(board["n_checked"].max()))


def _estimate(tables: Tables) -> pd.Series | None:
    rates = tables.get("missing_rates", pd.DataFrame())
    return rates[rates["hidden_rate"] == 0].iloc[0] if len(rates) else None


def held_intervals(scores: pd.DataFrame, metric: str) -> pd.Series:
    """Return whether intervals contained the score on all labels where labels were hidden on purpose.

    Parameters
    ----------
    scores : DataFrame
        Columns ``missing_rate, metric, complete, low, high``; may be empty.
    metric : str
        Metric of the scores.

    Returns
    -------
    Series of bool
        One value per interval.
    """
    if scores.empty:
        return pd.Series(dtype=bool)
    tried = scores[(scores["missing_rate"] > 0) & (scores["metric"] == metric)].dropna(subset=["complete", "low"])
    return tried["complete"].round(6).between(tried["low"].round(6), tried["high"].round(6))


def _is_tried(tables: Tables) -> bool:
    """Return whether hidden positives can test the intervals: not those of checked cells or of labels as they are."""
    own = _estimate(tables)
    return not _n_checked(tables) and (own is None or own["labels_are"] != "unknown")


def _held(tables: Tables) -> pd.Series:
    if not _is_tried(tables):
        return pd.Series(dtype=bool)
    scores, metric = tables.get("complete_scores", pd.DataFrame()), tables["leaderboard"]["metric"].iloc[0]
    return held_intervals(scores, metric)


def _coverage(tables: Tables) -> str | None:
    """Warn of intervals that held less often than they promise; None if they held."""
    held = _held(tables)
    return f"held in {100 * held.mean():.0f} % of checks, not 95 %" if len(held) and held.mean() < _TOO_FEW else None


def _cautions(best: pd.DataFrame, tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield headings and texts of what limits the answer."""
    warned = _warned(tables)
    for row in warned[warned["severity"] == "error"].itertuples():
        yield "An error in the data", f"{row.message[0].upper()}{row.message[1:]}. Until then, trust no score."
    own = _estimate(tables)
    if own is not None and not best.empty:
        yield (
            "Checked cells" if _n_checked(tables) else "If labels are missing",
            " ".join(_if_missing(best.iloc[0], own, tables)).replace("`", ""),
        )
    yield from _about_decisions(best, tables)
    held = _held(tables)
    if len(held):
        advice = " Treat the intervals as too narrow." if held.mean() < _TOO_FEW else ""
        yield (
            "How well intervals hold here",
            f"After labels were hidden on purpose, {held.sum()} of {len(held)} intervals ({100 * held.mean():.0f} %) "
            f"contained the score on all labels. At least 95 % should, as they are made for new samples.{advice}",
        )
    elif len(best) and np.isfinite(best["low"].iloc[0]) and _is_tried(tables):
        yield "How well intervals hold here", "Not checked: this study hides no labels on purpose."
    if len(warned):
        kinds = ", ".join(dict.fromkeys(warned["check"]))
        yield "Check your data first", f"{kinds[0].upper()}{kinds[1:]}. The section on the audit lists each warning."


def _warned(tables: Tables) -> pd.DataFrame:
    """Return the errors and warnings of the audit."""
    table = tables.get("audit", pd.DataFrame(columns=["check", "severity", "message"]))
    return table[table["severity"] != "note"]


def _about_decisions(best: pd.DataFrame, tables: Tables) -> Iterator[tuple[str, str]]:
    """Name a model that is significantly better for decisions."""
    numbers = tables.get("recommendation", pd.DataFrame(columns=["metric", "model"]))
    if _n_checked(tables):  # The numbers do not use the checked cells.
        return
    for model in best["model"]:
        if other := better_for_decisions(numbers, model):
            yield (
                "To decide which labels a sample has",
                f"Use {other}. By {METRICS[DECIDING].name}, {model} is significantly worse.",
            )


def _if_missing(best: pd.Series, own: pd.Series, tables: Tables) -> Iterator[str]:
    """Yield what is known about missing labels, and the result of the trial with hidden positives."""
    n_checked = _n_checked(tables)
    yield from missing_labels_sentences(own, best, n_checked)
    if n_checked:
        yield "Other scores below do not use the checked cells."
    elif own["labels_are"] == "incomplete":
        yield from _if_not_at_random(best)
        tests = tables.get("scar_tests", pd.DataFrame())
        if len(tests) and np.isfinite(hard := tests["rate_high_if_hard"].iloc[0]) and hard > own["high"]:
            yield (
                f"If positives that are hard to predict are recorded half as often as others, up to {hard:.0f} % may "
                "be missing."
            )
    yield from _winners(best, tables)


def _if_not_at_random(best: pd.Series) -> Iterator[str]:
    """Describe the score if labels are not missing at random."""
    hard, easy = (f"{best.get(name, np.nan):.3f}" for name in SENSITIVITY)
    if hard != easy and "nan" not in (hard, easy):
        yield (
            f"If the odds that a positive is missing are {ODDS_FACTOR:g} times higher for the hardest than for the "
            f"easiest positives, {METRICS[best['metric']].name} is {hard}. In the opposite case, it is {easy}."
        )


def _winners(best: pd.Series, tables: Tables) -> Iterator[str]:
    """Yield a sentence on the best models at higher missing rates."""
    means = tables.get("score_summary", pd.DataFrame(columns=["metric", "missing_rate", "model", "mean"]))
    means = means[(means["metric"] == best["metric"]) & (means["missing_rate"] > best["missing_rate"])].dropna(
        subset="mean"
    )
    if means.empty:
        return
    goodness = METRICS[best["metric"]].direction * means["mean"]
    first = means.loc[goodness.groupby(means["missing_rate"]).idxmax()].groupby("model", sort=False)["missing_rate"]
    named = [f"{model} after hiding {listed([f'{rate}' for rate in rates])} %" for model, rates in first]
    yield f"In a separate trial, positives were hidden from training. The best model was {listed(named)}."


def _rows(board: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of the leaderboard, with positions of the marks in percent of the axes."""
    axes, least = _axes(board), _digits(board)
    columns, values = shown(board)
    rows: list[dict[str, Any]] = []
    for row, of_row in zip(board.to_dict("records"), values.to_dict("records"), strict=True):
        cells: dict[str, dict[str, Any]] = {}
        for column in columns:
            digits = least if column.digits[0] is None else column.digits[0]
            cell = {"text": column.text(of_row[column.name], digits), "key": row[column.name]}
            if column.limits:
                low, high = (row[end] for end in column.limits)
                # The mark of guessing would leave little room for the differences of models.
                mark = None if row["verdict"] == GUESSING else _mark((low, cell["key"], high), axes[column.name])
                cell |= {"interval": _range(low, high, digits), "mark": mark}
            cells[column.name] = cell
        rows.append({"model": row["model"], "is_best": row["verdict"] == BEST, "cells": cells})
    return rows


def _range(low: float, high: float, digits: int) -> str:
    return "" if np.isnan(low) else f"{number(low, digits)} to {number(high, digits)}"


def _digits(board: pd.DataFrame) -> int:
    """Return the number of decimals that separates the best model from the next one, from 3 to 5."""
    behind = board.loc[board["behind"] > 0, "behind"]
    return int(np.clip(np.ceil(-np.log10(behind.min())), 3, 5)) if len(behind) else 3


def _mark(values: tuple[float, float, float], axis: Mapping[str, Any]) -> list[float] | None:
    """Return the positions of the lower end, the mark and the upper end, or None without a value."""
    if np.isnan(values[1]):
        return None
    low, high = axis["limits"]
    ends = [values[1] if np.isnan(value) else value for value in values]
    return [round(float(np.clip((value - low) / (high - low) * 100, 0, 100)), 2) for value in ends]


def _axes(board: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return limits and at most three ticks of the axes of scores and of differences."""
    columns = {"score": ["low", "score", "high"], "behind": ["behind_low", "behind", "behind_high"]}
    axes, models = {}, board[board["verdict"] != GUESSING]
    for name, used in columns.items():
        values = models[used].to_numpy(float)
        values = values[np.isfinite(values)]
        first, last = (values.min(), values.max()) if len(values) else (0.0, 1.0)
        room = 0.06 * (last - first) or 0.01
        low, high = float(first - room), float(last + room)
        power = 10.0 ** np.floor(np.log10((high - low) / 2))
        step = power * max(n for n in (1, 2, 5) if n * power <= (high - low) / 2)
        digits = max(0, int(-np.floor(np.log10(step))))
        ticks = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step + 0.0
        if len(ticks) > 2 and digits > 1:  # long numbers need room
            ticks = ticks[::2] if digits == 2 else ticks[[0, -1]]
        places = [{"x": 100 * (tick - low) / (high - low), "text": f"{tick:.{digits}f}"} for tick in ticks]
        axes[name] = {"limits": (low, high), "ticks": places}
    return axes
