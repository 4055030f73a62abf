"""Sentences on scores of samples that are unlike the training samples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairfold.answer.leaderboard import interval, number
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
    >>> table["new_table"] = None
    >>> print(next(sentences_on_elsewhere(table)).replace(" on samples that", "\non samples that"))
    The average precision of Stack+ is 0.780 on samples like these, and 0.710 and 0.660
    on samples that are less like the training samples (clusters of up to 5 % and 20 % of the samples).
    """
    table = table[table["model"] != GUESSING]
    if table.empty:
        return
    has_reason, is_like_new = table["reason"].fillna("") != "", table["new_table"].notna()
    if has_reason[~is_like_new].any():
        reason = table.loc[has_reason, "reason"].iloc[0].rstrip(".")
        yield f"Scores on samples unlike the training samples were not computed: {reason}."
        return
    best = table["model"].iloc[0]
    rows = table[table["model"] == best].set_index("step")
    digits = decimals_of(*([rows.loc[0, end]] for end in ("low", "high")))
    clusters = rows[rows["new_table"].isna()]
    first, *others = (_number(score, digits) for score in clusters["score"])
    sizes = listed([f"{100 * size:.2g} %" for size in clusters["size"][1:]])
    name = METRICS[rows["metric"].iloc[0]].name
    yield (
        f"The {name} of {best} is {first} on samples like these, and {listed(others)} on samples that are less like "
        f"the training samples (clusters of up to {sizes} of the samples)."
    )
    for step, row in rows.iloc[1:].iterrows():
        is_new = isinstance(row["new_table"], str)
        if is_new:
            yield _on_new_table(row, name, best, digits)
        if row["verdict"] == WORSE:
            other = table.loc[(table["step"] == step) & (table["verdict"] == BEST), "model"].iloc[0]
            size = f"clusters of up to {100 * row['size']:.2g} %"
            place = f"samples like the rows of {row['new_table']}" if is_new else size
            yield f"On {place}, {other} is significantly better than {best}."


def _number(score: float, digits: int) -> str:
    return "undefined" if np.isnan(score) else number(score, digits)


def _on_new_table(row: pd.Series, name: str, model: str, digits: int) -> str:
    """State the score to expect on a new table."""
    table = row["new_table"]
    if isinstance(row["reason"], str) and row["reason"]:
        return f"The score to expect on {table} was not computed: {row['reason'].rstrip('.')}."
    ends = "" if pd.isna(row["low"]) else f" (95 % interval {interval(row['low'], row['high'], digits)})"
    what, score = f"the {name} of {model}", f"is {_number(row['score'], digits)}{ends}"
    if row["match"] == "further":
        far = f"The rows of {table} are further from the training samples than the test samples of any folds."
        return f"{far} On the most distant ones, {what} {score}; beyond them, it is unknown."
    if row["match"] == "nearer":
        near = f"The rows of {table} are no further from the training samples than these samples"
        return f"{near}, so {what} to expect there {score}."
    return f"Judged by samples as far from the training samples as the rows of {table}, {what} to expect there {score}."
