"""Test measures against hand-computed values and plain loops over Equations 1-4, and bounds against all splits."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from fairfold.errors import SplitError
from fairfold.splitting.measures import (
    delta_class_proportion,
    example_distribution,
    label_distribution,
    lower_bound,
    relative_label_distribution,
    target_sizes,
)

ALL = {
    "ed": example_distribution,
    "ld": label_distribution,
    "dcp": delta_class_proportion,
    "rld": relative_label_distribution,
}


def by_the_equations(fold_of, Y):
    """Compute ED, LD, DCP and rLD per label in plain loops.

    Every training part has a positive and a negative of each label.
    """
    n, q = Y.shape
    folds = [Y[fold_of == j] for j in range(fold_of.max() + 1)]
    k = len(folds)
    ed = sum(abs(len(S) - n / k) for S in folds) / k
    ld, dcp, rld = [], [], []
    for i in range(q):
        D = Y[:, i].sum()
        parts = [(S[:, i].sum(), len(S)) for S in folds]
        ld.append(sum(abs(p / (m - p) - D / (n - D)) for p, m in parts if p < m) / k)
        dcp.append(max(p / D for p, m in parts) - 1 / k)
        rld.append(sum(abs((D / n - p / m) / (D / n)) for p, m in parts) / k)
    return {"ed": [ed] * q, "ld": ld, "dcp": dcp, "rld": rld}


def test_values_worked_by_hand():
    # Folds have 2 and 4 rows. The label is positive in 1 of 2, 1 of 4 and 2 of 6 rows.
    Y, folds = [[1], [0], [1], [0], [0], [0]], [0, 0, 1, 1, 1, 1]
    assert example_distribution(folds, Y) == 1.0  # |2 - 3| and |4 - 3|
    assert label_distribution(folds, Y) == pytest.approx((abs(1 / 1 - 2 / 4) + abs(1 / 3 - 2 / 4)) / 2, abs=1e-15)
    assert delta_class_proportion(folds, Y) == 0.0  # half of the positives in each fold
    assert relative_label_distribution(folds, Y) == pytest.approx((abs(1 - 1.5) + abs(1 - 0.75)) / 2, abs=1e-15)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_equals_plain_loops(seed, form):
    rng = np.random.default_rng(seed)
    Y = (rng.random((40, 6)) < rng.uniform(0.1, 0.9, 6)).astype(int)
    Y[0], Y[1] = 1, 0
    folds = rng.permutation(np.arange(40) % 4)
    folds[:3] = 0
    expected = by_the_equations(folds, Y)
    for name, measure in ALL.items():
        np.testing.assert_allclose(measure(folds, form(Y), per_label=True), expected[name], rtol=1e-12)
        assert measure(folds, form(Y)) == pytest.approx(np.mean(expected[name]), rel=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_unmeasured_cells_take_no_part(form):
    rng = np.random.default_rng(0)
    Y, folds = (rng.random((60, 5)) < 0.4).astype(int), np.arange(60) % 3
    Y = np.where((rng.random(Y.shape) < 0.3) & (np.arange(5) < 4), np.nan, Y)  # The last label is measured everywhere.
    for name in ("ld", "dcp", "rld"):
        alone = []
        for label in range(5):
            measured = Y[:, label] >= 0
            alone += by_the_equations(folds[measured], Y[measured][:, [label]])[name]
        np.testing.assert_allclose(ALL[name](folds, form(Y), per_label=True), alone, rtol=1e-12)
        assert ALL[name](folds, form(Y)) == pytest.approx(np.mean(alone), rel=1e-12)
    for label in range(5):
        measured = Y[Y[:, label] >= 0][:, [label]]
        bound = lower_bound(form(Y), 3, "rld", per_label=True)[label]
        assert bound == pytest.approx(lower_bound(measured, 3, "rld"), abs=1e-12)


def test_fold_without_measured_cells_has_no_positives():
    Y, folds = np.array([[1], [0], [np.nan], [np.nan]]), [0, 0, 1, 1]
    assert relative_label_distribution(folds, Y) == 0.5  # best possible in the first, all missing in the second
    assert delta_class_proportion(folds, Y) == 0.5
    assert 0 <= lower_bound(Y, 3, "rld") <= 1  # fewer measured rows than folds


def test_empty_labels_count_nothing_and_do_not_dilute_the_mean():
    Y, folds = np.array([[1, 0], [1, 0], [0, 0], [0, 0]]), [0, 0, 1, 1]
    for name in ("ld", "dcp", "rld"):
        assert ALL[name](folds, Y, per_label=True)[1] == 0
        assert ALL[name](folds, Y) == ALL[name](folds, Y[:, :1])


def test_full_labels_and_folds_of_positives_only_are_finite():
    Y, folds = np.array([[1, 1], [1, 1], [1, 1], [1, 0]]), [0, 0, 1, 1]
    assert label_distribution(folds, Y, per_label=True).tolist() == [0.0, abs(1 / 1 - 3 / 1) / 2]
    assert relative_label_distribution(folds, Y, per_label=True)[0] == 0
    assert delta_class_proportion(folds, Y, per_label=True)[0] == 0


@pytest.mark.parametrize(("n_rows", "n_splits"), [(6, 2), (6, 3), (7, 3), (8, 3)])
def test_bound_is_the_least_over_all_splits_of_equal_sizes(n_rows, n_splits):
    sizes = sorted(target_sizes(n_rows, np.full(n_splits, 1 / n_splits)))
    splits = [
        np.array(split)
        for split in itertools.product(range(n_splits), repeat=n_rows)
        if sorted(np.bincount(split, minlength=n_splits)) == sizes
    ]
    Y = np.tril(np.ones((n_rows, n_rows), dtype=int))  # one label of each size
    for name in ("ed", "dcp", "rld"):
        best = np.min([by_the_equations(split, Y)[name] for split in splits], axis=0)
        np.testing.assert_allclose(lower_bound(Y, n_splits, name, per_label=True), best, atol=1e-12)
        assert lower_bound(Y, n_splits, name) == pytest.approx(best.mean(), abs=1e-12)


def test_bounds_are_asked_for_in_any_case():
    Y = np.eye(7, dtype=int)
    assert lower_bound(Y, 3, "rLD") == lower_bound(Y, 3, "rld")


def test_bound_leaves_empty_labels_out():
    Y = np.array([[1, 0], [0, 0], [1, 0]])
    assert lower_bound(Y, 2, "rld") == lower_bound(Y[:, :1], 2, "rld")


@pytest.mark.parametrize(("measure", "message"), [("rLDs", "did you mean 'rLD'"), ("ld", "unknown measure 'ld'")])
def test_unknown_bounds_are_refused(measure, message):
    with pytest.raises(SplitError, match=message):
        lower_bound([[1], [0]], 2, measure)


@pytest.mark.parametrize("n_splits", [1, 4, 2.5, True, "two"])
def test_bad_numbers_of_folds_are_refused(n_splits):
    with pytest.raises(SplitError, match="n_splits: found"):
        lower_bound([[1], [0], [1]], n_splits, "rld")


def test_folds_that_are_no_partition_are_refused():
    for measure in ALL.values():
        with pytest.raises(SplitError, match="fold_of has no sample in fold 1"):
            measure([0, 2, 2], [[1], [0], [1]])


@pytest.mark.parametrize(("n_samples", "n_splits"), [(6, 2), (7, 2), (5, 3), (6, 3), (5, 4)])
def test_bounds_are_the_least_of_all_splits(n_samples, n_splits):
    splits = [np.array(folds) for folds in itertools.product(range(n_splits), repeat=n_samples)]
    splits = [folds for folds in splits if len(set(folds)) == n_splits]
    sizes = [np.bincount(folds, minlength=n_splits) for folds in splits]
    even = [size.max() - size.min() <= 1 for size in sizes]
    for s in range(1, n_samples + 1):
        Y = (np.arange(n_samples) < s).astype(int)[:, None]
        for name, measure, of_any_size in (
            ("ED", example_distribution, True),
            ("DCP", delta_class_proportion, True),
            ("rLD", relative_label_distribution, False),
        ):
            bound = lower_bound(Y, n_splits, name)
            values = np.array([measure(folds, Y) for folds in splits])
            assert values[even].min() == pytest.approx(bound, abs=1e-12)
            assert not of_any_size or values.min() >= bound - 1e-12


def test_the_bound_of_rld_is_of_folds_of_equal_size():
    Y = np.array([1, 0, 0, 1, 0, 0, 1, 0, 0])[:, None]
    assert relative_label_distribution([0] * 6 + [1] * 3, Y) < lower_bound(Y, 2, "rLD")


def test_even_counts_are_not_always_the_least_of_ld():
    Y = np.array([1] * 10 + [0] * 2)[:, None]  # positives per fold of three: 3, 3, 2, 2 or 3, 3, 3, 1
    even, uneven = [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 2, 3], [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert label_distribution(uneven, Y) < label_distribution(even, Y)
    with pytest.raises(SplitError, match="LD has no bound"):
        lower_bound(Y, 4, "LD")
