"""Table of names, families and colors for figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

import pandas as pd

from fairfold.core.defaults import SCORE
from fairfold.metrics.registry import BASIC_METRICS, FURTHER_METRICS, METRICS
from fairfold.models.registry import register_own, spec_of

_COLUMNS = ["kind", "name", "label", "text", "family", "palette_index", "use", "direction", "leads"]


def legend_table(models: Iterable[str], own: Mapping[str, Any] | None = None, score: str = SCORE) -> pd.DataFrame:
    """Tabulate how figures display metrics and models.

    Parameters
    ----------
    models : iterable of str
        Names of the models of a study, in display order.
    own : mapping or None, default=None
        Entries of the user's own models, as from ``fairfold.models.settings.Models.entries``.
    score : str, default="average_precision"
        Score of the study, which leads its use.

    Returns
    -------
    DataFrame
        One row per metric, then one row per model. Columns:

        - ``kind``: "metric" or "model".
        - ``name``, ``label`` and ``text``: the name, the label of axes and the name in sentences.
        - ``family`` and ``palette_index``, for models: the family that sets the color and marker, and their position in
          the palette. Families without a fixed position take free ones in display order.
        - ``use``, ``direction`` and ``leads``, for metrics: see :class:`~fairfold.metrics.registry.Metric`.

    Raises
    ------
    ModelError
        If a model does not exist.

    Examples
    --------
    >>> from fairfold.models.legend import legend_table
    >>> table = legend_table(["gcForest", "gcForest+", "kNN"])
    >>> table.loc[table["kind"] == "model", ["name", "family", "palette_index"]].to_numpy().tolist()
    [['gcForest', 'gcForest', 1], ['gcForest+', 'gcForest', 1], ['kNN', 'kNN', 0]]
    """
    register_own(own or {})
    rows: list[tuple] = [
        ("metric", name, metric.label, metric.name, None, None, metric.use, metric.direction, int(leads))
        for name, metric in (BASIC_METRICS | FURTHER_METRICS).items()
        for leads in (name == score if metric.use == METRICS[score].use else metric.leads,)
    ]
    specs = [spec_of(name) for name in dict.fromkeys(models)]
    index_of = {spec.family: spec.palette_index for spec in specs if spec.palette_index is not None}
    free = (index for index in count() if index not in index_of.values())
    for spec in specs:
        if spec.family not in index_of:
            index_of[spec.family] = next(free)
        rows.append(("model", spec.name, spec.name, spec.name, spec.family, index_of[spec.family], None, None, None))
    return pd.DataFrame(rows, columns=_COLUMNS).astype({"palette_index": "Int64", "direction": "Int64"})
