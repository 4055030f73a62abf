import numpy as np
import pytest
from scipy import sparse

from fairfold.core.arrays import finite_rows
from fairfold.errors import DataError
from fairfold.evaluation.final_predictions import FinalPredictions
from fairfold.evaluation.metrics import BASIC_METRICS

FOLD_OF = np.array([0, 1, 0, 1, -1])
LEVELS = {0: dict.fromkeys(BASIC_METRICS, 2) | {"mcc": 0}, 1: dict.fromkeys(BASIC_METRICS, 1)}


@pytest.fixture
def stages():
    """Probabilities after three levels of two folds."""
    random = np.random.default_rng(0)
    return {fold: {level: random.random((2, 3)) for level in range(3)} for fold in (0, 1)}


def test_each_metric_has_its_level_of_each_fold(stages, tmp_path):
    found = FinalPredictions.of_folds(stages, LEVELS, FOLD_OF, 3)
    found.save(tmp_path / "predictions.npz")
    for predictions in (found, FinalPredictions.load(tmp_path / "predictions.npz")):
        for metric in BASIC_METRICS:
            expected = np.full((5, 3), np.nan)
            expected[[0, 2]] = stages[0][LEVELS[0][metric]]
            expected[[1, 3]] = stages[1][1]
            np.testing.assert_array_equal(predictions.by(metric), expected)
    assert found.probabilities.shape == (2, 5, 3)  # no more than are needed


def test_a_fold_that_failed_has_none(stages):
    found = FinalPredictions.of_folds({0: stages[0]}, {0: LEVELS[0]}, FOLD_OF, 3)
    assert np.isnan(found.by("mcc")).all(axis=1).tolist() == [False, True, False, True, True]
    assert np.isnan(FinalPredictions.of_folds({}, {}, FOLD_OF, 3).by("mcc")).all()


def test_unknown_metrics_are_refused(stages):
    with pytest.raises(DataError, match="unknown metric 'gini'"):
        FinalPredictions.of_folds(stages, LEVELS, FOLD_OF, 3).by("gini")


def test_folds_of_several_splits_follow_each_other(stages, tmp_path):
    splits = np.array([[0, 1, 0, 1], [1, 1, 0, 0]])
    stages |= {2: {0: np.full((2, 3), 0.25)}}  # fold 3, the second one's last, failed
    levels = {**LEVELS, 2: dict.fromkeys(BASIC_METRICS, 0)}
    FinalPredictions.of_folds(stages, levels, splits, 3).save(tmp_path / "predictions.npz")
    found = FinalPredictions.load(tmp_path / "predictions.npz")
    for metric in BASIC_METRICS:
        for fold in range(3):
            np.testing.assert_array_equal(found.in_fold(metric, fold), stages[fold][levels[fold][metric]])
        assert np.isnan(found.in_fold(metric, 3)).all()
        first = FinalPredictions.of_folds(stages, LEVELS, splits[0], 3).by(metric)
        np.testing.assert_allclose(found.by(metric), [*first[:2], *(first[2:] + 0.25) / 2])


def test_sparse_predictions_stay_sparse_and_are_those_of_the_array(stages, tmp_path):
    """One split, several, and such of which a fold failed; what is not known is one NaN of the row."""
    splits = np.array([[0, 1, 0, 1, -1], [1, 1, 0, 0, -1]])
    stages = {fold: {level: np.where(P < 0.4, 0, P) for level, P in of.items()} for fold, of in stages.items()}
    stages |= {2: {0: np.full((2, 3), 0.25)}}
    levels = {**LEVELS, 2: dict.fromkeys(BASIC_METRICS, 0)}
    for fold_of, folds in ((FOLD_OF, (0, 1)), (FOLD_OF, (0,)), (splits, (0, 1, 2)), (splits, (0, 2))):
        kept = {fold: levels[fold] for fold in folds}
        thin = {fold: {level: sparse.csr_array(P) for level, P in stages[fold].items()} for fold in folds}
        FinalPredictions.of_folds(thin, kept, fold_of, 3).save(tmp_path / "predictions.npz")
        found, dense = (
            FinalPredictions.load(tmp_path / "predictions.npz"),
            FinalPredictions.of_folds(stages, kept, fold_of, 3),
        )
        assert sparse.issparse(found.probabilities)
        for metric in BASIC_METRICS:
            pairs = [(found.by(metric), dense.by(metric))]
            pairs += [(found.in_fold(metric, fold), dense.in_fold(metric, fold)) for fold in folds]
            for thin_P, P in pairs:
                assert sparse.issparse(thin_P)
                known = finite_rows(P)
                np.testing.assert_array_equal(finite_rows(thin_P), known)
                np.testing.assert_allclose(thin_P.toarray()[known], P[known])


def test_one_split_is_the_same_in_either_form(stages):
    found = FinalPredictions.of_folds(stages, LEVELS, FOLD_OF[np.newaxis], 3)
    for array, expected in zip(found, FinalPredictions.of_folds(stages, LEVELS, FOLD_OF, 3), strict=True):
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_digest_is_that_of_equal_predictions_alone(convert):
    P, kept = np.random.default_rng(0).random((5, 3)), np.zeros((2, 2), dtype=np.int8)
    P[4] = np.nan

    def digest(P, kept=kept):
        return FinalPredictions(P[np.newaxis] if convert is np.asarray else convert(P), kept, FOLD_OF).digest()

    assert digest(P) == digest(P.copy())
    nearly = np.where(P[0, 0] == P, np.nextafter(P, 1), P)
    assert len({digest(P), digest(nearly), digest(P[::-1]), digest(P, kept + 1)}) == 4
