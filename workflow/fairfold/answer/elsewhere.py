"""Sentences on scores of samples that are unlike the training samples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairfold.answer.leaderboard import number
from fairfold.core.digits import decimals_of
from fairfold.errors import listed
from fairfold.evaluation.compare import BEST, GUESSING, WORSE
from fairfold.metrics.registry import METRICS


def sentences_on_elsewhere(table: pd.DataFrame) -> Iterator[str]:
    r"""State the scores of the recommended model on folds of clusters, and whether another model is better there.

    Parameters
    ----------
    table : DataFrame
        Rows of :func:`~fairfold.recommendation.elsewhere.score_elsewhere` for one dataset; may be empty.

    Yields
    ------
    str
        A sentence.

    Examples
    --------
    >>> table = pd.DataFrame({"step": [0, 1, 2], "size": [None, 0.05, 0.2], "score": [0.78, 0.71, 0.66]})
    >>> table = table.assign(model="Stack+", metric="average_precision", verdict="best", low=None, high=None, reason="")
    >>> print(next(sentences_on_elsewhere(table)).replace(" on samples that", "\non samples that"))
    The average precision of Stack+ is 0.780 on samples like these, and 0.710 and 0.660
    on samples that are less like the training samples (clusters of up to 5 % and 20 % of the samples).
    """
    table = table[table["model"] != GUESSING]
    if table.empty:
        return
    if len(reasons := table["reason"].dropna()[lambda texts: texts != ""]):
        yield f"Scores on samples unlike the training samples were not computed: {reasons.iloc[0].rstrip('.')}."
        return
    best = table["model"].iloc[0]
    rows = table[table["model"] == best].set_index("step")
    digits = decimals_of(*([rows.loc[0, end]] for end in ("low", "high")))
    first, *others = ("undefined" if np.isnan(score) else number(score, digits) for score in rows["score"])
    sizes = listed([f"{100 * size:.2g} %" for size in rows["size"][1:]])
    name = METRICS[rows["metric"].iloc[0]].name
    yield (
        f"The {name} of {best} is {first} on samples like these, and {listed(others)} on samples that are less like "
        f"the training samples (clusters of up to {sizes} of the samples)."
    )
    for step, size in rows["size"][1:].items():
        is_here = table["step"] == step
        if rows.loc[step, "verdict"] == WORSE:
            other = table.loc[is_here & (table["verdict"] == BEST), "model"].iloc[0]
            yield f"On clusters of up to {100 * size:.2g} %, {other} is significantly better than {best}."
