"""The stored results in resources/regenerated match the code: quick parts are recomputed."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

KEPT = Path(__file__).resolve().parents[2] / "resources" / "regenerated"
MEASURED = KEPT.parent / "measured"
SPLITTERS = ["random", "IS", "OptiSplit-rLD"]
MODELS = ["RF+ET", "SLCForest"]
WIN_PERCENTAGE = ["draws_needed", "classifiers", "illustration"]
EXAMPLES = ["linear", "custom-loss"]


@pytest.fixture(scope="module")
def again(study_class, tmp_path_factory, root, mirror):
    """Recompute the quick parts with the settings of config/paper.yaml; return the folder of results."""
    config = yaml.safe_load((root / "config" / "paper.yaml").read_text())
    config["data"] = {"offline": True}  # The environment variable names the mirror.
    config["splitting"] = {"datasets": ["bibtex"], "methods": SPLITTERS, "n_repeats": 2}
    config["weak_labels"] |= {"datasets": ["flags"], "missing_rates": [30], "models": MODELS, "rank_stability": {}}
    config["cross_testing"] |= {"experiments": {}, "models": {}}
    little = {"sampling": {"n_sampled": [20], "n_trials": 2, "n_distributions": 2}, "reevaluation": {"n_pairs": 6}}
    little["search"] = {"n_sets": 100, "n_permutations": 2, "n_outer_splits": 2}
    config["win_percentage"] = {"datasets": ["breast-cancer"], "kurtosis_multiple": 20, **little}
    config["ecoc"]["examples"] = EXAMPLES
    made = study_class(tmp_path_factory.mktemp("papers") / "study", root, config)
    wanted = ["splitting/bibtex.csv", "weak_labels/flags/rate-30/scores_0.csv"]
    wanted += [f"tables/win_percentage/{name}.csv" for name in WIN_PERCENTAGE]
    wanted += [f"tables/ecoc/{name}_rows.csv" for name in EXAMPLES]
    code, output = made.run(*(f"results/{file}" for file in wanted))
    assert code == 0, output
    return made.folder / "results"


def kept(table):
    """Read a table of the stored run."""
    path = KEPT / table
    path = path if path.exists() else path.with_suffix(".csv.gz")
    if not path.exists():
        pytest.skip(f"{table} is not kept: the run has not come to it")
    return pd.read_csv(path)


def test_splits(again):
    key = ["dataset", "splitter", "repeat", "measure"]
    new = pd.read_csv(again / "splitting" / "bibtex.csv").set_index(key)["value"]
    assert {*new.index.get_level_values("splitter")} == {*SPLITTERS}
    old = kept("tables/split_quality.csv").set_index(key)["value"]
    pd.testing.assert_series_equal(new, old[new.index], rtol=1e-9)


def test_scores_on_weak_labels(again):
    new = pd.read_csv(again / "weak_labels/flags/rate-30/scores_0.csv")
    new = new[new["is_final"]].groupby(["model", "metric"])["value"].mean().rename("mean")
    assert len(new) >= 10
    # The stored folds come from an older version of iterative stratification without random row order.
    old = kept("published.csv").query("what.str.startswith('flags, 30, ')")
    old = old[old["place"].isin(["authors' files, level 0", "authors' files, best out-of-bag level"])]
    names = old["what"].str.split(", ", expand=True)
    old = old.set_index([names[2].rename("model"), names[3].rename("metric")])
    shared = new.index.intersection(old.index)
    assert len(shared) == 10
    assert ((new[shared] - old.loc[shared, "ours"]).abs() < 2 * old.loc[shared, "standard_error"]).all()
    # With hidden labels, imputation improves thresholded scores (Ilidio et al. 2024).
    assert new["SLCForest", "mcc"] > new["RF+ET", "mcc"]


@pytest.fixture(scope="module")
def printed():
    both = kept("published.csv")
    return both[both["ours"].notna()]


def test_scores_of_the_authors_are_met(printed):
    both = printed.query('place.str.startswith("authors\' files")').dropna(subset="difference_in_se")
    distance = both["difference_in_se"]
    assert len(both) > 2000 and (distance.abs() <= 2).mean() > 0.94  # 0.954 by chance alone
    by_model = (distance**2).groupby(both["what"].str.split(", ").str[2]).mean() ** 0.5
    assert len(by_model) == 9 and by_model.max() < 1.1


@pytest.mark.parametrize("splitter", ["OptiSplit-rLD", "SS", "IS", "SOIS", "PMBSRS", "random"])
def test_rld_of_table_2_is_met(printed, splitter):
    row = printed.query("place == 'Table 2' and what == @what", local_dict={"what": f"bibtex, {splitter}, rLD"})
    assert len(row) == 1 and abs(row["difference_in_se"].item()) < 2


@pytest.mark.parametrize(("place", "number"), [("Table 2", 10), ("Table 4", 6), ("example arrhythmia", 13)])
def test_what_does_not_scatter_has_the_printed_digits(printed, place, number):
    rows = printed[(printed["place"] == place) & ~printed["paper"].str.startswith("Tiittanen")]
    assert len(rows) == number
    assert (rows["difference_in_digits"].abs() <= 0.5).all()


def test_posteriors_of_arrhythmia():
    """Calibrated posteriors are better than uniform ones, and the printed rows agree with ours."""
    examples = kept("tables/ecoc/examples.csv").set_index("example")
    assert examples.loc["arrhythmia", "log_loss"] < 0.5 * np.log(13)
    # MATLAB's documentation prints an error of 0.04 for the model of example 1 (page of kfoldfun).
    assert abs(examples.loc["linear", "error"] - 0.04) < 2 * np.sqrt(0.04 * 0.96 / 150)
    rows = pd.read_csv(MEASURED / "arrhythmia_posteriors.csv")
    posteriors = kept("ecoc/arrhythmia/posteriors.csv").query("candidate == 1").set_index("row")["posterior"]
    np.testing.assert_allclose(posteriors[rows["sample_index"] - 1], rows["calibrated_bradley_terry"], atol=2e-5)
    variants = rows.filter(regex="calibrated")
    assert variants.corrwith(rows["printed"]).min() > 0.9
    # The iteration of the page gives the printed spread. The minimum of the divergence does not.
    distance = variants.sub(rows["printed"], axis=0).abs().mean()
    assert distance.idxmin() == "uncalibrated_page" and distance.min() < 0.1


def test_cross_testing_with_the_folds_of_the_authors(printed):
    points = printed.query("paper.str.startswith('Korjus') and place.str.match('Figure .$')")
    distance = points["difference_in_se"].dropna()
    assert len(points) == 142 and (distance.abs() <= 2).mean() > 0.9 and (distance**2).mean() < 1.4
    # Two standard errors are exceeded in a few of 58 statements by chance.
    claims = printed.query("paper.str.startswith('Korjus') and what.str.contains('0.5: within')")
    assert len(claims) == 58 and (claims["ours"] == 0).sum() <= 4
    assert claims["note"].str.match(r"ours [+-]\d\.\d+ ± ").all()


def test_the_search_of_the_text_beside_that_of_the_code():
    both = pd.read_csv(MEASURED / "six_combinations.csv")
    assert len(both) == 91 and both["six_combinations_repetitions"].min() >= 500
    simulated = both.query("figure == 'fig4' and x >= 100")
    assert (simulated["six_combinations"] - simulated["published"]).min() > 0.05
    # The published points are those of the search of C only.
    assert (simulated["c_only"] - simulated["published"]).abs().max() < 0.02


@pytest.mark.parametrize(
    "name", [*(f"win_percentage/{each}" for each in WIN_PERCENTAGE), *(f"ecoc/{each}_rows" for each in EXAMPLES)]
)
def test_tables(again, name):
    new, old = pd.read_csv(again / "tables" / f"{name}.csv"), kept(f"tables/{name}.csv")
    assert len(new) >= 10 or name == "win_percentage/classifiers"
    pd.testing.assert_frame_equal(new, old, rtol=1e-9)


def test_what_is_kept_is_small_and_states_where_it_is_from():
    assert sum(path.stat().st_size for path in KEPT.rglob("*.*")) < 3e6
    assert all(gzip.decompress(path.read_bytes()) for path in KEPT.rglob("*.gz"))
    run = pd.read_csv(KEPT / "run.csv").set_index("what")["value"]
    assert {"seed", "commit", "numpy", "machine"} <= {*run.index}
    assert pd.read_csv(KEPT / "parts.csv")["cpu_seconds"].sum() > 0
