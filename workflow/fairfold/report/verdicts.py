"""Verdict of each dataset: the model to use, the leaderboard, and what limits the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fairfold.answer.answer import Answer
from fairfold.answer.leaderboard import COLUMNS, Row, columns_of, digits_of, interval
from fairfold.evaluation.compare import BEST, GUESSING
from fairfold.metrics.registry import METRICS

_LONGEST_TITLE = 3  # Datasets whose verdicts the title names.
_SIZES = {
    "n_samples": ("Rows", ","),
    "n_features": ("Features", ","),
    "n_labels": ("Labels", ","),
    "label_cardinality": ("Positives per row", ".2f"),
}


def verdict_card(answer: Answer, *, has_final: bool = False) -> dict[str, Any]:
    """Return what the first screen shows of a dataset.

    Parameters
    ----------
    answer : Answer
        Answer of the study on the dataset.
    has_final : bool, default=False
        Whether the study fits final models.

    Returns
    -------
    dict
        Values of the template of a verdict.
    """
    dataset, model = answer.dataset, answer.model
    return {
        "answer": answer,
        "title": f"Use {model} on {dataset}" if model else f"No model can be recommended on {dataset}",
        "strip": [*_strip(answer)],
        "columns": columns_of(answer.rows, answer.metric),
        "gains": [*({"score", "over_labels"} if METRICS[answer.metric].direction > 0 else ()), "deciding"],
        "rows": _rows(answer),
        "axes": _axes(answer.rows),
        "cautions": [*_cautions(answer)],
        "has_final": has_final,
    }


def title_of(cards: Sequence[Mapping[str, Any]]) -> str:
    """Return the title of a report.

    Parameters
    ----------
    cards : sequence of dict
        Results of :func:`verdict_card`.

    Returns
    -------
    str
        The verdicts of few datasets, or the number of datasets.

    Examples
    --------
    >>> title_of([])
    'Results of the study'
    """
    answers = [card["answer"] for card in cards]
    if not cards:
        return "Results of the study"
    if len(cards) > _LONGEST_TITLE or not all(answer.model for answer in answers):
        return cards[0]["title"] if len(cards) == 1 else f"Verdicts on {len(cards)} datasets"
    return f"Use {', '.join(f'{answer.model} on {answer.dataset}' for answer in answers)}"


def _strip(answer: Answer) -> Iterator[tuple[str, str]]:
    """Yield names and values of the facts about the data."""
    yield from ((name, f"{answer.size[key]:{digits}}") for key, (name, digits) in _SIZES.items())
    yield "Data warnings", str(len(answer.errors) + len(answer.warnings) or "none")
    yield "Missing positives", answer.missing
    if answer.n_checked:
        yield "Checked cells", f"{answer.n_checked:,}"


def _cautions(answer: Answer) -> Iterator[tuple[str, str]]:
    """Yield headings and texts of what limits the answer."""
    yield from (("Correct the data first", sentence) for sentence in answer.errors)
    missing = " ".join(filter(None, (*answer.missing_labels, answer.advice, *answer.further)))
    yield "Checked cells" if answer.n_checked else "If labels are missing", missing.replace("`", "")
    if answer.labels:
        yield "Labels", " ".join(answer.labels)
    if answer.elsewhere:
        yield "Elsewhere", " ".join(answer.elsewhere)
    if answer.decisions:
        yield "Decisions", answer.decisions
    if certified := answer.on_certificates:
        yield "Certified decisions", certified.replace("`", "")
    if answer.intervals:
        yield "How well intervals hold here", answer.intervals
    if kinds := ", ".join(answer.checks):
        yield "Check your data first", f"{kinds[0].upper()}{kinds[1:]}. The section on the audit lists each warning."


def _rows(answer: Answer) -> list[dict[str, Any]]:
    """Return the rows of the leaderboard, with positions of the marks in percent of the axes."""
    axes, digits = _axes(answer.rows), digits_of(answer.rows)
    rows: list[dict[str, Any]] = []
    for row in answer.rows:
        cells: dict[str, dict[str, Any]] = {}
        for column in columns_of(answer.rows, answer.metric):
            cell = {"text": column.cell(row, digits[column.name]), "key": row[column.name]}
            if column.limits:
                low, high = (row[end] for end in column.limits)
                # The mark of guessing would leave little room for the differences of models.
                mark = None if row["verdict"] == GUESSING else _mark((low, cell["key"], high), axes[column.name])
                cell |= {"interval": interval(low, high, digits[column.name]), "mark": mark}
            cells[column.name] = cell
        rows.append({"model": row["model"], "is_best": row["verdict"] == BEST, "cells": cells})
    return rows


def _mark(values: Sequence[float | None], axis: Mapping[str, Any]) -> list[float] | None:
    """Return the positions of the lower end, the mark and the upper end, or None without a value."""
    if values[1] is None:
        return None
    low, high = axis["limits"]
    ends = [values[1] if value is None else value for value in values]
    return [round(float(np.clip((value - low) / (high - low) * 100, 0, 100)), 2) for value in ends]


def _axes(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """Return limits and at most three ticks of the axis of each column with an interval."""
    columns = {column.name: (column.name, *column.limits) for column in COLUMNS if column.limits}
    axes, models = {}, [row for row in rows if row["verdict"] != GUESSING]
    for name, used in columns.items():
        values = [row[end] for row in models for end in used if row[end] is not None]
        first, last = (min(values), max(values)) if values else (0.0, 1.0)
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
