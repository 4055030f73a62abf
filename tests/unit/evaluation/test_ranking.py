import numpy as np
import pandas as pd
import pytest

from fairfold.errors import DataError
from fairfold.evaluation.ranking import percentile_ranks


def table(values, metric="mcc", dataset="flags", rate=0):
    """values[fold][model]"""
    return pd.DataFrame(
        [
            {"dataset": dataset, "missing_rate": rate, "fold": f, "model": m, "metric": metric, "value": v}
            for f, row in enumerate(values)
            for m, v in zip("zab", row, strict=False)
        ]
    )


def ranks_of(result, **where):
    for column, value in where.items():
        result = result[result[column] == value]
    return dict(zip(result["model"], result["percentile_rank"], strict=True))


def test_ranked_within_folds_then_averaged():
    result = percentile_ranks(table([[0.9, 0.5, 0.1], [0.2, 0.8, 0.4]]))
    assert ranks_of(result) == pytest.approx({"z": (3 + 1) / 6, "a": (2 + 3) / 6, "b": (1 + 2) / 6})
    assert result["n_repeats"].tolist() == [2, 2, 2]
    assert result["model"].tolist() == ["z", "a", "b"]  # order of first appearance


def test_less_is_better_for_losses():
    assert ranks_of(percentile_ranks(table([[0.1, 0.2]], metric="hamming_loss"))) == {"z": 1.0, "a": 0.5}


def test_ties_share_the_mean_rank():
    assert ranks_of(percentile_ranks(table([[0.5, 0.5, 0.1]]))) == {"z": 2.5 / 3, "a": 2.5 / 3, "b": 1 / 3}


def test_incomplete_folds_are_left_out_and_counted():
    result = percentile_ranks(table([[0.9, np.nan], [0.1, 0.2]]))
    assert ranks_of(result) == {"z": 0.5, "a": 1.0}
    assert result["n_repeats"].unique().tolist() == [1]


def test_a_dataset_without_complete_fold_is_no_gap():
    scores = pd.concat([table([[0.9, np.nan]], dataset="yeast"), table([[0.1, 0.2]])])
    result = percentile_ranks(scores)
    assert np.isnan(list(ranks_of(result, dataset="yeast").values())).all()
    assert ranks_of(result, dataset="flags") == {"z": 0.5, "a": 1.0}
    assert result["dataset"].unique().tolist() == ["yeast", "flags"]


def test_units_do_not_mix():
    scores = pd.concat([table([[0, 1]]), table([[1, 0]], rate=50), table([[1, 0]], metric="roc_auc")])
    result = percentile_ranks(scores)
    assert ranks_of(result, missing_rate=0, metric="mcc") == {"z": 0.5, "a": 1.0}
    assert ranks_of(result, missing_rate=50) == {"z": 1.0, "a": 0.5}
    assert ranks_of(result, metric="roc_auc") == {"z": 1.0, "a": 0.5}


def test_bad_tables():
    scores = table([[0, 1]])
    with pytest.raises(DataError, match="no column 'fold'"):
        percentile_ranks(scores.drop(columns="fold"))
    with pytest.raises(DataError, match="unknown metric 'f1'"):
        percentile_ranks(scores.assign(metric="f1"))
    with pytest.raises(DataError, match="two scores"):
        percentile_ranks(pd.concat([scores, scores]))
