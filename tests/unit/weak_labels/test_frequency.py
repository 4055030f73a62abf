import heapq
import math

import numpy as np
import pytest
from scipy import sparse

from fairfold.errors import ModelError
from fairfold.weak_labels import (
    fluid_label_addition,
    label_complement,
    label_frequency,
    positive_cap,
    strict_label_complement,
    tice,
)


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


@pytest.mark.parametrize("percentile", [0.0, 0.3, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_sparse_probabilities_have_the_frequencies_of_dense_ones(seed, percentile):
    rng = np.random.default_rng(seed)
    P = rng.random((40, 6)) * (rng.random((40, 6)) < 0.5)
    observed = (rng.random(P.shape) < [0, 0.03, 0.1, 0.3, 0.6, 1]).astype(np.int8)
    expected = label_frequency(observed, P, percentile=percentile)
    for labels in (observed, sparse.csr_array(observed)):
        found = label_frequency(labels, sparse.csr_array(P), percentile=percentile)
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(label_frequency(sparse.csr_array(observed), P, percentile=percentile), expected)


def plain_quarter(values, value):
    width = max(values) - min(values)
    share = (value - min(values)) / width if width else 0.0
    return sum(share >= border for border in (0.25, 0.5, 0.75))


def plain_bound(rows, seen, prior, delta):
    return sum(seen[i] for i in rows) / len(rows) - math.sqrt(prior * (1 - prior) * (1 - delta) / (delta * len(rows)))


def plain_fold(quarters, seen, inside, outside, prior, delta, max_splits, min_set_size, smoothing):
    """Compute the largest bound of one tree, node by node and set by set."""
    n_features = len(quarters[0])
    best = sum(seen[i] for i in outside) / len(outside)
    needed, n_nodes, n_popped = 1.0, 1, 0
    nodes = [(0.0, 0, 0, inside, outside, frozenset())]
    while nodes and n_popped < max_splits:
        n_popped += 1
        _, _, _, tree, held, used = heapq.heappop(nodes)
        best_feature, best_score = None, 0.0
        for feature in sorted(set(range(n_features)) - used):
            parts = [[i for i in tree if quarters[i][feature] == quarter] for quarter in range(4)]
            held_parts = [[i for i in held if quarters[i][feature] == quarter] for quarter in range(4)]
            score = max(sum(seen[i] for i in part) / (len(part) + smoothing) if part else 0 for part in parts)
            if max(sum(seen[i] for i in part) for part in held_parts) >= needed and score > best_score:
                best_feature, best_score, split = feature, score, list(zip(parts, held_parts, strict=True))
        if best_feature is None or any(len(part) == len(tree) for part, _ in split):
            continue
        for _, held_part in split:
            if len(held_part) >= min_set_size:
                best = max(best, plain_bound(held_part, seen, prior, delta))
        needed = prior * (1 - prior) * (1 - delta) / (delta * (1 - best) ** 2) if best < 1 else math.inf
        for part, held_part in split:
            n_seen = sum(seen[i] for i in part)
            if sum(seen[i] for i in held_part) > needed and len(part) > min_set_size and 0 < n_seen < len(part):
                bound = plain_bound(part, seen, prior, delta)
                heapq.heappush(nodes, (-bound, -n_seen, n_nodes, part, held_part, used | {best_feature}))
            n_nodes += 1
    return best


def plain_tice(X, observed, n_folds, n_iterations, delta, max_splits, min_set_size, smoothing, seed):
    fold_of = np.random.default_rng(seed).permutation(len(X)) % n_folds
    quarters = [[plain_quarter(column, value) for value, column in zip(row, X.T, strict=True)] for row in X]
    frequency = []
    for column in observed.T:
        seen = column.tolist()
        prior = 0.5
        for _ in range(n_iterations):
            total = 0.0
            for fold in range(n_folds):
                inside = [i for i in range(len(X)) if fold_of[i] == fold]
                outside = [i for i in range(len(X)) if fold_of[i] != fold]
                chance = delta or max(0.025, 1 / (1 + 0.004 * len(outside)))
                total += plain_fold(quarters, seen, inside, outside, prior, chance, max_splits, min_set_size, smoothing)
            prior = total / n_folds
        frequency.append(prior if any(seen) else 1.0)
    return frequency


def features(rng, n):
    """Return two real features, one with many ties, a constant and two binary ones, in different ranges."""
    return np.column_stack(
        [
            rng.normal(5, 100, n),
            rng.random(n) ** 3,
            rng.integers(-3, 2, n),
            np.full(n, 7.0),
            rng.random(n) < 0.2,
            rng.random(n) < 0.7,
        ]
    )


def hide(rng, truth, frequency):
    return (truth & (rng.random(truth.shape) < frequency)).astype(np.int8)


def related_labels(rng, X):
    """Return labels with two thirds of the positives observed.

    Features 1, 2 and 4 predict two labels. Another label depends on no feature, and the last has no positives.
    """
    truth = np.column_stack(
        [X[:, 1] > 0.4, (X[:, 2] > -1) & (X[:, 4] > 0), rng.random(len(X)) < 0.3, np.zeros(len(X), dtype=bool)]
    )
    return hide(rng, truth ^ (truth.any(axis=0) & (rng.random(truth.shape) < 0.05)), 2 / 3)


@pytest.mark.parametrize(
    ("n", "n_folds", "n_iterations", "delta", "max_splits", "min_set_size", "smoothing"),
    [
        (400, 5, 2, None, 500, 10, 5),
        (400, 5, 2, None, 500, 5, 5),
        (400, 5, 1, 0.3, 500, 10, 5),
        (300, 2, 2, 0.9, 500, 2, 0.5),  # deep trees
        (300, 3, 3, 0.9, 4, 1, 2.5),  # stopped early: the order of the nodes matters
        (300, 2, 2, 0.1, 10, 1, 0.5),  # the choice of nodes to split also matters
        (300, 2, 2, 1.0, 7, 1, 0),
        (200, 5, 2, 1.0, 6, 2, 0),  # bounds tie
        (60, 5, 2, 0.5, 500, 10, 5),
        (8, 4, 2, None, 500, 10, 5),
        (300, 5, 2, None, 0, 10, 5),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_tice_equals_the_plain_reference(seed, n, n_folds, n_iterations, delta, max_splits, min_set_size, smoothing):
    rng = np.random.default_rng(seed)
    X = features(rng, n)
    observed = related_labels(rng, X)
    result = tice(
        X,
        observed,
        n_folds=n_folds,
        n_iterations=n_iterations,
        delta=delta,
        max_splits=max_splits,
        min_set_size=min_set_size,
        smoothing=smoothing,
        random_state=seed,
    )
    expected = plain_tice(X, observed, n_folds, n_iterations, delta, max_splits, min_set_size, smoothing, seed)
    assert result.tolist() == expected


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("frequency", [0.3, 0.6, 0.9])
def test_tice_finds_the_frequency_where_positives_stand_alone(frequency, seed):
    n = 8000
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4))
    X[:2] = [[0] * 4, [1] * 4]
    truth = (X[:, [1]] >= 0.75) | (rng.random((n, 1)) < 0.1)
    estimate = tice(X, hide(rng, truth, frequency), random_state=seed)
    # The quarter of feature 1 with positives only has about n/5 samples outside a fold. Its bound is below its observed
    # share by at most the Chebyshev term at c (1 - c) <= 1/4, and the share differs from c by a sampling error. To
    # exceed c, a bound must deviate upward by 5 standard errors, the Chebyshev term at delta = 0.038.
    n_alone = n / 5
    delta = 1 / (1 + 0.004 * n * 0.8)
    chebyshev = 0.5 * math.sqrt((1 - delta) / (delta * n_alone))
    sampling = 4 * math.sqrt(frequency * (1 - frequency) / n_alone)
    assert frequency - chebyshev - sampling < estimate.item() <= frequency
    assert estimate.item() > 1.5 * frequency * truth.mean()  # the label's mean is far lower


def test_the_chance_of_a_bound_stays_above_a_fortieth():
    n = 15_000
    rng = np.random.default_rng(0)
    X = (rng.random((n, 1)) < 0.3).astype(int)
    observed = hide(rng, X == 1, 0.5)
    fold_of = np.random.default_rng(7).permutation(n) % 5
    alone = [observed[(X[:, 0] == 1) & (fold_of != fold), 0] for fold in range(5)]
    expected = np.mean([set_.mean() - math.sqrt(0.25 * 0.975 / (0.025 * len(set_))) for set_ in alone])
    assert tice(X, observed, n_iterations=1, random_state=7) == pytest.approx(expected, rel=1e-12)


def test_tice_of_labels_that_nothing_shows_is_their_mean():
    rng = np.random.default_rng(3)
    observed = (rng.random((500, 3)) < 0.4).astype(int)
    # At this delta, a bound is 10 standard errors below the share of its set, and the share of the whole remains. This
    # share is the mean over the five sets outside a fold, and every sample is in four of them.
    estimate = tice(rng.random((500, 5)), observed, delta=0.01, random_state=0)
    np.testing.assert_allclose(estimate, observed.mean(axis=0), rtol=1e-12)


def test_the_published_variant_is_the_mean():
    rng = np.random.default_rng(0)
    observed = np.column_stack([rng.random(97) < 0.3, rng.random(97) < 0.8, np.zeros(97)]).astype(np.int8)
    result = tice(observed, observed, variant="authors-code", random_state=0)
    assert result.tolist() == [observed[:, 0].mean(), observed[:, 1].mean(), 1.0]


def test_sparse_features_give_the_same_frequencies():
    rng = np.random.default_rng(5)
    X = np.where(rng.random((300, 8)) < 0.7, 0, rng.normal(0, 1, (300, 8)))
    X[:, 6], X[:, 7] = np.abs(X[:, 6]) + 1, 0  # one without zeros, one all zero
    observed = hide(rng, X[:, :3] > 0.1, 0.6)
    csr = sparse.csr_array(X)
    parts = np.column_stack([csr.data - 3, np.full(csr.nnz, 3.0)]).ravel()  # each entry stored in two parts
    doubled = sparse.csr_array((parts, np.repeat(csr.indices, 2), 2 * csr.indptr), shape=X.shape)
    assert doubled.nnz == 2 * csr.nnz
    before = [part.copy() for part in (doubled.data, doubled.indices, doubled.indptr)]
    expected = tice(X, observed, random_state=1)
    assert expected.max() > 1.2 * observed.mean(axis=0).max()  # the features matter
    for same in (csr, csr.tocsc(), doubled, np.asfortranarray(X), X.astype(object)):
        assert tice(same, observed, random_state=1).tolist() == expected.tolist()
    for now, then in zip((doubled.data, doubled.indices, doubled.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_values_on_a_border_belong_to_the_quarter_above():
    # Positives are observed only in the third quarter, whose lowest value is 0.5.
    X = np.repeat([0.0, 0.25, 0.4375, 0.5, 0.75, 1.0], 100)[:, None]
    observed = (X == 0.5).astype(int)
    assert tice(X, observed, delta=0.5, random_state=0).item() > 0.8
    assert tice(X, (X == 0.4375).astype(int), delta=0.5, random_state=0).item() < 0.6  # shares its quarter with 0.25


def test_a_label_has_the_same_frequency_beside_others():
    rng = np.random.default_rng(2)
    X = features(rng, 300)
    observed = related_labels(rng, X)
    together = tice(X, observed, random_state=4)
    alone = [tice(X, observed[:, [label]], random_state=4).item() for label in range(observed.shape[1])]
    assert together.tolist() == alone


def test_tice_depends_on_its_seed_only():
    rng = np.random.default_rng(2)
    X = features(rng, 300)
    observed = related_labels(rng, X)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again, other = (tice(X, observed, random_state=seed).tolist() for seed in (1, 1, 2))
    assert first == again != other
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_all_samples_observed_is_a_frequency_of_one():
    assert tice(np.arange(50.0)[:, None], np.ones((50, 1)), random_state=0) == [1.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": [[np.nan], [1], [2]]}, "NaN"),
        ({"X": [1, 2, 3]}, "2D"),
        ({"X": [["a"], ["b"], ["c"]]}, "convert"),
        ({"observed": [[1], [0]]}, r"\(2, 1\).*\(3, n_labels\)"),
        ({"observed": [1, 0, 1]}, "n_labels"),
        ({"observed": [[1], [0], [2]]}, "expected 0 or 1, found 2"),
        ({"n_folds": 1}, "n_folds: found 1"),
        ({"n_folds": 4}, "from 2 to 3, the samples"),
        ({"variant": "texts"}, "did you mean 'text'"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"X": [[0.0], [1], [2]], "observed": [[1], [0], [1]], "n_folds": 3} | change
    X, observed = arguments.pop("X"), arguments.pop("observed")
    with pytest.raises(ModelError, match=message):
        tice(np.array(X), np.array(observed), **arguments)


@pytest.mark.parametrize("wrong", [-1, np.nan])
def test_unmeasured_labels_are_no_positives(wrong):
    """The functions raise an error instead of counting them. Callers exclude them, as the models do."""
    observed, P = np.array([[1, 0], [0, 1], [wrong, 1]]), np.full((3, 2), 0.5)
    for function in (
        lambda: label_frequency(observed, P),
        lambda: positive_cap(observed, np.array([0.5, 0.5])),
        lambda: strict_label_complement(observed, P, np.array([2, 2])),
        lambda: fluid_label_addition(observed, P, np.array([0.5, 0.5])),
        lambda: label_complement(observed, [P]),
    ):
        with pytest.raises(ModelError, match="observed"):
            function()


def test_percentile_and_shapes_are_checked():
    with pytest.raises(ModelError, match=r"percentile: found 95\. Give a number from 0 to 1"):
        label_frequency(np.eye(3), np.eye(3), percentile=95)
    with pytest.raises(ModelError, match="Both must be"):
        label_frequency(np.eye(3), np.ones((3, 2)))
