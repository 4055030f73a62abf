import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from scipy.stats import beta

from fairfold.errors import ModelError
from fairfold.missing_labels import frequency_bound
from fairfold.weak_labels import mask_positives


def simulated(slope, n=500, n_labels=4, seed=0):
    """Return complete labels and the probabilities that generated them. A higher slope makes labels more certain."""
    random = np.random.default_rng(seed)
    P = expit(slope * random.normal(size=(n, n_labels)) - 1)
    return (random.random(P.shape) < P).astype(np.int8), P


def plain_bound(observed, P, confidence):
    """Exact lower limits of the observed share of the first cells, with a loop over sizes and cells."""
    cells = [(p, y) for p, y in zip(P.ravel(), np.asarray(observed, float).ravel(), strict=True) if not np.isnan(y)]
    cells.sort(key=lambda cell: -cell[0])
    expected, sets = sum(p for p, _ in cells), set()
    for depth in range(6):
        last = min(max(10, int(np.ceil(expected / 2**depth))), len(cells)) - 1
        sets.add(tuple(y for p, y in cells if p >= cells[last][0]))
    lows = [0.001]
    for each in sets:
        if k := sum(each):
            lows.append(beta.ppf((1 - confidence) / len(sets), k, len(each) - k + 1))
    return max(lows)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("decimals", [1, 6])
def test_bound_equals_a_plain_loop(confidence, decimals):
    Y, P = simulated(2)
    P, observed = P.round(decimals), mask_positives(Y, 0.4, random_state=1).astype(float)
    observed[np.random.default_rng(2).random(Y.shape) < 0.2] = np.nan
    found = frequency_bound(observed, P, confidence=confidence)
    assert found == pytest.approx(plain_bound(observed, P, confidence), rel=1e-9)


@pytest.mark.parametrize("rate", [0, 0.3, 0.7])
@pytest.mark.parametrize("slope", [0, 1, 4])
def test_label_frequencies_are_above_the_bound(slope, rate):
    held = 0
    for seed in range(60):
        Y, P = simulated(slope, seed=seed)
        held += frequency_bound(mask_positives(Y, rate, random_state=seed), P) <= 1 - rate + 1e-9
    # With a coverage of 0.95, fewer than 53 of 60 occur in 1 % of such tests.
    assert held >= 53


def test_bound_is_tight_if_labels_are_certain():
    """Of 1,000 certain positives, 700 are observed. The bound differs by a few standard errors of .014."""
    Y = np.repeat([[1], [0]], 1000, axis=0)
    observed = mask_positives(Y, 0.3, random_state=0)
    assert 0.65 < frequency_bound(observed, np.where(Y == 1, 0.7, 0.0)) < 0.7


def test_order_of_tied_samples_does_not_matter():
    """Of cells with equal probabilities, the first 100 are positive."""
    observed = np.repeat([[1], [0]], [100, 300], axis=0)
    assert frequency_bound(observed, np.full((400, 1), 0.25)) == pytest.approx(beta.ppf(0.05, 100, 301))


def test_groups_that_lose_labels_together_count_once():
    """Copies of a sample make the bound tighter only if they are independent."""
    Y, P = simulated(4, n=40)
    observed = mask_positives(Y, 0.5, random_state=0)
    copies = np.repeat(observed, 20, axis=0), np.repeat(P, 20, axis=0)
    alone = frequency_bound(observed, P)
    assert frequency_bound(*copies, groups=np.repeat(np.arange(40), 20)) == pytest.approx(alone)
    assert frequency_bound(*copies) > alone


def test_highest_sample_of_each_group_and_label_counts():
    random = np.random.default_rng(0)
    groups, P = random.integers(12, size=60), random.random((60, 2))
    observed = (random.random((60, 2)) < P).astype(int)
    first = [max(np.flatnonzero(groups == g), key=lambda row: P[row, j]) for g in range(12) for j in range(2)]
    columns = [np.tile([0, 1], 12)]
    kept = observed[first, columns].reshape(-1, 1), P[first, columns].reshape(-1, 1)
    assert frequency_bound(observed, P, groups=groups) == pytest.approx(plain_bound(*kept, 0.95))


def test_sparse_labels_give_the_same_bound():
    Y, P = simulated(2)
    assert frequency_bound(sparse.csr_array(Y), P) == frequency_bound(Y, P)


@pytest.mark.parametrize("value", [0, np.nan])
def test_labels_without_a_positive_have_the_least_bound(value):
    assert frequency_bound(np.full((30, 2), value), np.full((30, 2), 0.1)) == 0.001


def test_invalid_input_is_refused():
    Y, P = simulated(1)
    with pytest.raises(ModelError, match="confidence: found 95"):
        frequency_bound(Y, P, confidence=95)
    with pytest.raises(ModelError, match="probabilities: found shape"):
        frequency_bound(Y, P[:, :1])
