"""Further scores of the out-of-fold predictions of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from fairfold.core.files import read_arrays, read_table, write_table, write_tables
from fairfold.datasets.dataset import Dataset
from fairfold.evaluation.fold_scores import read_predictions
from fairfold.evaluation.hierarchical import score_hierarchy, summarize_hierarchies
from fairfold.evaluation.score_tables import score_many_labels, summarize_many_labels
from fairfold.weak_labels.masking import observed_labels


def tabulate_hierarchies(datasets: Sequence[str], predictions: Sequence[str], made: Mapping[str, str]) -> None:
    """Score the predictions of all models on data with hierarchical labels.

    Parameters
    ----------
    datasets : sequence of str
        Files of the datasets.
    predictions : sequence of str
        Files with predictions, in the folders ``DATASET/rate-RATE``.
    made : mapping of str to str
        Files ``scores, summary`` to write.
    """
    tables = [
        score_hierarchy(data.Y, found, data.hierarchy, **unit, model=model)
        for data, path, unit in _units(datasets, predictions)
        if data.hierarchy is not None
        for model, found in read_predictions([path])
    ]
    write_table(pd.concat(tables, ignore_index=True), made["scores"])
    write_table(summarize_hierarchies(read_table(made["scores"])), made["summary"])


def tabulate_top_labels(
    datasets: Sequence[str], predictions: Sequence[str], made: Mapping[str, str], **options: Any
) -> None:
    """Score the predictions of all models by the top labels of each sample and by label frequency.

    Parameters
    ----------
    datasets : sequence of str
        Files of the datasets.
    predictions : sequence of str
        Files with predictions, in the folders ``DATASET/rate-RATE`` next to ``hidden.npz``.
    made : mapping of str to str
        Files ``at_k, by_frequency, at_k_summary, by_frequency_summary`` to write.
    **options : object
        Parameters of :func:`~fairfold.evaluation.score_tables.score_many_labels`.
    """
    tables = []
    for data, path, unit in _units(datasets, predictions):
        hidden = read_arrays(path.with_name("hidden.npz"))["hidden"]
        observed = partial(observed_labels, data.Y, hidden, negatives=data.negatives)
        for model, found in read_predictions([path]):
            known = {**options, "sample_weight": data.weights, **unit, "model": model}
            tables.append(score_many_labels(data.Y, observed, found, **known))
    for name, parts in zip(("at_k", "by_frequency"), zip(*tables, strict=True), strict=True):
        write_table(pd.concat(parts, ignore_index=True), made[name])
    summaries = summarize_many_labels(read_table(made["at_k"]), read_table(made["by_frequency"]))
    write_tables({f"{name}_summary": table for name, table in summaries.items()}, made)


def _units(datasets: Sequence[str], predictions: Sequence[str]) -> Iterator[tuple[Dataset, Path, Mapping[str, Any]]]:
    """Yield each file of predictions with its dataset and the columns that name both, dataset by dataset."""
    for data in map(Dataset.load, datasets):
        for path in map(Path, predictions):
            if path.parts[-3] == data.id:
                yield data, path, {"dataset": data.id, "missing_rate": int(path.parts[-2].removeprefix("rate-"))}
