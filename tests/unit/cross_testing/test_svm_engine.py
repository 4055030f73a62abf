import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from fairfold.cross_testing.estimator_engine import EstimatorEngine
from fairfold.cross_testing.plans import draw_orders, holdout_plans, nested_plan
from fairfold.cross_testing.svm_engine import SVMEngine
from fairfold.cross_testing.svm_kernels import TOLERANCE, decision_values
from fairfold.papers.cross_testing_experiment import published_candidates


def data(n, n_features, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.random((n, n_features)) * (1 + np.arange(n_features) / n_features) + 0.2 * y[:, None], y


def values_of_tests(engine, plan, order, chosen):
    tests = zip(chosen[plan.choice_of], plan.role, strict=True)
    return np.stack([decision_values(engine.problem, candidate, role, order) for candidate, role in tests])


@pytest.mark.parametrize("n_features", [4, 60])
@pytest.mark.parametrize("parameters", ["c-only", "preprocessing-and-c"])
@pytest.mark.parametrize("n", [30, 47])
def test_procedures_are_those_of_scikit_learn(n, n_features, parameters):
    """Choices, counts and predictions are equal, both in the original row order and permuted."""
    X, y = data(n, n_features, seed=2)  # with others, a decision value is within the tolerance
    candidates = [candidate.set_params(**wider(candidate)) for candidate in published_candidates(parameters)]
    rng = np.random.default_rng(2)
    fast, plain = SVMEngine.for_candidates(candidates, X, y), EstimatorEngine(candidates, X, y)
    testing, cross_testing = holdout_plans(y, 3, n // 2, rng)
    for plan in (nested_plan(y, 3, rng), testing + cross_testing):
        orders = np.vstack((np.arange(n), draw_orders(plan.part, 3, rng)))
        ours, theirs = fast.run(plan, orders), plain.run(plan, orders)
        np.testing.assert_array_equal(ours.chosen, theirs.chosen)
        np.testing.assert_array_equal(ours.totals, theirs.totals)
        assert ours.totals[1:].std() > 0
        for order, chosen in zip(orders[:2], ours.chosen, strict=False):
            np.testing.assert_array_equal(fast.predict(plan, order, chosen), plain.predict(plan, order, chosen))


def test_a_gamma_of_ones_own_and_a_far_origin_change_nothing():
    X, y = data(40, 6)
    plan = nested_plan(y, 3, np.random.default_rng(2))
    orders = draw_orders(plan.part, 5, np.random.default_rng(3))
    candidates = [SVC(C=10, gamma=2.5), make_pipeline(PCA(0.7), SVC(C=10, gamma=2.5))]
    theirs = EstimatorEngine(candidates, X, y).run(plan, orders)
    # A shift by 2 ** 20 costs the features 20 of their 52 bits.
    for shift in (0, 2**20):
        engine = SVMEngine.for_candidates(candidates, X + shift, y)
        ours = engine.run(plan, orders)
        np.testing.assert_array_equal(ours.chosen, theirs.chosen)
        np.testing.assert_array_equal(ours.totals, theirs.totals)
        for order, chosen in zip(orders, ours.chosen, strict=True):
            # Closer to zero, the rounding of the features or of matrix products may decide the sign.
            values = values_of_tests(engine, plan, order, chosen)
            assert np.nanmin(np.abs(values)) > TOLERANCE
    default = SVMEngine.for_candidates([SVC(C=10, gamma="auto")], X, y).run(plan, orders)
    assert not np.array_equal(SVMEngine.for_candidates(candidates[:1], X, y).run(plan, orders).totals, default.totals)


def wider(candidate):
    """Return a C that makes decision values larger than LIBSVM's tolerance."""
    name = "svc__C" if isinstance(candidate, Pipeline) else "C"
    return {name: 10 * np.sqrt(candidate.get_params()[name])}


def test_predictions_are_what_is_counted():
    X, y = data(40, 3)
    engine = SVMEngine.for_candidates(published_candidates("preprocessing-and-c"), X, y)
    plan = nested_plan(y, 5, np.random.default_rng(0))
    order = draw_orders(plan.part, 1, np.random.default_rng(1))
    run = engine.run(plan, order)
    predictions = engine.predict(plan, order[0], run.chosen[0])
    assert ((predictions >= 0) == (plan.role == 2)).all()
    np.testing.assert_array_equal((predictions == y).sum(axis=1), run.totals[0])


def test_a_fold_without_samples_counts_nothing():
    X, y = data(8, 3)
    engine = SVMEngine.for_candidates(published_candidates("c-only"), X, y)
    plan, _ = holdout_plans(y, 5, 2, np.random.default_rng(0))
    run = engine.run(plan, np.arange(8)[None])
    assert run.totals.shape == (1, 1)
    assert 0 <= run.totals[0, 0] <= 2


@pytest.mark.parametrize(
    "candidate",
    [
        SVC(),  # gamma="scale" depends on the training part
        SVC(kernel="linear"),
        SVC(gamma="auto", class_weight="balanced"),
        SVC(gamma="auto", tol=1e-6),
        SVC(gamma="auto", max_iter=5),
        make_pipeline(PCA(2), SVC(gamma="auto")),
        make_pipeline(PCA(0.7, whiten=True), SVC(gamma="auto")),
        make_pipeline(PCA(0.7), PCA(0.7), SVC(gamma="auto")),
        PCA(0.7),
    ],
)
def test_other_candidates_are_left_to_scikit_learn(candidate):
    X, y = data(20, 3)
    assert SVMEngine.for_candidates([candidate], X, y) is None
    assert SVMEngine.for_candidates([SVC(gamma="auto"), candidate], X, y) is None


def test_other_data_are_left_to_scikit_learn():
    X, y = data(20, 3)
    usual = [SVC(gamma="auto")]
    assert SVMEngine.for_candidates(usual, X, y) is not None
    assert SVMEngine.for_candidates(usual, sparse.csr_array(X), y) is None
    assert SVMEngine.for_candidates(usual, X, np.arange(20) % 3) is None
    assert SVMEngine.for_candidates([SVC(gamma=0.1), SVC(gamma=0.2)], X, y) is None
    both = [SVC(gamma=0.1), make_pipeline(PCA(0.7), SVC(gamma=0.2))]
    assert SVMEngine.for_candidates(both, X, y) is not None
    assert SVMEngine.for_candidates([*both, make_pipeline(PCA(0.8), SVC(gamma=0.2))], X, y) is None


@pytest.mark.parametrize("parameters", ["c-only", "preprocessing-and-c"])
def test_rows_that_are_tested_take_no_part_in_choice_or_training(parameters):
    """Changed features of a tested row affect only its own prediction. Components of all rows would fail this test."""
    X, y = data(40, 6)
    candidates = [candidate.set_params(**wider(candidate)) for candidate in published_candidates(parameters)]
    plan, _ = holdout_plans(y, 5, 10, np.random.default_rng(0))
    other = X.copy()
    other[35] = 50 * np.arange(6)
    runs = []
    for rows in (X, other):
        engine = SVMEngine.for_candidates(candidates, rows, y)
        chosen = engine.run(plan, np.arange(40)[None]).chosen
        values = values_of_tests(engine, plan, np.arange(40), chosen[0])
        runs.append((chosen, np.delete(values, 35, axis=1)))
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    np.testing.assert_allclose(runs[0][1], runs[1][1], atol=1e-9)
    assert np.nanstd(runs[0][1]) > 0.01
