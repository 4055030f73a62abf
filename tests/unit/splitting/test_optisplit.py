"""OptiSplit follows the published algorithm step by step, from any initial folds."""

import numpy as np
import pytest
import scipy.sparse as sp

from fairfold.errors import SplitError
from fairfold.splitting import OptiSplit, RandomSplit
from fairfold.splitting import optisplit as module
from fairfold.splitting.labels import check_labels
from fairfold.splitting.measures import relative_label_distribution


def some_labels(seed, n=80, q=12, low=0.05, high=0.45):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, q)) < rng.uniform(low, high, q)).astype(int)
    Y[:2] = [[1] * q, [0] * q]
    return Y


def losses_from_scratch(Y, fold_of, k, objective, proportions=None):
    """Compute reference losses of the kernels. The default ``proportions`` are equal."""
    shares = np.full(k, 1 / k) if proportions is None else proportions
    counts = np.array([Y[fold_of == j].sum(axis=0) for j in range(k)])
    sizes = np.array([(fold_of == j).sum() for j in range(k)])
    positives = counts.sum(axis=0)
    if objective == "rld":
        return np.abs(1 - counts / (positives * (sizes / len(Y))[:, None])).mean(axis=0)
    return (counts / positives - shares[:, None]).max(axis=0)


def published_algorithm(Y, fold_of, k, objective, max_epochs):
    """Run Algorithm 1 literally, copying and recomputing everything at every try. Return the folds and the tries."""
    Y, has_labels = Y.copy(), Y.any(axis=1)
    majority = Y.sum(axis=0) > len(Y) / 2
    Y[:, majority] = 1 - Y[:, majority]
    losses, tries = losses_from_scratch(Y, fold_of, k, objective), []
    for _ in range(max_epochs):
        offset = 0
        for _ in range(Y.shape[1]):
            label = np.argsort(losses, kind="stable")[::-1][offset]
            candidate = balance(Y, label, fold_of.copy(), k, has_labels)
            new = losses_from_scratch(Y, candidate, k, objective)
            accepted = bool(new.sum() < losses.sum() and (candidate != fold_of).any())
            tries.append((int(label), accepted))
            if accepted:
                fold_of, losses = candidate, new
            else:
                offset += 1
    return fold_of, tries


def balance(Y, label, fold_of, k, has_labels):
    held = np.array([Y[fold_of == j, label].sum() for j in range(k)])
    target = np.full(k, held.sum() // k)
    for j in range(held.sum() % k):
        target[j] += 1
    excess = []
    for j in range(k):
        positives = [row for row in range(len(Y)) if fold_of[row] == j and Y[row, label] and has_labels[row]]
        positives.sort(key=lambda row: Y[row].sum())
        excess += positives[: max(held[j] - target[j], 0)]
    for j in range(k):
        need = max(target[j] - held[j], 0)
        fold_of[excess[:need]] = j
        excess = sorted(excess[need:]) if need else excess
    return fold_of


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("objective", ["rld", "dcp"])
def test_same_tries_and_folds_as_the_published_algorithm(monkeypatch, seed, objective):
    Y = some_labels(seed, high=0.45 if seed % 2 else 0.9)  # with and without majority labels
    start = np.random.default_rng(seed).permutation(np.arange(len(Y)) % 4)
    expected, tries = published_algorithm(Y, start, 4, objective, 3)
    made = []
    original = module._Search.try_label

    def recorded(self, label):
        made.append((int(label), original(self, label)))
        return made[-1][1]

    monkeypatch.setattr(module._Search, "try_label", recorded)
    folds = OptiSplit(4, objective=objective, initial_folds=start).assign(Y)
    assert any(accepted for _, accepted in made)
    # The search stops after an epoch without change. The published algorithm would repeat it without effect.
    assert made == tries[: len(made)]
    assert not any(accepted for _, accepted in tries[len(made) :])
    np.testing.assert_array_equal(folds, expected)


@pytest.mark.parametrize("objective", ["rld", "dcp"])
def test_updated_losses_and_order_equal_recomputed_ones(monkeypatch, objective):
    """Many equal losses, few ranked labels at a time and few labels per row reach all branches."""
    monkeypatch.setattr(module, "_RANKED", 7)
    monkeypatch.setattr(module, "_SPARSE", 0)
    rng = np.random.default_rng(0)
    Y = (rng.random((400, 300)) < 0.012).astype(int)
    seen = {"rejected": 0, "computed": 0}
    label_at, losses_after = module._Search._label_at, module._Search._losses_after

    def checked_label_at(self, place):
        label = label_at(self, place)
        assert label == np.argsort(self._losses, kind="stable")[::-1][place]
        return label

    def checked_losses_after(self, *given):
        losses, expected = losses_after(self, *given), self._losses_of(slice(None))
        if losses is None:
            assert expected.sum() >= self._loss
        else:
            np.testing.assert_array_equal(losses, expected)
        seen["rejected" if losses is None else "computed"] += 1
        return losses

    monkeypatch.setattr(module._Search, "_label_at", checked_label_at)
    monkeypatch.setattr(module._Search, "_losses_after", checked_losses_after)
    OptiSplit(objective=objective, random_state=0).assign(Y)
    assert min(seen.values()) > 50


def test_random_ties_depend_on_the_seed_only():
    Y, start = np.eye(30, dtype=int)[np.arange(90) % 30], np.arange(90) // 18
    folds = [OptiSplit(ties="random", initial_folds=start, random_state=seed).assign(Y) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(folds[0], folds[1])
    assert (folds[0] != folds[2]).any()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_majority_labels_are_balanced_on_their_negatives_in_a_copy(form):
    """The published code flips column 0 instead, in the caller's matrix."""
    Y = some_labels(1, high=0.95)
    given = form(Y.copy())
    majority = Y.sum(axis=0) > len(Y) / 2
    assert majority.any()
    flipped = module.minority_labels(check_labels(given))
    np.testing.assert_array_equal(flipped.toarray(), np.where(majority, 1 - Y, Y) == 1)
    OptiSplit(4, random_state=0).assign(given)
    np.testing.assert_array_equal(given if form is np.asarray else given.toarray(), Y)


def test_rows_without_labels_stay_where_they_are():
    """These rows are negatives of a majority label, and balancing that label would move them."""
    rng = np.random.default_rng(0)
    Y = (rng.random((80, 3)) < [0.8, 0.4, 0.4]).astype(int)
    Y[::5] = 0
    start, is_empty = rng.permutation(np.arange(80) % 4), ~Y.any(axis=1)
    folds = OptiSplit(4, random_state=0, initial_folds=start).assign(Y)
    assert 2 * Y[:, 0].sum() > len(Y) and (folds != start).any()
    np.testing.assert_array_equal(folds[is_empty], start[is_empty])


def test_a_label_of_half_the_rows_is_no_majority():
    labels = check_labels(np.array([[1, 1], [1, 1], [0, 1], [0, 0]]))
    np.testing.assert_array_equal(module.minority_labels(labels).toarray().T, [[1, 1, 0, 0], [0, 0, 0, 1]])


def test_seeds_matter():
    """The published code draws its initial folds with seed 42 for any parameter."""
    Y = some_labels(0)
    assert (OptiSplit(4, random_state=0).assign(Y) != OptiSplit(4, random_state=1).assign(Y)).any()


def test_an_empty_label_stops_nothing():
    """The loss of an empty label is NaN in the published code, which then accepts every move."""
    Y = some_labels(3)
    start = RandomSplit(4, random_state=0).assign(Y)
    padded = np.column_stack([Y[:, :5], np.zeros(len(Y), dtype=int), Y[:, 5:]])
    np.testing.assert_array_equal(
        OptiSplit(4, initial_folds=start).assign(padded), OptiSplit(4, initial_folds=start).assign(Y)
    )


def test_balanced_folds_are_left_alone():
    """The published code fails with an error."""
    Y, start = np.tile(np.eye(3, dtype=int), (4, 1)), np.repeat(np.arange(4), 3)
    np.testing.assert_array_equal(OptiSplit(4, initial_folds=start).assign(Y), start)


@pytest.mark.parametrize("objective", module.OBJECTIVES)
@pytest.mark.parametrize("shares", [(0.8, 0.2), (0.9, 0.1), (0.5, 0.3, 0.2), (0.25,) * 4])
def test_kernels_equal_plain_references_for_any_target(objective, shares):
    Y, rng = some_labels(6), np.random.default_rng(0)
    fold_of, shares = rng.choice(len(shares), len(Y), p=shares), np.array(shares)
    counts = np.array([Y[fold_of == part].sum(axis=0) for part in range(len(shares))])
    found = module.OBJECTIVES[objective](counts, np.bincount(fold_of), shares, Y.sum(axis=0))
    # The kernels add up the folds in order and NumPy in pairs. The results differ by a few units in the last place.
    np.testing.assert_allclose(found, losses_from_scratch(Y, fold_of, len(shares), objective, shares), rtol=1e-13)


def test_objectives_are_improved():
    Y = some_labels(5, n=300)
    start = RandomSplit(4, random_state=0).assign(Y)
    folds = OptiSplit(4, initial_folds=start).assign(Y)
    assert relative_label_distribution(folds, Y) < relative_label_distribution(start, Y) / 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "rLD"}, "did you mean 'rld'"),
        ({"ties": "first"}, "ties"),
        ({"max_epochs": 0}, "max_epochs: found 0"),
        ({"initial_folds": [0, 1]}, "shape"),
        ({"initial_folds": [0, 0, 0]}, "initial_folds has no sample in fold 1"),
        ({"initial_folds": [0, 1, 2]}, "initial_folds contains fold 2: there are 2 folds"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SplitError, match=message):
        OptiSplit(2, **settings).assign([[1], [0], [1]])


def test_initial_folds_and_groups_exclude_each_other():
    with pytest.raises(SplitError, match="Leave one of them out"):
        OptiSplit(2, initial_folds=[0, 1, 0]).assign([[1], [0], [1]], groups=[0, 0, 1])


def test_no_fold_is_emptied():
    """The first folds grow, and the last ones keep some rows."""
    Y = np.eye(4, dtype=int)[np.arange(12) % 4]
    for seed in range(20):
        folds = OptiSplit(5, random_state=seed).assign(Y)
        assert len(np.unique(folds)) == 5
    empty = np.array([[2], [0]]), np.array([3, 0])
    assert np.isinf(module.relative_label_losses(*empty, np.full(2, 0.5), np.array([2]))).all()
