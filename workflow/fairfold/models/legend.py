"""What names look like in figures, as a table, so that figures need to know no model and no metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

import pandas as pd

from fairfold.evaluation.metrics import BASIC_METRICS, ON_REQUEST
from fairfold.models.registry import NO_OWN, register_own, spec_of

_COLUMNS = ["kind", "name", "label", "text", "family", "palette_index", "use", "direction", "leads"]


def legend_table(models: Iterable[str], own: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Legend of a study.

    Parameters
    ----------
    models : all that the study has, in their order.
    own : the part ``models`` of a configuration, with the models of the user's own.

    Returns
    -------
    DataFrame with the columns ``kind, name, label, text, family, palette_index, use, direction, leads``
        A row for each metric (``kind`` is ``"metric"``; ``label`` for axes, ``text`` for sentences, ``use``,
        ``direction`` and ``leads`` as of :class:`~fairfold.evaluation.metrics.Metric`), then one for each model: the
        ``family`` whose colour it has, and the ``palette_index`` of that colour and its marker. Models without one of
        their own take those that no family of the study has, in their order.
    """
    register_own(own or NO_OWN)
    metrics = [
        {
            **{"kind": "metric", "name": name, "label": metric.label, "text": metric.name},
            **{"use": metric.use, "direction": metric.direction, "leads": int(metric.leads)},
        }
        for name, metric in (BASIC_METRICS | ON_REQUEST).items()
    ]
    specs = [spec_of(name) for name in dict.fromkeys(models)]
    index_of = {spec.family: spec.palette_index for spec in specs if spec.palette_index is not None}
    free = (index for index in count() if index not in index_of.values())
    for spec in specs:
        index_of.setdefault(spec.family, None)
    index_of = {family: next(free) if index is None else index for family, index in index_of.items()}
    rows = [
        {
            **{"kind": "model", "name": spec.name, "label": spec.name, "text": spec.name},
            **{"family": spec.family, "palette_index": index_of[spec.family]},
        }
        for spec in specs
    ]
    return pd.DataFrame([*metrics, *rows], columns=_COLUMNS).astype({"palette_index": "Int64", "direction": "Int64"})
