"""Samples that are set aside before a study do not influence it."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

from fairfold.core.folds import BEFORE
from fairfold.datasets import Dataset
from fairfold.datasets.held_out import LEAST, is_held_out
from fairfold.datasets.preparation import prepare_for_study
from fairfold.errors import DataError
from fairfold.evaluation import Certified
from fairfold.evaluation.certificates import critical_sizes
from fairfold.final.examined import certify_held_out
from fairfold.final.model import fit_final
from fairfold.planning.check import check_config


def dataset(n_samples=300, seed=0, **others):
    """Return a dataset whose labels have known probabilities."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    Y = rng.random((n_samples, 2)) < probabilities(X)
    return Dataset("mine", "multilabel", X, Y.astype(np.int8), tuple("abc"), ("x", "y"), **others)


def probabilities(X):
    return 1 / (1 + np.exp(-4 * X[:, :2] - 1))


def test_whole_groups_and_the_latest_periods_are_set_aside():
    data = dataset()
    chosen = is_held_out(data, 0.2, 1)
    assert chosen.sum() == 60
    assert (chosen == is_held_out(dataclasses.replace(data, Y=1 - data.Y, X=-data.X), 0.2, 1)).all()
    assert (chosen != is_held_out(data, 0.2, 2)).any()
    groups, names = np.random.default_rng(0).permutation(np.arange(300) % 30), tuple(f"g{n:02}" for n in range(30))
    grouped = dataclasses.replace(data, groups=groups, group_names=names)
    chosen = is_held_out(grouped, 0.2, 1)
    assert chosen.sum() == 60 and not set(groups[chosen]) & set(groups[~chosen])
    rest = grouped.of(~chosen)
    assert rest.named_groups.tolist() == np.array(names)[groups[~chosen]].tolist()
    assert np.unique(rest.groups).tolist() == list(range(24)) and rest.shape == (240, 3, 2)
    periods = np.repeat([BEFORE, 0, 1, 2, 3], 60)
    late = is_held_out(dataclasses.replace(data, fold_of=periods), 0.3, 1)
    assert late.tolist() == (periods == 3).tolist()  # 20 % are nearer to 30 % than 40 % are, in favor of the study


@pytest.mark.parametrize(
    ("changes", "share", "sentence"),
    [
        ({}, 0.05, "holds out 15 of 300 samples, but a certificate at 90 % needs at least 29. Choose a larger share"),
        ({"groups": np.zeros(300, int)}, 0.2, "data.set_aside needs two groups, found one"),
        ({"fold_of": np.repeat([BEFORE, 0], 150)}, 0.2, "data.set_aside needs two test periods, found one"),
    ],
)
def test_too_few_samples_are_one_sentence(changes, share, sentence):
    with pytest.raises(DataError, match=re.escape(sentence)):
        is_held_out(dataclasses.replace(dataset(), **changes), share, 1)
    assert critical_sizes(0.9, 0.05, 100)[0] == LEAST


def test_held_out_labels_do_not_change_the_final_model(tmp_path):
    data = dataset()
    table = pd.DataFrame(np.hstack([data.X, data.Y]), columns=[*"abc", "label_x", "label_y"])
    own = {"mine": {"path": str(tmp_path / "mine.csv"), "format": "csv", "labels": {"prefix": "label_"}}}
    config = {"seed": 1, "data": {"own": own, "set_aside": 0.2}, "weak_labels": {"datasets": ["mine"]}}
    check_config(config)
    files = []
    for _ in range(2):
        table.to_csv(tmp_path / "mine.csv", index=False)
        rest, held = (prepare_for_study("mine", config, held_out=which) for which in (False, True))
        rest.save(tmp_path / "rest.npz")
        fit_final(rest, "logistic", {}, seed=1).save(tmp_path)
        files.append([(tmp_path / name).read_bytes() for name in ("rest.npz", "model.fairfold")])
        assert sorted(map(int, [*rest.sample_ids, *held.sample_ids])) == list(range(1, 301))
        rows = held.sample_ids.astype(int) - 1
        np.testing.assert_array_equal(held.Y, table.iloc[rows, 3:])
        table.iloc[rows, 3:] = table.iloc[rows[::-1], 3:].to_numpy()
    assert files[0] == files[1]


def test_certificates_hold_for_the_final_model():
    """The share of labels with a precision below the target among all labels is at most 5 %, also with hidden ones."""
    data = dataset(300)
    final, new = fit_final(data, "logistic", {}, seed=1), np.random.default_rng(1).normal(size=(20_000, 3))
    P, true = final.model.predict_proba(new), probabilities(new)
    wrong, found = [], []
    for seed in range(80):
        held = dataset(200, seed=seed + 1)
        if seed % 2:
            held = dataclasses.replace(held, Y=held.Y * (np.random.default_rng(seed).random(held.Y.shape) < 0.97))
        tables = certify_held_out(final, held, np.arange(2))
        thresholds = tables["certified"].query("precision == 0.9")["threshold"].reset_index(drop=True)
        assert thresholds.equals(Certified().certificates(tables["certificates"])["threshold"])
        assert (tables["certified"]["n_held_out"] == 200).all()
        found += thresholds.notna().tolist()
        wrong += [
            bool((above := P[:, k] > low).any() and true[above, k].mean() < 0.9) for k, low in enumerate(thresholds)
        ]
    assert np.mean(found) > 0.3
    assert np.mean(wrong) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 160)
