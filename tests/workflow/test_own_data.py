"""A user's own file passes through the whole study, as in docs/guide/run-my-table.md."""

import datetime
import html
import re
import shutil
import subprocess

import messy_table
import numpy as np
import pandas as pd
import yaml

from fairfold.__main__ import main
from fairfold.datasets import Dataset
from fairfold.evaluation import Certified
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.final import load_final


def plants(n_samples):
    """Return a table like the worked example, with the same header and more rows."""
    rng = np.random.default_rng(0)
    height, area, ph = rng.random(n_samples), 3 * rng.random(n_samples), 5 + 3 * rng.random(n_samples)
    shade, drought = area > 1.5, ph + height > 7
    header = ["height", "leaf_area", "soil_ph", "label_shade", "label_drought"]
    columns = [height, area, ph, shade.astype(int), drought.astype(int)]
    return pd.DataFrame(dict(zip(header, columns, strict=True)))


def test_the_worked_example(root, study):
    text = (root / "docs" / "guide" / "run-my-table.md").read_text()
    header = re.search(r"```csv\n(.*)\n", text)[1]
    config = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])
    config["weak_labels"].update(forest={"n_trees": 5, "max_levels": 1}, missing_rates=[50])
    config["data"]["set_aside"] = 0.2
    mine = study(config)
    table = plants(150)
    assert ",".join(table) == header
    table.to_csv(mine.folder / "my-plants.csv", index=False)
    code, output = mine.run("all", "final")
    assert code == 0, output
    sizes = pd.read_csv(mine.folder / "results/tables/datasets.csv")
    assert sizes["labels_are"].tolist() == ["unknown"]
    assert sizes[["dataset", "n_samples", "n_features", "n_labels"]].to_numpy().tolist() == [["my-plants", 120, 3, 2]]
    recommended = pd.read_csv(mine.folder / "results/recommendation/sentences.csv")
    assert set(recommended["dataset"]) == {"my-plants"}
    assert list(recommended["use"].unique()) == ["data", "ranking", "threshold"]
    assert recommended["sentence"][0].startswith("State of the labels of my-plants: unknown. Missing positives: ")
    numbers = pd.read_csv(mine.folder / "results/tables/recommendation.csv").query("difference == 0")
    best = numbers.drop_duplicates("metric").set_index("metric")["model"]
    for use, metric in (("ranking", "average_precision"), ("threshold", "mcc")):
        first = recommended.loc[recommended["use"] == use, "sentence"].iloc[0]
        assert first.startswith(best[metric]) and re.search(
            r" of [5-7] models: ", first
        )  # without imputation, 5 differ
    report = (mine.folder / "results/report.html").read_text()
    text = " ".join(re.sub(r"(?s)<(style|script|pre)\b.*?</\1>|<[^>]+>", " ", report).split())
    assert re.findall(r".{30}\b[Tt]rue label.{30}", text) == []
    assert text.count("The labels of my-plants are taken as they are") > 5
    files = [path for path in (mine.folder / "results").rglob("*") if path.is_file()]
    assert len(files) < 150 and sum(path.stat().st_size for path in files) < 60_000_000
    assert len(report) < 2_000_000 and "<title>Use " in report
    home = mine.folder / "results/final/my-plants"
    card = (home / "README.md").read_text()
    assert card.startswith(f"# {best['average_precision']}, fitted on my-plants\n")
    table[:7].drop(columns="label_shade").to_csv(mine.folder / "new.csv", index=False)
    assert main(["predict", str(home), str(mine.folder / "new.csv"), "-o", str(mine.folder / "found.csv")]) == 0
    scores = pd.read_csv(mine.folder / "results/final/my-plants/label_scores.csv")
    assert set(scores["label"]) == {"label_shade", "label_drought"} and set(scores["model"]) == {
        best["average_precision"]
    }
    label_errors = pd.read_csv(mine.folder / "results/final/my-plants/likely_label_errors.csv")
    for row in label_errors[label_errors["kind"] == "missing"][:5].itertuples():
        assert table.loc[row.sample - 1, row.label] == 0  # rows of the file, from 1
    precision = pd.read_csv(mine.folder / "results/final/my-plants/label_error_precision.csv")
    assert (precision["precision"] > precision["chance"]).all()
    found = pd.read_csv(mine.folder / "found.csv")
    expected = load_final(home).predict(table[:7])["probability"]
    np.testing.assert_array_equal(found[["probability_label_shade", "probability_label_drought"]], expected)
    assert not found.columns.str.startswith("posterior").any()  # nothing is declared to be missing
    certified = Certified(0.7).certificates(load_final(home).certified_curves())
    assert certified["label"].tolist() == ["label_shade", "label_drought"]
    assert (certified["reason"] != "").eq(certified["threshold"].isna()).all()
    of_study = pd.read_csv(mine.folder / "results/tables/certified/my-plants.csv").query("precision == 0.9")
    assert of_study["label"].tolist() == ["label_shade", "label_drought"]
    n = of_study["threshold"].notna().sum()
    start = f"For {n} of 2 labels" if n else "No label has a threshold"
    assert start in text and "(the final model on 30 held-out samples)" in text
    assert f"{n} of 2 labels certified at 90 %" in text
    assert f"{n} of 2 labels have a threshold" in card and "by 30 samples that were held out" in card


def own(**changes):
    stanza = {"path": "mine.csv", "format": "csv", "labels": {"prefix": "label_"}, **changes}
    return {
        "seed": 1,
        "data": {"own": {"mine": stanza}},
        "folds": {},
        "weak_labels": {"datasets": ["mine"], "missing_rates": [0], "models": ["RF+ET"], "forest": {"n_trees": 2}},
    }


def test_columns_and_empty_cells_are_accounted_for(study):
    """The log, screen, report and model mention them; scores use measured cells only."""
    config = own(id="sample_id", ignore=["note*"], missing_value="-99")
    config["weak_labels"] |= {"models": ["RF+ET", "SLCForest", "logistic"], "missing_rates": [50]}
    config["weak_labels"]["forest"] = {"n_trees": 10, "max_levels": 1}
    config["final"] = {"fit": True}
    rng = np.random.default_rng(0)
    table = plants(120).round(3).astype(str).replace(r"\.", ",", regex=True)
    unmeasured = np.random.default_rng(2).random((120, 2)) < 0.3
    table.iloc[:, 3:] = np.where(unmeasured, ["", "NA"], table.iloc[:, 3:])
    table.iloc[[3, 7], 0] = "?"
    table.iloc[3, 2], table.iloc[4, 2] = "", "-99"
    table = table.assign(patient=rng.integers(0, 40, 120), label_rare=(np.arange(120) < 3).astype(int))
    table.insert(0, "sample_id", [f"plant {row}" for row in range(120)])
    table["note_a"], table["note_b"] = "text", ""
    mine = study(config)
    table.to_csv(mine.folder / "mine.csv", index=False, sep=";", compression="gzip")
    code, output = mine.run()
    assert code == 0, output
    log = (mine.folder / "results/logs/prepare_dataset/mine.log").read_text()
    assert "4 features, 3 labels, " in log and "id: sample_id, ignored: note_a, note_b" in log
    assert "mine.csv: read as gzip-compressed text, cells between semicolons." in log
    decimals = "mine.csv: numbers are read with decimal commas, such as"
    assert decimals in log and decimals in output
    for sentence in ("4 of 480 cells of 2 features missing", f"{unmeasured.sum()} of 360 label cells unmeasured"):
        assert sentence in log and sentence in (mine.folder / "results/final/mine/README.md").read_text()
    columns = pd.read_csv(mine.folder / "results/tables/columns.csv").set_index("kind")["n_columns"]
    assert columns.to_dict() == {"features": 4, "labels": 3, "id": 1, "ignored": 2}
    scores = pd.read_csv(mine.folder / "results/tables/weak_label_scores.csv")
    assert scores["value"].notna().all(), scores["reason"].dropna().unique()
    cells = pd.DataFrame(unmeasured, table["sample_id"], table.columns[4:6]).assign(label_rare=False)
    for row in pd.read_csv(mine.folder / "results/final/mine/likely_label_errors.csv").itertuples():
        assert cells.loc[row.sample, row.label] == (row.kind == "unmeasured")
    warnings = [line for line in output.splitlines() if line.startswith("warning: ")]
    assert [line.split(";")[0] for line in warnings] == [
        "warning: mine: column 'leaf_area' alone predicts label 'label_shade' without error",
        "warning: mine: column 'patient' is named like an identifier and is used as a feature",
        "warning: mine: label 'label_rare' has 3 positives, fewer than the 5 folds",
    ]
    report = (mine.folder / "results/report.html").read_text()
    assert '<dt>Data warnings</dt><dd><a class="flag" href="#audit">3</a></dd>' in report
    assert "Predicts a label, named like an identifier, label with fewer positives than" in report
    for line in warnings:
        assert html.escape(line.removeprefix("warning: mine: ")).replace("&#x27;", "&#39;") in report
    assert "note_a, note_b" in report
    assert 'href="#final"' in report and "Cells to check" in report

    code, output = mine.run()
    assert code == 0, output
    assert "Nothing to be done" in output
    assert "warning: mine" not in output

    config["data"]["own"]["mine"]["ignore"] = ["patient", "note*", "leaf_area"]
    config["folds"]["n_splits"] = 3
    (mine.folder / "study.yaml").write_text(yaml.safe_dump(config))
    code, output = mine.run("results/tables/audit.csv", "results/tables/columns.csv")
    assert code == 0, output
    assert "warning: mine: " not in output
    assert {*pd.read_csv(mine.folder / "results/tables/audit.csv")["severity"]} == {"note"}
    columns = (mine.folder / "results/tables/columns.csv").read_text()
    assert "patient, note_a, note_b" in columns.replace("leaf_area, ", "")


def test_too_few_samples_are_refused_before_training(study):
    config = own()
    config["folds"]["n_splits"] = 9
    mine = study(config)
    plants(8).to_csv(mine.folder / "mine.csv", index=False)
    code, output = mine.run()
    assert code != 0
    assert "DataError: dataset mine: 8 samples are too few for weak_labels. A tree draws half of the training" in output
    assert "] split_dataset: " not in output and "Traceback" not in output

    # The check depends on the settings and is repeated when they change.
    config["weak_labels"]["forest"]["min_samples_leaf"] = 1
    (mine.folder / "study.yaml").write_text(yaml.safe_dump(config))
    code, output = mine.run()
    assert code != 0
    assert "SplitError" in output and "Traceback" not in output
    assert "n_splits: found 9. Give an integer from 2 to the number of rows, here 8" in output


def test_a_dataset_on_which_no_model_can_be_scored(study):
    """Other datasets get results and the report shows the reason, but this run and the next one fail."""
    config = own()
    config["folds"]["n_splits"] = 2
    # A user's own file would be rejected during preparation if it had too few samples.
    config["weak_labels"]["datasets"] = [few := "simulated-multilabel", "mine"]
    config["weak_labels"]["forest"]["min_samples_leaf"] = 160
    both = study(config)
    plants(1300).to_csv(both.folder / "mine.csv", index=False)
    code, output = both.run()
    assert code == 1, output
    sentence = output.strip().splitlines()[-1]
    reason = "n_samples=300 is less than two leaves of 160 samples"
    assert sentence.startswith(
        f"No model could be scored on '{few}' in weak_labels (all 2 attempts failed, the first thus: {reason}. "
    )
    assert sentence.endswith("; see 'Not computed' in results/report.html.") and "mine" not in sentence

    results = both.folder / "results"
    scores = pd.read_csv(results / "tables/weak_label_scores.csv").set_index("dataset")
    assert scores.loc[few, "value"].isna().all() and scores.loc["mine", "value"].notna().all()
    assert scores.loc[few, "reason"].str.contains(reason).all() and scores.loc["mine", "reason"].isna().all()
    messages = pd.read_csv(results / "recommendation/sentences.csv").groupby("dataset")["sentence"].agg(list)
    assert messages[few][0].startswith(f"State of the labels of {few}: unknown. Missing positives: unknown, at most ")
    assert messages[few][-2:] == ["No model has a score in every fold, so no model is recommended."] * 2
    assert messages["mine"][0].startswith("State of the labels of mine: unknown.")
    report = (results / "report.html").read_bytes()
    assert reason.encode() in report

    code, output = both.run()
    assert code == 1 and output.strip().splitlines()[-1] == sentence
    assert (results / "report.html").read_bytes() == report
    code, output = both.run("--dry-run")
    assert code == 0 and sentence not in output
    assert re.search(r"^total +2$", output, re.MULTILINE), output  # the check and the target
    code, output = both.run("recommendation")
    assert code == 1
    assert output.strip().splitlines()[-1].endswith("see the column 'reason' of results/tables/weak_label_scores.csv.")


def copies():
    """Return four near-copies of each of 50 patients with random labels."""
    rng = np.random.default_rng(0)
    patient = rng.permutation(np.repeat(np.arange(50), 4))
    X = rng.normal(size=(50, 5))[patient] + 0.01 * rng.normal(size=(200, 5))
    Y = (rng.random((50, 2)) < 0.4).astype(int)[patient]
    table = pd.DataFrame(np.hstack([X, Y]), columns=[*"abcde", "label_x", "label_y"]).astype(
        dict.fromkeys(["label_x", "label_y"], int)
    )
    return table.assign(patient=[f"p{number}" for number in patient])


def test_patients_are_kept_together(study):
    """Groups apply from the folds to the final model; without groups the scores are too high."""
    config, table = own(groups="patient"), copies()
    config["data"]["own"]["blind"] = own(ignore=["patient"])["data"]["own"]["mine"]
    config["weak_labels"] |= {"datasets": ["mine", "blind"], "models": ["gcForest+", "kNN+"]}
    config["weak_labels"]["forest"] = {"n_trees": 10, "max_levels": 1}
    config["splitting"] = {"fold_effect": {"datasets": ["mine"], "n_halvings": 2, "n_repeats": 2}}
    config["final"] = {"datasets": ["mine"]}
    mine = study(config)
    table.to_csv(mine.folder / "mine.csv", index=False)
    code, output = mine.run(*(f"results/tables/{name}.csv" for name in ("weak_label_scores", "fold_effect")), "final")
    assert code == 0, output
    assert len(pd.read_csv(mine.folder / "results/tables/fold_effect.csv"))
    scores = pd.read_csv(mine.folder / "results/tables/weak_label_scores.csv")
    scores = scores.query("is_final and metric == 'average_precision'")
    assert scores["value"].notna().all(), scores["reason"].unique()
    precision = scores.pivot_table(index="model", columns="dataset", values="value")
    assert (precision["mine"] < 0.6).all() and (precision["blind"] > precision["mine"] + 0.1).all()
    folds = np.load(next(mine.folder.glob("results/folds/mine/*/*/*.npz")))["fold_of"][0]
    assert (pd.Series(folds).groupby(table["patient"]).nunique() == 1).all()
    log = (mine.folder / "results/logs/prepare_dataset/mine.log").read_text()
    assert "groups: patient" in log


def test_folds_of_ones_own(study):
    """Users can give numbered folds, or a training and a test part."""
    config, table = own(), plants(90)
    config["data"]["own"] = {
        name: {"path": "mine.csv", "labels": {"prefix": "label_"}, "folds": name, "ignore": [other]}
        for name, other in (("numbered", "parts"), ("parts", "numbered"))
    }
    config["weak_labels"] |= {"datasets": ["numbered", "parts"], "models": ["RF+ET", "gcForest+"]}
    config["weak_labels"] |= {"missing_rates": [50], "forest": {"n_trees": 2, "max_levels": 1}}
    rng = np.random.default_rng(1)
    table["numbered"] = rng.permutation(np.repeat(["b", "a", "c"], 30))
    table["parts"] = rng.permutation(np.repeat(["train", "test", "train"], 30))
    config["final"] = {"datasets": ["parts"]}
    mine = study(config)
    table.to_csv(mine.folder / "mine.csv", index=False)
    code, output = mine.run("final")
    assert code == 0, output
    scores = pd.read_csv(mine.folder / "results/tables/weak_label_scores.csv").set_index("dataset")
    for name, numbers in (("numbered", {"a": 0, "b": 1, "c": 2}), ("parts", {"test": 0, "train": -1})):
        of_dataset = scores.loc[name]
        assert {*of_dataset["fold"]} == {*numbers.values()} - {-1} and of_dataset["value"].notna().any()
        folds = np.load(next(mine.folder.glob(f"results/folds/{name}/*/*/repeats-1.npz")))["fold_of"][0]
        assert folds.tolist() == table[name].map(numbers).tolist()


def test_the_messy_table_of_the_documents(root, study):
    """The documented configuration, with smaller forests, leads from the file to predictions for new leaves."""
    for name, content in messy_table.files().items():
        assert (root / "docs/example" / name).read_bytes() == content, "run tests/messy_table.py"
    config = yaml.safe_load((root / "docs/example/leaves.yaml").read_text())
    config["weak_labels"] |= {"models": ["RF+ET", "gcForest+", "logistic"], "missing_rates": [0]}
    config["weak_labels"]["forest"] = {"n_trees": 10, "max_levels": 1}
    mine = study(config)
    (mine.folder / "docs").mkdir()
    shutil.copytree(root / "docs/example", mine.folder / "docs/example")
    code, output = mine.run("final")
    assert code == 0, output
    home, table = mine.folder / "results/final/leaves", messy_table.messy_table()
    data = Dataset.load(mine.folder / "results/datasets/leaves.npz")
    traits = [name for name in table if name.startswith("trait_")]
    assert data.label_names == tuple(traits) and set(data.left_out) == {"id", "groups", "ignored"}
    np.testing.assert_array_equal(data.Y, table[traits].replace("", np.nan).astype(float))
    assert np.isnan(data.X).sum() == (table[["width", "nitrogen", "chlorophyll"]].isin(["", "NA", "?"])).sum().sum()
    assert "soil=?" in data.feature_names
    scores = pd.read_csv(home / "label_scores.csv").set_index("label")
    assert scores.loc[list(messy_table.RARE), "n_positives"].tolist() == [2, 2]
    found = mine.folder / "found.csv"
    assert main(["predict", str(home), str(mine.folder / "docs/example/new-leaves.csv"), "-o", str(found)]) == 0
    predicted = pd.read_csv(found)
    assert predicted["leaf"].tolist() == messy_table.new_leaves()["leaf"].tolist()
    assert predicted.notna().all(axis=None) and len(predicted.columns) == 1 + 2 * len(traits) + 2


def test_all_parts_take_groups_weights_gaps_and_unmeasured_labels(study):
    """Permutations exchange whole patients, and hiding turns confirmed negatives into unmeasured labels."""
    config, table = own(groups="patient", weights="much", labels_are="complete"), copies().astype(object)
    table["much"] = np.arange(len(table)) % 3 + 1
    table.loc[::9, "a"] = table.loc[::3, "label_x"] = ""
    few = {"datasets": ["mine"], "missing_rate": 30, "n_splits": 2, "n_permutations": 3, "forest": {"n_trees": 5}}
    models = ["RF+ET", "logistic", "kNN"]
    stability = {"splitters": ["random"], "n_repeats": 2, "repeats_per_job": 2, "models": models[:2]}
    config["weak_labels"]["rank_stability"] = {"datasets": ["mine"], **stability}
    choice = {"candidates": models[:2], "n_repeats": 2, "repeats_per_job": 2, "n_samples": 90}
    config["cross_testing"] = {"models": {**few, **choice}}
    config["win_percentage"] = {"models": {**few, "models": models, "set_size": 2, "n_sets": 3}}
    config["splitting"] = {"datasets": ["mine"], "methods": ["random", "annealed", "OptiSplit-rLD"], "n_repeats": 2}
    mine = study(config)
    table.to_csv(mine.folder / "mine.csv", index=False)
    tables = ("split_summary", "score_summary", "rank_stability", "scar_tests", "cross_testing_models")
    code, output = mine.run(*(f"results/tables/{table}.csv" for table in (*tables, "win_percentage/models")))
    assert code == 0, output
    chosen = pd.read_csv(mine.folder / "results/cross_testing/models.csv")
    assert chosen["reason"].isna().all() and chosen["score"].notna().all()
    assert (chosen["n_samples"] == 88).all()  # 22 patients
    wins = pd.concat(map(pd.read_csv, (mine.folder / "results/win_percentage/models").rglob("*.csv")))
    reasons = wins[wins["model"] == "kNN"]["reason"]
    assert len(reasons) and reasons.str.contains("does not accept sample weights").all()
    assert wins[wins["model"] != "kNN"]["performance"].notna().all()
    with np.load(next(mine.folder.glob("results/weak_labels/mine/rate-0/hidden.npz"))) as hidden:
        assert hidden["hidden"].size == 0


def test_samples_have_weights(study):
    """Weights reverse the meaning of a feature for models, scores and the final model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    heavy = np.arange(160) % 4 == 0
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(much=np.where(heavy, 90.0, 1.0))
    table["label_x"] = ((table["a"] > 0) != heavy).astype(int)
    table["label_y"] = (table["b"] > 0).astype(int)
    table["soil"] = rng.choice(["clay", "loam", "sand"], 160)
    config = own()
    for name, keys in (("weighted", {"weights": "much"}), ("alike", {"ignore": ["much"]})):
        config["data"]["own"][name] = config["data"]["own"]["mine"] | keys | {"categorical": "as-is"}
    del config["data"]["own"]["mine"]
    models = ["gcForest+", "kNN", "LightGBM"]
    config["weak_labels"] |= {"datasets": ["weighted", "alike"], "models": models}
    config["weak_labels"]["forest"] = {"n_trees": 20, "max_levels": 1}
    config["final"] = {"model": "gcForest+"}
    mine = study(config)
    table.to_csv(mine.folder / "mine.csv", index=False)
    code, output = mine.run("results/tables/weak_label_scores.csv", "final")
    assert code == 0, output
    scores = pd.read_csv(mine.folder / "results/tables/weak_label_scores.csv").query("is_final and metric == 'roc_auc'")
    new = pd.DataFrame([[-1.0, 0, 0, "clay"], [1.0, 0, 0, "clay"]], columns=["a", "b", "c", "soil"])
    for name, of_dataset in scores.groupby("dataset"):
        low, high = np.asarray(load_final(mine.folder / "results/final" / name).predict(new)["probability"])[:, 0]
        assert (low > high) == (name == "weighted")
        reasons = set(of_dataset.loc[of_dataset["model"] == "kNN", "reason"].dropna())
        assert any("does not accept sample weights" in reason for reason in reasons) == (name == "weighted")
    weighted = scores[scores["dataset"] == "weighted"].groupby("model")["value"].mean()
    assert (weighted[["gcForest+", "LightGBM"]] > 0.85).all()


def test_what_comes_later_is_tested_by_what_was_before(study):
    """If folds are periods, a period does not affect earlier results, and a single one allows no test."""
    config = own(dates="day", hold_out={"after": [datetime.date(2020, 6, 30), datetime.date(2021, 3, 31)]})
    config["weak_labels"] |= {"models": ["RF+ET", "logistic"], "missing_rates": [30]}
    table = plants(120)
    table.insert(0, "day", pd.date_range("2020-01-01", periods=120, freq="5D").strftime("%Y-%m-%d"))
    table = table.sample(frac=1, random_state=0)
    mine = study(config)
    table.to_csv(mine.folder / "mine.csv", index=False)
    code, output = mine.run("results/recommendation/leaderboard.csv")
    assert code == 0, output
    log = (mine.folder / "results/logs/prepare_dataset/mine.log").read_text()
    assert "37 samples up to the first cut-off. Later periods: [55, 28]" in log
    assert "3 features, 2 labels, dates: day" in log

    def scores():
        return pd.read_csv(mine.folder / "results/tables/weak_label_scores.csv")

    def predictions():
        return FinalPredictions.load(mine.folder / "results/weak_labels/mine/rate-30/predictions_0.npz", "RF+ET").by(
            "mcc"
        )

    before, predicted = scores(), predictions()
    np.testing.assert_array_equal(np.isnan(predicted).any(axis=1), table["day"] <= "2020-06-30")
    # Periods do not balance labels.
    corrected = pd.read_csv(mine.folder / "results/recommendation/corrected_folds.csv").dropna(subset=["corrected"])
    assert (corrected["optimism"] == 0).all()
    assert before.groupby("fold")["share_tested"].unique().map(list).tolist() == [[55 / 92], [28 / 120]]
    compared = pd.read_csv(mine.folder / "results/tables/recommendation.csv").dropna(subset=["p_adjusted"])
    assert set(compared["n_folds"]) == {2}

    last = table["day"] > "2021-03-31"
    table.loc[last, "label_drought"] = 1 - table.loc[last, "label_drought"]
    table.loc[last, "height"] += 1
    table.to_csv(mine.folder / "mine.csv", index=False)
    code, output = mine.run("results/tables/weak_label_scores.csv")
    assert code == 0, output
    changed = scores().set_index("fold")
    pd.testing.assert_frame_equal(before.set_index("fold").loc[[0]], changed.loc[[0]])
    assert not before.set_index("fold").loc[[1]].equals(changed.loc[[1]])
    np.testing.assert_array_equal(predicted[~last], predictions()[~last])

    config["data"]["own"]["mine"]["hold_out"] = {"after": "2021-03-31"}
    (mine.folder / "study.yaml").write_text(yaml.safe_dump(config))
    code, output = mine.run("results/recommendation/leaderboard.csv")
    assert code == 0, output
    board = pd.read_csv(mine.folder / "results/recommendation/leaderboard.csv")
    assert board["verdict"].tolist()[::2] == ["best", "guessing"]
    assert board["verdict"][1] in ("worse", "not different", "equivalent")  # samples of one period allow a verdict
    assert set(scores()["share_tested"]) == {28 / 120}


def test_odd_names_of_files_and_folders(tmp_path, python):
    """Snakemake treats braces as wildcards, and a dash begins an option."""
    folder = "-a{b}c {dataset} 'n' 5 % #ü"
    place = tmp_path / folder
    place.mkdir()
    command = [python, "-m", "fairfold", "study", f"./{folder}/-my{{data}}.csv", "--labels", "label_"]
    command += ["-d", f"./{folder}/out", "--cores", "1", "--snakemake", "results/tables/datasets.csv"]
    plants(60).to_csv(place / "-my{data}.csv", index=False)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = pd.read_csv(place / "out/results/tables/datasets.csv")
    assert found[["dataset", "n_samples"]].to_numpy().tolist() == [["my-data", 60]]
