"""Variants that restore the row order of the labels."""

import numpy as np
import pytest

from fairfold.datasets import load_catalog, prepare
from fairfold.errors import DataError


def of(label_rows):
    stanza = {"of": "simulated-multilabel", "label_rows": label_rows}
    return prepare("mine", catalog=load_catalog().with_variants({"mine": stanza}))


def test_rows_of_labels_are_reordered():
    plain, mine = prepare("simulated-multilabel"), of([[10, 600], [10, 0]])
    assert np.array_equal(mine.X, plain.X)
    assert np.array_equal(mine.Y, np.vstack([plain.Y[10:], plain.Y[:10][::-1]]))


def test_every_row_must_occur_once():
    with pytest.raises(DataError, match="label_rows has 600 rows, 599 of them different"):
        of([[0, 599], [0, 1]])
