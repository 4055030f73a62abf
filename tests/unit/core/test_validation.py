"""Validation of labels: 0/1 passes unchanged, and everything else gives one sentence with advice."""

import datetime
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from fairfold.core.validation import (
    check_binary,
    check_dense_binary,
    check_label_matrix,
    has_unmeasured,
    unmeasured_cells,
    with_nan,
)
from fairfold.errors import DataError, ModelError, SplitError
from fairfold.forests import make_model
from fairfold.metrics.scores import multilabel_scores
from fairfold.splitting import RandomSplit
from fairfold.splitting.measures import label_distribution
from fairfold.weak_labels import mask_positives, tice

Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]] * 5)
X = np.random.default_rng(0).random((20, 3))
FRAME = pd.DataFrame(Y, columns=["sea", "sky"])
NAMES = [["sea"], ["sky"], ["sea", "sky"], []] * 5

RIGHT = {
    "lists": Y.tolist(),
    "floats": Y.astype(np.float32),
    "bool": Y.astype(bool),
    "objects": np.array([[True, 0], [0.0, np.True_], [1, 1], [False, 0]] * 5, dtype=object),
    "unmasked": np.ma.masked_array(Y),
    "frame": FRAME,
    "bool frame": FRAME.astype(bool),
    "nullable frame": FRAME.astype({"sea": "Int64", "sky": "boolean"}),
    "mixed frame": FRAME.astype({"sea": bool}),
    "sparse frame": pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(Y)),
    "CSC": sparse.csc_matrix(Y.astype(float)),
    "binarized": MultiLabelBinarizer().fit_transform(NAMES),
}
BINARIZE = "Give one column of 0/1 per label, as scikit-learn's MultiLabelBinarizer makes from lists of labels."


def with_one(value, kind=object):
    changed = Y.astype(kind)
    changed[2, 1] = value
    return changed


# Each entry is the message after the name of the labels. Functions differ in the values that they allow.
WRONG = {
    "lists of labels": (NAMES, f": rows differ in length. {BINARIZE}"),
    "lists of numbers": ([[1, 2], [3]] * 10, f": rows differ in length. {BINARIZE}"),
    "lists of as many": ([["sea", "sky"]] * 20, f", row 0, column 0: .* found 'sea'. {BINARIZE}"),
    "sets": ([{"sea"}, {"sky"}] * 10, f", row 0: .* found {{'sea'}}. {BINARIZE}"),
    "series of lists": (pd.Series(NAMES), f", row 0: .* found ['sea']. {BINARIZE}"),
    "words": (np.where(Y, "yes", "no"), f", row 0, column 0: .* found 'yes'. {BINARIZE}"),
    "digits as text": (Y.astype(str), f", row 0, column 0: .* found '1'. {BINARIZE}"),
    "one word each": (["yes", "no"] * 10, f", row 0: .* found 'yes'. {BINARIZE}"),
    "a word among numbers": (with_one("?"), f", row 2, column 1: .* found '?'. {BINARIZE}"),
    "categories": (FRAME.astype("string").astype("category"), f", row 0, column 0: .* found '1'. {BINARIZE}"),
    "dates": (np.full((20, 2), "2020-01-01", "M8[D]"), f", row 0, .* found {datetime.date(2020, 1, 1)!r}. {BINARIZE}"),
    "no date": (np.full((20, 2), "NaT", "M8[D]"), f", row 0, column 0: .* found None. {BINARIZE}"),
    "complex": (Y * 1j, f", row 0, column 0: .* found 1j. {BINARIZE}"),
    "two": (with_one(2, int), f", row 2, column 1: .* found 2. {BINARIZE}"),
    "two, sparse": (sparse.coo_array(with_one(2, int)), f", row 2, column 1: .* found 2. {BINARIZE}"),
    "a half": (with_one(0.5, float), f", row 2, column 1: .* found 0.5. {BINARIZE}"),
    "minus one": (2 * Y - 1, ", row 0, column 1: .* found -1. Write 0 for negatives and NaN for unmeasured labels."),
    "a set": ({"sea", 1}, f": expected shape (n_samples, n_labels), found {{.*}}. {BINARIZE}"),
}


@pytest.mark.parametrize("form", RIGHT)
def test_labels_of_0_and_1_are_the_same_in_every_form(form):
    np.testing.assert_array_equal(check_dense_binary(RIGHT[form], "Y", DataError).astype(int), Y)
    assert sparse.issparse(check_binary(RIGHT[form], "Y", DataError)) == (form == "CSC")


DOORS = {
    "fit": (ModelError, lambda given: make_model("RF+ET", n_trees=1, random_state=0).fit(X, given)),
    "splitter": (SplitError, lambda given: RandomSplit(2, random_state=0).assign(given)),
    "measure": (SplitError, lambda given: label_distribution(np.arange(20) % 2, given)),
    "mask": (DataError, lambda given: mask_positives(given, 0.5, random_state=0)),
    "scores": (DataError, lambda given: multilabel_scores(given, np.zeros((20, 2)))),
    "tice": (ModelError, lambda given: tice(X, given, random_state=0)),
}


@pytest.mark.parametrize("form", WRONG)
@pytest.mark.parametrize("door", DOORS)
def test_one_sentence_at_every_door(door, form):
    given, sentence = WRONG[form]
    error, action = DOORS[door]
    pattern = r"\w+" + re.escape(sentence).replace(r"\.\*", ".*")
    with pytest.raises(error) as caught:
        action(given)
    assert re.fullmatch(pattern, str(caught.value))


@pytest.mark.parametrize("door", DOORS)
def test_every_form_passes_every_door(door):
    _, action = DOORS[door]
    for form in RIGHT.values():
        assert action(form) is not None


def test_a_sparse_vector_is_no_matrix():
    with pytest.raises(
        DataError, match=r"Y: expected a sparse matrix of shape \(n_samples, n_labels\), found 1 dimension\(s\)"
    ):
        check_binary(sparse.coo_array(Y[:, 0]), "Y", DataError)


def test_entries_stored_in_parts_are_judged_in_parts_and_in_sum():
    def stored(*parts):
        return sparse.csr_array((np.array(parts), [1, 1], [0, 2]), shape=(1, 2))

    assert check_binary(stored(1, 0), "Y", DataError).toarray().tolist() == [[0, 1]]
    for parts in ((1, 1), (2, -1)):
        with pytest.raises(DataError, match="Y, row 0, column 1: expected 0 or 1, found 2"):
            check_binary(stored(*parts), "Y", DataError)


def test_codes_and_nan_are_the_same_labels():
    given = np.array([[1, np.nan], [0, 1]])
    for form in (np.asarray, sparse.csr_array):
        codes = check_binary(form(given), "Y", DataError, unmeasured=True)
        assert codes.dtype == np.int8 and (codes.toarray() if sparse.issparse(codes) else codes).tolist() == [
            [1, -1],
            [0, 1],
        ]
        back = with_nan(codes)
        assert back.dtype == np.float32 and sparse.issparse(back) == sparse.issparse(codes)
        np.testing.assert_array_equal(back.toarray() if sparse.issparse(back) else back, given)
        assert has_unmeasured(back) and not has_unmeasured(form(Y))
        assert unmeasured_cells(back).sum() == 1 and unmeasured_cells(form(Y)).sum() == 0
    assert with_nan(Y) is Y  # Complete labels are not copied.
    complete = sparse.csr_array(Y)
    assert np.shares_memory(check_binary(complete, "Y", DataError, unmeasured=True).data, complete.data)


def test_unmeasured_labels_that_are_not_allowed_are_one_sentence():
    for given in (with_one(np.nan, float), with_one(None), sparse.csr_array(with_one(np.nan, float))):
        with pytest.raises(
            DataError, match=r"Y, row 2, column 1: expected 0 or 1, found .*\. Complete labels are needed"
        ):
            check_binary(given, "Y", DataError)


@pytest.mark.parametrize("shape", [(20,), (19, 2), (20, 0), (20, 2, 1)])
def test_labels_of_another_shape_are_one_sentence(shape):
    remedy = r"A single label is Y\.reshape\(-1, 1\)" if len(shape) == 1 else "Give one row per sample"
    with pytest.raises(
        DataError, match=rf"Y: expected shape \(20, n_labels\), found {re.escape(str(shape))}\. .*{remedy}"
    ):
        check_label_matrix(np.zeros(shape), "Y", DataError, n_samples=20)
