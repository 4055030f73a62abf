import pytest

from fairfold.errors import ConfigError, DataError, ModelError, SplitError, StudyError, unknown_name


def test_near_names_are_suggested():
    assert unknown_name("dataset", "yaest", ["yeast", "enron", "scene"]) == (
        "unknown dataset 'yaest': did you mean 'yeast'?"
    )


def test_suggestion_ignores_case():
    assert "did you mean 'VirusGO'?" in unknown_name("dataset", "virusgo", ["VirusGO", "yeast"])
    assert "did you mean 'yeast'?" in unknown_name("dataset", "YEAST", ["VirusGO", "yeast"])


def test_one_very_near_name_stands_alone_and_vague_ones_together():
    assert unknown_name("key", "n_split", ["n_splits", "splits"]).endswith("did you mean 'n_splits'?")
    assert unknown_name("key", "label", ["labels_1", "labels_2"]).endswith("did you mean 'labels_2' or 'labels_1'?")


def test_all_names_are_listed_when_none_is_near():
    assert unknown_name("metric", "zzz", ["mcc", "auc"]) == "unknown metric 'zzz': known are auc, mcc."


@pytest.mark.parametrize("error", [ConfigError, DataError, SplitError, ModelError])
def test_every_error_is_a_study_error(error):
    assert issubclass(error, StudyError)


@pytest.mark.parametrize("error", [SplitError, ModelError])
def test_scikit_learn_users_can_catch_value_errors(error):
    assert issubclass(error, ValueError)
