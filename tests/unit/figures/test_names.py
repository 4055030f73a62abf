"""Names from a user's data in figures."""

import warnings

import pandas as pd
import pytest

from fairfold.figures import save_figure
from fairfold.figures.label_scores import plot_label_scores


@pytest.mark.parametrize("name", ["cost_$5_to_$10", "a$_$", "$x_1$", "n" * 130, "100 % & <b>", "_", "leaf 🌿"])
def test_names_are_text_of_a_bearable_length(tmp_path, name):
    """A dollar sign does not start math text, and a long name is shortened to keep room for the panels."""
    scores = pd.DataFrame({"label": [name, "short"], "n_positives": [3, 4]})
    for score in ("roc_auc", "average_precision", "mcc"):
        scores[score], scores[f"{score}_low"], scores[f"{score}_high"] = 0.7, 0.6, 0.8
    figure = plot_label_scores(scores)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_figure(figure, [tmp_path / "a.png", tmp_path / "a.pdf"])
    assert min(axes.get_position().width for axes in figure.axes) > 0.1
    (first, _) = (tick.get_text() for tick in figure.axes[0].get_yticklabels())
    shown = first.replace(r"\$", "$")
    assert shown == f"{name} (3)" if len(name) < 42 else len(shown) < 50 and "…" in shown
