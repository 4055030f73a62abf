import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from fairfold.core.seeds import seed_for
from fairfold.cross_testing.models import repeat_on_weak_labels
from fairfold.cross_testing.procedures import compare_procedures
from fairfold.errors import DataError

RNG = np.random.default_rng(0)
Y = (RNG.random((60, 3)) < 0.5).astype(int)
X = np.column_stack([Y + 0.5 * RNG.normal(size=Y.shape), np.arange(60)])
SETTING = {"scoring": "average_precision", "n_splits": 2, "n_permutations": 3}
SEEDS = []


def hide(labels, seed):
    return labels * (np.random.default_rng(seed).random(labels.shape) < 0.5)


def make_candidates(seed):
    SEEDS.append(seed)
    return {f"{k} neighbors": KNeighborsClassifier(k) for k in (1, 5)}


def repeat(repetitions=range(2), **options):
    return repeat_on_weak_labels(make_candidates, X, Y, repetitions, **{"hide": hide, "seed": 3, **SETTING, **options})


def test_rows_are_what_the_procedures_state():
    table = repeat([4], n_samples=40, names=("a", 50)).scores.set_index("procedure")
    seeds = {use: seed_for(3, "a", 50, 4, use) for use in ("rows", "labels", "models", "procedures")}
    rows = np.random.default_rng(seeds["rows"]).permutation(60)[:40]
    outcomes = compare_procedures(
        make_candidates(0),
        X[rows],
        hide(Y[rows], seeds["labels"]),
        Y_true=Y[rows],
        n_splits=2,
        n_permutations=3,
        scoring="average_precision",
        random_state=seeds["procedures"],
    )
    assert list(table.index) == list(outcomes) and len(outcomes) == 3
    assert SEEDS[-2] == seeds["models"]
    for name, outcome in outcomes.items():
        row = table.loc[name]
        assert row["score"] == outcome.score and row["observed_score"] == outcome.observed_score
        assert row[list(outcome.scores)].to_dict() == outcome.scores
        assert row["p_exact"] == outcome.p_value and row["p_mid"] == outcome.p_values["mid"]
        assert (row["n_samples"], row["n_permutations"]) == (40, 3)
        assert (row["n_tested"], row["n_fits"]) == (len(outcome.tested), outcome.n_fits)
        assert pd.isna(row["reason"])
    assert table.loc["cv_testing", "chosen"] == outcomes["cv_testing"].parameters
    assert table.loc["nested_cv", "chosen"] == ";".join(outcomes["nested_cv"].parameters)


def test_a_repetition_depends_on_nothing_but_its_number():
    together, alone = repeat(range(3)).scores, repeat([2]).scores
    pd.testing.assert_frame_equal(together[together["repetition"] == 2].reset_index(drop=True), alone)
    assert together["score"].nunique() == 9
    assert not alone.equals(repeat([2], seed=4).scores) and not alone.equals(repeat([2], names=("b",)).scores)


def test_sparse_labels_change_nothing():
    def hide_sparse(labels, seed):
        return sparse.csr_array(hide(labels.toarray(), seed))

    found = repeat_on_weak_labels(
        make_candidates, X, sparse.csr_array(Y), range(2), hide=hide_sparse, seed=3, **SETTING
    )
    pd.testing.assert_frame_equal(found.scores, repeat().scores)


def test_hidden_labels_lower_the_observed_score_and_seconds_count_all_fits():
    tables = repeat(range(3))
    assert (tables.scores["observed_score"] < tables.scores["score"]).all()
    # Nested: 2 outer folds, each 2 candidates in 2 folds and a test. Others: 2 in 2 folds once, a test, two tests.
    assert tables.seconds["n_fits"].tolist() == [4 * ((2 * 4 + 2) + (4 + 1 + 2))] * 3
    assert (tables.seconds["cpu_seconds"] > 0).all()


def test_what_cannot_run_is_a_row_with_its_reason():
    tables = repeat(range(2), hide=lambda labels, seed: np.zeros_like(labels))
    assert len(tables.scores) == 6 and tables.scores["score"].isna().all()
    assert tables.scores["reason"].str.contains("with 0 positives among").all()
    assert list(tables.scores) == list(repeat([0]).scores) and tables.seconds.empty


def test_more_rows_than_there_are():
    with pytest.raises(DataError, match="n_samples: found 61 for 60 rows"):
        repeat(n_samples=61)


def test_a_splitter_is_used():
    assert not repeat(splitter=lambda labels, seed: np.arange(len(labels)) % 2).scores.equals(repeat().scores)
