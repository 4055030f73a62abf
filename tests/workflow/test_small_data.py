"""One job compares all models on a small dataset, with the bytes of separate jobs."""

import copy

import pandas as pd

from fairfold.datasets import prepare

MODELS = ["logistic", "dummy", "kNN"]
CONFIG = {
    "seed": 1,
    "folds": {"n_splits": 2},
    "weak_labels": {"datasets": ["mine"], "models": MODELS, "missing_rates": [50]},
}


def test_one_job_gives_the_bytes_of_separate_jobs(study, tmp_path):
    data = prepare("simulated-multilabel")
    columns = [f"label_{name}" for name in data.label_names]
    table = pd.DataFrame(data.X, columns=data.feature_names).join(pd.DataFrame(data.Y, columns=columns))[:200]
    table.to_csv(tmp_path / "mine.csv", index=False)
    config = copy.deepcopy(CONFIG)
    config["data"] = {"own": {"mine": {"path": str(tmp_path / "mine.csv"), "labels": {"prefix": "label_"}}}}
    config["weak_labels"]["sample_curves"] = {"datasets": ["mine"], "models": ["logistic"], "shares": [0.5, 0.8, 1]}
    small = study(config, "small")
    config["weak_labels"]["models_per_job"] = len(MODELS)
    large = study(config, "large")
    for one, rule in ((small, "compare_models"), (large, "train_and_score")):
        code, output = one.run("recommendation")
        assert code == 0, output
        assert {rule} == {each for each in ("compare_models", "train_and_score") if f"] {each}: " in output}
    found, expected = small.results(), large.results()
    assert {"weak_labels/mine/rate-0/missing_rate.csv", "sample_curves/mine/rate-0/logistic_curve.csv"} <= {*found}
    assert {path for path in expected if found.get(path) != expected[path]} <= {"config.yaml"}
