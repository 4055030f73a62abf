"""Members of a pool fit in a time budget, and the estimates follow measured run times."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfold.errors import ModelError
from fairfold.forests.boosting import MultilabelBoosting
from fairfold.forests.out_of_bag import OutOfBagCascade
from fairfold.models import make_model
from fairfold.models.catalog import stack
from fairfold.models.kernel_ridge import KernelRidgeClassifier
from fairfold.models.stacking import StackedClassifier
from fairfold.models.time_budget import Sizes, choose_members, estimated_seconds

MEASURED = Path(__file__).resolve().parents[3] / "resources/measured"

POOL = [
    ("boosting", MultilabelBoosting()),
    ("kernel ridge", KernelRidgeClassifier()),
    ("forests", OutOfBagCascade(n_trees=100)),
]


def total(members, sizes):
    return sum(estimated_seconds(member, sizes) for _, member in members)


@pytest.mark.parametrize("sizes", [Sizes(300, 5, 3), Sizes(6000, 500, 22), Sizes(200_000, 50, 20)])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9, 1.1])
def test_members_fit_in_the_budget(sizes, share):
    minutes = share * total(POOL, sizes) / 60
    members = choose_members([POOL], minutes, sizes)
    assert total(members, sizes) <= 60 * minutes or len(members) == 1
    assert (members == POOL) == (share > 1)
    names = [name for name, _ in members]
    assert names == [name for name, _ in POOL if name in names]


def test_more_minutes_never_choose_a_cheaper_pool():
    sizes = Sizes(20_000, 100, 10)
    costs = [total(choose_members([POOL], minutes, sizes), sizes) for minutes in np.geomspace(0.005, 50, 30)]
    assert costs == sorted(costs)


def test_the_best_pool_that_fits_is_used():
    sizes, cheap = Sizes(20_000, 100, 10), [POOL[1]]
    assert choose_members([POOL, cheap], 1e6, sizes) == POOL
    assert choose_members([POOL, cheap], 1.01 * total(cheap, sizes) / 60, sizes) == cheap
    (only,) = choose_members([POOL, cheap], 1e-6, sizes)
    assert only[1].n_landmarks < 200  # the cheapest settings of the last member


def test_estimates_follow_measured_run_times():
    """The estimate for the members that the pool uses by default is within a factor of four."""
    table = pd.read_csv(MEASURED / "growth.csv").query("model == 'Stack+'")
    pool = stack.make()
    for line in table.itertuples():
        sizes = Sizes(line.rows, line.features, line.labels)
        members = pool._members_for(np.empty((line.rows, line.features)), np.empty((line.rows, line.labels)))
        assert 1 / 4 < total(members, sizes) / line.seconds < 4, line


def test_the_pool_takes_its_minutes_from_the_settings(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    Y = (X[:, :2] > 0.5).astype(np.int8)
    fitted = make_model("Stack+", minutes=1e-3, n_trees=40, random_state=0).fit(X, Y).estimator_
    assert len(fitted.estimators_) < 3
    default, ample = (make_model("Stack+", minutes=m, n_trees=20, max_levels=1, random_state=0) for m in (None, 1e3))
    assert default.fit(X, Y).predict_proba(X).tobytes() == ample.fit(X, Y).predict_proba(X).tobytes()
    monkeypatch.setattr("fairfold.models.stacking.LARGE", 200)
    stack = StackedClassifier(POOL[:1], of_large=POOL[1:2], minutes=1e-6, random_state=0)
    assert isinstance(stack.fit(X, Y).estimators_[0], KernelRidgeClassifier)


@pytest.mark.parametrize("minutes", [0, -1.0, "long"])
def test_other_budgets_are_refused(minutes):
    with pytest.raises(ModelError, match="minutes is"):
        StackedClassifier(POOL, minutes=minutes).fit(np.eye(20), np.eye(20)[:, :2])
