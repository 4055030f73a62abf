"""A new model, splitter, metric, figure or dataset needs one file or entry and no other change.

The additions are the examples of docs/extend.md.
"""

import os
import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from fairfold.core.arrays import to_dense
from fairfold.datasets import Dataset
from fairfold.errors import DataError

PAGE = (Path(__file__).resolve().parents[2] / "docs/extend.md").read_text()
MODEL, SPLITTER, METRIC, FIGURE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(DATASET,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
METRIC = f"METRICS = {{\n{METRIC}"


@pytest.fixture
def extended(copy_of_project):
    """Return a copy of the project with one addition of each kind."""
    library = copy_of_project / "workflow" / "fairfold"
    (library / "models/catalog/mine.py").write_text(MODEL)
    (library / "splitting/catalog/in_turn.py").write_text(SPLITTER)
    (library / "figures/recall.py").write_text(FIGURE)
    with (copy_of_project / "resources/datasets.yaml").open("a") as catalog:
        catalog.write(f"\n{DATASET}")
    metrics = library / "metrics/registry.py"
    assert metrics.read_text().count("METRICS = {\n") == 1
    metrics.write_text(metrics.read_text().replace("METRICS = {\n", METRIC))
    return copy_of_project


def test_one_more_of_each_is_in_the_study(extended, study_class, tiny, tmp_path, python):
    models = ["RF+ET", "mine"]
    tiny["folds"]["method"] = "in-turn"
    tiny["splitting"]["methods"] = ["random", "in-turn"]
    tiny["weak_labels"] |= {
        **{"datasets": ["few-topics"], "models": models, "missing_rates": [50]},
        **{"rank_stability": {}, "many_labels": {"datasets": ["few-topics"]}},
    }
    tiny["weak_labels"]["mechanisms"] |= {"kinds": ["sample"], "wrong_positives": [20], "models": models}
    tiny["cross_testing"]["models"] |= {"candidates": models, "scoring": "recall"}
    tiny["cross_testing"]["experiments"] = {}
    tiny["win_percentage"] = {"models": tiny["win_percentage"]["models"] | {"models": models, "n_permutations": 0}}
    tiny["final"] = {"datasets": ["few-topics"], "model": "mine"}
    del tiny["ecoc"]  # not affected by the additions
    study = study_class(tmp_path / "study", extended, tiny)
    code, output = study.run("results/report.html", "final", cores=3)
    assert code == 0, output
    results = study.folder / "results"

    scores = pd.read_csv(results / "tables/weak_label_scores.csv")
    assert scores.groupby(["model", "metric"])["value"].count().loc[pd.IndexSlice[:, "recall"]].to_dict() == {
        "RF+ET": 2,
        "mine": 2,
    }
    ranks = pd.read_csv(results / "tables/percentile_ranks.csv")
    assert set(ranks.loc[ranks["metric"] == "recall", "model"]) == set(models)
    assert set(pd.read_csv(results / "tables/split_quality.csv")["splitter"]) == {"random", "in-turn"}
    chosen = pd.read_csv(results / "cross_testing/models.csv")
    assert set(chosen["chosen"].str.split(";").explode()) <= set(models)
    assert chosen["score"].notna().all()
    wins = pd.read_csv(results / "tables/win_percentage/model_sets.csv")
    assert set(wins["model"]) == set(models)
    page = (results / "report.html").read_text()
    assert "Recall by model" in page and "micro recall" in (results / "legend.csv").read_text()
    assert (results / "figures/recall.png").stat().st_size > 5000

    def fairfold(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(extended / "workflow")}
        command = [python, "-m", "fairfold", *arguments]
        done = subprocess.run(command, cwd=study.folder, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr

    fairfold("publish", ".")
    methods = (study.folder / "results/publication/methods.md").read_text()
    assert "mine, three extremely randomized trees [@geurts2006]" in methods and "folds by turns of the rows" in methods
    data = Dataset.load(results / "datasets/few-topics.npz")
    new = pd.DataFrame(to_dense(data.X[:3], "X", DataError), columns=data.feature_names)
    new.to_csv(study.folder / "new.csv", index=False)
    fairfold("predict", "results/final/few-topics", "new.csv", "-o", "predictions.csv")
    assert len(pd.read_csv(study.folder / "predictions.csv")) == 3
