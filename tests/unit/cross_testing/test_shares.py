from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from statsmodels.stats.contingency_tables import mcnemar

from fairfold.cross_testing.candidates import make_candidates
from fairfold.cross_testing.shares import (
    ShareSetting,
    share_sentences,
    simulate_test_shares,
    summarise_test_shares,
)
from fairfold.errors import DataError, ModelError, SplitError

MACHINES = make_candidates(SVC(gamma="auto"), [{"C": C} for C in (0.01, 1)])
UNIT = ["labels", "procedure", "test_fraction"]


def sample(n=40, shift=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 3)) + shift * y[:, None] * [1, 0, 0], y


def run(simulations=range(2), setting=None, data=None, candidates=MACHINES, **options):
    setting = setting or ShareSetting((0.3, 0.5), n_permutations=19)
    return simulate_test_shares(
        candidates, *(data or sample()), simulations, setting, **{"seed": 1, "name": "it"} | options
    )


def summarised(table):
    return summarise_test_shares(table.assign(dataset="mine", n_samples=40)).set_index(["procedure", "test_fraction"])


class Recorder(ClassifierMixin, BaseEstimator):
    """Predicts by a threshold on the first feature, which tells the rows apart; ``seen`` has those of each test."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        self.classes_, self.trained_on = np.unique(y), X[:, 0]
        return self

    def predict(self, X):
        type(self).seen.append((set(self.trained_on), set(X[:, 0])))
        return (X[:, 0] > 0.5).astype(int)


def test_no_sample_is_trained_on_and_tested_and_every_order_has_all_of_them():
    X, y = np.column_stack([np.linspace(0, 1, 40), np.random.default_rng(0).random(40)]), np.arange(40) % 2
    Recorder.seen = []
    run([0], ShareSetting((0.3,), n_permutations=19, early_stop=False), (X, y), {"it": Recorder()})
    assert len(Recorder.seen) == 2 * 20 * (1 + 5 + 5)
    for trained, tested in Recorder.seen:
        assert not trained & tested
    sizes = {(len(trained), len(tested)) for trained, tested in Recorder.seen}
    assert sizes == {(32, 8), (28, 12), (36, 4), (37, 3), (38, 2), (39, 1)} & sizes
    assert {(32, 8), (28, 12)} <= sizes


def test_accuracy_and_p_value_by_hand():
    """One nearest neighbour on two classes that stand far apart: right on every test with its own labels."""
    y = np.repeat([0, 1], 20)
    X = np.random.default_rng(0).random((40, 2)) + 10 * y[:, None]
    table = run(range(3), data=(X, y), candidates={"1-NN": KNeighborsClassifier(1)})
    own = table[table["labels"] == "own"]
    assert (own["accuracy"] == 1).all()
    assert own["p_exact"].to_numpy() == pytest.approx(1 / 20)  # no permutation of 19 is as good
    powers = summarised(table)
    assert (powers["power"] == 1).all() and powers["is_top"].all()
    low = stats.binomtest(3, 3).proportion_ci(method="wilson").low
    assert powers["low"].to_numpy() == pytest.approx(low)


def test_a_simulation_depends_on_its_number_only():
    together = run(range(3))
    apart = pd.concat([run([number]) for number in (2, 0, 1)]).sort_values("simulation", kind="stable")
    pd.testing.assert_frame_equal(together, apart.reset_index(drop=True))
    assert not together["accuracy"].equals(run(range(3), seed=2)["accuracy"])
    fewer = run(range(3), ShareSetting((0.5,), n_permutations=19))
    pd.testing.assert_frame_equal(fewer, together[together["test_fraction"] != 0.3].reset_index(drop=True))


def test_power_is_that_of_fresh_samples_on_the_mean_and_the_level_is_kept():
    """Every study's own order is one of the orders, so that both estimate the same number."""
    setting = ShareSetting((0.3, 0.6), n_permutations=39)
    fresh = pd.concat([run([number], setting, sample(seed=number)) for number in range(60)])
    orders = pd.concat(
        [run(range(4), setting, sample(seed=1000 + user)).assign(user=user) for user in range(15)], ignore_index=True
    )
    fresh, orders = (
        table.assign(hit=table["p_exact"] <= 0.05, test_fraction=table["test_fraction"].fillna(0))
        for table in (fresh, orders)
    )
    of_users = orders.groupby(["user", *UNIT])["hit"].mean().groupby(UNIT)
    error = np.sqrt(of_users.var() / 15 + fresh.groupby(UNIT)["hit"].var() / 60)
    difference = (of_users.mean() - fresh.groupby(UNIT)["hit"].mean())["own"]
    assert (difference.abs() < 4 * error["own"]).all()
    assert fresh.groupby(UNIT)["hit"].mean()["own"].max() > 0.5
    for table in (fresh, orders):
        null = table[table["labels"] == "permuted"].groupby(UNIT)["hit"].agg(["sum", "size"])
        assert (stats.binom.sf(null["sum"] - 1, null["size"], 0.05) > 1e-4).all()


def test_a_share_that_leaves_too_few_has_a_reason():
    table = run(setting=ShareSetting((0.1, 0.5, 0.9), n_permutations=19))
    small = table[table["test_fraction"] == 0.1]
    assert set(small["reason"]) == {"class 0 would have 2 samples in the test part, fewer than 5 folds"}
    assert small["p_exact"].isna().all()
    powers = summarised(table)
    assert powers["power"].isna().groupby("test_fraction").all().to_dict() == {0.1: True, 0.5: False, 0.9: True}
    said = share_sentences(powers.reset_index())["sentence"]
    assert said.str.startswith("Test shares of 10 and 90 % were not tried: class 0 would have 2 ").sum() == 2


def simulated(hits, procedure="cv_testing", labels="own"):
    """Rows whose p-values are significant where told, by share."""
    return pd.DataFrame(
        [
            {"dataset": "mine", "n_samples": 40, "simulation": number, "labels": labels, "procedure": procedure}
            | {"test_fraction": share, "p_exact": 0.01 if hit else 0.5, "reason": np.nan}
            for share, of_share in hits.items()
            for number, hit in enumerate(of_share)
        ]
    )


def test_shares_are_compared_by_pairs_with_mcnemar():
    rng = np.random.default_rng(0)
    hits = {0.2: rng.random(60) < 0.3, 0.4: rng.random(60) < 0.8, 0.6: rng.random(60) < 0.75}
    table = summarise_test_shares(
        pd.concat([simulated(hits), simulated({share: np.zeros(60, bool) for share in hits}, labels="permuted")])
    ).set_index("test_fraction")
    best = max(hits, key=lambda share: hits[share].mean())
    for share in hits.keys() - {best}:
        one, other = hits[share], hits[best]
        counts = [[np.sum(one & other), np.sum(one & ~other)], [np.sum(~one & other), np.sum(~one & ~other)]]
        expected = min(1, 3 * mcnemar(counts, exact=True).pvalue)
        assert table.loc[share, "p_adjusted"] == pytest.approx(expected)
        assert table.loc[share, "is_top"] == (expected > 0.05)
    assert np.isnan(table.loc[best, "p_adjusted"]) and table.loc[best, "is_top"]
    assert (table["level"] == 0).all()


@pytest.mark.parametrize(
    ("hits", "expected"),
    [
        (
            {0.2: [1] * 2 + [0] * 38, 0.5: [1] * 36 + [0] * 4, 0.7: [1] * 34 + [0] * 6},
            "With 40 samples of mine, cross-validation and testing finds the effect most often with a test share of "
            "50 % (90 % of 40 simulations, 95 % interval 77 to 96 %); the tests cannot tell 70 % from it.",
        ),
        (
            {0.2: [0] * 40, 0.5: [1] * 40},
            "With 40 samples of mine, cross-validation and testing finds the effect most often with a test share of "
            "50 % (100 % of 40 simulations, 95 % interval 91 to 100 %); the tests tell it from all other shares.",
        ),
        (
            {0.2: [0] * 40, 0.5: [1] * 2 + [0] * 38},
            "With 40 samples of mine, cross-validation and testing finds no effect more often than chance would, with "
            "any share (5 % of 40 simulations, 95 % interval 1 to 17 % at most).",
        ),
    ],
)
def test_sentences(hits, expected):
    null = simulated({share: [0] * 40 for share in hits}, labels="permuted")
    assert list(share_sentences(summarise_test_shares(pd.concat([simulated(hits), null])))["sentence"]) == [expected]


def test_sentence_about_nested_cross_validation_and_a_level_that_is_not_kept():
    runs = [simulated({np.nan: [1] * 30 + [0] * 10}, "nested_cv", labels) for labels in ("own", "permuted")]
    first, second = share_sentences(summarise_test_shares(pd.concat(runs)))["sentence"]
    assert "nested cross-validation, which has no test part, finds the effect in 75 % of 40 simulations" in first
    assert second.startswith("Where labels are permuted, 75 % of its tests are significant, more than the 5 %")


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        (ShareSetting(()), SplitError, "test_fractions has no share"),
        (ShareSetting((0.5, 1.0)), SplitError, r"test_fractions holds 1\.0: give shares"),
        (ShareSetting(n_splits=1), SplitError, "n_splits is 1: give a whole number from 2"),
        (ShareSetting(alpha=0.0), ModelError, r"alpha is 0\.0: give a level"),
        (
            ShareSetting(n_permutations=18),
            ModelError,
            "n_permutations is 18: with fewer than 19 no test is significant",
        ),
    ],
)
def test_settings_that_do_not_work(setting, error, message):
    with pytest.raises(error, match=message):
        run(setting=setting)


def test_data_that_do_not_work():
    X, y = sample()
    with pytest.raises(SplitError, match=r"class 1 has .* fewer than their 5 folds"):
        run(data=(X, np.array([1] * 4 + [0] * 36)))
    with pytest.raises(DataError, match="y holds the class 0 only"):
        run(data=(X, np.zeros(40, int)))
    with pytest.raises(DataError, match="1 of 3 features are constant"):
        run(data=(X * [1, 0, 1], y))
    with pytest.raises(DataError, match="has no rows"):
        summarise_test_shares(run().iloc[:0])
    with pytest.raises(DataError, match="is there twice"):
        summarised(pd.concat([run(), run()]))
    with pytest.raises(DataError, match="form of p-values"):
        summarise_test_shares(run(), p_form="excat")
