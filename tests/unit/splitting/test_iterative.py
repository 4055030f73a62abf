"""The kernel assigns rows exactly as a slow version of the published algorithm with the same random numbers."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from fairfold.errors import SplitError
from fairfold.splitting import IterativeStratification
from fairfold.splitting.iterative import label_pairs, stratify, stratify_as_first_seen
from fairfold.splitting.labels import check_labels
from fairfold.splitting.measures import relative_label_distribution


def some_labels(seed, n=60, q=8):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, q)) < rng.uniform(0.03, 0.5, q)).astype(int)
    Y[0, 0] = 1
    return Y


def deal_slowly(Y, weights, proportions, fold_of, rng, rarest_first=True):
    """Implement Algorithm 1 of Sechidis et al. (2011), recomputing every wish and searching all candidates."""
    n, q = Y.shape
    k = len(proportions)
    waiting = list(rng.permutation(q)) if rarest_first else list(dict.fromkeys(np.nonzero(Y)[1]))
    if rarest_first:
        waiting.reverse()  # the last label added is met first
    while True:
        remaining = {i: sum(Y[row, i] for row in range(n) if fold_of[row] < 0) for i in waiting}
        candidates = [i for i in waiting if remaining[i] > 0]
        if not candidates:
            return fold_of
        label = min(candidates, key=remaining.get) if rarest_first else candidates[0]
        touched = []
        rows = np.flatnonzero(Y[:, label])
        for row in rows if rarest_first else rows[::-1]:
            if fold_of[row] >= 0:
                continue
            wish = [
                (
                    Y[:, label].sum() * proportions[j] - Y[fold_of == j, label].sum(),
                    weights.sum() * proportions[j] - weights[fold_of == j].sum() if rarest_first else 0,
                )
                for j in range(k)
            ]
            best, n_best = 0, 1
            for j in range(1, k):
                if wish[j] > wish[best]:
                    best, n_best = j, 1
                elif wish[j] == wish[best]:
                    n_best += 1
                    if rng.random() * n_best < 1:
                        best = j
            fold_of[row] = best
            touched += [i for i in np.flatnonzero(Y[row]) if i not in touched]
        if rarest_first:  # among equally rare labels, the most recently visited comes first
            waiting = touched[::-1] + [i for i in waiting if i not in touched]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("rarest_first", "n_given"), [(True, 0), (True, 25), (False, 0)])
@pytest.mark.parametrize("proportions", [[0.25] * 4, [0.5, 0.25, 0.25]])
@pytest.mark.parametrize("heaviest", [1, 4])
def test_equals_the_slow_transcription(seed, rarest_first, proportions, heaviest, n_given):
    Y, proportions = some_labels(seed), np.array(proportions)
    rng = np.random.default_rng(seed + 100)
    weights = rng.integers(1, heaviest + 1, len(Y))
    fold_of = np.full(len(Y), -1)
    fold_of[rng.permutation(len(Y))[:n_given]] = rng.integers(0, len(proportions), n_given)
    expected = deal_slowly(Y, weights, proportions, fold_of.copy(), np.random.default_rng(seed), rarest_first)
    deal = stratify if rarest_first else stratify_as_first_seen
    deal(check_labels(Y), weights, proportions, fold_of, np.random.default_rng(seed))
    np.testing.assert_array_equal(fold_of, expected)


def deal_pairs_slowly(Y, n_splits, rng):
    """Implement scikit-multilearn 0.2.0 of order 2, with dictionaries of the remaining rows and wishes of each pair.

    A label paired with itself counts as a pair.
    """
    waiting, wishes = {}, {}
    own = [list(itertools.combinations_with_replacement(np.flatnonzero(row), 2)) for row in Y]
    for row, pairs in enumerate(own):
        for pair in pairs:
            waiting.setdefault(pair, []).append(row)
    wishes = {pair: np.full(n_splits, len(rows) / n_splits) for pair, rows in waiting.items()}
    fold_of = np.full(len(Y), -1)
    while left := [pair for pair, rows in waiting.items() if rows]:
        chosen = left[0]
        for pair in left:
            if len(set(pair)) > len(set(chosen)) and len(waiting[pair]) < len(waiting[chosen]):
                chosen = pair
        while waiting[chosen]:
            row = waiting[chosen][-1]
            best, n_best = 0, 1
            for fold in range(1, n_splits):
                if wishes[chosen][fold] > wishes[chosen][best]:
                    best, n_best = fold, 1
                elif wishes[chosen][fold] == wishes[chosen][best]:
                    n_best += 1
                    best = fold if rng.random() * n_best < 1 else best
            fold_of[row] = best
            for pair in own[row]:
                waiting[pair].remove(row)
                wishes[pair][best] -= 1
    return fold_of


@pytest.mark.parametrize("seed", range(12))
def test_pairs_as_first_seen_equal_the_slow_transcription(seed):
    Y = some_labels(seed, n=80, q=6 + seed)
    weights, proportions, fold_of = np.ones(len(Y), dtype=np.int64), np.full(4, 0.25), np.full(len(Y), -1)
    expected = deal_pairs_slowly(Y, 4, np.random.default_rng(seed))
    labels = check_labels(Y)
    stratify_as_first_seen(labels, weights, proportions, fold_of, np.random.default_rng(seed), label_pairs(labels))
    np.testing.assert_array_equal(fold_of, expected)


@pytest.mark.parametrize("order", [1, 2])
def test_neighbors_share_a_fold_as_often_as_any_rows(order):
    """In file order, a fold would never get two consecutive rows."""
    Y = np.ones((100, 2), dtype=int)
    folds = np.array([IterativeStratification(2, random_state=seed, order=order).assign(Y) for seed in range(60)])
    assert (folds.sum(axis=1) == 50).all()
    assert (folds[:, 1:] == folds[:, :-1]).mean() == pytest.approx(49 / 99, abs=0.03)
    assert folds.mean(axis=0) == pytest.approx(np.full(100, 0.5), abs=0.3)


def test_as_first_seen_the_order_of_the_file_counts():
    folds = IterativeStratification(2, random_state=0, label_order="first-seen").assign(np.ones((100, 1), dtype=int))
    assert (folds[::2] != folds[1::2]).all()


def test_rows_that_have_a_fold_keep_it_and_count():
    Y = np.array([[1], [1], [1], [1]])
    fold_of = np.array([0, 0, -1, -1])
    stratify(check_labels(Y), np.ones(4, dtype=np.int64), np.array([0.5, 0.5]), fold_of, np.random.default_rng(0))
    assert fold_of.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("share", [0, 0.02, 0.3, 1])
def test_pairs_are_the_pairs_of_each_row(share):
    Y = (np.random.default_rng(0).random((40, 12)) < share).astype(int)
    Y[0], Y[1:, 11] = 0, 0
    Y[-1] = np.eye(12)[11]  # at least one positive
    pairs = label_pairs(check_labels(Y))
    columns = itertools.combinations(range(12), 2)
    expected = np.array([Y[:, a] & Y[:, b] for a, b in columns])
    occurring = expected[expected.any(axis=1)].T
    np.testing.assert_array_equal(pairs.toarray(), occurring if occurring.size else np.zeros((40, 1)))


def test_second_order_balances_pairs_better():
    rng = np.random.default_rng(0)
    Y = (rng.random((600, 12)) < 0.2).astype(int)
    pairs = label_pairs(check_labels(Y))
    off = [
        np.mean([relative_label_distribution(IterativeStratification(random_state=s, order=order).assign(Y), pairs)
                 for s in range(5)])
        for order in (1, 2)
    ]  # fmt: skip
    assert off[1] < off[0]


def test_rarest_label_first_beats_the_published_comparisons_order():
    # Labels are nested and sorted from common to rare. Common labels first use the rows that rare labels need.
    n = 500
    Y = (np.random.default_rng(1).random((n, 30)) < np.geomspace(0.5, 0.02, 30)).astype(int)
    right, published = (
        relative_label_distribution(IterativeStratification(random_state=0, label_order=order).assign(Y), Y)
        for order in ("rarest", "first-seen")
    )
    assert right < published / 2


def test_an_all_positive_label_spoils_nothing():
    """If this label comes first, scikit-multilearn assigns all rows by it, and the other labels at random."""
    Y = some_labels(2, n=300)
    with_full = np.column_stack([np.ones(300, dtype=int), Y])
    folds = IterativeStratification(random_state=0).assign(with_full)
    alone = IterativeStratification(random_state=0).assign(Y)
    off = relative_label_distribution(folds, Y)
    assert off < 1.5 * relative_label_distribution(alone, Y)
    assert off < relative_label_distribution(np.arange(300) % 5, Y) / 2


def test_sparse_input_and_a_single_column_work():
    """The package iterative-stratification accepts neither."""
    folds = IterativeStratification(2, random_state=0).assign(sp.csr_matrix([[1], [1], [0], [0]]))
    assert sorted(folds[:2]) == [0, 1]
    assert sorted(folds[2:]) == [0, 1]


@pytest.mark.parametrize(
    ("setting", "message"), [({"order": 3}, "order: found 3"), ({"label_order": "x"}, "label_order")]
)
def test_unknown_settings_are_refused(setting, message):
    with pytest.raises(SplitError, match=message):
        IterativeStratification(2, **setting).assign([[1], [0]])
