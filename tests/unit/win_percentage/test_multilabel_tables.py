import numpy as np
import pandas as pd
import pytest

from fairfold.win_percentage import null_interval, permutation_interval, permutation_p_values, win_percentage
from fairfold.win_percentage.multilabel_tables import multilabel_win_tables
from fairfold.win_percentage.win import draws_grid

MODELS = ["RF+ET", "gcForest", "SLCForest+"]  # not in alphabetical order


def evaluated(*performances, dataset="plants", metric="mcc"):
    """Return a tidy table of (n_sets, n_models) performances, the original order of the labels first."""
    tables = []
    for permutation, values in enumerate(performances):
        models = MODELS[: np.shape(values)[1]]
        rows = pd.MultiIndex.from_product([range(len(values)), models], names=["set", "model"]).to_frame(index=False)
        tables.append(rows.assign(permutation=permutation, performance=np.ravel(values)))
    return pd.concat(tables).assign(dataset=dataset, metric=metric, missing_rate=50, reason="")


def of_winners(performances, draws):
    top = performances.max(axis=1)
    return win_percentage(top, performances == top[:, None], draws)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_a_model_that_is_best_on_few_sets_takes_over():
    """The third model is the best on 5 sets of 100, and these sets have the best performance of all."""
    performances = np.tile([0.2, 0.1, 0.1], (100, 1))
    performances[:, 0] += np.arange(100) / 1000
    performances[::20, 2] = 0.9 + np.arange(5) / 100
    wins = multilabel_win_tables(evaluated(performances))["wins"]
    curves = wins.pivot(index="n_draws", columns="model", values="win_percentage")
    assert curves.index.min() == 1
    assert curves.index.max() == 100
    np.testing.assert_allclose(curves.loc[1, ["RF+ET", "SLCForest+"]], [0.95, 0.05], rtol=1e-12)
    np.testing.assert_allclose(curves.loc[100, "SLCForest+"], 1 - 0.95**100, rtol=1e-12)
    assert (np.diff(curves["SLCForest+"]) > 0).all()
    assert (curves["gcForest"] == 0).all()


def test_columns_and_the_band_of_equal_models(rng):
    table = pd.concat([evaluated(rng.random((30, 3)), metric=metric) for metric in ("average_precision", "mcc")])
    tables = multilabel_win_tables(table, alpha=0.1)
    assert set(tables) == {"wins", "sets"}
    wins = tables["wins"]
    assert wins.columns.tolist() == [
        *("dataset", "metric", "missing_rate", "n_draws", "model", "win_percentage", "null_lower", "null_upper"),
        *("permuted_lower", "permuted_upper", "n_sets", "n_permutations"),
    ]
    assert len(wins) == 2 * 3 * len(draws_grid(30))
    assert wins["model"].unique().tolist() == MODELS
    assert wins[["permuted_lower", "permuted_upper"]].isna().all(axis=None)
    assert (wins["n_sets"] == 30).all()
    assert (wins["n_permutations"] == 0).all()
    low, high = null_interval(30, wins["n_draws"], 3, alpha=0.1)
    np.testing.assert_array_equal(wins[["null_lower", "null_upper"]], np.column_stack([low, high]))


def test_summary_of_sets_shares_ties(rng):
    performances = rng.random((10, 3))
    performances[:4, :2] = 2
    summary = multilabel_win_tables(evaluated(performances))["sets"].set_index("model").loc[MODELS]
    np.testing.assert_allclose(summary["mean"], performances.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(summary["standard_deviation"], performances.std(axis=0, ddof=1), rtol=1e-12)
    np.testing.assert_array_equal(summary["best"], performances.max(axis=0))
    rest = np.bincount(performances[4:].argmax(axis=1), minlength=3)
    np.testing.assert_allclose(summary["share_of_wins"], (rest + np.array([2, 2, 0])) / 10, rtol=1e-12)
    assert (summary["n_sets"] == 10).all()
    assert (summary["n_failed"] == 0).all()
    assert (summary["reason"] == "").all()


def test_performances_that_differ_by_rounding_share_the_win():
    summary = multilabel_win_tables(evaluated([[0.1 + 0.2, 0.3, 0.1], [0.5, 0.1, 0.2]]))["sets"].set_index("model")
    assert summary["share_of_wins"].to_dict() == {"RF+ET": 0.75, "gcForest": 0.25, "SLCForest+": 0}


def test_permutations_of_all_sets_stand_beside_the_whole(rng):
    own, *permuted = rng.random((122, 12, 3))  # three models need at least 119
    tables = multilabel_win_tables(evaluated(own, *permuted))
    draws = draws_grid(12)
    chance = np.stack([of_winners(each, draws) for each in permuted])
    low, high = permutation_interval(chance)
    wins = tables["wins"]
    assert (wins["n_permutations"] == 121).all()
    np.testing.assert_array_equal(wins["permuted_lower"], low.ravel())
    np.testing.assert_array_equal(wins["permuted_upper"], high.ravel())
    p = permutation_p_values(of_winners(own, draws), chance)
    np.testing.assert_array_equal(tables["permutations"]["p_value"], p.ravel())
    outside = (wins["win_percentage"] < wins["permuted_lower"]) | (wins["win_percentage"] > wins["permuted_upper"])
    assert (p.ravel()[outside] <= 0.05).all()


def test_too_few_permutations_give_the_range(rng):
    own, *permuted = rng.random((119, 12, 3))
    wins = multilabel_win_tables(evaluated(own, *permuted))["wins"]
    chance = np.stack([of_winners(each, draws_grid(12)) for each in permuted])
    np.testing.assert_array_equal(wins["permuted_lower"], chance.min(axis=0).ravel())
    np.testing.assert_array_equal(wins["permuted_upper"], chance.max(axis=0).ravel())


def test_permutations_of_fewer_sets_are_compared_on_these_only(rng):
    own, permuted = rng.random((20, 3)), rng.random((9, 6, 3))
    tables = multilabel_win_tables(evaluated(own, *permuted))
    wins, compared = tables["wins"], tables["permutations"]
    assert wins[["permuted_lower", "permuted_upper"]].isna().all(axis=None)
    assert (wins["n_permutations"] == 0).all()
    assert (wins["n_sets"] == 20).all()
    draws = draws_grid(6)
    np.testing.assert_array_equal(compared["n_draws"].unique(), draws)
    np.testing.assert_array_equal(compared["win_percentage"], of_winners(own[:6], draws).ravel())
    chance = np.stack([of_winners(each, draws) for each in permuted])
    np.testing.assert_array_equal(compared["permuted_upper"], chance.max(axis=0).ravel())
    assert (compared["n_sets"] == 6).all()
    assert (compared["n_permutations"] == 9).all()


def test_order_of_rows_does_not_matter(rng):
    table = evaluated(*rng.random((5, 7, 3)))
    own = multilabel_win_tables(table)
    mixed = multilabel_win_tables(table.sample(frac=1, random_state=1).sort_values("model", key=MODELS_KEY))
    for name, expected in own.items():
        pd.testing.assert_frame_equal(mixed[name], expected)


def MODELS_KEY(names):
    return names.map(MODELS.index)


def test_exchangeable_models_stay_in_the_range_of_permutations():
    """At least one of c models leaves the range of n permutations with probability at most 2 c / (n + 1), here 6 / 20.

    Each label order has its own effect on the models, which more sets do not average out. With a chance below 0.001
    (binomial at 0.3), more than 29 of 60 studies leave the range, at each N.
    """
    rng = np.random.default_rng(5)
    left = []
    for _ in range(60):
        effects = 0.3 * rng.normal(size=(20, 1, 3))
        table = multilabel_win_tables(evaluated(*(effects + rng.normal(size=(20, 15, 3)))))["permutations"]
        outside = (table["win_percentage"] < table["permuted_lower"]) | (
            table["win_percentage"] > table["permuted_upper"]
        )
        left.append(outside.groupby(table["n_draws"]).any().to_numpy())
    left = np.sum(left, axis=0)
    assert (left <= 29).all()
    assert left.max() > 5  # the range is no wider than necessary


def test_a_model_that_fails_on_a_set_has_lost_there(rng):
    """Its other sets count unchanged. If all models fail, they share the set."""
    own, permuted = rng.random((8, 3)), rng.random((8, 3))
    table = evaluated(own, permuted)
    failed = np.zeros((2, 8, 3), dtype=bool)
    failed[0, 2, 1] = failed[0, 5] = failed[1, 4, 1] = True
    table.loc[failed.ravel(), ["performance", "reason"]] = np.nan, "NaN."
    lost = np.where(failed, -9, [own, permuted])
    tables = multilabel_win_tables(table)
    np.testing.assert_array_equal(tables["wins"]["win_percentage"], of_winners(lost[0], draws_grid(8)).ravel())
    np.testing.assert_array_equal(tables["permutations"]["permuted_lower"], of_winners(lost[1], draws_grid(8)).ravel())
    sets = tables["sets"].set_index("model").loc[MODELS]
    left = pd.DataFrame(np.where(failed[0], np.nan, own), columns=MODELS)
    for name, expected in {"mean": left.mean(), "standard_deviation": left.std(), "best": left.max()}.items():
        np.testing.assert_array_equal(sets[name], expected)
    np.testing.assert_array_equal(sets["n_failed"], [1, 3, 1])
    assert (sets["reason"] == "NaN.").all()


def test_a_model_that_always_fails_never_wins(rng):
    table = evaluated(rng.random((8, 3)))
    table.loc[table["model"] == "gcForest", ["performance", "reason"]] = np.nan, "NaN."
    tables = multilabel_win_tables(table)
    never = tables["wins"].query("model == 'gcForest'")
    assert len(never) and (never["win_percentage"] == 0).all()
    row = tables["sets"].set_index("model").loc["gcForest"]
    assert row[["mean", "standard_deviation", "best"]].isna().all()
    assert (row["share_of_wins"], row["n_failed"]) == (0, 8)


def test_permutations_that_could_not_be_made_are_no_null(rng):
    own, missing = rng.random((8, 3)), np.full((8, 3), np.nan)
    table = evaluated(own, missing, missing)
    table.loc[table["performance"].isna(), "reason"] = "no two groups have the same size"
    tables = multilabel_win_tables(table)
    for name in ("wins", "permutations"):
        assert (tables[name]["n_permutations"] == 0).all()
        assert tables[name][["permuted_lower", "permuted_upper"]].isna().all(axis=None)
        np.testing.assert_array_equal(tables[name]["win_percentage"], of_winners(own, draws_grid(8)).ravel())
    assert tables["permutations"]["p_value"].isna().all()
    assert (tables["sets"]["reason"] == "no two groups have the same size").all()
