import numpy as np
import pytest

from fairfold.weak_labels import positive_cap, strict_label_complement


def reference(observed, P, cap, threshold):
    """SLC label by label and candidate by candidate, as the paper describes it."""
    imputed = observed.copy()
    for j in range(observed.shape[1]):
        candidates = sorted(range(len(P)), key=lambda i: (-observed[i, j], -P[i, j], i))
        for i in candidates[: cap[j]]:
            if P[i, j] > threshold:
                imputed[i, j] = 1
    return imputed


@pytest.mark.parametrize("seed", range(30))
def test_equals_the_plain_reference(seed):
    rng = np.random.default_rng(seed)
    observed = (rng.random((40, 5)) < 0.3).astype(np.int8)
    P = rng.choice([0.1, 0.4, 0.5, 0.6, 0.9], (40, 5))  # many ties
    cap = rng.integers(0, 41, 5)
    result = strict_label_complement(observed, P, cap, threshold=0.5)
    np.testing.assert_array_equal(result, reference(observed, P, cap, 0.5))
    assert result.dtype == np.int8


def test_cap_counts_observed_positives():
    observed = np.array([[1], [1], [0], [0]])
    P = np.array([[0.1], [0.2], [0.9], [0.8]])
    assert strict_label_complement(observed, P, np.array([3])).ravel().tolist() == [1, 1, 1, 0]
    assert strict_label_complement(observed, P, np.array([2])).ravel().tolist() == [1, 1, 0, 0]


def test_probability_at_the_threshold_is_not_imputed():
    assert strict_label_complement(np.array([[0]]), np.array([[0.5]]), np.array([1])).item() == 0


def test_cap_rounds_up_and_stays_within_the_samples():
    observed = np.zeros((40, 4))
    observed[:21, 0] = observed[:10, 1] = observed[:30, 2] = 1
    # 21 / 0.7 is exactly 30, which binary fractions miss by a hair
    assert positive_cap(observed, np.array([0.7, 0.3, 0.5, 1.0])).tolist() == [30, 34, 40, 0]
