"""Labels in another order than the features are found and repaired; ordinary data have no finding."""

import numpy as np
import pytest
from scipy import sparse

from fairfold.core.arrays import rows_of
from fairfold.datasets.audit import audit_table, row_order
from fairfold.datasets.audit.alignment import Alignment
from fairfold.datasets.audit.row_order import ranges_of

N = 240
ROWS = np.arange(N)
MOVED = np.concatenate([ROWS[:60], ROWS[110:170], ROWS[60:110], ROWS[170:]])
FAULTS = {
    "shifted by a row": np.roll(ROWS, 1),
    "shifted by a tenth": np.roll(ROWS, N // 10),
    "reversed": ROWS[::-1],
    "two blocks swapped": MOVED,
}


def make(seed=0, sort=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 6))
    Y = (X[:, :4] + 0.7 * rng.normal(size=(N, 4)) > [0, 0.3, -0.3, 0.8]).astype(float)
    order = np.lexsort(Y.T) if sort else ROWS
    return X[order], Y[order]


def errors(X, Y, **options):
    table = audit_table(X, Y, **options)
    return table[(table["severity"] == "error") & (table["check"] == "row_order")]


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault, convert):
    X, Y = make()
    (message,) = errors(convert(X), convert(Y[FAULTS[fault]]))["message"]
    assert "different row orders" in message and "; check how the table was made" in message


@pytest.mark.parametrize("fault", ["shifted by a row", "shifted by a tenth", "reversed"])
def test_the_repair_restores_the_order(fault):
    X, Y = make()
    (message,) = errors(X, Y[FAULTS[fault]])["message"]
    ranges = eval(message.partition("label_rows: ")[2].partition(" of data")[0])
    assert np.array_equal(Y[FAULTS[fault]][rows_of(ranges)], Y)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sort", [False, True])
def test_ordinary_data_have_no_error(seed, sort):
    X, Y = make(seed, sort)
    assert errors(X, Y).empty


@pytest.mark.parametrize("seed", range(4))
def test_unrelated_data_have_no_error(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(N, 6)), (rng.random((N, 3)) < 0.3).astype(float)
    smooth = np.cumsum(X, axis=0)
    assert errors(X, Y).empty and errors(smooth, Y[np.lexsort(Y.T)]).empty


def test_shuffled_half_of_sorted_labels():
    X, Y = make(sort=True)
    order = ROWS.copy()
    order[: N // 2] = np.random.default_rng(1).permutation(N // 2)
    assert len(errors(X, Y[order])) == 1


def test_shuffled_half_beside_rows_without_a_label():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6))
    Y = (X[:, :2] + 0.3 * rng.normal(size=(N, 2)) > [0.5, 0.6]).astype(float)
    order = np.lexsort(Y.T)
    n_without = int((Y.sum(axis=1) == 0).sum())
    mixed = np.concatenate([order[:n_without], rng.permutation(order[n_without:])])
    assert errors(X[order], Y[order]).empty
    assert len(errors(X[order], Y[mixed])) == 1


def genes(seed, n=70):
    """Return many features of few rows, and a label whose rows are sorted except for a seventh of them."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < n // 2).astype(float)
    flipped = rng.permutation(n)[: n // 7]  # at irregular distances, so that one shift fits best
    y[flipped] = 1 - y[flipped]
    X = rng.normal(size=(n, 500))
    X[:, :60] += 1.5 * y[:, np.newaxis]
    return X, y[:, np.newaxis]


@pytest.mark.parametrize("seed", range(3))
def test_shifts_of_runs_in_few_rows(seed):
    X, Y = genes(seed)
    assert errors(X, Y).empty
    (message,) = errors(X, np.roll(Y, 7, axis=0))["message"]
    assert ": the labels are shifted by 7 rows;" in message


@pytest.mark.parametrize("seed", range(3))
def test_shuffled_half_of_few_rows(seed):
    X, Y = genes(seed, n=100)
    order = np.argsort(Y[:, 0], kind="stable")
    mixed = order.copy()
    mixed[30:] = np.random.default_rng(seed).permutation(order[30:])
    assert errors(X[order], Y[order]).empty
    (message,) = errors(X[order], Y[mixed])["message"]
    assert "are unrelated to the features" in message


@pytest.mark.parametrize("seed", range(3))
def test_drifting_features_beside_random_labels_have_no_error(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(N, 200)), (rng.random((N, 1)) < 0.5).astype(float)
    X[:, :40] += 2 * np.linspace(-1, 1, N)[:, np.newaxis]
    assert errors(X, Y).empty


def test_labels_sorted_alone():
    X, Y = make()
    table = audit_table(X, Y[np.lexsort(Y.T)])
    assert "the labels are sorted, the features are not" in table.loc[table["check"] == "row_order", "message"].item()


def test_ranges_describe_any_order():
    order = np.random.default_rng(0).permutation(20)
    for each in (order, ROWS, ROWS[::-1], MOVED):
        assert np.array_equal(rows_of(ranges_of(each)), each)
    assert ranges_of(ROWS) == [(0, N)] and ranges_of(ROWS[::-1]) == [(N, 0)]


def test_the_profile_equals_a_plain_loop():
    alignment = Alignment(*make(), np.random.default_rng(0))
    labels = alignment.labels
    expected = [alignment.strength(np.roll(labels, -shift, axis=0)) for shift in range(N)]
    np.testing.assert_allclose(alignment.profile(labels), expected, atol=1e-12)  # rounding of Fourier transforms


def test_predictions_leave_one_row_out():
    alignment = Alignment(*make(), np.random.default_rng(0))
    labels, changed = alignment.labels, alignment.labels.copy()
    changed[7] += 5
    moved = alignment.predictions(changed)
    np.testing.assert_allclose(moved[7], alignment.predictions(labels)[7], atol=1e-9)


@pytest.mark.parametrize("n_features", [1, 3, 20])
def test_relations_are_compared_with_permuted_rows(n_features):
    """The fast products equal those of permuted rows."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, n_features)).cumsum(axis=0)
    aligned = Alignment(X, X[:, :1] > rng.normal(size=(60, 2)), rng)
    part = row_order._Part(aligned, np.arange(10, 60), np.random.default_rng(2))
    draws = np.random.default_rng(2)
    orders = [draws.permutation(50) for _ in range(60)]
    sides = [each[10:60] - each[10:60].mean(axis=0) for each in (aligned.features, aligned.labels)]
    waves = np.cos(np.pi * np.outer(np.arange(50) + 0.5, np.arange(1, 13)) / 50)

    def standardized(A, B):
        chance = [((A[order].T @ B) ** 2).sum() for order in orders]
        return (((A.T @ B) ** 2).sum() - np.mean(chance)) / np.std(chance, ddof=1)

    expected = [standardized(*sides), *(max(standardized(side, waves[:, :n]) for n in (3, 12)) for side in sides)]
    # The products are summed in another order, which moves them by a few roundings of 50 terms.
    np.testing.assert_allclose([part.relation, part.features, part.labels], expected, rtol=1e-9)


@pytest.mark.parametrize("size", [2, 3, 40])
def test_largest_values_are_those_of_a_stable_sort(size):
    values = np.random.default_rng(size).integers(0, 6, size).astype(float)
    assert row_order._largest(values, 3).tolist() == np.argsort(-values, kind="stable")[:3].tolist()
