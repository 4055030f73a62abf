"""Test the properties that all splitters share: groups, training and test sets, and parameters."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from fairfold.core.groups import group_codes
from fairfold.errors import ModelError, SplitError
from fairfold.splitting import IterativeStratification, OptiSplit, RandomSplit

Y = np.array([[1, 0], [1, 1], [0, 1], [1, 0], [0, 0], [0, 1]])


@pytest.mark.parametrize(
    ("groups", "n_splits", "message"),
    [
        ([0, 1], 2, "groups have shape"),
        (["Oslo"] * 6, 2, r"^groups: all 6 rows are in group Oslo\. Give two or more groups"),
        (list("aabbcc"), 5, r"^groups: 3 groups cannot fill 5 folds\. Use n_splits=3\.$"),
        (list("aaaabb"), 3, r"^groups: 2 groups cannot fill 3 folds\. Use n_splits=2\.$"),
    ],
)
def test_groups_that_cannot_fill_the_folds_are_refused(groups, n_splits, message):
    with pytest.raises(SplitError, match=message):
        RandomSplit(n_splits).assign(Y, groups)
    with pytest.raises(SplitError, match=message):
        next(RandomSplit(n_splits).split(Y, Y, groups))
    if len(set(groups)) == 1:
        with pytest.raises(SplitError, match=message):
            RandomSplit().train_test(Y, 0.5, groups)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"random_state": "x"}, "random_state: found 'x'"),
        ({"random_state": np.random.default_rng()}, "Give an integer"),
        ({"refine": "polish"}, "refine: found 'polish'"),
        ({"sweeps": 0}, "sweeps: found 0"),
        ({"n_splits": 1}, "n_splits: found 1"),
        ({"n_splits": 7}, "from 2 to the number of rows, here 6"),
        ({"n_splits": 2.0}, "n_splits: found 2.0"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SplitError, match=message):
        RandomSplit(**settings).assign(Y)


@pytest.mark.parametrize("test_size", [0, 1, 1.5, -0.1, "half", None, 0.01])
def test_bad_test_sizes_are_refused(test_size):
    with pytest.raises(SplitError, match="test_size"):
        RandomSplit().train_test(Y, test_size)


def test_split_without_labels_states_what_to_do():
    with pytest.raises(SplitError, match=r"split\(X, Y\)"):
        next(RandomSplit(2).split(Y))


def test_without_a_seed_folds_differ_from_call_to_call():
    splitter, many = RandomSplit(), np.ones((1000, 1))
    assert (splitter.assign(many) != splitter.assign(many)).any()


def test_annealing_draws_other_numbers_than_the_folds_it_starts_from(monkeypatch):
    """Noise from the random stream of the initial folds would be correlated with them."""
    from fairfold.splitting import annealing

    drawn = {}
    monkeypatch.setattr(
        RandomSplit, "_partition", lambda self, rows, proportions, rng: drawn.setdefault("start", rng.random(5)) > 2
    )
    monkeypatch.setattr(annealing, "anneal", lambda rows, folds, p, rng, **_: drawn.setdefault("noise", rng.random(5)))
    RandomSplit(2, random_state=0, refine="anneal").assign(Y)
    assert not np.isin(drawn["start"], drawn["noise"]).any()


@pytest.mark.parametrize(
    ("splitter", "text"),
    [
        (RandomSplit(), "RandomSplit()"),
        (IterativeStratification(3, order=2), "IterativeStratification(n_splits=3, order=2)"),
        (OptiSplit(objective="dcp", random_state=0), "OptiSplit(objective='dcp', random_state=0)"),
    ],
)
def test_repr_shows_what_differs_from_the_defaults(splitter, text):
    assert repr(splitter) == text


def test_measures_load_without_numba():
    code = "import sys, fairfold.splitting, fairfold.splitting.measures; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        ([np.nan, 1.0, 2.0, np.nan, 3.0, 4.0], "groups: 2 of 6 values are missing, the first in row 1"),
        (["a", None, "b", "c", "d", "e"], "groups: 1 of 6 values are missing, the first in row 2"),
        (
            pd.Series(["a", pd.NA, "b", "c", "d", "e"], dtype="string"),
            "groups: 1 of 6 values are missing, the first in row 2",
        ),
        (np.array(["a", 1, "b", 2, "c", 3], dtype=object), "groups: found values that cannot be sorted"),
    ],
)
def test_groups_that_are_missing_are_no_group(groups, sentence):
    Y = np.eye(6, dtype=int)
    with pytest.raises(SplitError, match=sentence):
        IterativeStratification(2, random_state=0).assign(Y, groups)
    with pytest.raises(ModelError, match=sentence):
        group_codes(groups, 6)
