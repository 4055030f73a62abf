"""The page of a dataset lists unreliable labels, escapes its input and needs no other files."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from fairfold.figures.label_scores import MOST_LABELS, plot_label_scores
from fairfold.report.contents import Item, Section
from fairfold.report.dataset_page import render_dataset_page, unlearned
from fairfold.report.page import render_report

DEPENDENCE = ["dataset", "model", "label", "feature", "probability_at_lowest", "curve"]
FOLDER = "results/final/mine"
LOSSES = ["dataset", "model", "features", "n_features", "loss", "lowest", "highest"]


def scores(n=4):
    table = pd.DataFrame({"label": [f"l<{at}>" for at in range(n)], "n_positives": 30, "n_expected": 33.3})
    table["n_true_positives"] = 20
    for score in ("average_precision", "roc_auc", "mcc"):
        table[score], table[f"{score}_low"], table[f"{score}_high"] = 0.8, 0.7, 0.9
    return table


@pytest.fixture
def given():
    table = scores()
    table.loc[0, ["roc_auc_low"]] = 0.4
    table.loc[1, ["n_positives", "n_true_positives"]] = 9, 0
    table.loc[2, ["roc_auc", "roc_auc_low", "roc_auc_high"]] = np.nan
    columns = ["kind", "rank", "sample", "label", "posterior", "share_of_neighbors", "neighbors"]
    label_errors = pd.DataFrame([("missing", 1, "s1", "l<0>", 0.9, 0.5, "s2, s3")], columns=columns)
    return {
        "label_scores": table,
        "likely_label_errors": label_errors,
        "label_error_precision": pd.DataFrame({"depth": [20], "n_found": [13], "chance": [0.1], "hidden_rate": [30]}),
        "feature_importance": pd.DataFrame([("mine", "gcForest+", "<b>", 1, 0.1, 0, 1)], columns=LOSSES),
        "label_words": pd.DataFrame({"label": ["l<0>"], "column": ["notes"], "words": ["oak, <i>"]}),
        "partial_dependence": pd.DataFrame([("mine", "A", "l<0>", "<b>", 0.5, "▁█")], columns=DEPENDENCE),
        "pool_weights": pd.DataFrame(
            {"dataset": "mine", "model": "A", "member": ["trees", "lines"], "weight": [0.75, 0.25]}
        ),
        "explained_prediction": pd.DataFrame(
            [("mine", "A", 7, "l<0>", f"c<{n}>", f"{n}", n / 100, 0.4, 0.68) for n in range(7, 0, -1)],
            columns=["dataset", "model", "sample", "label", "column", "value", "contribution", "base", "probability"],
        ),
    }


def text_of(page):
    return " ".join(re.sub(r"(?s)<(style|script)\b.*?</\1>|<[^>]+>", " ", page).split())


def test_it_states_what_not_to_rely_on(given):
    assert [len(names) for names in unlearned(given["label_scores"]).values()] == [1, 1, 1, 1]
    text = text_of(render_dataset_page("mine", "gcForest+", "10 samples.", given, FOLDER))
    assert "By AUROC, 2 of 4 examined labels are ranked better than by guessing." in text
    assert "Labels without a true positive at the threshold 0.5: l&lt;1&gt; (9)." in text
    assert "Labels that are not ranked better than by guessing on these samples: l&lt;0&gt; (30)." in text
    assert "have a probability of at least one half" in text
    assert "the probability of l&lt;0&gt; is 0.68 for the left-out sample 7" in text
    assert "c&lt;3&gt; 3 0.03000 2 other columns 0.03000" in text
    for name in ("likely_label_errors", "explained_prediction"):
        given[name] = given[name][:0]
    text = text_of(render_dataset_page("mine", "gcForest+", "10 samples.", given, FOLDER))
    assert "No prediction of a left-out sample contradicts a label." in text
    assert "Labels with fewer than ten positives" in text and "Labels with a single value" in text
    assert "13 of the first 20 cells of such a list were hidden positives; of random cells, 2.0 would be" in text
    assert "fairfold predict results/final/mine new.csv -o predictions.csv" in text
    assert "Predict with the option --explain" in text and "For example, the probability" not in text


def test_it_needs_nothing_else_and_escapes_names(given):
    page = render_dataset_page("<i>mine</i>", "gcForest+", "10 samples.", given, FOLDER)
    assert "<i>" not in page and "<b>" not in page and "l<0>" not in page
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    assert re.findall(r"<th[^>]*>(?:<[^>]+>)*(dataset|model)<", page) == []  # the same in all rows


def test_the_report_has_the_same_lists(given, tmp_path):
    folder = tmp_path / "final/mine"
    folder.mkdir(parents=True)
    for name, table in given.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    (folder / "columns.json").write_text('{"name": "gcForest+"}')
    files = [path.relative_to(tmp_path).as_posix() for path in folder.iterdir()]
    entry = Item("Cells to check", "final", "final/*/likely_label_errors.csv", open=True)
    text = text_of(render_report(tmp_path, files, SimpleNamespace(seed=1), [Section("final", "Final model", [entry])]))
    assert "gcForest+ was fitted to all rows of mine." in text
    assert "Likely missing positives" in text and "s2, s3" in text and "&lt;b&gt;" in text
    assert "Weights of the members" in text and "trees 0.7500" in text and "▁█" in text
    assert "Words of each label, the strongest first" in text and "oak, &lt;i&gt;" in text
    assert "13 of the first 20 cells of such a list were hidden positives" in text
    assert "Examined labels, the hardest first" not in text  # the section on labels has them


def test_of_many_labels_the_hardest_are_listed(given):
    given["label_scores"] = scores(501)
    text = text_of(render_dataset_page("mine", "Stack+", "10 samples.", given, FOLDER))
    assert "The 500 hardest of 501 examined labels" in text and "l&lt;499&gt;" in text and "l&lt;500&gt;" not in text


def test_of_many_labels_the_first_are_drawn():
    figure = plot_label_scores(scores(100).assign(share=0.3))
    assert len(figure.axes[0].get_yticklabels()) == MOST_LABELS
    assert figure.axes[0].get_yticklabels()[0].get_text() == "l<0> (30)"
    assert len(plot_label_scores(scores(0)).axes) == 0


def test_points_and_intervals_are_where_they_should_be():
    figure = plot_label_scores(scores(3))
    for panel in figure.axes:
        (points,) = [line for line in panel.lines if line.get_marker() == "o"]
        np.testing.assert_array_equal(points.get_xdata(), [0.8] * 3)
        np.testing.assert_array_equal(panel.collections[0].get_segments()[0][:, 0], [0.7, 0.9])
