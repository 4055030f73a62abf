import pytest

from fairfold.errors import ModelError
from fairfold.forests import MODEL_NAMES, make_model


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_defaults_are_the_papers(name):
    parameters = make_model(name).get_params()
    assert (parameters["n_trees"], parameters["min_samples_leaf"]) == (150, 5)
    assert (parameters["percentile"], parameters["threshold"]) == (0.95, 0.5)


def test_only_cascades_have_levels():
    assert make_model("RF+ET", max_levels=10).max_levels == 0
    assert make_model("SLCForest").max_levels == 10
    assert make_model("SLCForest").imputation == "slc"


def test_unknown_model():
    with pytest.raises(ModelError, match="unknown model 'SLC-Forest': did you mean 'SLCForest'"):
        make_model("SLC-Forest")
