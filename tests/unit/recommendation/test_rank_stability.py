from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairfold.errors import DataError, ModelError
from fairfold.recommendation.rank_stability import rank_stability, repeat_study, stability_of

METRICS = ("roc_auc", "hamming_loss")
MEASURES = ["kendall_tau", "tau_same_folds", "tau_lost", "rank_sd", "share_split", "best_agreement", "best_same_folds"]


def ranks_of(*splits):
    """Return ranks (n_repeats, n_trainings, n_models) from orders such as "abc", worst to best."""
    models = sorted(splits[0][0])
    return np.array([[[order.index(model) + 1 for model in models] for order in split] for split in splits]) / 3


def table_of(values, *, dataset="flags", splitter="random", metrics=METRICS):
    """Return tidy scores from an array (n_repeats, n_trainings, n_models, n_folds). Losses are 1 − value."""
    rows = [
        (
            dataset,
            50,
            splitter,
            repeat,
            training,
            "abcdefgh"[model],
            fold,
            metric,
            1 - value if "loss" in metric else value,
        )
        for (repeat, training, model, fold), value in np.ndenumerate(values)
        for metric in metrics
    ]
    columns = ["dataset", "missing_rate", "splitter", "repeat", "training", "model", "fold", "metric", "value"]
    return pd.DataFrame(rows, columns=columns).assign(reason="")


def draw(rng, n_repeats, n_trainings=2, n_models=6, split=0.0, rest=1.0):
    """Return real-valued ranks: true means, an effect of each split on each model, and noise.

    ``split`` and ``rest`` are standard deviations.
    """
    means = np.arange(n_models)
    by_split = split * rng.normal(size=(n_repeats, 1, n_models))
    return means + by_split + rest * rng.normal(size=(n_repeats, n_trainings, n_models))


def test_methods_with_the_same_scores_count_as_one():
    values = draw(np.random.default_rng(0), 4)[..., np.newaxis]
    alone = rank_stability(table_of(values))
    twice = rank_stability(table_of(np.concatenate([values, values[:, :, 2:3]], axis=2)))
    assert alone.equals(twice) and (twice["n_models"] == 6).all()
    once = np.concatenate([values, values[:, :, 2:3]], axis=2)
    once[0, 0, -1] += 1e-6  # in one repetition only
    assert (rank_stability(table_of(once))["n_models"] == 7).all()
    other = table_of(once, dataset="birds")
    both = rank_stability(pd.concat([table_of(np.concatenate([values, values[:, :, 2:3]], axis=2)), other]))
    assert both["n_models"].tolist() == [6, 6, 7, 7]


def test_identical_repetitions_agree_wholly():
    found = stability_of(ranks_of(["abc", "abc"], ["abc", "abc"], ["abc", "abc"]))
    assert found["kendall_tau"] == found["tau_same_folds"] == found["best_agreement"] == found["best_same_folds"] == 1
    assert found["tau_lost"] == found["rank_sd"] == 0
    assert np.isnan(found["share_split"])


@pytest.mark.parametrize("n_models", [3, 7, 10])
def test_ranks_that_never_vary_have_no_variance_to_share(n_models):
    """The mean of equal ranks may differ from that rank in the last bit."""
    found = stability_of(np.tile(np.arange(1, n_models + 1) / n_models, (3, 3, 1)))
    assert found["rank_sd"] == 0
    assert np.isnan(found["share_split"])


def test_reversed_repetitions_disagree_wholly():
    found = stability_of(ranks_of(["abc", "abc"], ["cba", "cba"]))
    assert found["kendall_tau"] == -1
    assert found["tau_same_folds"] == found["share_split"] == 1
    assert found["tau_lost"] == 2
    # Two of three ranks move by 2/3 between two splits, with a variance of (2/3)²/2 each.
    assert found["rank_sd"] == pytest.approx(np.sqrt(2 / 3 * 2 / 9))
    assert (found["best_agreement"], found["best_same_folds"]) == (0, 1)


def test_what_only_trainings_change_is_not_the_splits():
    found = stability_of(ranks_of(["abc", "cba"], ["abc", "cba"]))
    assert found["kendall_tau"] == 0  # half of the pairs agree
    assert found["tau_same_folds"] == -1
    assert found["share_split"] == -1  # the minimum for two trainings
    assert (found["best_agreement"], found["best_same_folds"]) == (0.5, 0)


@pytest.mark.parametrize("n_values", [3, 100])
def test_tau_is_scipys_mean_over_pairs(n_values):
    """Three values produce many ties."""
    ranks = np.random.default_rng(n_values).integers(n_values, size=(4, 3, 6)).astype(float)
    different, same = [], []
    for (one, left), (two, right) in combinations([((i, s), ranks[i, s]) for i, s in np.ndindex(ranks.shape[:2])], 2):
        (same if one[0] == two[0] else different).append(stats.kendalltau(left, right).statistic)
    found = stability_of(ranks)
    assert found["kendall_tau"] == pytest.approx(np.mean(different), abs=1e-12)
    assert found["tau_same_folds"] == pytest.approx(np.mean(same), abs=1e-12)
    assert found["tau_lost"] == pytest.approx(np.mean(same) - np.mean(different), abs=1e-12)


def test_the_best_is_named_at_random_where_methods_tie():
    ranks = np.array([[[1.0, 3, 3], [3, 1, 1]], [[2, 2, 2], [1, 1, 3]]])
    found = stability_of(ranks)
    # The probabilities are (0, ½, ½), (1, 0, 0) on one split and (⅓, ⅓, ⅓), (0, 0, 1) on the other.
    assert found["best_agreement"] == pytest.approx(np.mean([1 / 3, 1 / 2, 1 / 3, 0]))
    assert found["best_same_folds"] == pytest.approx(np.mean([0, 1 / 3]))


def test_a_training_that_ties_all_agrees_with_none():
    ranks = np.array([[[1.0, 2, 3]], [[2, 2, 2]], [[1, 2, 3]]])
    assert stability_of(ranks)["kendall_tau"] == pytest.approx(1 / 3)  # 1, 0 and 0


def test_the_share_of_the_split_is_estimated_without_bias():
    """The variance parts are 1 and 4. The mean of 4,000 small studies is accurate to a few standard errors."""
    rng = np.random.default_rng(1)
    parts = []
    for _ in range(4000):
        found = stability_of(draw(rng, 3, split=1, rest=2))
        total = found["rank_sd"] ** 2
        parts.append((found["share_split"] * total, (1 - found["share_split"]) * total))
    errors = stats.sem(parts)
    assert (np.abs(np.mean(parts, axis=0) - (1, 4)) < 4 * errors).all()
    assert (errors < 0.05).all()


def test_the_share_of_a_large_study_is_near_the_truth():
    found = stability_of(draw(np.random.default_rng(2), 400, 3, split=3, rest=4))
    assert found["share_split"] == pytest.approx(9 / 25, abs=0.04)  # standard error about 0.7/√2400
    assert found["rank_sd"] == pytest.approx(5, rel=0.05)


def test_without_an_effect_of_the_split_nothing_is_lost():
    rng = np.random.default_rng(3)
    found = pd.DataFrame([stability_of(draw(rng, 4, split=0)) for _ in range(1000)])[["tau_lost", "share_split"]]
    assert (found.mean().abs() < 4 * found.sem()).all()


def test_intervals_hold_the_truth():
    """Coverage is at least 9 of 10 and not complete. The nominal 19 of 20 needs more than five splits."""
    rng, split, rest = np.random.default_rng(4), 1.0, 2.0
    truth = stability_of(draw(rng, 120, split=split, rest=rest))
    studies = [draw(rng, 5, split=split, rest=rest)[..., None] for _ in range(150)]
    tables = [table_of(values, dataset=str(number), metrics=["roc_auc"]) for number, values in enumerate(studies)]
    found = rank_stability(pd.concat(tables))
    names = (("kendall_tau", "tau"), ("tau_same_folds", "same_folds"), ("tau_lost", "lost"))
    held = np.transpose(
        [found[name + "_low"].le(truth[of]) & found[name + "_high"].ge(truth[of]) for of, name in names]
    )
    shares = np.mean(held, axis=0)
    assert (shares > 0.86).all()  # 0.91 less two standard errors of 150 draws
    assert (shares < 1).any()


def test_intervals_are_the_jackknife_over_splits():
    values = draw(np.random.default_rng(5), 4)
    row = rank_stability(table_of(values[..., None], metrics=["roc_auc"])).iloc[0]
    ranks = values.argsort(axis=2).argsort(axis=2)
    without = [stability_of(np.delete(ranks, repeat, axis=0))["tau_lost"] for repeat in range(4)]
    error = np.sqrt(3 / 4 * np.sum((without - np.mean(without)) ** 2))
    assert row["lost_high"] - row["tau_lost"] == pytest.approx(stats.t.ppf(0.975, 3) * error)
    assert row["tau_lost"] - row["lost_low"] == pytest.approx(stats.t.ppf(0.975, 3) * error)


def test_a_row_per_cell_with_ranks_within_folds():
    rng = np.random.default_rng(6)
    values = {
        (dataset, splitter): rng.random((3, 2, 4, 5)) for dataset in ("yeast", "flags") for splitter in ("SS", "IS")
    }
    values["yeast", "SS"][0, 0, 0, 0] += 100  # ranks ignore the size of a difference
    table = pd.concat([table_of(part, dataset=d, splitter=s) for (d, s), part in values.items()])
    found = rank_stability(table)
    assert list(found) == [
        *("dataset", "missing_rate", "metric", "splitter", "n_repeats", "n_trainings", "n_models"),
        *("kendall_tau", "tau_low", "tau_high", "tau_same_folds", "same_folds_low", "same_folds_high"),
        *("tau_lost", "lost_low", "lost_high", "rank_sd", "share_split", "best_agreement", "best_same_folds"),
        *("n_failed", "reason"),
    ]
    assert list(found["dataset"].unique()) == ["yeast", "flags"]
    assert (found[["missing_rate", "n_repeats", "n_trainings", "n_models"]] == [50, 3, 2, 4]).all(axis=None)
    cells = found.set_index(["dataset", "splitter", "metric"])
    assert len(cells) == 8
    for (dataset, splitter), part in values.items():
        ranks = ((part.argsort(axis=2).argsort(axis=2) + 1) / 4).mean(axis=3)
        for metric in METRICS:  # a loss ranks like its score
            expected = pd.Series(stability_of(ranks))
            pd.testing.assert_series_equal(
                cells.loc[dataset, splitter, metric][MEASURES].astype(float), expected, check_names=False
            )


def test_equal_means_of_ranks_tie():
    """Sums of the same numbers in another order differ in the last digit, which must not rank methods."""
    equal = [0.3, 0.1 + 0.2]
    assert equal[0] != equal[1]
    found = stability_of(np.array([[equal, equal], [equal, equal]]))
    assert found["kendall_tau"] == found["tau_same_folds"] == found["rank_sd"] == 0
    assert found["best_agreement"] == 0.5
    found = stability_of(np.array([[equal, equal], [equal[::-1], equal[::-1]]]))
    assert (found["rank_sd"], found["kendall_tau"]) == (0, 0)
    assert np.isnan(found["share_split"])


def test_a_split_without_all_ranks_is_left_out():
    values = np.random.default_rng(7).random((4, 2, 3, 2))
    table = table_of(values)
    gone = (table["repeat"] == 1) & (table["training"] == 0) & (table["model"] == "b")
    table.loc[gone, "value"] = np.nan
    others = table[table["repeat"] != 1]
    pd.testing.assert_frame_equal(rank_stability(table), rank_stability(others))
    assert (rank_stability(table)["n_repeats"] == 3).all()


def test_what_failed_is_counted_with_its_reason():
    table = pd.concat([table_of(np.random.default_rng(7).random((4, 2, 3, 2)), splitter=name) for name in ("IS", "SS")])
    gone = (table["splitter"] == "SS") & (table["repeat"] == 1) & (table["model"] == "b")
    table.loc[gone, ["value", "reason"]] = [np.nan, "NaN in level 1."]
    found = rank_stability(table).set_index(["splitter", "metric"])
    assert found[["n_failed", "reason"]].to_dict("index") == {
        (name, metric): {"n_failed": n_failed, "reason": reason}
        for name, n_failed, reason in (("IS", 0, ""), ("SS", 4, "b: NaN in level 1."))
        for metric in METRICS
    }


def test_a_method_that_never_ran_leaves_no_values():
    table = table_of(np.random.default_rng(8).random((3, 2, 3, 2)))
    table.loc[table["model"] == "c", "value"] = np.nan
    found = rank_stability(table)
    assert (found["n_repeats"] == 0).all()
    assert found[MEASURES].isna().all(axis=None)


def test_what_needs_more_repetitions_is_undefined():
    def undefined(*shape):
        row = rank_stability(table_of(np.random.default_rng(9).random((*shape, 1)))).iloc[0]
        return {name for name in row.index if pd.isna(row[name])}

    intervals = {f"{name}_{end}" for name in ("tau", "same_folds", "lost") for end in ("low", "high")}
    assert undefined(3, 2, 4) == set()
    assert undefined(2, 2, 4) == intervals
    assert undefined(1, 2, 4) == intervals | {"kendall_tau", "tau_lost", "rank_sd", "share_split", "best_agreement"}
    alone = {"tau_same_folds", "tau_lost", "rank_sd", "share_split", "best_same_folds"}
    assert undefined(3, 1, 4) == (intervals - {"tau_low", "tau_high"}) | alone
    assert undefined(3, 2, 1) == intervals | {"kendall_tau", "tau_same_folds", "tau_lost", "share_split"}


def test_a_missing_column_is_named():
    with pytest.raises(DataError, match="no column 'training'"):
        rank_stability(table_of(np.ones((2, 2, 2, 2))).drop(columns="training"))


class Recorder:
    """Estimator that predicts the mean of its training labels and records its inputs."""

    best_levels_ = dict.fromkeys(("roc_auc", "average_precision", "hamming_loss", "ranking_loss", "mcc"), 1)

    def __init__(self, calls, *names):
        self.calls, self.names = calls, names

    def fit(self, X, Y, first_level=None):
        if self.names[0] == "fails":
            raise ModelError("no.")
        self.calls.append((self.names, X[:, 0].tolist(), Y.tolist(), first_level))
        self.levels_ = [self.names]
        self.mean = Y.mean(axis=0)
        return self

    def staged_predict_proba(self, X):
        yield np.ones((len(X), len(self.mean)))
        yield np.tile(self.mean, (len(X), 1))


@pytest.fixture
def study():
    """Return four rows, two splits, and models of two variants. Only the second split is used."""
    calls, X, Y = [], np.arange(4.0)[:, None], np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    table = repeat_study(
        lambda *names: Recorder(calls, *names),
        {"one": "text", "two": "text", "three": "code", "fails": "text", "alone": None},
        *(X, Y, np.array([[0, 0, 1, 1], [0, 1, 1, 0]])),
        hide=lambda fold_of, repeat, training: np.array([*fold_of, repeat, training]),
        observed=lambda hidden, fold: Y * 100 + hidden[-1] * 10 + fold,
        make_first=lambda *names: Recorder(calls, "first", *names),
        repeats=[1],
        n_trainings=2,
    )
    return table, calls


def test_models_share_a_first_level_by_its_name(study):
    _, calls = study
    grown = [names for names, *_ in calls if names[0] == "first"]
    expected = {("first", name, 1, training, fold) for name in ("text", "code") for training, fold in np.ndindex(2, 2)}
    assert len(grown) == len(expected) and set(grown) == expected
    shared = {"one": "text", "two": "text", "three": "code"}
    for names, _, _, first_level in calls:
        assert first_level == (("first", shared[names[0]], *names[1:]) if names[0] in shared else None)


def test_models_train_on_what_may_be_seen(study):
    _, calls = study
    for (*_, repeat, training, fold), rows, labels, _ in calls:
        assert repeat == 1
        assert rows == ([1, 2] if fold == 0 else [0, 3])
        truth = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])[np.array(rows, dtype=int)]
        assert labels == (truth * 100 + training * 10 + fold).tolist()


def test_only_final_scores_are_kept(study):
    table, _ = study
    assert list(table) == ["repeat", "training", "model", "fold", "metric", "value", "reason"]
    cells = ["repeat", "training", "model", "fold", "metric"]
    assert not table.duplicated(cells).any()
    assert len(table) == 2 * 5 * 2 * 5
    assert set(table.loc[table["model"] == "fails", "reason"]) == {"no."}
    assert table["value"].isna().equals(table["model"] == "fails")
