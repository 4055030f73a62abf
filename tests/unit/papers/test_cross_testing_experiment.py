import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from fairfold.core.seeds import seed_sequence
from fairfold.cross_testing.plans import holdout_plans
from fairfold.datasets.generate import cross_testing_random, cross_testing_simulated
from fairfold.errors import DataError
from fairfold.papers.cross_testing_experiment import Setting, draw_rows, published_candidates, run_repetitions

POINT = ["repetition", "data_size", "test_fraction", "procedure"]


def run(setting, repetitions=range(2), data=cross_testing_simulated, **options):
    return run_repetitions(*data(), repetitions, setting, **{"seed": 1, "name": "it", **options})


def test_candidates_that_win_ties_come_first():
    assert [candidate.C for candidate in published_candidates("c-only")] == [0.0001, 0.01, 1]
    both = published_candidates("preprocessing-and-c")
    assert [isinstance(candidate, Pipeline) for candidate in both] == [False, True] * 3
    assert [candidate[-1].C if isinstance(candidate, Pipeline) else candidate.C for candidate in both] == [
        *(0.0001, 0.0001, 0.01, 0.01, 1, 1)
    ]
    assert both[1][0].n_components == 0.7


def test_rows_alternate_between_classes_and_share_no_number():
    y = np.repeat([3, 5], [50, 40])
    rows = draw_rows(y, 30, np.random.default_rng(0))
    assert (y[rows] == np.tile([3, 5], 15)).all()
    numbers = np.where(y[rows] == 3, rows, rows - 50)
    assert len(set(numbers)) == 30
    assert (draw_rows(y, 10, np.random.default_rng(0)) == rows[:10]).all()


@pytest.mark.parametrize(("y", "message"), [([0, 1, 0], "smaller class has 1"), ([0, 1, 2], "two classes, found 3")])
def test_rows_that_are_not_there(y, message):
    with pytest.raises(DataError, match=message):
        draw_rows(np.array(y), 2, np.random.default_rng(0))


def test_a_repetition_depends_on_its_number_only():
    setting = Setting([20, 30], [0.5], n_permutations=12)
    together = run(setting, range(4))
    apart = pd.concat([run(setting, [number]) for number in (3, 1, 0, 2)]).sort_values(
        "repetition", kind="stable", ignore_index=True
    )
    pd.testing.assert_frame_equal(together, apart, check_like=False)
    assert together["accuracy"].nunique() > 3
    assert not together["accuracy"].equals(run(setting, range(4), seed=2)["accuracy"])
    alone = run(Setting([30], [0.5], n_permutations=12), range(4))
    np.testing.assert_array_equal(together.query("data_size == 30")[alone.columns], alone)


def test_shares_of_the_test_part_leave_nested_cross_validation_out():
    table = run(Setting([40], [0.3, 0.5], n_permutations=3))
    assert set(table["procedure"]) == {"cv_testing", "cv_cross_testing"}
    assert len(table) == 2 * 2 * 2
    sizes = table["test_fraction"] * 40
    np.testing.assert_allclose(table["accuracy"] * sizes, (table["accuracy"] * sizes).round(), atol=1e-9)


def test_accuracies_are_those_of_scikit_learn():
    """Repeat the first test by hand.

    Choose C by cross-validation on the first half, train on that half, and test on the other.
    """
    X, y = cross_testing_simulated()
    table = run(Setting([60], [0.5], n_permutations=1), range(5)).query("procedure == 'cv_testing'")
    codes = np.arange(60) % 2
    for repetition, accuracy in zip(table["repetition"], table["accuracy"], strict=True):
        sample = X[draw_rows(y, 60, np.random.default_rng(seed_sequence(1, "it", repetition)))]
        rng = np.random.default_rng(seed_sequence(1, "it", repetition, 60, 0.5))
        fold = holdout_plans(codes, 5, 30, rng)[0].inner_fold[0, :30]
        correct = []
        for machine in published_candidates("c-only"):
            right = [
                machine.fit(sample[:30][fold != k], codes[:30][fold != k]).predict(sample[:30][fold == k])
                == codes[:30][fold == k]
                for k in range(5)
            ]
            correct.append(np.concatenate(right).sum())
        best = SVC(C=[0.0001, 0.01, 1][int(np.argmax(correct))], gamma="auto").fit(sample[:30], codes[:30])
        assert accuracy == pytest.approx(best.score(sample[30:], codes[30:]))


def test_folds_are_dealt_as_is_asked_for():
    """Nested cross-validation of 36 samples uses other folds, because its inner folds have unequal sizes."""
    equal, by_chance = (
        run(Setting([36], [0.5], n_permutations=1, folds=folds), range(8)).set_index(POINT)["accuracy"]
        for folds in ("equal", "crossvalind")
    )
    assert (equal != by_chance).any()
    pd.testing.assert_series_equal(
        equal, run(Setting([36], [0.5], n_permutations=1), range(8)).set_index(POINT)["accuracy"]
    )


@pytest.mark.parametrize("parameters", ["c-only", "preprocessing-and-c"])
def test_nothing_is_found_where_there_is_nothing(parameters):
    """The randomized p-value is exact: its rejections are binomial, within the 99.9 % interval."""
    setting = Setting([24], [0.5], parameters, n_permutations=19)
    table = run(setting, range(300), data=lambda: cross_testing_random(500))
    for _, own in table.groupby("procedure"):
        assert abs((own["p_randomized"] <= 0.1).mean() - 0.1) < 3.3 * np.sqrt(0.09 / 300)
        assert abs(own["accuracy"].mean() - 0.5) < 4 * own["accuracy"].std() / np.sqrt(300)
