"""The forecast of large tables grows with their sizes and follows measured growth."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.console.running import introduction
from fairfold.datasets import load_catalog
from fairfold.datasets.dataset import Dataset, sizes_of
from fairfold.forests.sketches import MOST_EXACT
from fairfold.models import MODEL_NAMES
from fairfold.planning.check import check_config
from fairfold.planning.forecast import LARGE_TABLE, MANY_LABELS, Forecast, forecast, memory_to_request, small_datasets

MEASURED = Path(__file__).resolve().parents[3] / "resources/measured/growth.csv"


@pytest.mark.parametrize("position", range(4))
def test_cost_grows_with_each_size(position):
    costs = []
    for factor in (1, 2, 8):
        sizes = [20_000, 30, 5, 30]
        sizes[position] *= factor
        costs.append(forecast(*sizes))
    assert [cost.minutes for cost in costs] == sorted({cost.minutes for cost in costs})
    assert [cost.gib for cost in costs] == sorted(cost.gib for cost in costs)


def test_memory_and_time_follow_measured_growth():
    """Memory is that of the largest model, and the time a mean over five models. Sparse data cost less."""
    table = pd.read_csv(MEASURED).query("rows >= 15_000 and model in ['Stack+', 'LightGBM', 'joint-GB']")
    for (_, rows, features, labels), models in table.groupby(["data", "rows", "stored", "labels"]):
        one, two = (forecast(1.5 * rows, features, labels, n) for n in (1, 2))
        assert 0.7 < one.gib / (models["mib"].max() / 1024) < 4
        total = models.set_index("model")["seconds"].reindex(["Stack+", "LightGBM", "joint-GB"]).sum()
        assert 0.5 < 60 * (two.minutes - one.minutes) / (total / 5) < 4  # the other two models are faster


def test_many_labels_cost_as_much_as_their_sketch():
    assert MANY_LABELS == MOST_EXACT
    assert forecast(50_000, 200, 5_000, 20) == forecast(50_000, 200, 500, 20)
    assert forecast(50_000, 200, 5_000, 20).gib < 3


@pytest.mark.parametrize("names", [["emotions", "delicious"], ["mine", "packed"], ["simulated-multilabel"]])
@pytest.mark.parametrize("models_per_job", [None, 3])
def test_small_datasets_are_those_of_known_and_small_size(names, models_per_job, tmp_path):
    """The packed table has the text of 500,000 bytes. The size of generated data is unknown before."""
    for name, size in (("mine.csv", 100_000), ("packed.csv.gz", 500_000)):
        (tmp_path / name).write_bytes(b"x" * size)
    paths = {"mine": tmp_path / "mine.csv", "packed": tmp_path / "packed.csv.gz"}
    stanza = {"format": "csv", "labels": {"prefix": "l_"}}
    own = {name: {"path": str(path), **stanza} for name, path in paths.items()}
    labels = {"datasets": names, "models": list(MODEL_NAMES[:7]), "models_per_job": models_per_job}
    study = check_config({"seed": 1, "data": {"own": own}, "weak_labels": labels})
    found = small_datasets(study, load_catalog().with_own(own))
    assert found == [name for name in names if name in ("emotions", "mine") and models_per_job is None]


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_requested_memory_grows_with_the_dataset_the_models_in_parallel_and_the_attempt(convert, tmp_path):
    requests = []
    for n in (100, 100_000):
        X, Y = convert(np.ones((n, 20))), convert(np.ones((n, 3), dtype=np.int8))
        names = tuple(f"x{feature}" for feature in range(20))
        Dataset("d", "multilabel", X, Y, names, ("a", "b", "c")).save(tmp_path / "d.npz")
        assert sizes_of(tmp_path / "d.npz") == (n, 20, 3)
        requests.append(memory_to_request(tmp_path / "d.npz"))
    expected = 1500 + 1.5 * 1024 * forecast(100_000, 20, 3, 1).gib
    assert requests[1] == int(expected) > requests[0]
    assert memory_to_request(tmp_path / "d.npz", 2) == int(2 * expected - 1500)
    assert memory_to_request(tmp_path / "d.npz", attempt=3) == 3 * requests[1]


def test_requested_memory_exceeds_the_measured_one():
    for row in pd.read_csv(MEASURED).dropna(subset="mib").itertuples():  # 3 folds: rows are two thirds of the data
        assert 1500 + 1.5 * 1024 * forecast(1.5 * row.rows, row.stored, row.labels, 1).gib > 1.2 * row.mib


@pytest.mark.parametrize(
    ("minutes", "text"), [(7.4, "about 7 min"), (64, "about 60 min"), (117, "about 2.0 h"), (400, "about 6.7 h")]
)
def test_times_are_rounded(minutes, text):
    assert str(Forecast(minutes, 1.0)).startswith(f"{text} of processor time")


@pytest.mark.parametrize("n_samples", [LARGE_TABLE - 1, LARGE_TABLE])
def test_the_introduction_has_the_forecast_of_a_large_table(tmp_path, n_samples):
    (tmp_path / "tables").mkdir()
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets/mine.audit.csv").write_text("check,severity,where,message,evidence\n")
    (tmp_path / "tables/datasets.csv").write_text(f"dataset,n_samples,n_features,n_labels\nmine,{n_samples},30,5\n")
    (tmp_path / "config.yaml").write_text(
        "seed: 1\ndata: {own: {mine: {path: mine.csv, labels: {last: 5}}}}\nfolds: {n_splits: 3}\n"
        "weak_labels: {models: [kNN, logistic], datasets: [mine], missing_rates: [0, 50]}\n"
    )
    lines = list(introduction(tmp_path))
    expected = [f"Expected: {forecast(n_samples, 30, 5, 12)}."] * (n_samples == LARGE_TABLE)
    tried = "on the labels as they are and with 50 % of the positives hidden"
    assert lines[1:] == [f"2 models in 3 folds, {tried}: 12 trainings.", *expected]
