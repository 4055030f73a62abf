"""A label is hidden together with all labels below it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.core.hierarchy import Hierarchy
from fairfold.datasets.generate import gene_ontology_like
from fairfold.errors import DataError
from fairfold.weak_labels import mask_labels, mask_positives
from fairfold.weak_labels.masking import hide_in_test_parts, hide_in_training_parts, n_hidden, observed_labels


@pytest.fixture(scope="module")
def ontology():
    _, Y, _, _, hierarchy = gene_ontology_like(400, 30, 2)
    return Y.toarray(), hierarchy


@pytest.mark.parametrize("rate", [0.3, 0.5, 0.95])
@pytest.mark.parametrize("mechanism", ["random", "sample"])
def test_as_many_are_hidden_as_what_is_below_allows(ontology, rate, mechanism):
    Y, hierarchy = ontology
    masked = mask_positives(Y, rate, mechanism=mechanism, hierarchy=hierarchy, random_state=1)
    assert hierarchy.n_violations(masked) == 0 and (masked <= Y).all()
    hidden, wanted = (Y - masked).sum(axis=0), n_hidden(Y.sum(axis=0), rate)
    kept_below = (masked @ hierarchy.ancestors) > 0  # a label below is still observed
    free = ((Y == 1) & ~kept_below).sum(axis=0)
    np.testing.assert_array_equal(hidden, np.minimum(wanted, free))
    leaves = np.diff(hierarchy.neighbors(below=True)[1]) == 0
    np.testing.assert_array_equal(hidden[leaves], wanted[leaves])
    assert (hidden < wanted).any() == (free < wanted).any()


def test_without_edges_it_is_as_without_a_hierarchy(ontology):
    alone = Hierarchy([], 30)
    masked = mask_positives(ontology[0], 0.4, hierarchy=alone, random_state=3)
    np.testing.assert_array_equal(masked, mask_positives(ontology[0], 0.4, random_state=3))


@pytest.mark.parametrize("wrong", [0.0, 0.2])
def test_sparse_labels_and_frames_give_the_same(ontology, wrong):
    Y, hierarchy = ontology
    options = {"hierarchy": hierarchy, "wrong_positives": wrong, "random_state": 5}
    dense = mask_positives(Y, 0.3, **options)
    np.testing.assert_array_equal(mask_positives(sparse.csr_array(Y), 0.3, **options).toarray(), dense)
    np.testing.assert_array_equal(mask_positives(pd.DataFrame(Y), 0.3, **options), dense)
    assert hierarchy.n_violations(dense) == 0
    assert (dense > Y).any() == (wrong > 0)


def test_confirmed_zeros_are_hidden_downwards(ontology):
    Y, hierarchy = ontology
    masked = mask_labels(Y, 0.5, negatives="confirmed", hierarchy=hierarchy, random_state=0)
    assert hierarchy.n_violations(masked) == 0
    assert not (np.isnan(masked[:, hierarchy.edges[:, 0]]) & (masked[:, hierarchy.edges[:, 1]] == 0)).any()
    zeros_hidden = (np.isnan(masked) & (Y == 0)).sum(axis=0)
    assert (zeros_hidden <= n_hidden((Y == 0).sum(axis=0), 0.5)).all() and zeros_hidden.sum() > 0


def test_the_parts_of_folds_keep_the_rule(ontology):
    Y, hierarchy = ontology
    fold_of, unit = np.arange(len(Y)) % 4, {"seed": 1, "names": ("d",), "hierarchy": hierarchy}
    for hide in (hide_in_training_parts, hide_in_test_parts):
        hidden = hide(Y, fold_of, 0.5, **unit)
        for fold in range(4):
            assert hierarchy.n_violations(observed_labels(Y, hidden, fold)) == 0
        assert len(hidden) < len(hide(Y, fold_of, 0.5, seed=1, names=("d",)))


def test_labels_that_break_the_rule_are_refused(ontology):
    Y, hierarchy = ontology
    broken = Y.copy()
    row = np.flatnonzero(Y[:, 1])[0]
    broken[row, 0] = 0
    with pytest.raises(DataError, match=f"Y, row {row}: label .* is positive, but not label 0 above it"):
        mask_positives(broken, 0.3, hierarchy=hierarchy)
    with pytest.raises(DataError, match="hierarchy: found 3 labels, but Y has 30"):
        mask_positives(Y, 0.3, hierarchy=Hierarchy([], 3))
