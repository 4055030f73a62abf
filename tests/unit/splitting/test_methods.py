import numpy as np
import pytest

from fairfold.errors import SplitError
from fairfold.splitting import IterativeStratification, OptiSplit, RandomSplit
from fairfold.splitting.methods import METHOD_NAMES, folds_by, make_splitter, repeated_splits, spec_of


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_every_name_makes_a_splitter(name):
    splitter = make_splitter(name, 3, random_state=5)
    assert (splitter.n_splits, splitter.random_state) == (3, 5)
    assert make_splitter(name, random_state=0).random_state == 0  # 0 is a valid seed
    assert make_splitter(name).random_state is None


def test_names_stand_for_the_published_methods():
    assert isinstance(make_splitter("random"), RandomSplit)
    assert isinstance(make_splitter("OptiSplit-DCP"), OptiSplit)
    assert make_splitter("OptiSplit-DCP").objective == "dcp"
    assert make_splitter("OptiSplit-rLD").objective == "rld"
    assert make_splitter("SOIS").order == 2
    assert make_splitter("IS-first-seen").label_order == "first-seen"
    pairs = make_splitter("SOIS-first-seen")
    assert (pairs.order, pairs.label_order) == (2, "first-seen")
    plain = make_splitter("IS")
    assert (plain.order, plain.label_order, plain.refine) == (1, "rarest", None)
    assert isinstance(make_splitter("annealed"), IterativeStratification)
    assert make_splitter("annealed").refine == "anneal"


def test_a_method_as_a_function():
    Y = np.random.default_rng(0).integers(0, 2, (40, 3))
    folds = folds_by("IS", 4)(Y, 9)
    np.testing.assert_array_equal(folds, IterativeStratification(4, random_state=9).assign(Y))


def test_unknown_name():
    with pytest.raises(SplitError, match="unknown splitter 'SIOS': did you mean"):
        make_splitter("SIOS")


@pytest.mark.filterwarnings("ignore::fairfold.errors.UnevenFoldsWarning")
@pytest.mark.parametrize("name", [name for name in METHOD_NAMES if not spec_of(name).compares_features])
@pytest.mark.parametrize(("sizes", "n_folds"), [([30, 20, 8], 3), ([30, 20], 2), ([28, 26, 20, 12, 4], 5)])
def test_a_study_has_no_more_folds_than_groups(name, sizes, n_folds):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    Y = (np.random.default_rng(0).random((len(groups), 3)) < 0.4).astype(int)
    folds, _ = repeated_splits(name, Y, 5, 2, seed=0, names=("folds",), groups=groups)
    for fold_of in folds:
        assert sorted(np.bincount(fold_of)) == sorted(sizes)
        assert fold_of.max() == n_folds - 1
