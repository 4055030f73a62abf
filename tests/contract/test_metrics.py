"""A metric is one entry of ``METRICS``; scores, corrections, thresholds, ranks, tables and figures use it."""

import json
import os
import shutil
import subprocess
import sys

import compiled
import pytest

ENTRIES = """METRICS = {
    "recall": Metric(
        1,
        "micro recall",
        "recall",
        "threshold",
        lambda pred: float(pred.predicted[pred.truth == 1].mean()) if pred.truth.any() else np.nan,
        needs="a positive label",
    ),
    "precision": Metric(
        1,
        "micro precision",
        "precision",
        "threshold",
        lambda pred: float(pred.truth[pred.predicted == 1].mean()) if pred.predicted.any() else np.nan,
        correction=Correction(lambda estimates: plain_scores.quotient(estimates.true_positives, estimates.predicted)),
        objective=lambda true_positives, chosen, positives, n: true_positives / chosen,
    ),
    "gap": Metric(
        -1,
        "gap",
        "gap of means",
        "ranking",
        _of_both(lambda pred: float(pred.score[pred.truth == 0].mean() - pred.score[pred.truth == 1].mean())),
        range=(-1.0, 1.0),
    ),
"""
WALK = """
import json
import numpy as np
import pandas as pd
from scipy import sparse
from fairfold.errors import DataError
from fairfold.missing_labels.corrected import corrected_scores
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.evaluation.ranking import rank_tables
from fairfold.evaluation.score_tables import printed_scores, summarize_scores
from fairfold.metrics.scores import multilabel_scores
from fairfold.metrics.decisions import all_thresholds
from fairfold.figures.legend import Legend
from fairfold.figures.ranks import plot_percentile_ranks
from fairfold.models.legend import legend_table
from fairfold.recommendation.comparison import recommend
from fairfold.recommendation.complete_scores import complete_scores, with_notes
from fairfold.report.tables import table_html, table_of
from fairfold.missing_labels.plateau import FrequencyDistribution

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
Y = (X + 0.5 * rng.normal(size=X.shape) > 0.3).astype(int)
fold_of = np.arange(80) % 2


class Model:
    best_levels_ = dict.fromkeys(BASIC_METRICS, 0)

    def __init__(self, noise):
        self.noise = noise

    def fit(self, X, Y, **options):
        return self

    def staged_predict_proba(self, X):
        noise = self.noise * np.random.default_rng(1).normal(size=X.shape)
        yield 1 / (1 + np.exp(-X - noise))


P = {name: next(Model(noise).staged_predict_proba(X)) for name, noise in (("good", 0), ("bad", 3))}
results = {"scores": multilabel_scores(Y, P["good"]), "sparse": multilabel_scores(Y, sparse.csr_array(P["good"]))}
results["corrected"] = corrected_scores(Y, P["good"], 1.0)
try:
    corrected_scores(Y, P["good"], 1.0, metrics=["recall"])
except DataError as error:
    results["error"] = str(error)
thresholds = all_thresholds(P["good"])
results["thresholds"] = [sorted(thresholds), thresholds["precision"]["pooled"][0]]
results["sparse threshold"] = all_thresholds(sparse.csr_array(P["good"]))["precision"]["pooled"][0]
results["highest"] = (np.sort(P["good"], axis=None)[-2:].mean()).item()

unit = {"dataset": "mine", "missing_rate": 0}
folds = [score_on_folds(lambda fold, n=n: Model(n), X, Y, fold_of, lambda fold: Y) for n in (0, 3)]
tables = [fold.scores.assign(**unit, model=name) for fold, name in zip(folds, P)]
scores = pd.concat(tables, ignore_index=True)
ranks = rank_tables(scores)
results["ranks"] = sorted(ranks["ranks"]["metric"].unique())
results["printed"] = list(printed_scores(summarize_scores(scores)))
predictions = {name: fold.predictions for name, fold in zip(P, folds)}
frequency = FrequencyDistribution.certain(0.8)
complete = complete_scores(Y, Y, predictions, frequency, 0.8, n_draws=5)
noted = with_notes(complete["scores"])
results["notes"] = noted.drop_duplicates("metric").set_index("metric")["note"].to_dict()
results["page"] = table_html(table_of(noted, columns=["model", "metric", "corrected", "note"]), "scores")
rates = pd.DataFrame([{"dataset": "mine", "hidden_rate": 0, "hidden_share": 0.0, "estimated_rate": 20.0, "low": 10.0,
                       "high": 30.0, "reason": ""}])
numbers = recommend(*(complete[name].assign(**unit) for name in ("folds", "scores")), rates)
results["recommended"] = sorted(numbers["metric"].unique())
legend = legend_table([])
results["label"], results["text"] = Legend(legend).label("recall"), Legend(legend).text("gap")
results["is_loss"] = bool(Legend(legend).is_loss("gap"))
figure = plot_percentile_ranks(ranks["ranks"], ranks["comparisons"], ranks["cliques"], legend)
results["axes"] = [axes.get_ylabel() for axes in figure.axes]
print(json.dumps(results))
"""
NEW = {"recall", "precision", "gap"}


@pytest.fixture(scope="module")
def results(root, tmp_path_factory):
    """Return the output of a copy of the library with three more entries."""
    folder = tmp_path_factory.mktemp("extended")
    shutil.copytree(root / "workflow", folder / "workflow", ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "workflow/fairfold/metrics/registry.py"
    text = path.read_text()
    assert text.count("METRICS = {\n") == 1
    path.write_text(text.replace("METRICS = {\n", ENTRIES))
    environment = {**os.environ, "PYTHONPATH": str(folder / "workflow")}
    with compiled.shared_with(folder / "workflow/fairfold", root / "workflow/fairfold"):
        done = subprocess.run([sys.executable, "-c", WALK], env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_scores_and_ranks_have_it(results):
    assert results["scores"].keys() >= NEW and results["scores"] == pytest.approx(results["sparse"])
    for place in ("ranks", "printed", "recommended"):
        assert {*results[place]} >= NEW, place


def test_it_has_the_correction_of_its_entry(results):
    assert results["corrected"]["precision"] == pytest.approx(results["scores"]["precision"])
    assert {"precision", "recall_micro"} <= results["corrected"].keys()
    assert not {"recall", "gap"} & results["corrected"].keys()
    assert results["error"].startswith("metrics: 'recall' cannot be corrected for missing labels. Choose from")


def test_without_a_correction_tables_state_so(results):
    assert {name for name, note in results["notes"].items() if note == "cannot be corrected"} == {"recall", "gap"}
    assert "cannot be corrected" in results["page"]


def test_it_has_the_thresholds_of_its_entry(results):
    names, threshold = results["thresholds"]
    assert names == ["f1_micro", "hamming_loss", "mcc", "precision"]
    assert threshold == results["sparse threshold"] == pytest.approx(results["highest"])


def test_figures_have_its_names(results):
    assert (results["label"], results["text"], results["is_loss"]) == ("micro recall", "gap of means", True)
    assert {"micro recall", "micro precision", "gap"} <= {*results["axes"]}
