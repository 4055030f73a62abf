import numpy as np
import pytest

from fairfold.weak_labels import label_frequency


def test_is_the_percentile_over_observed_positives_only():
    rng = np.random.default_rng(0)
    observed = rng.integers(0, 2, (50, 3))
    P = rng.random((50, 3))
    expected = [np.quantile(P[observed[:, j] == 1, j], 0.95) for j in range(3)]
    np.testing.assert_allclose(label_frequency(observed, P), expected, rtol=1e-15)


def test_the_largest_probability_at_percentile_one():
    assert label_frequency(np.array([[1], [1], [0]]), np.array([[0.2], [0.7], [0.9]]), percentile=1.0) == [0.7]


@pytest.mark.parametrize("observed", [[[0], [0]], [[1], [1]]])
def test_without_information_nothing_is_missing(observed):
    assert label_frequency(np.array(observed), np.zeros((2, 1))) == [1.0]


def test_recovers_the_frequency_of_a_perfect_model():
    rng = np.random.default_rng(1)
    truth = rng.random((4000, 1)) < 0.4
    observed = truth & (rng.random(truth.shape) < 0.3)
    assert label_frequency(observed, np.where(truth, 0.3, 0.0)) == pytest.approx(0.3)
