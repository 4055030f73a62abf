"""Each mechanism hides the requested number of labels with the right odds, in any label format."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import logit

from fairfold.errors import DataError, ModelError
from fairfold.weak_labels import mask_labels, mask_positives
from fairfold.weak_labels.mechanisms import odds_of

N = 400
GROUPS = np.arange(N) // 20


@pytest.fixture(scope="module")
def Y():
    return (np.random.default_rng(0).random((N, 5)) < [0.03, 0.1, 0.3, 0.6, 0.9]).astype(np.int8)


@pytest.fixture(scope="module")
def reference(Y):
    return np.random.default_rng(1).random(Y.shape)


def ways(reference):
    return {
        "random": {},
        "difficulty": {"reference": reference},
        "rarity": {},
        "sample": {},
        "group": {"groups": GROUPS},
    }


@pytest.mark.parametrize("mechanism", ["random", "difficulty", "sample", "group"])
def test_as_many_of_each_label_are_hidden_as_at_random(Y, reference, mechanism):
    masked = mask_positives(Y, 0.4, mechanism=mechanism, **ways(reference)[mechanism], random_state=0)
    assert (masked <= Y).all()
    np.testing.assert_array_equal(Y.sum(axis=0) - masked.sum(axis=0), np.floor(0.4 * Y.sum(axis=0) + 1e-9))


def test_at_random_is_the_default_to_the_last_label(Y):
    np.testing.assert_array_equal(
        mask_positives(Y, 0.5, mechanism="random", random_state=3), mask_positives(Y, 0.5, random_state=3)
    )


@pytest.mark.parametrize("mechanism", ["random", "difficulty", "rarity", "sample", "group"])
def test_arrays_sparse_matrices_and_frames_lose_the_same(Y, reference, mechanism):
    options = {"mechanism": mechanism, **ways(reference)[mechanism], "wrong_positives": 0.2, "random_state": 4}
    dense = mask_positives(Y, 0.5, **options)
    stored = mask_positives(sparse.csr_array(Y), 0.5, **options)
    assert stored.format == "csr" and stored.nnz == dense.sum() and stored.dtype == Y.dtype
    np.testing.assert_array_equal(stored.toarray(), dense)
    np.testing.assert_array_equal(mask_positives(pd.DataFrame(Y), 0.5, **options), dense)
    again = mask_positives(Y, 0.5, **{**options, "random_state": 5})
    assert (again != dense).any()


def test_a_sparse_reference_is_0_where_nothing_is_stored(Y, reference):
    some = np.where(reference < 0.5, 0, reference)
    for negatives in ("unlabeled", "confirmed"):
        options = {"negatives": negatives, "mechanism": "difficulty", "random_state": 0}
        dense = mask_labels(Y, 0.5, **options, reference=some)
        stored = mask_labels(sparse.csr_array(Y), 0.5, **options, reference=sparse.csr_array(some))
        np.testing.assert_array_equal(stored.toarray(), dense)


@pytest.mark.parametrize("unmeasured", [0.0, 0.3])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_zeros_of_sparse_labels_become_positive_as_those_of_dense_ones(Y, share, unmeasured):
    some = np.where(np.random.default_rng(2).random(Y.shape) < unmeasured, np.nan, Y)
    dense = mask_positives(some, 0.5, wrong_positives=share, random_state=0)
    stored = mask_positives(sparse.csr_array(some), 0.5, wrong_positives=share, random_state=0)
    np.testing.assert_array_equal(stored.toarray(), dense)


def test_odds_are_those_of_each_draw():
    """One of three labels is hidden, each with the frequency given by its odds."""
    Y, p = np.ones((3, 1), dtype=int), np.array([[0.2], [0.5], [0.8]])
    hidden = np.zeros(3)
    for seed in range(1500):
        hidden += 1 - mask_positives(Y, 0.34, mechanism="difficulty", reference=p, random_state=seed)[:, 0]
    expected = ((1 - p) / p / ((1 - p) / p).sum())[:, 0]
    np.testing.assert_allclose(hidden / 1500, expected, atol=4 * np.sqrt(0.25 / 1500))


def test_hard_positives_go_first(Y, reference):
    masked = mask_positives(Y, 0.5, mechanism="difficulty", reference=reference, random_state=0)
    for y, seen, p in zip(Y.T, masked.T, reference.T, strict=True):
        assert p[(y == 1) & (seen == 0)].mean() + 0.2 < p[seen == 1].mean()


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_rare_labels_lose_a_larger_share_and_all_together_what_is_asked_for(rate):
    n_positives = np.array([4, 16, 100, 400, 2500])
    rates = odds_of("rarity", rate, n_positives, 3000, np.random.default_rng(0)).rates
    assert rates @ n_positives == pytest.approx(rate * n_positives.sum(), rel=1e-9)
    np.testing.assert_allclose(np.diff(logit(rates)), -0.5 * np.diff(np.log(n_positives)), atol=1e-9)


@pytest.mark.parametrize("mechanism", ["sample", "group"])
def test_samples_or_groups_differ_more_than_by_chance(mechanism):
    Y = np.ones((N, 40), dtype=int)
    units = np.arange(N) if mechanism == "sample" else GROUPS
    size = np.bincount(units)[0] * 40
    masked = mask_positives(Y, 0.5, mechanism=mechanism, groups=GROUPS, random_state=0)
    shares = np.array([1 - masked[units == unit].mean() for unit in np.unique(units)])
    assert shares.mean() == pytest.approx(0.5)
    assert shares.std() > 3 * np.sqrt(0.25 / size)
    assert shares.min() < 0.2 and shares.max() > 0.8  # at a rate of one half, all shares are equally likely
    if mechanism == "group":  # within a group, samples differ only by chance
        within = [np.var(1 - masked[units == unit].mean(axis=1)) for unit in np.unique(units)]
        assert np.mean(within) < 1.3 * 0.25 / 40


@pytest.mark.parametrize("rate", [0, 0.5])
@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_a_share_of_what_is_positive_afterwards_is_wrong(Y, share, rate):
    masked = mask_positives(Y, rate, wrong_positives=share, random_state=0)
    wrong, right = (masked == 1) & (Y == 0), (masked == 1) & (Y == 1)
    np.testing.assert_array_equal(right, mask_positives(Y, rate, random_state=0) == 1)
    asked = np.floor(right.sum(axis=0) * share / (1 - share) + 1e-9)
    np.testing.assert_array_equal(wrong.sum(axis=0), np.minimum(asked, (Y == 0).sum(axis=0)))


def test_unmeasured_labels_stay_so(Y, reference):
    some = np.where(np.random.default_rng(2).random(Y.shape) < 0.2, np.nan, Y)
    for mechanism, by in ways(reference).items():
        masked = mask_positives(some, 0.5, mechanism=mechanism, **by, wrong_positives=0.3, random_state=0)
        np.testing.assert_array_equal(np.isnan(masked), np.isnan(some))


def test_confirmed_zeros_go_by_the_same_mechanism(Y, reference):
    masked = mask_labels(Y, 0.5, negatives="confirmed", mechanism="difficulty", reference=reference, random_state=0)
    gone = np.isnan(masked)
    for cells, easier in ((Y == 1, reference), (Y == 0, 1 - reference)):
        assert easier[gone & cells].mean() + 0.2 < easier[~gone & cells].mean()


def test_nothing_is_hidden_at_a_rate_of_nothing(Y, reference):
    for mechanism, by in ways(reference).items():
        np.testing.assert_array_equal(mask_positives(Y, 0, mechanism=mechanism, **by, random_state=0), Y)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"mechanism": "chance"}, DataError, "unknown mechanism 'chance'"),
        ({"mechanism": "difficulty"}, DataError, "'difficulty' needs probabilities of a model"),
        ({"mechanism": "difficulty", "reference": np.ones((3, 5))}, DataError, r"reference: found shape \(3, 5\)"),
        ({"mechanism": "difficulty", "reference": np.full((N, 5), 2)}, DataError, "probabilities from 0 to 1"),
        ({"mechanism": "difficulty", "reference": np.full((N, 5), np.nan)}, DataError, "probabilities from 0 to 1"),
        (
            {"mechanism": "difficulty", "reference": sparse.csr_array((3, 5))},
            DataError,
            r"reference: found shape \(3, 5\)",
        ),
        ({"mechanism": "difficulty", "reference": sparse.eye_array(N, 5) * 2}, DataError, "probabilities from 0 to 1"),
        ({"mechanism": "group"}, DataError, "'group' needs groups"),
        ({"mechanism": "group", "groups": np.arange(3)}, ModelError, "groups have shape"),
        ({"wrong_positives": 1.0}, DataError, "share of wrong positives: found 1.0"),
        ({"wrong_positives": -0.1}, DataError, "share of wrong positives: found -0.1"),
    ],
)
def test_bad_input(Y, options, error, message):
    with pytest.raises(error, match=message):
        mask_positives(Y, 0.5, **options)
