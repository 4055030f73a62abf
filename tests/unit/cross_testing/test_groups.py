"""Procedures on grouped samples: parts contain whole groups; permutations exchange groups or samples within them."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GroupKFold

from fairfold.core.groups import check_exchange, permuted_rows
from fairfold.cross_testing.models import repeat_on_weak_labels
from fairfold.cross_testing.plans import TEST, TRAIN, draw_orders
from fairfold.cross_testing.procedures import (
    compare_procedures,
    cross_validate_and_cross_test,
    cross_validate_and_test,
    nested_cross_validate,
)
from fairfold.errors import DataError, ModelError, SplitError
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification
from fairfold.splitting.methods import folds_by
from fairfold.weak_labels import mask_labels

PROCEDURES = (nested_cross_validate, cross_validate_and_test, cross_validate_and_cross_test)


class Nearest(ClassifierMixin, BaseEstimator):
    """Classifier that copies the labels of the nearest training sample and records the groups that it receives."""

    given = None

    def fit(self, X, Y, groups=None):
        Nearest.given = groups
        self.X_, self.Y_ = X, Y
        return self

    def predict_proba(self, X):
        return self.Y_[np.argmin(((X[:, None] - self.X_) ** 2).sum(axis=2), axis=1)] * 0.9


def copies(seed=0, n_groups=16, sizes=(3, 3, 2)):
    """Return near-copies of patients, two to three each, in random order, with uninformative labels."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(n_groups), np.resize(sizes, n_groups)))
    X = rng.normal(size=(n_groups, 4))[groups] + 0.001 * rng.normal(size=(len(groups), 4))
    Y = (rng.random((n_groups, 2)) < 0.5).astype(int)[groups]
    return X, Y, groups * 7 + 3


def run(procedure, X, Y, groups, **options):
    settings = {"n_splits": 3, "scoring": "average_precision", "random_state": 1, "groups": groups}
    return procedure({"nearest": Nearest()}, X, Y, **{**settings, **options})


@pytest.mark.parametrize(
    "splitter", [None, IterativeStratification(3, random_state=0), folds_by("IS", 3), GroupKFold(3)]
)
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_groups_are_tested_whole_by_models_that_know_nothing_of_them(procedure, splitter):
    X, Y, groups = copies()
    outcome = run(procedure, X, Y, groups, splitter=splitter, scoring="hamming_loss")
    test_of = dict(zip(outcome.tested, outcome.fold, strict=True))
    for group in np.unique(groups):
        assert len({test_of.get(row) for row in np.flatnonzero(groups == group)}) == 1
    if procedure is not nested_cross_validate:  # the second half of the groups, ordered by their first rows
        first = [np.flatnonzero(groups == group)[0] for group in np.unique(groups)]
        last = np.unique(groups)[np.argsort(first)[8:]]
        np.testing.assert_array_equal(outcome.tested, np.flatnonzero(np.isin(groups, last)))
    assert Nearest.given is not None and set(Nearest.given) <= set(range(16))


def test_copies_show_their_labels_unless_groups_are_known():
    X, Y, groups = copies(n_groups=60)
    known, unknown = (run(nested_cross_validate, X, Y, given).scores["roc_auc"] for given in (groups, None))
    assert unknown > 0.85 and abs(known - 0.5) < 0.15


def test_a_group_of_one_sample_each_is_none():
    X, Y, _ = copies()
    of_each = np.arange(len(X))
    for one, other in zip(
        *(
            compare_procedures([Nearest()], X, Y, n_splits=3, random_state=1, groups=g).values()
            for g in (of_each, None)
        ),
        strict=True,
    ):
        np.testing.assert_array_equal(one.tested, other.tested)
        np.testing.assert_array_equal(one.predictions, other.predictions)


# ---- permutations


@pytest.mark.parametrize("seed", range(5))
def test_whole_groups_take_the_place_of_others_of_their_size(seed):
    _, _, groups = copies(seed)
    rows = permuted_rows(groups, np.random.default_rng(seed))
    assert sorted(rows) == list(range(len(groups)))
    for group in np.unique(groups):
        places = np.flatnonzero(groups == group)
        (taken,) = {groups[row] for row in rows[places]}
        np.testing.assert_array_equal(rows[places], np.flatnonzero(groups == taken))  # in the same order


def test_every_place_is_as_likely():
    groups = np.array([0, 0, 1, 1, 2, 2, 3])
    rng, counts = np.random.default_rng(0), np.zeros((7, 7))
    for _ in range(3000):
        counts[np.arange(7), permuted_rows(groups, rng)] += 1
    np.testing.assert_allclose(counts[::2, ::2][:3, :3] / 3000, 1 / 3, atol=0.03)
    assert counts[6, 6] == 3000
    within = np.zeros((7, 7))
    for _ in range(3000):
        within[np.arange(7), permuted_rows(groups, rng, "within")] += 1
    np.testing.assert_allclose(within[:2, :2] / 3000, 0.5, atol=0.03)
    assert within[:2, 2:].sum() == 0


@pytest.mark.parametrize("exchange", ["groups", "within"])
def test_parts_keep_their_rows(exchange):
    groups, part = np.repeat(np.arange(12), 3), np.repeat([0, 1], 18)
    orders = draw_orders(part, 20, np.random.default_rng(0), groups, exchange)
    assert orders.shape == (20, 36) and len({tuple(order) for order in orders}) == 20
    np.testing.assert_array_equal(part[orders], np.tile(part, (20, 1)))
    if exchange == "within":
        np.testing.assert_array_equal(groups[orders], np.tile(groups, (20, 1)))


def test_a_meaning_is_found_in_groups_that_are_torn_apart_alone():
    """Without an effect, a fifth of the p-values are at most 0.2; far more are if groups are ignored."""
    n_repeats, found = 60, {"whole": 0, "torn": 0}
    for seed in range(n_repeats):
        X, Y, groups = copies(seed, n_groups=12, sizes=(4,))
        for kind, given in (("whole", groups), ("torn", None)):
            settings = {"n_permutations": 9, "scoring": lambda Y, P: -np.mean((Y - P) ** 2)}
            outcome = run(cross_validate_and_test, X, Y, given, **settings)
            found[kind] += outcome.p_values["randomized"] <= 0.2
    assert binomtest(found["whole"], n_repeats, 0.2).pvalue > 0.01
    assert binomtest(found["torn"], n_repeats, 0.2).pvalue < 1e-6


def test_an_effect_is_found():
    X, Y, groups = copies(n_groups=40)
    X = X + 6 * Y[:, [0, 1, 0, 1]]
    assert run(nested_cross_validate, X, Y, groups, n_permutations=19).p_value == 1 / 20


def test_effects_within_groups_are_found_within():
    """Patients differ, and within a patient a feature predicts the label."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 4)
    Y = rng.integers(0, 2, size=(80, 1))
    X = np.column_stack([Y[:, 0] + 0.1 * rng.normal(size=80), 0.01 * rng.normal(size=80)])
    outcome = run(nested_cross_validate, X, Y, groups, n_permutations=19, exchange="within")
    assert outcome.p_value == 1 / 20


# ---- refusals and the study


def test_what_cannot_be_exchanged_is_refused():
    with pytest.raises(ModelError, match="no two groups have the same size"):
        check_exchange(np.repeat([0, 1, 2], [1, 2, 3]), "groups")
    with pytest.raises(ModelError, match="no group has two samples"):
        check_exchange(np.arange(5), "within")
    with pytest.raises(ModelError, match="did you mean 'groups'"):
        check_exchange(np.arange(5), "group")
    X, Y, groups = copies(sizes=(1, 2, 3), n_groups=3)
    with pytest.raises(ModelError, match="no two groups"):
        run(nested_cross_validate, X, Y, groups, n_permutations=2, n_splits=2)


def test_a_splitter_that_tears_a_group_apart_is_refused():
    with pytest.raises(SplitError, match="is in another fold than its group"):
        run(nested_cross_validate, *copies(), splitter=lambda Y, seed, groups: np.arange(len(Y)) % 3)


def test_groups_that_are_too_few_are_refused():
    X, Y, groups = copies(n_groups=4)
    with pytest.raises(SplitError, match="is empty"):
        run(cross_validate_and_cross_test, X, Y, groups, n_splits=3)


def test_repetitions_draw_whole_groups():
    X, Y, groups = copies(n_groups=60)
    tables = repeat_on_weak_labels(
        lambda seed: {"forest": make_model("RF+ET", n_trees=5, random_state=seed), "dummy": make_model("dummy")},
        *(X, Y, range(2)),
        **{"n_splits": 2, "n_permutations": 2, "n_samples": 80, "scoring": "average_precision"},
        hide=lambda Y, seed: mask_labels(Y, 0.3, negatives="confirmed", random_state=seed),
        splitter=folds_by("IS", 2),
        groups=groups,
        seed=1,
    )
    assert tables.scores["reason"].isna().all()
    assert tables.scores["n_samples"].between(78, 80).all()
    assert tables.scores["average_precision"].notna().all()


def test_a_group_larger_than_what_is_drawn_is_refused():
    X, Y, _ = copies(n_groups=30)
    groups = np.arange(len(X)) // 40
    with pytest.raises(DataError, match=r"is less than the .* rows of the first group"):
        repeat_on_weak_labels(
            lambda seed: {"dummy": make_model("dummy")},
            *(X, Y, range(1)),
            n_samples=10,
            hide=lambda Y, seed: Y,
            groups=groups,
            seed=1,
        )


def test_unmeasured_labels_take_no_part():
    """Candidates that treat unmeasured labels as a class are refused."""
    X, Y, groups = copies(n_groups=30)
    truth = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
    observed = mask_labels(truth, 0.3, negatives="confirmed", random_state=0)
    named = {name: make_model(name) for name in ("dummy", "kNN")}
    options = {"Y_true": truth, "groups": groups, "n_splits": 3, "random_state": 0, "scoring": "accuracy"}
    outcome = nested_cross_validate(named, X, observed, **options)
    predicted = outcome.predictions > 0.5
    wrong = ((predicted != truth) & (truth >= 0)).any(axis=1)[(truth >= 0).any(axis=1)]
    assert outcome.accuracy == pytest.approx(1 - wrong.mean())
    with pytest.raises(
        ModelError, match=r"candidate Nearest does not accept unmeasured labels\. Wrap it in OneLevelModel"
    ):
        nested_cross_validate([Nearest()], X, observed, **options)


def test_roles_are_those_of_the_groups():
    from fairfold.core.folds import unstratified_folds
    from fairfold.cross_testing.plans import nested_plan

    groups = np.array([0, 1, 0, 2, 2, 1, 3])
    of_units = nested_plan(np.arange(4), 2, np.random.default_rng(0), unstratified_folds)
    plan = of_units.of_members(groups)
    for test in range(2):
        for row, group in enumerate(groups):
            assert plan.role[test, row] == of_units.role[test, group] in (TRAIN, TEST)
            assert plan.inner_fold[test, row] == of_units.inner_fold[test, group]


def test_too_few_groups_are_a_reason_without_the_address_of_a_function():
    """The address of a function differs between two runs of one study."""
    groups = np.repeat([0, 1, 2], [20, 12, 5])
    X = np.random.default_rng(0).normal(size=(37, 2))
    table, _ = repeat_on_weak_labels(
        lambda seed: {"a": Nearest(), "b": Nearest()},
        *(X, (X > 0).astype(np.int8), [0]),
        **{"n_splits": 2, "n_permutations": 1, "exchange": "within"},
        hide=lambda Y, seed: Y,
        splitter=folds_by("annealed", 2),
        groups=groups,
        seed=0,
    )
    assert table["reason"].str.contains(r"splitter annealed of \d+ rows into n_splits=2: groups: ").all()
