"""What models and metrics look like, the same in every figure of a study."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from fairfold.figures import PALETTE

MARKERS = "osD^vPX*h"


class Legend:
    """Looks by name.

    Parameters
    ----------
    table : columns ``kind, name, label, text, family, palette_index, direction``, as
        :func:`fairfold.models.legend.legend_table` gives them. Without one, and for names that it lacks, models have
        colours by their order and metrics are called by their names.
    models : names in the order in which they are drawn.
    """

    def __init__(self, table: pd.DataFrame | None, models: Sequence[str] = ()) -> None:
        empty = pd.DataFrame(columns=["kind", "name", "label", "text", "family", "palette_index", "direction"])
        rows = (empty if table is None else table).set_index(["kind", "name"])
        self._metrics = rows.loc[["metric"]].droplevel(0) if "metric" in rows.index else empty.set_index("name")
        known = rows.loc[["model"]].droplevel(0) if "model" in rows.index else empty.set_index("name")
        self.models = list(known.index) or list(models)
        self._family = known["family"].to_dict()
        self._index = known["palette_index"].astype(int).to_dict()
        for name in models:
            self._index.setdefault(name, len(self._index))

    def colour(self, model: str) -> str:
        """Colour of a model's family."""
        return PALETTE[self._index[model] % len(PALETTE)]

    def marker(self, model: str) -> str:
        """Marker of a model's family; families of one colour, of which there may be more than colours, differ by it."""
        index = self._index[model]
        return MARKERS[(index + index // len(PALETTE)) % len(MARKERS)]

    def is_variation(self, model: str) -> bool:
        """Whether it shares its colour with the model that it varies, and is dashed or hatched."""
        return self._family.get(model, model) != model

    def label(self, metric: str) -> str:
        """What axes call a metric."""
        return self._metrics["label"].get(metric, metric)

    def text(self, metric: str) -> str:
        """What sentences call a metric."""
        return self._metrics["text"].get(metric, metric)

    def leads(self, metric: str) -> bool:
        """Whether a metric stands for those of its use; all do where nothing is said of it."""
        return self._metrics.get("leads", pd.Series(dtype=float)).get(metric, 1) == 1

    def is_loss(self, metric: str) -> bool:
        """Whether less of it is better."""
        return self._metrics["direction"].get(metric, 1) < 0
