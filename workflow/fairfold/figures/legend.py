"""Appearance and names of models and metrics, the same in every figure of a study."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from fairfold.figures.style import MARKERS, PALETTE

_COLUMNS = ["kind", "name", "label", "text", "family", "palette_index", "direction"]


class Legend:
    """Looks of models and names of metrics.

    Parameters
    ----------
    table : DataFrame, default=None
        Columns ``kind, name, label, text, family, palette_index, direction``, as
        :func:`fairfold.models.legend.legend_table` returns them. Models that it lacks get colors by their order, and
        metrics that it lacks keep their names.
    models : sequence of str, default=()
        Names in the order in which they are drawn.
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

    def colour(self, model: str) -> str:
        """Return the color of a model's family."""
        return PALETTE[self._index[model] % len(PALETTE)]

    def marker(self, model: str) -> str:
        """Return the marker of a model's family; families that share a color differ in it."""
        index = self._index[model]
        return MARKERS[(index + index // len(PALETTE)) % len(MARKERS)]

    def line(self, model: str) -> dict[str, str]:
        """Return color, marker and line style of a model; a variation of another model is dashed."""
        style = "--" if self.is_variation(model) else "-"
        return {"color": self.colour(model), "marker": self.marker(model), "linestyle": style}

    def is_variation(self, model: str) -> bool:
        """Whether the model shares its color with the model that it varies, and is dashed or hatched."""
        return self._family.get(model, model) != model

    def label(self, metric: str) -> str:
        """Return the name of a metric on axes."""
        return self._metrics["label"].get(metric, metric)

    def text(self, metric: str) -> str:
        """Return the name of a metric in sentences."""
        return self._metrics["text"].get(metric, metric)

    def leads(self, metric: str) -> bool:
        """Whether a metric stands for those of its use; without a table, all metrics do."""
        return self._metrics.get("leads", pd.Series(dtype=float)).get(metric, 1) == 1

    def is_loss(self, metric: str) -> bool:
        """Whether less of a metric is better."""
        return self._metrics["direction"].get(metric, 1) < 0
