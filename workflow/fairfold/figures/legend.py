"""Appearance and names of models and metrics, shared by all figures of a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from fairfold.figures.style import MARKERS, PALETTE

_COLUMNS = ["kind", "name", "label", "text", "family", "palette_index", "direction"]


class Legend:
    """Colors and markers of models, and names of metrics, for all figures of a study.

    Parameters
    ----------
    table : DataFrame or None
        Columns ``kind, name, label, text, family, palette_index, direction``, as returned by
        :func:`fairfold.models.legend.legend_table`. Models that are not in the table get the next colors, in the order
        of `models`. Metrics that are not in the table keep their names.
    models : sequence of str, default=()
        Models in drawing order.

    Examples
    --------
    >>> legend = Legend(None, ["forest", "baseline"])
    >>> legend.line("baseline")
    {'color': '#E69F00', 'marker': 's', 'linestyle': '-'}
    >>> legend.label("average_precision")
    'average_precision'
    """

    def __init__(self, table: pd.DataFrame | None, models: Sequence[str] = ()) -> None:
        rows = pd.DataFrame(columns=_COLUMNS) if table is None else table
        self._metrics = rows[rows["kind"] == "metric"].set_index("name")
        known = rows[rows["kind"] == "model"].set_index("name")
        self.models = list(known.index) or list(models)
        self._family = known["family"].to_dict()
        self._index = known["palette_index"].astype(int).to_dict()
        for name in models:
            self._index.setdefault(name, len(self._index))

    def color(self, model: str) -> str:
        """Return the color of a model's family."""
        return PALETTE[self._index[model] % len(PALETTE)]

    def marker(self, model: str) -> str:
        """Return the marker of a model's family, which differs between families with the same color."""
        index = self._index[model]
        return MARKERS[(index + index // len(PALETTE)) % len(MARKERS)]

    def line(self, model: str) -> dict[str, Any]:
        """Return color, marker and line style of a model; variations of another model are dashed."""
        style = "--" if self.is_variation(model) else "-"
        return {"color": self.color(model), "marker": self.marker(model), "linestyle": style}

    def is_variation(self, model: str) -> bool:
        """Return whether a model is a variation of another one, with the same color and a dashed line or hatching."""
        return self._family.get(model, model) != model

    def label(self, metric: str) -> str:
        """Return the name of a metric for axes."""
        return self._metrics["label"].get(metric, metric)

    def text(self, metric: str) -> str:
        """Return the name of a metric for sentences."""
        return self._metrics["text"].get(metric, metric)

    def leads(self, metric: str) -> bool:
        """Return whether a metric is the leading one of its use; without a table, all metrics are."""
        return self._metrics.get("leads", pd.Series(dtype=float)).get(metric, 1) == 1

    def is_loss(self, metric: str) -> bool:
        """Return whether lower values of a metric are better."""
        return self._metrics["direction"].get(metric, 1) < 0
