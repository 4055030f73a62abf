"""Whole studies of tables whose labels leave metrics undefined."""

import re
import shutil

import numpy as np
import pandas as pd

MODELS = ["RF+ET", "logistic+"]


def configuration(name, **dataset):
    return {
        "seed": 1,
        "data": {"own": {name: {"path": f"{name}.csv", "labels": {"prefix": "label_"}, **dataset}}},
        "weak_labels": {
            "datasets": [name],
            "models": MODELS,
            "missing_rates": [0],
            "forest": {"n_trees": 5, "max_levels": 1},
        },
    }


def told(study):
    """The sentences, and the report as text."""
    sentences = pd.read_csv(study.folder / "results/recommendation/sentences.csv")
    page = (study.folder / "results/report.html").read_text()
    text = " ".join(re.sub(r"(?s)<(style|script)\b.*?</\1>|<[^>]+>", " ", page).split())
    logs = " ".join(path.read_text() for path in (study.folder / "results/logs").rglob("*.log"))
    assert "RuntimeWarning" not in logs and not re.search(r"\bnan\b", text)
    return sentences.groupby("use")["sentence"].agg(list), text


def test_no_score_that_needs_two_labels_is_perfect_for_one(root, study):
    one = study(configuration("one-label"))
    shutil.copy(root / "tests/cases/one-label.csv", one.folder)
    code, output = one.run()
    assert code == 0, output
    tables = one.folder / "results/tables"
    for name, columns in (
        ("weak_label_scores", ["value", "observed_value"]),
        ("score_summary", ["mean"]),
        ("complete_scores", ["complete", "observed", "corrected", "known"]),
        ("percentile_ranks", ["percentile_rank"]),
        ("recommendation", ["mean", "rank"]),
    ):
        table = pd.read_csv(tables / f"{name}.csv").set_index("metric")[columns]
        assert table.loc["ranking_loss"].isna().all(axis=None), name
        assert table.drop("ranking_loss").notna().all(axis=None), name
    printed = pd.read_csv(tables / "weak_labels/one-label.csv")
    assert set(printed["ranking_loss"]) == {"–"}
    sentences, text = told(one)
    reason = "it needs a sample with a positive and a negative label"
    assert [each for each in sentences["ranking"] if "ranking loss" in each] == [
        f"No model is compared by ranking loss: {reason}, which no test fold has."
    ]
    assert f"all models 5 ranking loss is undefined: {reason}" in text


def test_another_metric_answers_where_the_first_is_undefined(study):
    """All samples of a site have the label, or none has it, and folds are sites."""
    rng = np.random.default_rng(1)
    site = np.repeat(list("ABCDE"), 12)
    label = np.isin(site, ["A", "B"]).astype(int)
    table = pd.DataFrame(rng.normal(size=(60, 3)) + label[:, None], columns=["f1", "f2", "f3"])
    sites = study(configuration("sites", groups="site"))
    table.assign(site=site, label_a=label).to_csv(sites.folder / "sites.csv", index=False)
    code, output = sites.run()
    assert code == 0, output
    recommended = pd.read_csv(sites.folder / "results/tables/recommendation.csv").set_index("metric")
    assert recommended.loc[["average_precision", "roc_auc", "ranking_loss", "mcc"], "mean"].isna().all()
    sentences, _ = told(sites)
    assert [re.sub(":.*", "", each) for each in sentences["ranking"]] == [
        f"No model is compared by {name}" for name in ("average precision", "AUROC", "ranking loss")
    ]
    assert sentences["threshold"][0].startswith("No model is compared by Matthews correlation: it needs a positive")
    assert sentences["threshold"][1].startswith("By Hamming loss the best of 2 models is ")
