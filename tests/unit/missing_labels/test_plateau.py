import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from fairfold.errors import ModelError
from fairfold.missing_labels import frequency_bound
from fairfold.missing_labels.plateau import (
    _GRID,
    _IMPURITY,
    _MISFIT,
    Cells,
    FrequencyDistribution,
    _around_the_plateau,
    _asking_other_labels,
    _dependence,
    _profile,
    fit_curves,
    frequency_distribution,
)
from fairfold.weak_labels import mask_positives


def simulated(slope, n=1500, n_labels=3, seed=0):
    """Return labels and the probabilities that generated them.

    A higher slope raises the highest probabilities.
    """
    random = np.random.default_rng(seed)
    P = expit(slope * random.normal(size=(n, n_labels)) - 1)
    return (random.random(P.shape) < P).astype(np.int8), P


def plain_loss(curve, scores, is_observed, c, prior):
    p = c / (1 + np.exp(-(curve[0] * scores + curve[1])))
    return -np.sum(np.where(is_observed, np.log(p), np.log(1 - p))) + np.sum((curve - prior) ** 2)


@pytest.mark.parametrize("c", [1.0, 0.6, 0.2])
def test_curves_are_the_best_there_are(c):
    Y, P = simulated(3)
    observed = mask_positives(Y, 0.4, random_state=1) == 1
    scores, prior = np.log(P / (1 - P)), np.array([[1.2, -0.3], [0.8, 0.1], [1.0, 0.0]])
    curves, losses = fit_curves(Cells(scores, observed, np.ones(Y.shape)), c, prior, None)
    for label in range(3):
        given = scores[:, label], observed[:, label], c, prior[label]
        found = minimize(plain_loss, prior[label], given, bounds=[(0, None), (None, None)])
        assert losses[label] == pytest.approx(found.fun, abs=1e-3)
        assert losses[label] == pytest.approx(plain_loss(curves[label], *given), rel=1e-12)


def test_a_curve_that_falls_is_flat():
    Y, P = simulated(3)
    curves, _ = fit_curves(Cells(-np.log(P), Y == 1, np.ones(Y.shape)), 0.9, np.tile([1.0, 0.0], (3, 1)), None)
    assert (curves[:, 0] == 0).all()


def test_cells_without_weight_take_no_part_in_curves():
    Y, P = simulated(3)
    scores, kept = np.log(P / (1 - P)), np.arange(len(Y)) % 3 > 0
    cells = Cells(scores, Y == 1, np.repeat(kept[:, None], 3, axis=1).astype(float))
    found, expected = _profile(cells), _profile(Cells(*(part[kept] for part in cells)))
    np.testing.assert_allclose(found[0], expected[0], atol=1e-2)


@pytest.mark.parametrize("rate", [0, 0.3, 0.5, 0.7])
def test_intervals_hold_what_was_hidden(rate):
    held, medians = 0, []
    for seed in range(8):
        Y, P = simulated(4, seed=seed)
        observed = mask_positives(Y, rate, random_state=seed)
        found = frequency_distribution(observed, P)
        low, high = found.interval()
        held += low <= 1 - rate + 1e-9 and 1 - rate <= high + 1e-9
        medians.append(found.median)
    # With a coverage of 0.95, fewer than 7 of 8 occur in 6 % of such tests, and these intervals are wider.
    assert held >= 7
    assert np.mean(medians) == pytest.approx(1 - rate, abs=0.08)


def test_what_features_do_not_show_is_left_open():
    """Uninformative scores fit any frequency above the observed share."""
    Y, _ = simulated(4)
    noise = np.random.default_rng(3).uniform(0.3, 0.5, size=Y.shape)
    low, high = frequency_distribution(mask_positives(Y, 0.5, random_state=0), noise).interval()
    assert low < 0.45 and high > 0.9


def test_rare_labels_without_predictable_positives_leave_most_missing_rates_open():
    observed = np.zeros((200, 20))
    observed[:3] = 1
    low, high = frequency_distribution(observed, np.full(observed.shape, 0.015), ask_others=False).interval()
    assert 1 - high < 0.2 and 1 - low > 0.93


def test_exact_probabilities_of_being_observed_hide_the_plateau():
    """These scores fit a logistic curve with nothing missing. The estimate needs scores that continue to rise."""
    Y, P = simulated(4)
    found = frequency_distribution(mask_positives(Y, 0.5, random_state=0), 0.5 * P)
    assert found.interval()[0] > 0.5  # the true frequency is 0.5


@pytest.mark.parametrize("seed", [0, 2])
def test_a_plateau_that_no_score_reaches_stays_uncertain(seed):
    """P(positive) is not a logistic curve of the scores. Untempered, the likelihood rules out the true frequency."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=(1000, 3))
    Y = (random.random(scores.shape) < 1 - np.exp(-np.exp(scores - 1.5))).astype(np.int8)
    observed = mask_positives(Y, 0.5, random_state=seed)
    likelihood, heights = _profile(Cells(scores, observed == 1, np.ones(Y.shape)))
    plain = np.exp(likelihood - likelihood.max())
    assert FrequencyDistribution(_GRID, _around_the_plateau(plain / plain.sum())).interval()[0] > 0.5
    height = np.sum(heights * plain) / plain.sum()
    power = np.sqrt(height)
    of_numbers, of_shares = (plain**power * prior for prior in (1 / _GRID, _GRID))
    expected = _around_the_plateau(0.9 * of_numbers / of_numbers.sum() + 0.1 * of_shares / of_shares.sum())
    found = frequency_distribution(observed, expit(scores), ask_others=False)
    bound = frequency_bound(observed, expit(scores), confidence=0.975)
    spread = (bound <= _GRID) / (2 * np.sum(bound <= _GRID)) + (_GRID == 1) / 2
    share = (1 - height) ** 3
    np.testing.assert_allclose(found.probabilities, (1 - share) * expected + share * spread, rtol=1e-9)
    np.testing.assert_allclose(found.frequencies, np.maximum(_GRID, bound))
    assert 0.4 < power < 0.6 and found.interval()[0] < 0.5


def test_noise_in_complete_labels_is_possible():
    """No probability exceeds .5, which looks like missing positives. The likelihood excludes complete labels."""
    random = np.random.default_rng(0)
    scores = random.normal(size=(2000, 4))
    Y = (random.random(scores.shape) < 0.5 * expit(2 * scores - 1.5)).astype(np.int8)
    likelihood, _ = _profile(Cells(scores, Y == 1, np.ones(Y.shape)))
    assert likelihood.max() - likelihood[-1] > 10
    found = frequency_distribution(Y, expit(scores), ask_others=False)
    low, high = found.interval()
    assert high == 1
    assert frequency_bound(Y, expit(scores), confidence=0.975) <= low < 0.5 < found.median < 0.6


def test_other_labels_narrow_it_down():
    """Two labels are always equal. At most half of the positives of one are observed where the other is."""
    random = np.random.default_rng(0)
    Y = np.repeat((random.random((1500, 1)) < 0.3).astype(np.int8), 2, axis=1)
    observed = mask_positives(Y, 0.5, random_state=1)
    noise = random.uniform(0.3, 0.5, size=Y.shape)
    (low, high), (alone_low, alone_high) = (
        frequency_distribution(observed[:, labels], noise[:, labels]).interval() for labels in ([0, 1], [0])
    )
    assert high - low < 0.8 * (alone_high - alone_low)
    assert alone_low < 0.4 < 0.45 < low < 0.55


def test_of_many_labels_those_that_go_with_one_are_asked():
    """Two equal labels are among sixty others, more than the limit on compared labels."""
    random = np.random.default_rng(0)
    pair = np.repeat((random.random((800, 1)) < 0.3).astype(np.int8), 2, axis=1)
    Y = np.hstack([(random.random((800, 60)) < 0.1).astype(np.int8), pair])
    observed = mask_positives(Y, 0.5, random_state=1)
    scores = np.full(Y.shape, -1.0)
    seen = _asking_other_labels(observed, scores, 0)[:, -1]
    assert np.abs(np.corrcoef(seen, observed[:, :-1], rowvar=False)[0, 1:]).argmax() == 60
    assert seen[observed[:, -2] == 1].mean() - seen[observed[:, -2] == 0].mean() > 1


def test_how_far_labels_go_together():
    random = np.random.default_rng(0)
    X, y = random.random((50, 4)), random.random(50) < 0.4
    X[:, 1] = 3
    found = _dependence(X, y)
    np.testing.assert_allclose(found[[0, 2, 3]], [abs(np.corrcoef(X[:, j], y)[0, 1]) for j in (0, 2, 3)])
    assert found[1] == 0


def test_unmeasured_labels_take_no_part():
    Y, P = simulated(4)
    observed = mask_positives(Y, 0.5, random_state=0).astype(float)
    unmeasured = np.random.default_rng(0).random(Y.shape) < 0.3
    observed[unmeasured] = np.nan
    found = frequency_distribution(observed, P)
    assert found.probabilities == pytest.approx(
        frequency_distribution(observed, np.where(unmeasured, 0.999, P)).probabilities
    )
    low, high = found.interval()
    assert low < 0.5 < high


def test_labels_without_a_positive_state_nothing():
    Y, P = simulated(4)
    wider = np.column_stack([Y, np.zeros(len(Y), dtype=np.int8)])
    same = frequency_distribution(wider, np.column_stack([P, P[:, 0]]))
    np.testing.assert_array_equal(same.probabilities, frequency_distribution(Y, P).probabilities)
    assert frequency_distribution(np.zeros_like(Y), P).interval() == (1, 1)


def test_sparse_labels_are_the_same():
    Y, P = simulated(4)
    found = frequency_distribution(sparse.csr_array(Y), P)
    np.testing.assert_array_equal(found.probabilities, frequency_distribution(Y, P).probabilities)


@pytest.mark.parametrize("P", [np.full((20, 2), 0.5), np.full((20, 3), 1.5), np.full((20, 3), np.nan)])
def test_other_probabilities_are_refused(P):
    with pytest.raises(ModelError, match=r"probabilities: found shape .* for labels of shape \(20, 3\)"):
        frequency_distribution(np.ones((20, 3), dtype=int), P)


def test_around_the_plateau_by_drawing():
    """The log frequency is that of the plateau plus an exponential and a normal variable, at most 0."""
    random, n = np.random.default_rng(0), 400_000
    probabilities = np.zeros(len(_GRID))
    probabilities[[0, 20, 40, 58]] = 0.1, 0.4, 0.3, 0.2
    drawn = random.choice(np.log(_GRID), p=probabilities, size=n)
    misfit = _MISFIT[0] + _MISFIT[1] * -drawn
    drawn += _IMPURITY * random.exponential(size=n) + misfit * random.normal(size=n)
    step = np.log(_GRID[1] / _GRID[0])
    nearest = np.clip(np.rint((np.minimum(drawn, 0) - np.log(_GRID[0])) / step), 0, len(_GRID) - 1).astype(int)
    expected = np.bincount(nearest, minlength=len(_GRID)) / n
    # The tolerance is five standard errors of a share of n draws.
    np.testing.assert_allclose(_around_the_plateau(probabilities), expected, atol=5 * np.sqrt(0.25 / n))


def test_quantiles_and_draws_of_a_distribution():
    found = FrequencyDistribution(np.array([0.25, 0.5, 1.0]), np.array([0.2, 0.4, 0.4]))
    assert found.median == pytest.approx(np.exp(np.interp(0.5, [0.1, 0.4, 0.6], np.log([0.25, 0.5, 1]))))
    assert found.quantiles(np.array([0.0, 0.1, 0.6, 0.99])) == pytest.approx([0.25, 0.25, 1, 1])
    drawn = found.draw(1000, 3)
    assert np.quantile(drawn, [0.2, 0.5]) == pytest.approx(found.quantiles(np.array([0.2, 0.5])), rel=0.01)
    assert np.mean(drawn == 1) == pytest.approx(0.4, abs=2e-3)
    np.testing.assert_array_equal(drawn, found.draw(1000, 3))
    assert FrequencyDistribution.certain(0.4).interval() == (0.4, 0.4)


def test_in_a_hierarchy_others_are_not_asked():
    """Each observed label has an observed parent. Comparing with the parent would suggest that nothing is missing."""
    Y, P = simulated(4, n_labels=2)
    Y, P = np.column_stack([Y[:, 0], Y[:, 0] & Y[:, 1]]), np.column_stack([P[:, 0], P[:, 0] * P[:, 1]])
    observed = Y * (np.random.default_rng(0).random((len(Y), 1)) < 0.5)
    low, high = frequency_distribution(observed, P, ask_others=False).interval()
    assert low <= 0.5 <= high < 0.8
    assert frequency_distribution(observed, P).interval()[0] > 0.8


def test_many_cells_are_thinned_out(monkeypatch):
    rng = np.random.default_rng(2)
    P = rng.random((100, 2))
    observed = (rng.random((100, 2)) < P / 2).astype(int)
    expected = frequency_distribution(observed[::4], P[::4] / 2)
    monkeypatch.setattr("fairfold.missing_labels.plateau._MOST_CELLS", 60)
    found = frequency_distribution(observed, P / 2)
    np.testing.assert_array_equal(found.probabilities, expected.probabilities)
