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
    scores["new_table"] = None
    return scores.assign(size=scores["step"] * 0.1, **ends)


def test_each_model_is_a_line_over_the_steps():
    scores = table()
    (axes,) = plot_elsewhere(scores).axes
    for line, model in zip(axes.lines, ["A", "B", "guessing"], strict=True):
        np.testing.assert_allclose(line.get_ydata(), scores.loc[scores["model"] == model, "score"])
    ticks = [tick.get_text() for tick in axes.get_xticklabels()]
    assert ticks == ["folds of\nthe study", *(f"clusters\nup to {n} %\ndistance × 1.5" for n in (10, 20))]


def test_the_last_step_is_that_of_the_new_table():
    scores = table()
    scores.loc[scores["step"] == 2, "new_table"] = "new.csv"
    assert plot_elsewhere(scores).axes[0].get_xticklabels()[2].get_text() == "like the\nnew table\ndistance × 1.5"
    assert loss_elsewhere(scores).endswith("and 0.375 on folds that match new.csv.")
    scores.loc[scores["step"] == 2, "score"] = np.nan  # It has no folds.
    assert len(plot_elsewhere(scores).axes[0].get_xticklabels()) == 2 and "up to 10 %" in loss_elsewhere(scores)


def test_without_clusters_nothing_is_drawn_or_found():
    assert not plot_elsewhere(table()[:3]).axes and loss_elsewhere(table()[:3]) == ""
    assert loss_elsewhere(table()) == (
        "The mcc of A is 0.900 on the folds of the study, and 0.375 on clusters of up to 20 % of the samples."
    )
