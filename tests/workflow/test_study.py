"""End-to-end tests of the study."""

import math
import re
import shutil
import sys
import time

import numpy as np
import pandas as pd
import pytest
import yaml

from fairfold.core.trainings import read
from fairfold.datasets import Dataset
from fairfold.splitting.methods import study_folds

METRICS = {"roc_auc", "average_precision", "hamming_loss", "ranking_loss", "mcc"}
REPORTED = {"f1_micro", "f1_macro", "f1_samples", "subset_accuracy"}


def test_every_score_is_there(finished):
    study, _ = finished
    scores = pd.read_csv(study.folder / "results/tables/weak_label_scores.csv", keep_default_na=False)
    final = scores[scores["is_final"]]
    units = final.groupby(["dataset", "missing_rate", "model", "fold"])["metric"].agg(set)
    assert len(units) == 1 * 2 * 4 * 2
    assert (units == METRICS).all()
    assert (final["value"] != "").all()
    assert (final["reason"] == "").all()


def test_scores_are_tabulated_and_compared(finished):
    study, _ = finished
    tables = study.folder / "results/tables"
    scores = pd.read_csv(tables / "weak_label_scores.csv")
    final = scores[scores["is_final"]]
    summary = pd.read_csv(tables / "score_summary.csv")
    decided = summary["metric"].isin(REPORTED)
    assert decided.sum() == 1 * 2 * 4 * len(REPORTED) and summary.loc[decided, "mean"].notna().all()
    summary = summary[~decided]
    assert len(summary) == 1 * 2 * 4 * len(METRICS)
    expected = final.groupby(["missing_rate", "model", "metric"])["value"].mean()
    found = summary.set_index(["missing_rate", "model", "metric"])["mean"].sort_index()
    pd.testing.assert_series_equal(found, expected, check_names=False)
    printed = pd.read_csv(tables / "weak_labels/simulated-multilabel.csv").set_index(["model", "missing_rate"])
    mean, sd = map(float, printed.loc[("CaFE-FLA", 50), "mcc"].split(" ± "))
    assert abs(mean - expected[50, "CaFE-FLA", "mcc"]) <= 0.0005 + 1e-9
    assert sd >= 0
    curves = pd.read_csv(tables / "learning_curves.csv")
    assert curves["level"].max() == 2
    comparisons = pd.read_csv(tables / "comparisons.csv")
    assert set(comparisons["reason"]) == {"complete blocks: 1; tests need 2 or more"}
    assert len(pd.read_csv(tables / "pairs.csv")) == 2 * len(METRICS) * math.comb(4, 2)
    assert pd.read_csv(tables / "models.csv")["model"].tolist() == ["RF+ET", "SLCForest", "CaFE-FLA", "FLAForest+"]
    frequencies = pd.read_csv(tables / "label_frequencies.csv")
    assert set(frequencies["model"]) == {"SLCForest", "CaFE-FLA", "FLAForest+"}
    assert (frequencies.loc[frequencies["missing_rate"] == 0, "kept"] == 1).all()
    for figure in ("label_scores_simulated-multilabel", "learning_curves", "imputation", "label_frequencies"):
        assert (study.folder / f"results/figures/{figure}.png").stat().st_size > 10_000


def test_models_share_their_first_level(finished):
    study, _ = finished
    scores = pd.read_csv(study.folder / "results/tables/weak_label_scores.csv")
    first = scores[scores["level"] == 0].set_index(["missing_rate", "fold", "metric", "model"])["value"].unstack()
    assert len(first) == 2 * 2 * len(METRICS)
    assert (first["RF+ET"] == first["SLCForest"]).all()
    assert (first["RF+ET"] == first["CaFE-FLA"]).all()


def test_one_more_model_trains_no_other(finished, study):
    """The batched job reruns and takes finished models from the cache, also after a kill."""
    more, unit = study(), "weak_labels/simulated-multilabel/rate-50"
    shutil.copytree(finished[0].folder, more.folder, dirs_exist_ok=True)
    models = "weak_labels={models: [gcForest+, RF+ET]}"
    code, output = more.run(f"results/{unit}/scores_0.csv", "--config", models)
    assert code == 0, output
    assert output.count("] train_and_score: ") == 1
    log = more.folder / "results/logs/train_and_score/simulated-multilabel_50_0.log"
    assert "Train gcForest+.\n" in log.read_text()
    assert read(log.read_text())[:2] == (2, 2)
    before, after = (pd.read_csv(each.folder / f"results/{unit}/scores_0.csv") for each in (finished[0], more))
    assert list(after["model"].unique()) == ["gcForest+", "RF+ET"]
    before, after = (table.query("model == 'RF+ET'").reset_index(drop=True) for table in (before, after))
    pd.testing.assert_frame_equal(before, after)


def test_imputation_and_times_are_recorded(finished):
    study, _ = finished
    results = study.folder / "results"
    imputation = pd.read_csv(results / "tables/imputation.csv")
    assert set(imputation["model"]) == {"SLCForest", "CaFE-FLA", "FLAForest+"}
    assert imputation["n_imputed"].sum() > 0
    assert (imputation.query("missing_rate == 0")[["true_positives", "false_negatives"]] == 0).all(axis=None)
    hidden = np.load(results / "weak_labels/simulated-multilabel/rate-50/hidden.npz")["hidden"]
    half = imputation.query("missing_rate == 50 and n_folds == 2")
    np.testing.assert_allclose(half["true_positives"] + half["false_negatives"], len(hidden) / 2)
    seconds = pd.read_csv(results / "timings/models.csv")
    assert (seconds["step"] != "first_level").sum() == 2 * 4 * 2 * 2
    assert {*seconds.query("step == 'first_level'")["model"]} >= {"SLCForest", "FLAForest+"}
    assert (seconds["seconds"] >= 0).all()


def test_folds_and_hidden_labels_are_what_they_state(finished):
    study, _ = finished
    results = study.folder / "results"
    with np.load(results / "datasets/simulated-multilabel.npz") as data:
        Y = data["Y"]
    (fold_of,) = np.load(results / "folds/simulated-multilabel/annealed/2-folds/repeats-1.npz")["fold_of"]
    assert np.bincount(fold_of).tolist() == [300, 300]
    hidden = np.load(results / "weak_labels/simulated-multilabel/rate-50/hidden.npz")["hidden"]
    for fold in range(2):
        _, rows, labels = hidden[hidden[:, 0] == fold].T
        assert (fold_of[rows] != fold).all()
        assert (Y[rows, labels] == 1).all()
        assert np.bincount(labels).tolist() == (Y[fold_of != fold].sum(axis=0) // 2).tolist()
    assert np.load(results / "weak_labels/simulated-multilabel/rate-0/hidden.npz")["hidden"].size == 0


def test_cross_validation_is_repeated_on_another_split(finished, study, tiny):
    """The first split gives the scores of an unrepeated study; tests account for the number of splits."""
    once, _ = finished
    tiny["folds"]["n_repeats"] = 2
    twice = study(tiny)
    code, output = twice.run("recommendation", "results/tables/score_summary.csv")
    assert code == 0, output
    results = twice.folder / "results"
    scores, first = (pd.read_csv(each.folder / "results/tables/weak_label_scores.csv") for each in (twice, once))
    final = scores[scores["is_final"]]
    assert final.groupby(["missing_rate", "model", "metric"])["fold"].agg(sorted).tolist() == [[0, 1, 2, 3]] * 2 * 4 * 5
    units = ["missing_rate", "model", "fold", "level", "metric"]
    pd.testing.assert_frame_equal(
        scores[scores["fold"] < 2].sort_values(units, ignore_index=True), first.sort_values(units, ignore_index=True)
    )
    summary = pd.read_csv(results / "tables/score_summary.csv")
    assert (summary["n_folds"] == 4).all()
    hidden, alone = (
        np.load(each.folder / "results/weak_labels/simulated-multilabel/rate-50/hidden.npz") for each in (twice, once)
    )
    np.testing.assert_array_equal(hidden["hidden_in_tests"], alone["hidden_in_tests"])  # the same labels are hidden
    complete = pd.read_csv(results / "tables/complete_scores.csv").set_index(["missing_rate", "model", "metric"])
    for column, values in (("complete", "value"), ("observed", "observed_value")):
        means = final.groupby(["missing_rate", "model", "metric"])[values].mean()
        pd.testing.assert_series_equal(complete[column].sort_index(), means, check_names=False)
    table = pd.read_csv(results / "tables/recommendation.csv").query("metric == 'mcc'").set_index("model")
    folds = pd.read_csv(results / "recommendation/corrected_folds.csv")
    assert (folds["optimism"] != 0).any()
    verdicts = pd.read_csv(results / "weak_labels/simulated-multilabel/rate-0/verdicts.csv").query("metric == 'mcc'")
    verdicts = verdicts.set_index("model").loc[table.index]
    pd.testing.assert_series_equal(table["p_value"], verdicts["p_value"])
    pd.testing.assert_series_equal(table["difference"], verdicts["difference"], rtol=1e-6)
    values = folds.query("missing_rate == 0 and metric == 'mcc'").groupby("model")["corrected"].mean()
    np.testing.assert_allclose(verdicts["difference"], values.max() - values[table.index], atol=1e-9)


def test_the_study_is_repeated_on_other_folds_and_on_the_same(finished):
    study, _ = finished
    results = study.folder / "results"
    parts = sorted((results / "rank_stability/simulated-multilabel/rate-50").glob("*/from-*.csv"))
    assert [f"{path.parent.name}/{path.stem}" for path in parts] == [
        f"{splitter}/from-{first}" for splitter in ("OptiSplit-rLD", "random") for first in (0, 1)
    ]
    scores = pd.concat(map(pd.read_csv, parts))
    units = ["splitter", "repeat", "training", "model", "fold"]
    assert scores.groupby(units)["metric"].agg(set).eq(METRICS).all()
    assert len(scores) == 2 * 2 * 2 * 2 * 2 * len(METRICS)
    # Folds differ between repeats; hidden labels and forests differ between trainings.
    assert scores.query("model == 'RF+ET' and metric == 'roc_auc'")["value"].is_unique
    stability = pd.read_csv(results / "tables/rank_stability.csv")
    assert stability.groupby("splitter")["metric"].agg(set).eq(METRICS).all()
    assert (stability[["n_repeats", "n_trainings", "n_models"]] == 2).all(axis=None)
    assert (stability["kendall_tau"] * 4 % 1 == 0).all()  # four pairs of trainings, each 1, 0 or -1 for two models


def test_models_learn_from_shares_of_the_samples(finished):
    study, _ = finished
    results = study.folder / "results"
    scores = pd.read_csv(results / "sample_curves/simulated-multilabel/rate-0/RF+ET.csv")
    assert scores.groupby(["repeat", "share", "fold"])["metric"].agg(set).eq(METRICS).all()
    assert (scores.groupby(["repeat", "fold", "metric"])["n_train"].diff().dropna() > 0).all()
    curves = pd.read_csv(results / "tables/sample_curves.csv").query("metric == 'roc_auc'")
    assert curves["kind"].tolist() == ["measured"] * 3 + ["extrapolated"] * 2
    assert curves["times"].tolist()[2:] == [1, 2, 4] and curves[["score", "low", "high"]].notna().all(axis=None)
    assert (results / "figures/sample_curves.png").exists()


def test_labels_are_hidden_by_each_mechanism_and_tested_as_they_are(finished):
    study, _ = finished
    results = study.folder / "results"
    table = pd.read_csv(results / "tables/mechanisms.csv", keep_default_na=False, na_values=[""])
    ways = table.groupby(["mechanism", "wrong_positives"], sort=False)["model"].agg(lambda models: sorted(set(models)))
    both = ["FLAForest+", "RF+ET"]
    assert ways.to_dict() == {
        ("random", 0): both,
        ("random", 20): both,
        ("sample", 0): both,
        ("group", 0): ["all models"],
    }
    scored = table[table["mechanism"] != "group"]
    assert scored.groupby(["mechanism", "wrong_positives", "model"])["metric"].agg(set).eq(METRICS).all()
    assert scored["complete"].notna().all() and (scored["hidden_share"].between(45, 50)).all()
    assert (table.loc[table["mechanism"] == "group", "reason"] == "the data have no groups").all()
    tests = pd.read_csv(results / "tables/scar_tests.csv")
    assert list(tests["test"]) == ["samples", "groups", "labels"] and tests["conclusion"].notna().all()
    assert (results / "figures/mechanisms.png").exists()


def test_procedures_are_repeated(finished):
    study, _ = finished
    results = study.folder / "results"
    repetitions = pd.read_csv(results / "cross_testing/repetitions.csv")
    assert repetitions.groupby(["x_name", "x", "procedure"]).size().to_dict() == {
        **{("data_size", n, name): 3 for n in (20, 30) for name in ("cv_cross_testing", "cv_testing", "nested_cv")},
        **{("test_fraction", share, name): 3 for share in (0.3, 0.5) for name in ("cv_cross_testing", "cv_testing")},
    }
    assert sorted(path.name for path in (results / "cross_testing/size").iterdir()) == ["from-0.csv", "from-2.csv"]
    points = pd.read_csv(results / "tables/cross_testing_fig4.csv").query("source == 'ours'")
    of_nested = points.query("procedure == 'nested_cv' and metric == 'accuracy'").set_index("x")["value"]
    means = repetitions.query("procedure == 'nested_cv'").groupby("x")["accuracy"].mean()
    pd.testing.assert_series_equal(of_nested, means, check_names=False)
    table = pd.read_csv(results / "tables/interpretation.csv").set_index("procedure")
    assert (table.loc["cv_testing", ["performance", "parameters", "model"]] == "yes").all()


def test_models_are_cross_tested(finished):
    study, _ = finished
    results = study.folder / "results"
    runs = pd.read_csv(results / "cross_testing/models.csv")
    assert runs.groupby("procedure").size().to_dict() == {"cv_cross_testing": 2, "cv_testing": 2, "nested_cv": 2}
    assert runs["reason"].isna().all() and (runs["observed_score"] < runs["score"]).all()
    assert set(";".join(runs["chosen"]).split(";")) <= {"SLCForest", "FLAForest+"}
    summary = pd.read_csv(results / "tables/cross_testing_models.csv").set_index(["procedure", "metric"])["value"]
    fits = {"nested_cv": 2 * (2 * 2 + 1), "cv_testing": 2 * 2 + 1, "cv_cross_testing": 2 * 2 + 2}
    assert summary.xs("n_fits", level="metric").to_dict() == fits
    means = runs.groupby("procedure")["score"].mean()
    pd.testing.assert_series_equal(summary.xs("score", level="metric").sort_index(), means, check_names=False)
    seconds = pd.read_csv(results / "timings/cross_testing_models.csv")
    assert seconds["n_fits"].tolist() == [2 * (2 * (2 * 2 + 1) + 2 * 2 + 1 + 2)] * 2
    assert sorted(path.name for path in (results / "cross_testing/models").rglob("*.csv")) == [
        "from-0.csv",
        "from-1.csv",
    ]


def test_win_percentages_come_with_what_chance_gives(finished):
    study, _ = finished
    tables = study.folder / "results/tables/win_percentage"
    wins = pd.read_csv(tables / "win_percentages.csv")
    np.testing.assert_allclose(wins.groupby("n_draws")["win_percentage"].sum(), 1, atol=1e-9)
    assert wins["n_draws"].max() == 1e10
    assert wins["permuted_lower"].notna().all()
    datasets = pd.read_csv(tables / "datasets.csv").iloc[0]
    pairs = np.load(study.folder / "results/win_percentage/breast-cancer/pairs.npz")
    assert pairs["counts"].sum() == datasets["n_pairs"] == math.comb(datasets["n_gaussian"], 2)
    assert len(pd.read_csv(tables / "best_pairs.csv")) == 6 * 6
    panels = pd.read_csv(tables / "table1_breast-cancer.csv")["best"]
    assert panels.is_unique and set(panels) <= set(wins["classifier"])
    errors = pd.read_csv(tables / "sampling_errors.csv")
    assert sorted(errors["source"].unique()) == ["breast-cancer", "synthetic"]


def test_models_are_compared_on_feature_sets(finished):
    study, _ = finished
    results = study.folder / "results"
    wins = pd.read_csv(results / "tables/win_percentage/models.csv")
    assert wins["model"].unique().tolist() == ["RF+ET", "FLAForest+"]
    assert (wins[["n_sets", "n_permutations", "missing_rate"]] == [5, 3, 50]).all(axis=None)
    assert wins["permuted_lower"].notna().all()
    np.testing.assert_allclose(wins.groupby(["metric", "n_draws"])["win_percentage"].sum(), 1, atol=1e-12)
    folder = results / "win_percentage/models/simulated-multilabel/rate-50"
    files = ["permuted-from-1.csv", "permuted-from-3.csv", "sets-from-0.csv", "sets-from-3.csv"]
    assert sorted(path.name for path in folder.iterdir()) == files
    found = pd.concat([pd.read_csv(folder / name) for name in files])
    assert found.groupby("permutation")["set"].agg(set).to_dict() == {order: set(range(5)) for order in range(4)}
    means = found.query("permutation == 0").groupby(["metric", "model"])["performance"].mean()
    summary = pd.read_csv(results / "tables/win_percentage/model_sets.csv").set_index(["metric", "model"])["mean"]
    pd.testing.assert_series_equal(summary.sort_index(), means, check_names=False)
    assert (results / "figures/win_percentage_models.png").exists()


def test_output_codes_are_compared(finished):
    study, _ = finished
    tables = study.folder / "results/tables/ecoc"
    examples = pd.read_csv(tables / "examples.csv").set_index("example")
    assert (examples["error"] < 0.1).all()
    assert examples["log_loss"].notna().to_dict() == {"linear": False, "posterior": True}
    comparison = pd.read_csv(tables / "comparison.csv")
    assert comparison.groupby("coding").size()[["onevsone", "onevsall"]].to_list() == [12, 12]
    assert pd.read_csv(tables / "linear_classes.csv")["count"].to_list() == [50, 50, 50]


def test_quality_of_splits_is_measured(finished):
    study, _ = finished
    results = study.folder / "results"
    summary = pd.read_csv(results / "tables/split_summary.csv").set_index(["splitter", "measure"])
    assert (summary["n_repeats"] == 2).all()
    assert summary.loc[("OptiSplit-rLD", "rLD"), "mean"] < summary.loc[("random", "rLD"), "mean"]
    data = Dataset.load(results / "datasets/simulated-multilabel.npz")
    folds, Y = study_folds(data, "random", n_splits=2, n_repeats=2, seed=1), data.Y
    rates = [abs(Y[fold_of == fold].mean(axis=0) / Y.mean(axis=0) - 1).mean() for fold_of in folds for fold in range(2)]
    assert summary.loc[("random", "rLD"), "mean"] == pytest.approx(np.mean(rates), rel=1e-12)
    seconds = pd.read_csv(results / "timings/quality_against_seconds.csv")
    assert set(seconds["splitter"]) == {"random", "OptiSplit-rLD"}


def test_models_are_recommended(finished):
    study, _ = finished
    results = study.folder / "results"
    rates = pd.read_csv(results / "tables/missing_rates.csv")
    assert rates["hidden_rate"].tolist() == [0, 50]
    assert rates["hidden_share"].tolist() == pytest.approx([0, 50], abs=1)
    assert rates["labels_are"].tolist() == ["unknown", "incomplete"]
    as_given, hidden = rates.itertuples()
    assert np.isnan(as_given.estimated_rate) and as_given.low == 0 < as_given.high < 100
    assert hidden.low <= hidden.estimated_rate <= hidden.high
    table = pd.read_csv(results / "tables/recommendation.csv")
    assert set(table["metric"]) == METRICS
    assert len(table) == 4 * len(METRICS)
    assert (table["missing_rate"] == 0).all()
    scores = pd.read_csv(results / "tables/weak_label_scores.csv").query("is_final and missing_rate == 0")
    means = scores.groupby(["metric", "model"])["value"].mean()
    table = table.set_index(["metric", "model"])
    pd.testing.assert_series_equal(table["observed"].sort_index(), means, check_names=False)
    assert (table["low"] <= table["high"]).all()
    complete = pd.read_csv(results / "tables/complete_scores.csv")
    scores = pd.read_csv(results / "tables/weak_label_scores.csv").query("is_final and missing_rate == 50")
    for column, values in (("complete", "value"), ("observed", "observed_value")):
        found = complete.query("missing_rate == 50").set_index(["metric", "model"])[column]
        means = scores.groupby(["metric", "model"])[values].mean()
        pd.testing.assert_series_equal(found.sort_index(), means, check_names=False)
    quality = pd.read_csv(results / "tables/correction_quality.csv")
    assert quality["coverage"].between(0, 1).all()
    board = pd.read_csv(results / "recommendation/leaderboard.csv")
    models, guessing = board[:-1], board.iloc[-1]
    assert len(models) == 4 and (models[["fit_seconds", "predict_seconds", "peak_memory_mb"]] > 0).all(axis=None)
    assert guessing["verdict"] == "guessing" and guessing["score"] < models["score"].min()
    assert 0 < guessing["behind_low"] < guessing["behind"] < guessing["behind_high"]


def test_report_holds_the_figure_and_the_tables(finished):
    study, _ = finished
    report = (study.folder / "results/report.html").read_text()
    papers = (study.folder / "results/papers.html").read_text()
    for name in ("imputation.png", "imputation.csv", "weak_label_scores.csv", "datasets.csv", "split_summary.csv"):
        assert name in report
    for name in ("label_deviations.png", "metric_behavior.png", "quality_against_seconds.png", "split_summary.csv"):
        assert name in papers
    assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="https?:', report)


def test_configuration_is_kept_with_its_defaults(finished):
    study, _ = finished
    config = yaml.safe_load((study.folder / "results/config.yaml").read_text())
    assert config["seed"] == 1
    assert config["weak_labels"]["forest"]["percentile"] == 0.95


def test_a_second_run_has_nothing_to_do(finished):
    study, _ = finished
    code, output = study.run()
    assert code == 0
    assert "Nothing to be done" in output


def test_one_core_and_other_sizes_of_jobs_give_the_same(finished, study, tiny):
    """Here two jobs train the models of a rate, and ranks, cross-testing and win percentages run in one part."""
    tiny["weak_labels"]["models_per_job"] = 2
    tiny["weak_labels"]["rank_stability"]["repeats_per_job"] = tiny["weak_labels"]["rank_stability"]["n_repeats"]
    for part in (tiny["cross_testing"], tiny["cross_testing"]["models"]):
        part["repeats_per_job"] = part["n_repeats"]
    wins = tiny["win_percentage"]
    for part in (wins, wins["models"]):
        part["permutations_per_job"] = part["n_permutations"]
    wins["models"]["sets_per_job"] = wins["models"]["n_sets"]
    tables = [f"tables/{name}.csv" for name in ("weak_label_scores", "imputation", "complete_scores", "rank_stability")]
    tables += ["cross_testing/repetitions.csv", "cross_testing/models.csv"]
    tables += [f"tables/win_percentage/{name}.csv" for name in ("win_percentages", "models", "model_permutations")]
    other = study(tiny)
    code, output = other.run(*[f"results/{table}" for table in tables], cores=1)
    assert code == 0, output
    assert output.count("] train_and_score: ") == 2 * 2
    found, expected = other.results(), finished[0].results()
    assert [found[table] for table in tables] == [expected[table] for table in tables]


def test_adding_a_dataset_changes_no_other_result(finished, study, tiny):
    weak_labels = {
        **tiny["weak_labels"],
        "datasets": ["digits-segments", "simulated-multilabel"],
        "missing_rates": [50],
    }
    larger = study({**tiny, "weak_labels": weak_labels})
    part = "weak_labels/simulated-multilabel/rate-50/scores_0.csv"
    code, output = larger.run(f"results/{part}")
    assert code == 0, output
    assert larger.results()[part] == finished[0].results()[part]


def assert_a_part_of(finished, study, *paths):
    """Check that the study has these results and that none differs from the finished study."""
    found, whole = study.results(), finished[0].results()
    assert {name: whole.get(name) for name in found} == found
    assert {*paths} <= found.keys()


def test_a_run_killed_without_its_jobs_is_finished_by_the_next(finished, study):
    """After SIGKILL of the main process alone, its jobs overlap for a while with those of the next run."""
    killed, table = study(), "tables/weak_label_scores.csv"
    process = killed.start(f"results/{table}", python=sys.executable)
    while "] split_dataset: " not in (line := process.stdout.readline()):
        assert line or process.poll() is None
    time.sleep(2)  # until training starts
    process.kill()
    process.wait()
    code, output = killed.run(f"results/{table}")
    assert code == 0, output
    assert_a_part_of(finished, killed, table)


def test_two_runs_in_one_folder(finished, study):
    folder = study()
    target = "results/tables/split_quality.csv"
    first, logs = folder.start(target), folder.folder / "results/logs"
    while not logs.exists() and first.poll() is None:  # created by the first job, after the lock
        time.sleep(0.05)
    code, output = folder.run(target)
    assert code != 0
    assert "another run is working in this folder" in output
    assert "Traceback" not in output
    output, _ = first.communicate(timeout=600)
    assert first.returncode == 0, output
    assert_a_part_of(finished, folder, "tables/split_quality.csv")
