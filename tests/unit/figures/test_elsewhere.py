import numpy as np
import pandas as pd

from fairfold.figures.elsewhere import plot_elsewhere
from fairfold.figures.findings import loss_elsewhere


def table():
    rows = [(step, model) for step in (0, 1, 2) for model in ("A", "B", "guessing")]
    scores = pd.DataFrame(rows, columns=["step", "model"]).assign(dataset="sites", metric="mcc", distance=np.nan)
    scores["score"] = np.linspace(0.9, 0.2, 9)
    scores.loc[scores["step"] > 0, "distance"] = 1.5
    is_guess = scores["model"] == "guessing"
    ends = {"low": (scores["score"] - 0.1).mask(is_guess), "high": (scores["score"] + 0.1).mask(is_guess)}
    return scores.assign(size=scores["step"] * 0.1, **ends)


def test_each_model_is_a_line_over_the_steps():
    scores = table()
    (axes,) = plot_elsewhere(scores).axes
    for line, model in zip(axes.lines, ["A", "B", "guessing"], strict=True):
        np.testing.assert_allclose(line.get_ydata(), scores.loc[scores["model"] == model, "score"])
    ticks = [tick.get_text() for tick in axes.get_xticklabels()]
    assert ticks == ["folds of\nthe study", *(f"clusters\nup to {n} %\ndistance × 1.5" for n in (10, 20))]


def test_without_clusters_nothing_is_drawn_or_found():
    assert not plot_elsewhere(table()[:3]).axes and loss_elsewhere(table()[:3]) == ""
    assert loss_elsewhere(table()) == (
        "The mcc of A is 0.900 on the folds of the study, and 0.375 on clusters of up to 20 % of the samples."
    )
