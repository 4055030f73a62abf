import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logit

from fairfold.core.validation import capped_frequency
from fairfold.errors import ModelError
from fairfold.models import load_model, make_model
from fairfold.weak_labels import (
    calibrate,
    fit_calibration,
    fitted_label_frequency,
    posterior,
    shared_label_frequency,
)


@pytest.fixture(scope="module")
def scored():
    """Return scores with a wrong slope and intercept on the logit scale. The last label has no positives."""
    rng = np.random.default_rng(0)
    P = rng.random((400, 4)) ** 2
    observed = (rng.random(P.shape) < expit(1.5 * logit(np.clip(P, 1e-3, 1 - 1e-3)) + 0.5)).astype(np.int8)
    observed[:, 3] = 0
    return observed, P


def reference(observed, P, shrinkage):
    """Maximize the stated likelihood with a general optimizer, label by label."""
    z = logit(np.clip(P, 1e-3, 1 - 1e-3))

    def best(z, seen, prior):
        def loss(ab):
            eta = ab[0] * z + ab[1]
            return np.sum(np.logaddexp(0, eta) - seen * eta) + shrinkage * np.sum((ab - prior) ** 2)

        return minimize(loss, prior, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000}).x

    pooled = best(z.ravel(), observed.ravel(), np.array([1.0, 0.0]))
    found = np.array([best(z[:, j], observed[:, j], pooled) for j in range(z.shape[1])])
    return np.column_stack([np.maximum(found[:, 0], 0), found[:, 1]])


@pytest.mark.parametrize("shrinkage", [0.3, 1.0, 20.0])
def test_calibration_maximizes_the_stated_likelihood(scored, shrinkage):
    ours = fit_calibration(*scored, shrinkage=shrinkage)
    np.testing.assert_allclose(ours, reference(*scored, shrinkage), rtol=0, atol=2e-5)  # accuracy of Nelder-Mead


def test_calibration_finds_slope_and_intercept():
    rng = np.random.default_rng(1)
    P = rng.random((20_000, 2))
    observed = (rng.random(P.shape) < expit(2 * logit(P) - 1)).astype(np.int8)
    # Standard errors are about 0.03.
    np.testing.assert_allclose(fit_calibration(observed, P), [[2, -1], [2, -1]], atol=0.1)


def test_calibration_keeps_the_order_and_never_turns_it_round(scored):
    observed, P = scored
    misleading = np.column_stack([observed[:, 0], 1 - observed[:, 0]]) * 0.8 + 0.1
    coefficients = fit_calibration(np.repeat(observed[:, :1], 2, axis=1), misleading, shrinkage=0.01)
    assert coefficients[0, 0] > 0 and coefficients[1, 0] == 0
    calibrated = calibrate(P, fit_calibration(observed, P))
    for label in range(3):
        order = np.argsort(P[:, label])
        assert (np.diff(calibrated[order, label]) >= 0).all()
    assert calibrated[:, 3].max() < calibrated[:, 0].max() / 2  # never observed


def test_calibration_of_extreme_probabilities_is_finite():
    observed = np.array([[0, 1], [1, 0], [0, 1], [1, 1]])
    P = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert np.isfinite(calibrate(P, fit_calibration(observed, P))).all()


def plain_frequency(observed, P, z):
    """Search the largest lower bound with loops."""
    n, q = observed.shape
    best = 0.0
    for depth in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0):
        tops = []
        for label in range(q):
            if observed[:, label].any():
                k = int(min(max(np.rint(depth * observed[:, label].sum()), 1), n))
                order = sorted(range(n), key=lambda row, label=label: (-P[row, label], row))
                tops.append((k, sum(int(observed[row, label]) for row in order[:k])))
        tops.sort(key=lambda top: 1 / np.sqrt(top[0]) - top[1] / top[0])
        total = positives = 0
        for k, n_positives in tops:
            total, positives = total + k, positives + n_positives
            if total >= 10:
                share = positives / total
                best = max(best, share - z * np.sqrt(max(share * (1 - share), 1 / total) / total))
    return best if best > 0 else 1.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("z", [0.0, 0.7, 2.0])
def test_frequency_equals_the_plain_search(seed, z):
    rng = np.random.default_rng(seed)
    P = np.round(rng.random((60, 5)), 1 + seed % 2)  # with ties
    observed = (rng.random(P.shape) < P * rng.random(5)).astype(np.int8)
    observed[:, 4] = 0
    assert shared_label_frequency(observed, P, z=z) == pytest.approx(plain_frequency(observed, P, z), abs=1e-14)


@pytest.mark.parametrize(("n_positives", "expected"), [(9, 9 / 14), (10, 1.0)])
def test_ten_samples_are_the_fewest_that_state_something(n_positives, expected):
    """All positives rank first. A top of nine samples is too small, and the next depth, 1.5, takes 14."""
    ranking = np.arange(40)[:, None]
    assert shared_label_frequency(ranking < n_positives, 1 - ranking / 40, z=0) == pytest.approx(expected)


@pytest.mark.parametrize("c", [0.3, 0.5, 0.8, 1.0])
def test_frequency_of_labels_hidden_at_random(c):
    """One separable label among vague ones suffices. The share of 2,000 samples has a standard error below 0.012."""
    rng = np.random.default_rng(0)
    truth = np.column_stack([np.arange(4000) < 2000, rng.random(4000) < 0.5, rng.random(4000) < 0.2])
    P = np.column_stack([np.where(truth[:, 0], 0.6, 0.1) + 0.1 * rng.random(4000), rng.random((4000, 2))])
    observed = truth & (rng.random(truth.shape) < c)
    assert abs(shared_label_frequency(observed, P) - c) < 0.035


@pytest.mark.parametrize("observed", [np.zeros((30, 2), dtype=int), np.eye(30, 2, dtype=int)])
def test_too_few_positives_state_nothing(observed):
    assert shared_label_frequency(observed, np.full(observed.shape, 0.5), z=3) == 1


def test_posterior():
    np.testing.assert_allclose(posterior(np.array([0.0, 0.2, 0.4]), 0.4), [0, 0.5, 1], atol=1e-3)
    above = posterior(np.array([0.5, 0.6, 1.0]), 0.4)
    assert (np.diff(above) > 0).all() and (above <= 1).all()


def test_a_declared_frequency_is_used_and_only_the_word_estimate_estimates_one(scored):
    observed, P = scored
    assert fitted_label_frequency(1.0, observed, P) == 1
    assert fitted_label_frequency(0.3, observed, P) == 0.3
    np.testing.assert_array_equal(fitted_label_frequency([0.5, 1, 0.2, 1], observed, P), [0.5, 1, 0.2, 1])
    assert fitted_label_frequency("estimate", observed, P) == shared_label_frequency(observed, P) < 1


@pytest.mark.parametrize("wrong", [0, 1.5, np.nan, "estimated", None, [0.5, 0], [[0.5] * 4]])
def test_frequencies_that_are_none_are_refused(scored, wrong):
    with pytest.raises(
        ModelError, match=r"label_frequency: found .*\. Give 'estimate', a number above 0 and at most 1"
    ):
        fitted_label_frequency(wrong, *scored)
    with pytest.raises(ModelError, match="label_frequency"):
        make_model("logistic", label_frequency=wrong)


def test_there_is_one_frequency_per_label(scored):
    with pytest.raises(ModelError, match="found 2 numbers for 4 labels"):
        fitted_label_frequency([0.5, 0.5], *scored)


def test_a_label_misses_at_most_its_zeros():
    Y = np.array([[1, 0, np.nan], [1, 0, 1], [1, 0, 1], [0, 1, 0]])
    np.testing.assert_allclose(capped_frequency(Y, 0.5), [0.75, 0.5, 2 / 3])
    np.testing.assert_allclose(capped_frequency(sparse.csr_array(Y), 0.5), [0.75, 0.5, 2 / 3])
    assert capped_frequency(Y, 0.8) == 0.8


def test_posteriors_by_label_are_those_of_each():
    P = np.random.default_rng(0).random((5, 2))
    together = posterior(P, np.array([0.5, 0.9]))
    np.testing.assert_array_equal(together[:, 0], posterior(P[:, 0], 0.5))
    np.testing.assert_array_equal(together[:, 1], posterior(P[:, 1], 0.9))


def sparsely(seed, unmeasured=0.0):
    """Return labels and mostly zero probabilities. One label has no positives, and one has no probabilities."""
    rng = np.random.default_rng(seed)
    P = np.round(rng.random((150, 7)), 2) * (rng.random((150, 7)) < 0.3)
    observed = (rng.random(P.shape) < 0.03 + 0.7 * P).astype(np.int8)
    observed[:, 5], P[:, 6] = 0, 0
    return np.where(rng.random(P.shape) < unmeasured, np.nan, observed), P


WAYS = pytest.mark.parametrize(("seed", "unmeasured"), [(0, 0.0), (1, 0.0), (2, 0.1), (3, 0.3)])


@WAYS
@pytest.mark.parametrize("weighted", [False, True])
def test_calibration_of_sparse_probabilities_is_that_of_what_is_stored(seed, unmeasured, weighted):
    """All other cells count as unmeasured. Sums in another order change the optimum by a few of the last bits."""
    observed, P = sparsely(seed, unmeasured)
    weights = np.random.default_rng(seed).uniform(0.5, 1.5, len(P)) if weighted else None
    dense = fit_calibration(np.where(P > 0, observed, np.nan), P, sample_weight=weights)
    for labels in (sparse.csr_array(observed), observed):
        found = fit_calibration(labels, sparse.csr_array(P), sample_weight=weights)
        np.testing.assert_allclose(found, dense, rtol=0, atol=1e-12)


@WAYS
def test_sparse_probabilities_that_are_0_stay_so_when_calibrated_and_others_are_as_in_the_array(seed, unmeasured):
    observed, P = sparsely(seed, unmeasured)
    coefficients = fit_calibration(observed, P)
    dense, found = calibrate(P, coefficients), calibrate(sparse.csr_array(P), coefficients)
    np.testing.assert_array_equal(found.toarray(), np.where(P > 0, dense, 0))


@WAYS
def test_frequencies_and_posteriors_of_sparse_probabilities_are_those_of_dense_ones(seed, unmeasured):
    observed, P = sparsely(seed, unmeasured)
    stored = sparse.csr_array(observed), sparse.csr_array(P)
    estimate = shared_label_frequency(observed, P)
    assert shared_label_frequency(*stored) == estimate
    for c in (estimate, np.linspace(0.3, 1, P.shape[1])):
        np.testing.assert_array_equal(posterior(stored[1], c).toarray(), posterior(P, c))
    assert shared_label_frequency(*stored, z=0) == shared_label_frequency(observed, P, z=0)


def test_sparse_labels_go_with_dense_probabilities():
    observed, P = sparsely(0)
    labels = sparse.csr_array(observed)
    np.testing.assert_array_equal(fit_calibration(labels, P), fit_calibration(observed, P))
    assert shared_label_frequency(labels, P) == shared_label_frequency(observed, P)


def test_shapes_of_sparse_probabilities_must_match():
    with pytest.raises(ModelError, match=r"observed: expected shape \(3, 2\), found \(2, 3\)\."):
        fit_calibration(np.zeros((2, 3)), sparse.csr_array((3, 2)))


@pytest.mark.parametrize("name", ["gcForest+", "SLCForest+", "Stack+", "logistic+"])
def test_models_take_it(name, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    truth = X[:, :3] + 0.3 * rng.normal(size=(300, 3)) > 0.2
    Y = (truth & (rng.random(truth.shape) < [1, 1, 0.3])).astype(np.int8)
    few = {} if name == "logistic+" else {"n_trees": 20, "max_levels": 1}
    model = make_model(name, label_frequency=[1, 1, 0.3], **few, random_state=0).fit(X, Y)
    as_given = make_model(name, **few, random_state=0).fit(X, Y)
    corrected, given = model.predict_proba(X), as_given.predict_proba(X)
    np.testing.assert_allclose(given.mean(axis=0), Y.mean(axis=0), atol=0.02)  # calibrated
    np.testing.assert_allclose(corrected.mean(axis=0), truth.mean(axis=0), atol=0.06)
    if "Forest" not in name:  # cascades average the posteriors of their levels, and may impute labels
        np.testing.assert_allclose(corrected, posterior(given, np.array([1, 1, 0.3])), rtol=1e-6)
    path = tmp_path / ("model.npz" if "Forest" in name else "model")
    model.save(path)
    np.testing.assert_array_equal(load_model(path).predict_proba(X), model.predict_proba(X))
