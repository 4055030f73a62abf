"""Sentences on what checked cells change, and on how much they show."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairfold.evaluation.compare import BEST
from fairfold.metrics.registry import METRICS

FEW_CELLS = 100
"""Below this number of checked cells, the answer states how weak their evidence is."""


def sentences_on_checks(board: pd.DataFrame, n_checked: int) -> Iterator[str]:
    """Describe how checked cells change the recommendation, and how much they show if there are few.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.checked.with_checked_scores` for one dataset, the best model first.
    n_checked : int
        Number of checked cells.

    Yields
    ------
    str
        A sentence.

    Examples
    --------
    >>> rows = [("Stack+", "best", 0.0, 0.0, 0.0), ("joint-GB", "not different", -0.0003, -0.05, 0.04)]
    >>> board = pd.DataFrame(rows, columns=["model", "verdict", "behind", "behind_low", "behind_high"])
    >>> board = board.assign(metric="average_precision", best_unchecked="Stack+", low=0.4, high=0.6)
    >>> for sentence in sentences_on_checks(board, 40):
    ...     print(sentence)
    joint-GB has the best average precision by the checked cells, but Stack+ is not significantly worse and is kept.
    The evidence of 40 checked cells is weak: differences between models below about 0.045 do not show.
    """
    first = board.iloc[0]
    if first["verdict"] != BEST:
        return
    best, name, before = first["model"], METRICS[first["metric"]].name, first.get("best_unchecked")
    if isinstance(before, str) and before != best:
        yield f"By the checked cells, {before}, which was recommended without them, is significantly worse than {best}."
    elif (board["behind"] < 0).any():
        leader = board.loc[board["behind"].idxmin(), "model"]
        yield f"{leader} has the best {name} by the checked cells, but {best} is not significantly worse and is kept."
    if n_checked >= FEW_CELLS:
        return
    cells = f"{n_checked} checked cell{'' if n_checked == 1 else 's'}"
    widths = board["behind_high"] - board["behind_low"]
    margin = widths[widths > 0].median() / 2
    if np.isfinite(margin):
        yield f"The evidence of {cells} is weak: differences between models below about {margin:.2g} do not show."
    elif np.isfinite(first["low"]):
        margin = (first["high"] - first["low"]) / 2
        yield f"The evidence of {cells} is weak: the {name} of {best} is known to about ± {margin:.2g}."
    else:
        yield f"The evidence of {cells} is weak."
