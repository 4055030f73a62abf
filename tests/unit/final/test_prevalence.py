"""The prevalence of a label in a new table is estimated if only it has changed, and not if more has."""

import numpy as np
import pandas as pd
import pytest

from fairfold.__main__ import main
from fairfold.core.files import read_table, write_table
from fairfold.datasets import Dataset
from fairfold.errors import ModelError
from fairfold.evaluation.certified import curve_table
from fairfold.final.model import fit_final
from fairfold.final.prevalence import ExpectedPrevalence, most_likely, posterior_draws


def scores(y, rng):
    """Draw probabilities of a model, of which the lowest are exactly 0."""
    return np.clip(rng.normal(0.35 + 0.3 * y, 0.2), 0, 1)


def estimated(y, p, new, weights=None):
    counted = ExpectedPrevalence(curve_table(y[:, np.newaxis], p[:, np.newaxis], ["leaf"], weights=weights))
    for part in np.array_split(new, 3):
        counted.add(pd.DataFrame({"leaf": part}))
    return counted.table().iloc[0]


def test_the_estimate_is_the_fixed_point_of_em():
    rng = np.random.default_rng(0)
    counts, with_label, without = rng.integers(5, 90, 6), rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    prevalence, posterior = 0.5, 0.3 * with_label / (0.3 * with_label + 0.7 * without)  # calibrated at 30 %
    for _ in range(3000):  # Saerens et al. (2002), equation 2.6
        ratio = prevalence / 0.3 * posterior
        prevalence = np.average(ratio / (ratio + (1 - prevalence) / 0.7 * (1 - posterior)), weights=counts)
    found = most_likely(counts[np.newaxis], with_label[np.newaxis], without[np.newaxis])
    assert found[0] == pytest.approx(prevalence, abs=1e-6)


def test_prevalences_are_drawn_from_their_posterior_distribution():
    """Many out-of-fold samples fix the densities, so the posterior is that of one number."""
    with_label, without, counts = np.array([0.5, 0.3, 0.2]), np.array([0.3, 0.3, 0.4]), np.array([9, 12, 20])
    start, rng = np.linspace(0, 1, 400), np.random.default_rng(0)
    found = posterior_draws(1e6 * with_label, 1e6 * without, counts, start, rng)
    grid = np.linspace(0, 1, 1001)[:, np.newaxis]
    likelihood = np.prod((grid * with_label + (1 - grid) * without) ** counts, axis=1)
    mean = np.average(grid[:, 0], weights=likelihood)
    spread = np.sqrt(np.average((grid[:, 0] - mean) ** 2, weights=likelihood))
    assert found.mean() == pytest.approx(mean, abs=0.03) and found.std() == pytest.approx(spread, rel=0.1)


def test_intervals_hold_a_known_prevalence():
    """Of 60 intervals at 95 %, at least 50 hold the true value with a probability of 99.9 %."""
    held, widths = 0, []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = (rng.random(600) < 0.2).astype(int)
        true = (0.05, 0.3, 0.7)[seed % 3]
        row = estimated(y, scores(y, rng), scores((rng.random(400) < true).astype(int), rng))
        assert row["in_training"] == pytest.approx(y.mean())
        held += row["low"] <= true <= row["high"]
        widths.append(row["high"] - row["low"])
    assert held >= 50 and np.mean(widths) < 0.25


def test_weights_count_as_copies():
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.4).astype(int)
    p, twice = scores(y, rng), rng.random(600) < 0.2 + 0.6 * y
    copies = np.append(np.arange(600), np.flatnonzero(twice))
    found, copied = estimated(y, p, p, 1 + twice), estimated(y[copies], p[copies], p)
    assert found["in_training"] == pytest.approx(copied["in_training"]) and found["in_training"] > y.mean() + 0.05
    assert found["expected"] == pytest.approx(copied["expected"], abs=0.01)


def test_no_estimate_without_label_shift_or_with_few_samples():
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.4).astype(int)
    p = scores(y, rng)
    assert "more has changed than the prevalence" in estimated(y, p, np.full(300, 0.5))["reason"]
    assert estimated(y, p, p[:10])["reason"] == "fewer than 20 new rows"
    few = estimated((np.arange(600) < 8).astype(int), p, p)
    assert few["reason"] == "fewer than 20 positives or negatives out of fold" and np.isnan(few["expected"])
    held_out = curve_table(np.eye(30)[:, :1], np.full((30, 1), 0.5), ["leaf"]).assign(n_held_out=30)
    reasons = ExpectedPrevalence(held_out).table()["reason"]
    assert reasons.tolist() == ["fewer than 20 positives or negatives among the held-out samples"]
    zeros = estimated(y, 0 * p, p)
    assert zeros["reason"] == "most positives out of fold have the probability 0" and np.isnan(zeros["expected"])
    unmeasured = np.where(rng.random(600) < 0.5, np.nan, y)
    assert estimated(unmeasured, p, p)["in_training"] == pytest.approx(np.nanmean(unmeasured))
    with pytest.raises(ModelError, match="an earlier version"):
        ExpectedPrevalence(curve_table([[1], [0]], [[0.9], [0.1]], ["leaf"]).drop(columns="n_cells"))


def test_the_command_writes_the_prevalences(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    Y = (X + rng.normal(size=X.shape) > 0).astype(np.int8)
    final = fit_final(Dataset("toy", "multilabel", X, Y, ("a", "b"), ("x", "y")), "logistic", {}, seed=1)
    final.save(tmp_path / "home")
    write_table(curve_table(Y, final.predict(X)["probability"], ["x", "y"]), tmp_path / "home" / "certificates.csv")
    pd.DataFrame(X[:90], columns=["a", "b"]).to_csv(tmp_path / "new.csv", index=False)
    target = tmp_path / "prevalence.csv"
    command = ["predict", str(tmp_path / "home"), str(tmp_path / "new.csv"), "-o", str(tmp_path / "found.csv")]
    assert main([*command, "--prevalence", str(target)]) == 0
    assert "prevalence of 2 of 2 labels, if only it has changed" in capsys.readouterr().out
    table = read_table(target, "label")
    assert ((table["low"] <= table["in_training"]) & (table["in_training"] <= table["high"])).all()
    assert main([*command, "--prevalence", f"{target}.gz"]) == 0
    pd.testing.assert_frame_equal(pd.read_csv(f"{target}.gz"), pd.read_csv(target))
    capsys.readouterr()
    before = {path: path.read_bytes() for path in tmp_path.glob("*.*")}
    for more, sentence in (
        (["--prevalence", tmp_path / "found.csv"], "found.csv is another output of this command"),
        (["--explain", "--prevalence", tmp_path / "found-explained.csv"], "explained.csv is another output"),
        (["--explain", "--background", tmp_path / "found.csv"], "found.csv is an input of this command"),
    ):
        assert main([*command, *map(str, more)]) == 1
        assert sentence in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in tmp_path.glob("*.*")}
    assert main([*command, "--prevalence", str(tmp_path / "new.csv")]) == 1
