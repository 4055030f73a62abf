"""Labels at the door: what is 0/1 passes as it is, all else is one sentence that says what to do."""

import datetime
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from fairfold.errors import DataError, ModelError, SplitError
from fairfold.evaluation.scores import multilabel_scores
from fairfold.forests import make_model
from fairfold.splitting import RandomSplit
from fairfold.splitting.measures import label_distribution
from fairfold.validation import check_binary, check_dense_binary
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
    "binarised": MultiLabelBinarizer().fit_transform(NAMES),
}
BINARISE = "give one column of 0/1 per label, as scikit-learn's MultiLabelBinarizer makes of lists of labels."
DROP = "drop or impute samples with missing labels."


def with_one(value, kind=object):
    changed = Y.astype(kind)
    changed[2, 1] = value
    return changed


WRONG = {
    "lists of labels": (NAMES, f"lacks rows of equal length: {BINARISE}"),
    "lists of numbers": ([[1, 2], [3]] * 10, f"lacks rows of equal length: {BINARISE}"),
    "lists of as many": ([["sea", "sky"]] * 20, f"holds 'sea' in row 0, column 0, but labels are 0 or 1: {BINARISE}"),
    "sets": ([{"sea"}, {"sky"}] * 10, f"holds {{'sea'}} in row 0, but labels are 0 or 1: {BINARISE}"),
    "series of lists": (pd.Series(NAMES), f"holds ['sea'] in row 0, but labels are 0 or 1: {BINARISE}"),
    "words": (np.where(Y, "yes", "no"), f"holds 'yes' in row 0, column 0, but labels are 0 or 1: {BINARISE}"),
    "digits as text": (Y.astype(str), f"holds '1' in row 0, column 0, but labels are 0 or 1: {BINARISE}"),
    "one word each": (["yes", "no"] * 10, f"holds 'yes' in row 0, but labels are 0 or 1: {BINARISE}"),
    "a word among numbers": (with_one("?"), f"holds '?' in row 2, column 1, but labels are 0 or 1: {BINARISE}"),
    "categories": (FRAME.astype("string").astype("category"), f"holds '1' in row 0, column 0, but .*: {BINARISE}"),
    "dates": (np.full((20, 2), "2020-01-01", "M8[D]"), f"holds {datetime.date(2020, 1, 1)!r} in row 0, .*: {BINARISE}"),
    "complex": (Y * 1j, f"holds 1j in row 0, column 0, but labels are 0 or 1: {BINARISE}"),
    "two": (with_one(2, int), f"holds 2 in row 2, column 1, but labels are 0 or 1: {BINARISE}"),
    "two, sparse": (sparse.coo_array(with_one(2, int)), f"holds 2 in row 2, column 1, but .*: {BINARISE}"),
    "a half": (with_one(0.5, float), f"holds 0.5 in row 2, column 1, but labels are 0 or 1: {BINARISE}"),
    "NaN": (with_one(np.nan, float), f"holds nan in row 2, column 1, but labels are 0 or 1: {DROP}"),
    "NaN, sparse": (sparse.csr_array(with_one(np.nan, float)), f"holds nan in row 2, column 1, but .*: {DROP}"),
    "None": (with_one(None), f"holds None in row 2, column 1, but labels are 0 or 1: {DROP}"),
    "NA": (pd.DataFrame(with_one(pd.NA)).astype("Int64"), f"holds <NA> in row 2, column 1, but .*: {DROP}"),
    "masked": (np.ma.masked_array(Y, np.arange(40).reshape(20, 2) == 5), f"holds None in row 2, column 1, .*: {DROP}"),
    "a set": ({"sea", 1}, f"is {{.*}}, not of shape (n_samples, n_labels): {BINARISE}"),
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
    pattern = r"\w+ " + re.escape(sentence).replace(r"\.\*", ".*")
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
        DataError, match=r"Y has 1 dimension\(s\); it must be a matrix of shape \(n_samples, n_labels\)"
    ):
        check_binary(sparse.coo_array(Y[:, 0]), "Y", DataError)


def test_entries_stored_in_parts_are_judged_in_parts_and_in_sum():
    def stored(*parts):
        return sparse.csr_array((np.array(parts), [1, 1], [0, 2]), shape=(1, 2))

    assert check_binary(stored(1, 0), "Y", DataError).toarray().tolist() == [[0, 1]]
    for parts in ((1, 1), (2, -1)):
        with pytest.raises(DataError, match="holds 2 in row 0, column 1"):
            check_binary(stored(*parts), "Y", DataError)
