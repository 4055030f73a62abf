"""A table with text, categories and dates goes from the file to predictions and a publication."""

import sys

import numpy as np
import pandas as pd

from fairfold.__main__ import main


def table(n=60):
    rng = np.random.default_rng(1)
    words = np.array(["oak", "pine", "river", "stone", "moss", "shade", "north", "slope"])
    has = rng.random((n, len(words))) < 0.6
    return pd.DataFrame(
        {
            "visit": [f"v{row:03d}" for row in range(n)],
            "age": rng.integers(20, 80, n),
            "ward": rng.choice(["north", "south", "east"], n),
            "notes": [f"{' '.join(words[each])}, <b>été</b> 🌿" for each in has],
            "day": [f"2021-{1 + row % 12:02d}-{1 + row % 28:02d}" for row in range(n)],
            "smokes": rng.choice(["yes", "no"], n),
            "label_a": has[:, 0].astype(int),
            "label_b": (has[:, 4] | (rng.random(n) < 0.1)).astype(int),
        }
    )


def test_a_table_as_it_is(tmp_path, python, monkeypatch, capsys):
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.chdir(tmp_path)
    table().to_csv("visits.csv", index=False)
    options = ["--labels", "label_", "--id", "visit"]
    assert main(["audit", "visits.csv", *options]) == 0
    assert "'notes' is read as text" in capsys.readouterr().out
    chosen = ["--models", "logistic", "dummy", "--missing-rates", "0"]
    assert main(["study", "visits.csv", "-d", "study", *options, *chosen]) in (None, 0)
    assert "Use " in capsys.readouterr().out
    new = table(8).drop(columns=["label_a", "label_b"])
    new.loc[0, ["ward", "notes"]] = ["west", "words that nobody wrote before"]
    new.to_csv("new.csv", index=False)
    model = "study/results/final/visits"
    assert main(["predict", model, "new.csv", "-o", "found.csv"]) in (None, 0)
    found = pd.read_csv("found.csv")
    assert len(found) == 8 and found.filter(like="probability_").notna().all(axis=None)
    assert main(["publish", "study"]) in (None, 0)
    methods = (tmp_path / "study/results/publication/methods.md").read_text()
    assert "features were made of these columns of visits: ward (category); notes (text); day (date)" in methods
    importance = pd.read_csv("study/results/final/visits/feature_importance.csv")
    assert set(importance["features"]) == {"age", "ward", "notes", "day", "smokes"}
    words = pd.read_csv("study/results/final/visits/label_words.csv")
    assert words.loc[words["label"] == "label_a", "words"].str.startswith("oak").all()
