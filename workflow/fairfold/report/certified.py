"""Certified decisions at a target that the reader chooses, with a curve for each label."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from fairfold.core.defaults import PRECISION
from fairfold.report.tables import Cell, Column, Table, table_html
from fairfold.report.templates import render

TARGETS = (0.8, 0.85, PRECISION, 0.95, 0.99)
"""Targets to choose from, which are some of those of the table."""
WIDTH, HEIGHT, _MARGIN = 110, 26, 4  # of a curve
_COLUMNS = {
    "threshold": lambda row: f"{row.threshold:.3f}",
    "precision at least (%)": lambda row: f"{100 * row.precision_low:.1f}",
    "positives found (%)": lambda row: f"{100 * row.recall:.0f}",
    "decisions per 1,000": lambda row: f"{row.per_1000:.3g}" if row.per_1000 < 100 else f"{row.per_1000:.0f}",
}


def target_chooser(certified: pd.DataFrame, name: str) -> dict[str, Any]:
    """Return the values of the template of a chooser of the target.

    Parameters
    ----------
    certified : DataFrame
        Table of ``fairfold.evaluation.certified.certified_table`` of one dataset, with a column ``model``.
    name : str
        Name of the dataset.

    Returns
    -------
    dict
        ``model``, ``name``, the names of the targets, the chosen one, the texts of the cells at each target as JSON,
        and the table of the chosen one.
    """
    certified = certified.astype({"label": str})
    curves = _curves(certified)
    labels = [*curves]
    rows = {(row.label, row.precision): row for row in certified.itertuples()}
    found: dict[str, Any] = {}
    for target in TARGETS:
        chosen = [rows[label, target] for label in labels]
        n_certified = sum(not row.reason for row in chosen)
        found[f"{target:g}"] = {
            "said": f"{n_certified} of {len(labels)} labels certified at {100 * target:g} %",
            "cells": [_cells(row) for row in chosen],
            "dots": [curves[label].get(target) for label in labels],
        }
    usual = f"{PRECISION:g}"
    return {
        "model": certified["model"].iloc[0],
        "name": name,
        "targets": {value: f"{100 * float(value):g} %" for value in found},
        "usual": usual,
        "said": found[usual]["said"],
        "data": json.dumps(found, separators=(",", ":")),
        "html": table_html(_table(curves, found[usual]), f"Certified decisions on the labels of {name}"),
    }


def _cells(row: Any) -> list[str]:
    """Return the texts of a label at a target: numbers, or the reason why there are none."""
    numbers = ["" if row.reason else text(row) for text in _COLUMNS.values()]
    return [*numbers, row.reason]


def _curves(certified: pd.DataFrame) -> dict[str, dict[float, tuple[float, float]]]:
    """Return the positions of the certified targets of each label: decisions to the right, precision upward."""
    rows = certified[certified["reason"] == ""]
    logs = np.log(rows["per_1000"].to_numpy(dtype=float))
    first, last = (logs.min(), max(logs.max(), logs.min() + 1)) if len(logs) else (0.0, 1.0)
    low = certified["precision"].min()
    x = _MARGIN + (WIDTH - 2 * _MARGIN) * (logs - first) / (last - first)
    y = _MARGIN + (HEIGHT - 2 * _MARGIN) * (1 - rows["precision"].to_numpy()) / (1 - low)
    curves: dict[str, dict[float, tuple[float, float]]] = {label: {} for label in certified["label"].drop_duplicates()}
    for label, target, *place in zip(rows["label"], rows["precision"], x.round(1), y.round(1), strict=True):
        curves[label][target] = (float(place[0]), float(place[1]))
    return curves


def _table(curves: dict[str, dict[float, tuple[float, float]]], found: dict[str, Any]) -> Table:
    drawn = [_drawn(label, curve, dot) for (label, curve), dot in zip(curves.items(), found["dots"], strict=True)]
    cells = zip(curves, drawn, found["cells"], strict=True)
    rows = [(Cell(label, label), curve, *(Cell(text, text) for text in texts)) for label, curve, texts in cells]
    names = ["label", "curve", *_COLUMNS, "reason"]
    columns = [
        Column(name, name not in ("label", "reason"), [row[place] for row in rows]) for place, name in enumerate(names)
    ]
    return Table(columns, rows, len(rows), len(columns), {})


def _drawn(label: str, curve: dict[float, tuple[float, float]], dot: tuple[float, float] | None) -> Cell:
    """Draw the curve of a label. It is sorted by the highest certified precision."""
    highest = max(curve, default=None)
    if highest is None:
        return Cell("", "")
    size = {"width": WIDTH, "height": HEIGHT}
    said = f"{label}: decisions are certified up to a precision of {100 * highest:g} %"
    return Cell(
        Markup(render("curve.html.jinja", points=[*curve.values()], dot=dot, said=said, **size)), f"{highest:g}"
    )
