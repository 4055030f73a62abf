"""Labels are checked once, in any input format, and the caller's matrix is not changed."""

import numpy as np
import pytest
import scipy.sparse as sp

from fairfold.errors import SplitError
from fairfold.splitting.labels import check_labels, count_positives

Y = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1], [1, 1, 0]])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint8, float, np.float32])
@pytest.mark.parametrize(
    "form", [np.asarray, list, sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_matrix, sp.lil_array]
)
def test_all_forms_give_the_same_canonical_matrix(dtype, form):
    labels = check_labels(form(Y.astype(dtype)))
    assert labels.format == "csr"
    assert labels.dtype == bool
    assert labels.has_canonical_format
    np.testing.assert_array_equal(labels.toarray(), Y == 1)


def test_explicit_zeros_unsorted_columns_and_split_entries_are_cleaned_in_a_copy():
    given = sp.csr_array((np.array([1, 0, 1]), np.array([2, 1, 0]), np.array([0, 3])), shape=(1, 3))
    before = [array.copy() for array in (given.data, given.indices, given.indptr)]
    labels = check_labels(given)
    assert labels.indices.tolist() == [0, 2]
    for array, copy in zip((given.data, given.indices, given.indptr), before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_one_dimension_is_one_label():
    assert check_labels([0, 1, 1]).shape == (3, 1)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[0, 2], [1, 0]], "Y, row 0, column 1: expected 0, 1 or NaN, found 2"),
        ([[0, 3.5], [1, 0]], "found 3.5"),
        ([[0, -2], [1, 0]], "found -2"),
        ([[0, -1], [1, 0]], "row 0, column 1: .* found -1. Write 0 for negatives and NaN for unmeasured labels."),
        (sp.csr_array([[0, 2], [1, 0]]), "found 2"),
        (sp.csr_array(([1, 1], ([0, 0], [1, 1])), shape=(2, 2)).tocoo(), "found 2"),
        ([["a", "b"]], "row 0, column 0: .* found 'a'.*MultiLabelBinarizer"),
        ([[0, 1], [1]], "Y: rows differ in length"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (np.zeros((0, 3)), "at least one row and one label"),
        (np.zeros((3, 0)), "at least one row and one label"),
        (np.zeros((3, 2)), "no positive label"),
    ],
)
def test_what_is_no_label_matrix_is_refused(bad, message):
    with pytest.raises(SplitError, match=message):
        check_labels(bad)


def test_duplicate_entries_that_add_up_to_two_are_refused():
    given = sp.csr_array((np.array([1, 1]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    with pytest.raises(SplitError, match="found 2"):
        check_labels(given)


def test_positives_are_counted_with_their_amounts():
    labels = check_labels(Y)
    folds = np.array([0, 1, 1, 0])
    np.testing.assert_array_equal(count_positives(labels, folds, 2), [[2, 1, 1], [0, 1, 1]])
    amounts = np.array([5, 1, 2, 3, 1, 4])
    np.testing.assert_array_equal(count_positives(labels, folds, 2, amounts), [[6, 4, 1], [0, 2, 3]])
