"""Figures of the audit: changes along the rows, and copies of rows."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.points import plot_points, texts_of
from fairfold.figures.spec import Figure, FigureSpec
from fairfold.figures.style import PALETTE, add_legend, empty_figure, legend_line, new_figure

_COLORS = {"features": PALETTE[0], "labels": PALETTE[3]}
_Figure = partial(
    FigureSpec,
    section="audit",
    reads=["tables/audit_rows/*.csv"],
    each="weak_labels.datasets",
    optional=True,
    open=True,
)


@_Figure(
    "audit_changes_*",
    title="Changes along the rows",
    alt="strength of changes of features and labels against the row number, with a point at each strong change",
    finding=findings.changes_of_rows,
)
def plot_changes(rows: pd.DataFrame) -> Figure:
    """Draw the strength of changes of features and of labels along the rows.

    Parameters
    ----------
    rows : DataFrame
        Columns ``kind, row, change, is_point`` of ``fairfold.datasets.audit.rows.row_table``.

    Returns
    -------
    Figure
        A panel for features above one for labels. Changes above the gray line are rare in permuted rows.
    """
    if not (rows["change"] > 1).any():
        return empty_figure("no change along the rows")
    figure, axes = new_figure(7.2, 2.6, 2, 1, sharex=True)
    for panel, (kind, color) in zip(axes[:, 0], _COLORS.items(), strict=True):
        part = rows[rows["kind"] == kind]
        panel.plot(part["row"], part["change"], color=color, linewidth=1)
        panel.axhline(1, color="#777777", linewidth=0.8)
        points = part[part["is_point"].eq(True)]
        texts = texts_of(points, "{kind} change before row {row}")
        plot_points(panel, points["row"], points["change"], texts, color=color, marker="o", markersize=4, linestyle="")
        for row, change in zip(points["row"], points["change"], strict=True):
            panel.annotate(f"{row}", (row, change), (0, 4), textcoords="offset points", ha="center", fontsize=7)
        panel.set_ylabel(f"change of\n{kind}")
        panel.set_ylim(0, 1.3 * max(part["change"].max(), 1))
    axes[-1, 0].set_xlabel("row")
    return figure


@_Figure(
    "audit_copies_*",
    title="Copies of rows",
    alt="row number of each copy against the row number of the first row with the same features",
    finding=findings.copies_of_rows,
)
def plot_copies(rows: pd.DataFrame) -> Figure:
    """Draw a matrix of rows with a point for each copy of an earlier row.

    Parameters
    ----------
    rows : DataFrame
        Columns ``kind, row, of_row, n_rows, fold, of_fold`` of ``fairfold.datasets.audit.rows.row_table``.

    Returns
    -------
    Figure
        Colors show whether both rows are in the same fold, if the data define folds.
    """
    copies = rows.dropna(subset="of_row")
    if copies.empty:
        return empty_figure("no copies of rows")
    figure, axes = new_figure(3.6, 3.4)
    panel, n_rows = axes[0, 0], int(copies["n_rows"].iloc[0])
    has_fold = copies[["fold", "of_fold"]].notna().all(axis=1)
    state = np.where(~has_fold, "no folds", np.where(copies["fold"] == copies["of_fold"], "same fold", "other fold"))
    handles = []
    for name, color in zip(("no folds", "same fold", "other fold"), (PALETTE[0], PALETTE[2], PALETTE[3]), strict=True):
        if len(part := copies[state == name]):
            look = {"color": color, "marker": "s", "markersize": 3, "linestyle": ""}
            texts = texts_of(part.astype({"of_row": int}), "row {row} is a {kind} of row {of_row}")
            plot_points(panel, part["of_row"], part["row"], texts, **look)
            handles.append(legend_line(name, **look))
    panel.plot([1, n_rows], [1, n_rows], color="#999999", linewidth=0.6)
    panel.set(xlim=(1, n_rows), ylim=(n_rows, 1), xlabel="first row", ylabel="copy", aspect="equal")
    if has_fold.any():
        add_legend(figure, handles)
    return figure
