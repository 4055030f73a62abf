import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from fairfold.recommendation.optimism import frequency_shifts, optimism, shift_log_odds


def pooled_auc(frequencies):
    """Return a function that scores constant probabilities of labels in a population with these frequencies."""

    def score(P):
        pairs = np.outer(frequencies, 1 - frequencies)
        wins = (P[0][:, np.newaxis] > P[0]) + 0.5 * (P[0][:, np.newaxis] == P[0])
        return {"roc_auc": (pairs * wins).sum() / pairs.sum()}

    return score


@pytest.mark.parametrize(("n_samples", "n_labels"), [(200, 30), (500, 30), (100, 100)])
def test_estimate_is_the_difference_between_the_sample_and_its_population(n_samples, n_labels):
    """The model predicts the frequency of each label, so all scores are known exactly."""
    random, true, found = np.random.default_rng(1), [], []
    for repeat in range(200):
        of_population = random.beta(1, 8, n_labels)
        Y = (random.random((n_samples, n_labels)) < of_population).astype(int)
        of_sample = Y.mean(axis=0)
        P = of_sample[np.newaxis]
        score = pooled_auc(of_sample)
        true.append(score(P)["roc_auc"] - pooled_auc(of_population)(P)["roc_auc"])
        found.append(optimism(score(P), score, P, frequency_shifts(Y, random_state=repeat))["roc_auc"])
    assert np.mean(found) == pytest.approx(np.mean(true), rel=0.2)


def test_scores_of_one_label_are_not_optimistic():
    random = np.random.default_rng(0)
    Y, P = random.integers(2, size=(50, 1)), random.random((50, 1))
    found = optimism(
        {"roc_auc": roc_auc_score(Y, P)}, lambda P: {"roc_auc": roc_auc_score(Y, P)}, P, frequency_shifts(Y)
    )
    assert found == {"roc_auc": 0}


def test_undefined_scores_stay_undefined():
    found = optimism({"mcc": 0.5}, lambda P: {"mcc": np.nan}, np.full((2, 1), 0.5), np.zeros((2, 1)))
    assert np.isnan(found["mcc"])


@pytest.mark.parametrize("c", [0.3, 0.6])
def test_probabilities_of_complete_labels_are_shifted_on_the_scale_of_observed_ones(c):
    """Labels are observed independently of each other, and the model divides the observed frequency by c."""
    random, true, found = np.random.default_rng(1), [], []
    for repeat in range(300):
        of_population = random.uniform(0.3, 0.6, 30)
        observed = (random.random((1000, 30)) < c * of_population).astype(int)
        P = observed.mean(axis=0)[np.newaxis] / c
        score = pooled_auc(P[0])
        true.append(score(P)["roc_auc"] - pooled_auc(of_population)(P)["roc_auc"])
        shifts = frequency_shifts(observed, random_state=repeat)
        found.append(optimism(score(P), score, P, shifts, c)["roc_auc"])
    assert np.mean(found) == pytest.approx(np.mean(true), rel=0.2)


@pytest.mark.parametrize("as_matrix", [np.array, sparse.csr_array])
def test_shifts_have_twice_the_variance_of_log_odds(as_matrix):
    Y = np.zeros((40, 3))
    Y[:10, 0], Y[:36, 1] = 1, 1
    shifts = np.array([frequency_shifts(as_matrix(Y), random_state=seed) for seed in range(1000)])
    variances = [2 / (k + 0.5) + 2 / (40 - k + 0.5) for k in (10, 36, 0)]
    np.testing.assert_allclose(shifts**2, np.broadcast_to(variances, shifts.shape), rtol=1e-12)
    np.testing.assert_array_equal(shifts[:, 2:], -shifts[:, :2])
    assert np.abs(np.corrcoef(shifts[:, 0].T) - np.eye(3)).max() < 0.1


def test_two_labels_are_shifted_alike_and_apart():
    for seed in range(20):
        shifts = np.sign(frequency_shifts(np.array([[1, 0], [0, 1]]), random_state=seed))
        assert {tuple(each) for each in shifts} == {(1, 1), (1, -1), (-1, 1), (-1, -1)}


def test_unmeasured_labels_do_not_count():
    Y = np.repeat([[1.0], [0.0]], [4, 8], axis=0)
    unmeasured = np.append(Y, np.full((5, 1), np.nan), axis=0)
    np.testing.assert_array_equal(frequency_shifts(unmeasured), frequency_shifts(Y))
    groups = np.arange(17) // 2
    np.testing.assert_array_equal(frequency_shifts(unmeasured, groups), frequency_shifts(Y, groups[:12]))


@pytest.mark.parametrize("as_matrix", [np.array, sparse.csr_array])
def test_groups_widen_shifts_by_their_design_effect(as_matrix):
    """The labels: alike in groups of 4, exactly balanced in groups, at random, and never positive."""
    random, n = np.random.default_rng(0), 4000
    groups = np.arange(n) // 4
    columns = [random.random(n // 4)[groups] < 0.3, np.arange(n) % 4 == 0, random.random(n) < 0.3, np.zeros(n)]
    Y = as_matrix(np.column_stack(columns).astype(np.int8))
    names = np.char.add("group ", groups.astype(str))
    ratio = (frequency_shifts(Y, names) / frequency_shifts(Y)) ** 2
    np.testing.assert_allclose(ratio, np.tile([4, 1, ratio[0, 2], 1], (4, 1)), rtol=1e-9)
    assert ratio[0, 2] == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("as_matrix", [np.array, sparse.csr_array])
def test_design_effects_are_those_of_a_loop_over_labels(as_matrix):
    random = np.random.default_rng(4)
    Y = (random.random((90, 6)) < 0.3).astype(float)
    Y[random.random(Y.shape) < 0.2] = np.nan
    Y[:, 5] = np.nan
    groups = random.integers(12, size=90)
    Y[:, 0] = np.where(np.isnan(Y[:, 0]), np.nan, groups < 4)
    expected = []
    for label in Y.T:
        deviations = label - (np.nanmean(label) if np.isfinite(label).any() else 0)
        of_groups = [deviations[groups == group] for group in range(12)]
        variances = sum(np.nansum(each) ** 2 for each in of_groups), sum(np.nansum(each**2) for each in of_groups)
        expected.append(max(1, variances[0] / variances[1]) if variances[1] else 1)
    found = (frequency_shifts(as_matrix(Y), groups) / frequency_shifts(as_matrix(Y))) ** 2
    np.testing.assert_allclose(found, np.tile(expected, (4, 1)), rtol=1e-9)
    assert expected[0] > 3


def test_sparse_probabilities_are_shifted_like_dense_ones():
    P, shift = np.array([[0, 0.25], [0.5, 1], [0.9, 0]]), np.array([0.7, -1.2])
    found = shift_log_odds(sparse.csr_array(P), shift)
    np.testing.assert_allclose(found.toarray(), shift_log_odds(P, shift), rtol=1e-12)
    np.testing.assert_allclose(shift_log_odds(shift_log_odds(P, shift), -shift), P, rtol=1e-12)
    inside = (P > 0) & (P < 1)
    log_odds = np.log(shift_log_odds(P, shift)[inside] / (1 - shift_log_odds(P, shift)[inside]))
    np.testing.assert_allclose(log_odds, (np.log(P[inside] / (1 - P[inside])) + (inside * shift)[inside]), rtol=1e-12)
