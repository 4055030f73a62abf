from math import floor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fairfold.errors import DataError
from fairfold.weak_labels import mask_positives
from fairfold.weak_labels.masking import hide_in_test_parts, hide_in_training_parts, mask_labels, observed_labels


@pytest.fixture
def Y():
    return (np.random.default_rng(0).random((211, 7)) < np.linspace(0.02, 0.9, 7)).astype(np.int8)


@pytest.mark.parametrize("percent", range(100))
def test_floor_of_rate_times_positives_is_hidden(percent):
    Y = np.tril(np.ones((100, 100), dtype=np.int8))
    hidden = Y.sum(axis=0) - mask_positives(Y, percent / 100, random_state=1).sum(axis=0)
    # percent * n // 100 is floor(rate * n) in integers, without binary rounding errors.
    assert hidden.tolist() == [percent * n // 100 for n in range(100, 0, -1)]


def test_only_positives_are_touched_and_the_input_is_not(Y):
    before = Y.copy()
    masked = mask_positives(Y, 0.5, random_state=0)
    assert (masked <= Y).all()
    assert masked.dtype == Y.dtype
    np.testing.assert_array_equal(Y, before)


def test_sparse_input_gives_the_same_labels(Y):
    dense = mask_positives(Y, 0.3, random_state=5)
    masked = mask_positives(sparse.csr_array(Y), 0.3, random_state=5)
    assert masked.format == "csr"
    assert masked.nnz == dense.sum()
    np.testing.assert_array_equal(masked.toarray(), dense)


def every_entry_stored(Y):
    """Return the labels as a sparse matrix that stores zeros explicitly."""
    stored = sparse.csr_array((Y.ravel(), np.indices(Y.shape).reshape(2, -1)), shape=Y.shape)
    assert stored.nnz == Y.size > Y.sum()
    return stored


def test_stored_zeros_are_no_positives(Y):
    dense = mask_positives(Y, 0.3, random_state=5)
    stored = every_entry_stored(Y)
    masked = mask_positives(stored, 0.3, random_state=5)
    np.testing.assert_array_equal(masked.toarray(), dense)
    assert masked.nnz == dense.sum() < Y.sum()
    assert stored.nnz == Y.size  # the caller's matrix is unchanged


def test_seed_decides(Y):
    first, again, other = (mask_positives(Y, 0.5, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_every_positive_is_equally_likely_to_be_hidden():
    Y = np.ones((20, 1), dtype=int)
    n = 2000
    hidden = sum(1 - mask_positives(Y, 0.25, random_state=seed) for seed in range(n)).ravel()
    # Each count is binomial(2000, 0.25). A deviation of 4.5 standard deviations has a chance of 1e-4 for 20 counts.
    assert np.abs(hidden - 500).max() < 4.5 * np.sqrt(n * 0.25 * 0.75)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 40), st.integers(1, 6), st.floats(0, 0.99), st.integers(0, 2**31))
def test_a_label_never_loses_all_its_positives(n, q, rate, seed):
    Y = (np.random.default_rng(seed).random((n, q)) < 0.5).astype(int)
    masked = mask_positives(Y, rate, random_state=seed)
    assert ((masked.sum(axis=0) > 0) == (Y.sum(axis=0) > 0)).all()


@pytest.mark.parametrize("rate", [-0.1, 1, 1.5, float("nan")])
def test_rate_outside_its_range(Y, rate):
    with pytest.raises(DataError, match="at least 0 and below 1"):
        mask_positives(Y, rate)


@pytest.mark.parametrize("bad", [np.array([[0, 2]]), np.array([[0.5, 1]]), np.array([[-1, 1]])])
def test_labels_other_than_0_and_1(bad):
    with pytest.raises(DataError, match=r"Y, row 0, column .: expected 0, 1 or NaN, found "):
        mask_positives(bad, 0.3)


def test_labels_of_one_dimension():
    with pytest.raises(DataError, match="dimension"):
        mask_positives(np.array([0, 1]), 0.3)


@pytest.mark.parametrize("hide", [hide_in_training_parts, hide_in_test_parts])
def test_one_part_hides_its_share_and_the_other_nothing(Y, hide):
    fold_of = np.arange(len(Y)) % 3
    hidden = hide(Y, fold_of, 0.5, seed=1, names=("toy",))
    for form in (sparse.csr_array, every_entry_stored):
        np.testing.assert_array_equal(hide(form(Y), fold_of, 0.5, seed=1, names=("toy",)), hidden)
    for fold in range(3):
        observed = observed_labels(Y, hidden, fold)
        part = (fold_of == fold) == (hide is hide_in_test_parts)
        np.testing.assert_array_equal(observed[~part], Y[~part])
        lost = Y[part].sum(axis=0) - observed[part].sum(axis=0)
        assert lost.tolist() == [floor(0.5 * positives) for positives in Y[part].sum(axis=0)]
        for form in (sparse.csr_array, every_entry_stored):
            np.testing.assert_array_equal(observed_labels(form(Y), hidden, fold).toarray(), observed)


@pytest.mark.parametrize("dtype", [np.int8, float, bool, "Int64", "boolean", "Sparse[int]"])
def test_a_frame_gives_an_array(Y, dtype):
    frame = pd.DataFrame(Y, columns=list("abcdefg"), index=np.arange(len(Y))[::-1]).astype(dtype)
    before = frame.copy()
    options = {"wrong_positives": 0.3, "random_state": 5}
    np.testing.assert_array_equal(mask_positives(frame, 0.3, **options), mask_positives(Y, 0.3, **options))
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    "to", [np.asarray, sparse.csr_array, pd.DataFrame, lambda Y: Y.astype(bool), every_entry_stored]
)
def test_where_negatives_are_confirmed_labels_go_missing_whatever_they_are(Y, to):
    masked = mask_labels(to(Y), 0.4, negatives="confirmed", random_state=3)
    masked = masked.toarray() if sparse.issparse(masked) else np.asarray(masked)
    hidden = np.isnan(masked)
    np.testing.assert_array_equal(masked[~hidden], Y[~hidden])
    for value in (0, 1):
        n_cells = (value == Y).sum(axis=0)
        assert (hidden & (value == Y)).sum(axis=0).tolist() == [floor(0.4 * n) for n in n_cells]
    np.testing.assert_array_equal(hidden & (Y == 1), mask_positives(Y, 0.4, random_state=3) != Y)
    np.testing.assert_array_equal(mask_labels(Y, 0.4, random_state=3), mask_positives(Y, 0.4, random_state=3))


def test_unmeasured_labels_are_neither_hidden_nor_shown_where_negatives_are_confirmed(Y):
    partly = np.where(np.random.default_rng(0).random(Y.shape) < 0.3, np.nan, Y)
    fold_of = np.arange(len(Y)) % 2
    hidden = hide_in_training_parts(partly, fold_of, 0.5, seed=1, names=("toy",), negatives="confirmed")
    for fold in range(2):
        observed = observed_labels(partly, hidden, fold, "confirmed")
        sparse_too = observed_labels(sparse.csr_array(partly), hidden, fold, "confirmed")
        np.testing.assert_array_equal(sparse_too.toarray(), observed)
        np.testing.assert_array_equal(observed[fold_of == fold], partly[fold_of == fold])
        assert np.isnan(observed[np.isnan(partly)]).all()
        train = fold_of != fold
        for value in (0, 1):
            lost = ((partly == value) & np.isnan(observed))[train].sum(axis=0)
            assert lost.tolist() == [floor(0.5 * n) for n in (partly == value)[train].sum(axis=0)]


def test_zeros_of_too_many_sparse_labels_are_not_hidden():
    with pytest.raises(DataError, match="Y has 10,000 × 10,000 cells, but at most"):
        mask_labels(sparse.csr_array((10_000, 10_000), dtype=np.int8), 0.3, negatives="confirmed")


@pytest.mark.parametrize("rate", ["0.3", None])
def test_a_rate_that_is_no_number(Y, rate):
    with pytest.raises(DataError, match="at least 0 and below 1"):
        mask_positives(Y, rate)
