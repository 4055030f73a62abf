"""The workflow can be a module of another one, with other rule names and its own folder."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd

from fairfold.datasets import prepare

PAGE = Path(__file__).resolve().parents[2] / "docs/how-it-works/index.md"
(MODULE,) = re.findall(r"^```snakemake\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
CLONE = "/srv/fairfold"
CONFIG = """
trust:
  seed: 1
  folds: { n_splits: 2 }
  data:
    unavailable: skip
    own: { mine: { path: mine.csv, labels: { prefix: label_ } } }
  weak_labels: { datasets: [mine], missing_rates: [0], models: [logistic, kNN] }
"""


def test_it_is_a_module_of_another_workflow(tmp_path, root, python):
    assert MODULE.count(f'"{CLONE}/') == 1
    (tmp_path / "Snakefile").write_text(MODULE.replace(CLONE, str(root)))
    (tmp_path / "config.yaml").write_text(CONFIG)
    data = prepare("simulated-multilabel")
    table = pd.DataFrame(
        np.hstack([data.X, data.Y]), columns=[*data.feature_names, *(f"label_{name}" for name in data.label_names)]
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-m", "snakemake", "--cores", "2", "--configfile", "config.yaml"]
    runs = (120, [], "100%"), (None, [], "Nothing to be done"), (110, ["-n"], "trust_prepare_dataset")
    for n_rows, options, expected in runs:
        if n_rows is not None:  # next to the other workflow, not below the prefix
            table[:n_rows].to_csv(tmp_path / "mine.csv", index=False)
        words = [*command, *options]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        assert expected in done.stdout + done.stderr
    assert (tmp_path / "trust/results/figures/label_scores_mine.pdf").stat().st_size > 1000
    assert {path.name for path in Path(tmp_path).iterdir() if path.is_dir()} == {".snakemake", "trust"}
