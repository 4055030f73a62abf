import pytest

from fairfold.errors import SplitError
from fairfold.splitting import IterativeStratification, OptiSplit, RandomSplit
from fairfold.splitting.methods import METHOD_NAMES, make_splitter


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_every_name_makes_a_splitter(name):
    splitter = make_splitter(name, 3, random_state=5)
    assert (splitter.n_splits, splitter.random_state) == (3, 5)


def test_names_stand_for_the_published_methods():
    assert isinstance(make_splitter("random"), RandomSplit)
    assert isinstance(make_splitter("OptiSplit-DCP"), OptiSplit)
    assert make_splitter("OptiSplit-DCP").objective == "dcp"
    assert make_splitter("SOIS").order == 2
    assert make_splitter("IS-first-seen").label_order == "first-seen"
    assert isinstance(make_splitter("annealed"), IterativeStratification)
    assert make_splitter("annealed").refine == "anneal"


def test_unknown_name():
    with pytest.raises(SplitError, match="unknown splitter 'SIOS': did you mean"):
        make_splitter("SIOS")
