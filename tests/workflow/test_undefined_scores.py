"""Whole studies of tables whose labels make metrics undefined."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest

MODELS = ["RF+ET", "logistic+"]


@pytest.fixture(scope="module")
def folder(root, study_class, tmp_path_factory):
    """Run a study of one label with sites as folds; within a site the label is constant."""
    own = {name: {"path": f"{name}.csv", "labels": {"prefix": "label_"}} for name in ("one-label", "sites")}
    own["sites"]["groups"] = "site"
    weak_labels = {"datasets": [*own], "models": MODELS, "missing_rates": [0]}
    weak_labels["forest"] = {"n_trees": 5, "max_levels": 1}
    made = study_class(
        tmp_path_factory.mktemp("undefined") / "study",
        root,
        {"seed": 1, "data": {"own": own}, "weak_labels": weak_labels},
    )
    shutil.copy(root / "tests/cases/one-label.csv", made.folder)
    rng = np.random.default_rng(1)
    site = np.repeat(list("ABCDE"), 12)
    label = np.isin(site, ["A", "B"]).astype(int)
    table = pd.DataFrame(rng.normal(size=(60, 3)) + label[:, None], columns=["f1", "f2", "f3"])
    table.assign(site=site, label_a=label).to_csv(made.folder / "sites.csv", index=False)
    code, output = made.run()
    assert code == 0, output
    return made.folder


def read(folder, name, dataset):
    return pd.read_csv(folder / f"results/{name}.csv").query("dataset == @dataset", local_dict={"dataset": dataset})


def sentences(folder, dataset):
    return read(folder, "recommendation/sentences", dataset).groupby("use")["sentence"].agg(list)


def test_no_score_that_needs_two_labels_is_perfect_for_one(folder):
    for name, columns in (
        ("weak_label_scores", ["value", "observed_value"]),
        ("score_summary", ["mean"]),
        ("complete_scores", ["complete", "observed", "corrected", "known"]),
        ("percentile_ranks", ["percentile_rank"]),
        ("recommendation", ["mean", "rank"]),
    ):
        table = read(folder, f"tables/{name}", "one-label").set_index("metric")[columns]
        assert table.loc["ranking_loss"].isna().all(axis=None), name
        assert table.drop("ranking_loss").notna().all(axis=None), name
    printed = pd.read_csv(folder / "results/tables/weak_labels/one-label.csv")
    assert set(printed["ranking_loss"]) == {"–"}


def test_another_metric_answers_where_the_first_is_undefined(folder):
    recommended = read(folder, "tables/recommendation", "sites").set_index("metric")
    assert recommended.loc[["average_precision", "roc_auc", "ranking_loss", "mcc"], "mean"].isna().all()
    messages = sentences(folder, "sites")
    assert messages["ranking"] == ["No model has a score in every fold, so no model is recommended."]
    assert " has the best Hamming loss" in " ".join(messages["threshold"])


def test_the_report_has_reasons_and_no_nan(folder):
    page = (folder / "results/report.html").read_text()
    text = " ".join(re.sub(r"(?s)<(style|script)\b.*?</\1>|<[^>]+>", " ", page).split())
    assert "ranking loss is undefined: it needs a sample with a positive and a negative label" in text
    assert not re.search(r"\bnan\b", text)
    logs = [path.read_text() for path in (folder / "results/logs").rglob("*.log")]
    assert not any("RuntimeWarning" in log for log in logs)
