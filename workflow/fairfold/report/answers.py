"""Sentences of the recommendation, grouped for reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# Heading of each use.
_HEADINGS = {
    "data": "The data",
    "ranking": "To rank labels by their probability",
    "threshold": "To decide which labels a sample has",
}


def group_sentences(recommendation: pd.DataFrame) -> dict[str, dict[str, list[str]]]:
    """Group the sentences of a recommendation by dataset and use.

    Parameters
    ----------
    recommendation : DataFrame
        Columns ``dataset, use, sentence``, in reading order.

    Returns
    -------
    dict of str to dict of str to list of str
        Sentences by dataset and heading of the use, in the order of the table. Other uses serve as
        their own heading.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"dataset": ["flags"], "use": ["data"], "sentence": ["It has 194 samples."]})
    >>> group_sentences(table)
    {'flags': {'The data': ['It has 194 samples.']}}
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for row in recommendation.itertuples(index=False):
        groups.setdefault(row.dataset, {}).setdefault(_HEADINGS.get(row.use, row.use), []).append(row.sentence)
    return groups
