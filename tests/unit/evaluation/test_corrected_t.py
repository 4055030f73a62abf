import numpy as np
import pytest
from scipy import stats

from fairfold.errors import ModelError
from fairfold.evaluation.corrected_t import correlation_of_cross_validations, correlation_of_folds, p_values_ahead


@pytest.fixture
def ahead():
    return np.random.default_rng(0).normal(0.3, 1, size=(3, 4, 6))


def test_without_correlation_it_is_scipys_paired_t_test(ahead):
    a = np.random.default_rng(1).normal(size=ahead.shape)
    expected = stats.ttest_rel(a + ahead, a, axis=-1, alternative="greater").pvalue
    np.testing.assert_allclose(p_values_ahead(ahead), expected, rtol=1e-9)


@pytest.mark.parametrize("n_splits", [2, 5, 10])
def test_folds_have_the_variance_of_nadeau_and_bengio(ahead, n_splits):
    """Their factor is 1 / J + n_test / n_train."""
    n_test, n_train = 1 / n_splits, 1 - 1 / n_splits
    t = ahead.mean(axis=-1) / np.sqrt(ahead.var(axis=-1, ddof=1) * (1 / 6 + n_test / n_train))
    found = p_values_ahead(ahead, correlation=correlation_of_folds(n_splits))
    np.testing.assert_allclose(found, stats.t.sf(t, 5), rtol=1e-9)


def test_correlation_of_cross_validations_is_that_of_means_of_folds():
    """Of 2 k scores with correlation 1 / k, in two groups: covariance of the means over variance of a mean."""
    for k in (2, 5, 10):
        covariance = np.full((2 * k, 2 * k), 1 / k) + (1 - 1 / k) * np.eye(2 * k)
        weights = np.repeat(np.eye(2), k, axis=1) / k
        of_means = weights @ covariance @ weights.T
        assert correlation_of_cross_validations(k) == pytest.approx(of_means[0, 1] / of_means[0, 0])


def test_level_is_kept_where_scores_correlate_as_assumed():
    k, n_studies = 5, 20_000
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(n_studies, 1)) * np.sqrt(1 / k)
    scores = shared + rng.normal(size=(n_studies, k)) * np.sqrt(1 - 1 / k)
    share = (p_values_ahead(scores, correlation=correlation_of_folds(k)) < 0.05).mean()
    assert abs(share - 0.05) < 4 * np.sqrt(0.05 * 0.95 / n_studies)
    assert (p_values_ahead(scores) < 0.05).mean() > 0.1


def test_differences_that_do_not_vary_are_certain():
    found = p_values_ahead(np.array([[0.25] * 3, [-0.25] * 3, [0] * 3, [0.1, np.nan, 0.2]]), correlation=0.2)
    np.testing.assert_array_equal(found, [0, 1, 1, np.nan])


@pytest.mark.parametrize(
    ("n_scores", "correlation", "message"),
    [(1, 0, "1 score is given"), (5, 1, "correlation is 1"), (5, -0.1, "correlation is -0.1")],
)
def test_refusals(n_scores, correlation, message):
    with pytest.raises(ModelError, match=message):
        p_values_ahead(np.zeros((2, n_scores)), correlation=correlation)
