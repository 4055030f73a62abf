"""The average precision on a new table is estimated from probabilities, and its interval holds the true score."""

import numpy as np
import pandas as pd
import pytest

from fairfold.__main__ import main
from fairfold.core.files import write_table
from fairfold.datasets import Dataset
from fairfold.errors import ModelError
from fairfold.evaluation.certified import N_HELD_OUT, curve_table
from fairfold.final.expected_score import DESIGN_EFFECT, WEIGHTED_EFFECT, ExpectedScore, with_design_effect
from fairfold.final.model import fit_final, load_final
from fairfold.metrics import multilabel_scores

LABELS = ["leaf", "root", "stem"]


def average_precision(Y, P):
    return multilabel_scores(Y, P, metrics=["average_precision"])["average_precision"]


def counted(Y, P, **how):
    curves = curve_table(Y, P, LABELS[: P.shape[1]], **how)
    return with_design_effect(curves, Y, P, how.get("groups"), how.get("weights"))


def estimated(curves, P):
    expected = ExpectedScore(curves)
    for part in np.array_split(P, 3):
        expected.add(pd.DataFrame(part, columns=LABELS[: P.shape[1]]))
    return expected.estimate()


def drawn(n_samples, rng, shift=0.0):
    """Draw true probabilities, and labels of them. A shift makes them higher."""
    p = 1 / (1 + np.exp(-rng.normal(shift - 1, 1.5, size=(n_samples, 3))))
    return (rng.random(p.shape) < p).astype(int), p


@pytest.mark.parametrize("decimals", [15, 1])
def test_without_a_shift_the_score_is_that_out_of_fold(decimals):
    """Probabilities with ties between labels and exact zeros, too."""
    Y, P = drawn(90, np.random.default_rng(0))
    found = estimated(counted(Y, P.round(decimals)), P.round(decimals))
    assert found.score == pytest.approx(found.out_of_fold, abs=1e-12)
    assert found.out_of_fold == pytest.approx(average_precision(Y, P.round(decimals)), abs=1e-12)
    assert found.low < found.score < found.high


def test_intervals_hold_the_score_after_a_known_shift():
    """Probabilities are miscalibrated. Of 60 intervals at 95 %, at least 50 hold with a probability of 99.9 %."""
    held, errors, before = 0, [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        Y, p = drawn(500, rng)
        curves = counted(Y, p**2)
        new, p = drawn(300, rng, shift=(-1, 1, 2)[seed % 3])
        found, true = estimated(curves, p**2), average_precision(new, p**2)
        held += found.low <= true <= found.high
        errors.append(abs(found.score - true))
        before.append(abs(found.out_of_fold - true))
    assert held >= 50 and np.mean(errors) < 0.03 and np.mean(before) > 0.1


def test_perfect_separation_stays_perfect():
    Y = drawn(200, np.random.default_rng(0))[0]
    found = estimated(counted(Y, 0.1 + 0.8 * Y), 0.1 + 0.8 * Y[:60])
    assert found.out_of_fold == 1 and found.score == pytest.approx(1, abs=0.01) and found.high == 1
    assert found.low > 0.95


def test_dependent_labels_and_groups_widen_the_interval():
    rng = np.random.default_rng(0)
    Y, P = drawn(400, rng)
    independent = counted(Y, P)[DESIGN_EFFECT].iloc[0]
    same = np.repeat(Y[:, :1], 3, axis=1), np.repeat(P[:, :1], 3, axis=1)
    assert independent < 1.3 and counted(*same)[DESIGN_EFFECT].iloc[0] == pytest.approx(3)
    Y, P, groups = np.repeat(Y[:100], 4, axis=0), np.repeat(P[:100], 4, axis=0), np.repeat(np.arange(100), 4)
    assert counted(Y, P, groups=groups)[DESIGN_EFFECT].iloc[0] > 3


def test_models_of_folds_that_share_samples_widen_the_interval():
    """For many new rows, the interval is that of the training table."""
    Y, P = drawn(500, np.random.default_rng(0))
    curves, many = counted(Y, P), np.repeat(P, 500, axis=0)
    of_folds, held_out = (estimated(each, many) for each in (curves, curves.assign(**{N_HELD_OUT: 500})))
    assert "On held-out rows it was" in held_out.sentences(500)[0]
    assert (of_folds.high - of_folds.low) / (held_out.high - held_out.low) == pytest.approx(1.5, abs=0.01)


def test_weighted_rows_have_their_weighted_score():
    rng = np.random.default_rng(0)
    Y, P = drawn(300, rng)
    twice = rng.random(300) < 0.5
    copies = np.append(np.arange(300), np.flatnonzero(twice))
    weighted, copied = counted(Y, P, weights=1 + twice), counted(Y[copies], P[copies], groups=copies)
    found, expected = estimated(weighted, P), estimated(copied, P)
    # Bins are rough from 100 decisions on.
    assert found.out_of_fold == pytest.approx(average_precision(Y[copies], P[copies]), abs=0.002)
    assert found.score == pytest.approx(expected.score, abs=0.002)
    effect = copied[DESIGN_EFFECT].iloc[0] * 300 / len(copies)  # for weights of mean 1
    assert weighted[WEIGHTED_EFFECT].iloc[0] == pytest.approx(effect, rel=0.01)
    assert weighted[DESIGN_EFFECT].iloc[0] < effect
    assert "On weighted left-out training rows it was" in found.sentences(300)[0]
    assert "On left-out training rows it was" in expected.sentences(300)[0]


def test_no_estimate_for_few_rows_or_positives():
    rng = np.random.default_rng(0)
    Y, P = drawn(300, rng)
    assert estimated(counted(Y, P), P[:1]).reason == "fewer than 20 new rows"
    empty = estimated(counted(0 * Y, P), P)
    assert empty.reason == "fewer than 10 positives in left-out training rows" and empty.sentences(500) == []
    assert estimated(counted(Y, P), np.zeros((30, 3))).reason == "fewer than 10 positives are expected"
    with pytest.raises(ModelError, match="an earlier version"):
        ExpectedScore(curve_table(Y, P, LABELS))


def test_empty_and_unmeasured_labels():
    rng = np.random.default_rng(2)
    Y, P = drawn(300, rng)
    Y = Y.astype(float)
    Y[:, 1], Y[rng.random(300) < 0.5, 2] = 0, np.nan
    found = estimated(counted(Y, P), P)
    # Bins are rough from 100 decisions on.
    assert found.out_of_fold == pytest.approx(average_precision(Y, P), abs=0.002)
    assert found.score == pytest.approx(found.out_of_fold, abs=0.03)
    Y[:, 2] = np.nan
    assert np.isfinite(estimated(counted(Y, P), P).score)


def test_labels_without_decisions_count_their_positives():
    """Labels depend on each other, so the design effect needs the right probabilities for each."""
    rng = np.random.default_rng(0)
    P = rng.random((400, 3)) ** 2
    Y = (rng.random((400, 1)) < P).astype(float)
    found, others = counted(Y * [0, 1, 1], P * [0, 1, 1]), counted(Y[:, 1:], P[:, 1:])
    assert found[DESIGN_EFFECT].iloc[0] == pytest.approx(others[DESIGN_EFFECT].iloc[0], abs=0.001)
    assert others[DESIGN_EFFECT].iloc[0] > 1.05
    P[:, 0] = 0
    assert estimated(counted(Y, P), P).score == pytest.approx(average_precision(Y, P), abs=0.002)
    assert estimated(counted(Y, 0 * P), 0 * P).out_of_fold == pytest.approx(Y.mean())
    assert "fewer than 10 positives" in estimated(counted(np.nan * Y, P), P).reason


def test_the_command_shows_the_score_and_what_it_assumes(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = (X + rng.normal(size=X.shape) > 0).astype(np.int8)
    final = fit_final(Dataset("toy", "multilabel", X, Y, ("a", "b"), ("leaf", "root")), "logistic", {}, seed=1)
    final.save(tmp_path / "home")
    P = final.predict(X)["probability"].to_numpy()
    write_table(counted(Y, P), tmp_path / "home" / "certificates.csv")
    new = pd.DataFrame(X[:90] - 1, columns=["a", "b"])
    new.iloc[0] = 99
    new.to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", str(tmp_path / "home"), str(tmp_path / "new.csv"), "-o", str(tmp_path / "found.csv")]) == 0
    *_, score, assumed = capsys.readouterr().out.splitlines()
    found = load_final(tmp_path / "home").expected_score(new)
    interval = f"{found.score:.2f} (95 % interval {found.low:.2f} to {found.high:.2f})"
    assert score.startswith(f"Expected average precision on these rows: {interval}.")
    assert score.endswith("The two differ significantly.") == (found.high < found.out_of_fold)
    assert "which cannot be checked without labels, and not for the" in assumed
    assert len(found.sentences(90, 45)) == 2 and "most rows are unlike" in found.sentences(90, 46)[0]
