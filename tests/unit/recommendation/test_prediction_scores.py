"""Further scores of predictions in files."""

import numpy as np
import pytest

from fairfold.core.files import read_table, write_arrays
from fairfold.core.hierarchy import Hierarchy
from fairfold.datasets import Dataset
from fairfold.evaluation.fold_scores import score_on_folds, write_predictions
from fairfold.models import make_model
from fairfold.recommendation.prediction_scores import tabulate_hierarchies, tabulate_top_labels

MADE = ("scores", "summary", "at_k", "by_frequency", "at_k_summary", "by_frequency_summary")
UNITS = [("toy", 0), ("toy", 50), ("other", 0), ("other", 50)]


@pytest.fixture
def files(tmp_path):
    """Write two datasets, and the predictions of one model for each at two missing rates."""
    X = np.random.default_rng(0).random((60, 3))
    Y = np.column_stack([X[:, 0] > 0.3, X[:, 0] > 0.6, X[:, 1] > 0.5]).astype(np.int8)
    hierarchy = Hierarchy([[1, 0]], n_labels=3)
    datasets, predictions = [], []
    for name in ("toy", "other"):
        data = Dataset(name, "multilabel", X, Y, tuple("abc"), tuple("xyz"), hierarchy=hierarchy)
        data.save(tmp_path / f"{name}.npz")
        datasets.append(str(tmp_path / f"{name}.npz"))
        for rate in (0, 50):
            folder = tmp_path / name / f"rate-{rate}"
            folder.mkdir(parents=True)
            found = score_on_folds(lambda fold: make_model("logistic"), X, Y, np.arange(60) % 2, lambda fold: Y)
            write_predictions({"logistic": found.predictions}, folder / "predictions_0.npz")
            write_arrays(folder / "hidden.npz", hidden=np.zeros((0, 3), dtype=np.int64))
            predictions.append(str(folder / "predictions_0.npz"))
    made = {name: str(tmp_path / f"{name}.csv") for name in MADE}
    return datasets, predictions, made


def test_top_labels_are_scored_for_each_dataset_and_rate(files):
    datasets, predictions, made = files
    tabulate_top_labels(datasets, predictions[::-1], made, bands=(5, 20))
    for name in ("at_k", "by_frequency", "at_k_summary", "by_frequency_summary"):
        table = read_table(made[name])
        assert set(zip(table["dataset"], table["missing_rate"], strict=True)) == set(UNITS)
        assert (table["model"] == "logistic").all()


def test_hierarchies_are_scored_for_each_dataset_and_rate(files):
    datasets, predictions, made = files
    tabulate_hierarchies(datasets, predictions, made)
    scores = read_table(made["scores"])
    assert list(dict.fromkeys(zip(scores["dataset"], scores["missing_rate"], strict=True))) == UNITS
    assert set(read_table(made["summary"])["dataset"]) == {"toy", "other"}
