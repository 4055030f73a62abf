"""Commands describe themselves in one sentence, write the expected files and do not overwrite existing ones."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from answers import tables_of

from fairfold.__main__ import main
from fairfold.answer.answer import ANSWER, Answer, save
from fairfold.commands import doctor
from fairfold.console.running import LOCK
from fairfold.core.compiled import cache_folder
from fairfold.core.files import write_table
from fairfold.core.runs import lock_of_folder
from fairfold.planning.check import catalog_of, check_study
from snakemake_logger_plugin_fairfold import EVENT

SENTENCES = pd.DataFrame(
    [
        ("plants", "data", "Some 20 % of the positives seem to be missing."),
        ("plants", "ranking", "Trust gcForest+, " + "which leads by far, " * 8 + "and no other."),
        ("birds", "threshold", "Any of these will do."),
    ],
    columns=["dataset", "use", "sentence"],
)


BOARD = pd.DataFrame(
    [
        ("plants", "gcForest+", 0.8, 0.0, "best", 3.0),
        ("plants", "kNN", 0.79, 0.01, "not different", 2.0),
        ("plants", "dummy", 0.5, 0.3, "worse", 0.1),
        ("birds", "gcForest+", 0.6, 0.0, "best", 1.0),
    ],
    columns=["dataset", "model", "score", "behind", "verdict", "fit_seconds"],
).assign(metric="average_precision", high=0.9, at_bound=0.9, deciding=0.5)
SIZES = pd.DataFrame({"dataset": ["plants", "birds"], "n_samples": [1060, 100], "n_features": 2, "n_labels": [14, 1]})


def write_results(study, dataset=None, **others):
    """Write the answer of a study and tables, for one dataset or for all; return the folder of results."""
    found = tables_of(BOARD, sentences=SENTENCES, sizes=SIZES.assign(label_cardinality=0.5), **others)
    if dataset is not None:
        found = {name: table[table["dataset"] == "plants"].assign(dataset=dataset) for name, table in found.items()}
    results = study / "results"
    for name, table in (("recommendation", found["numbers"]), ("datasets", found["sizes"])):
        write_table(table, results / f"tables/{name}.csv")
    save([Answer.from_tables(name, found) for name in found["leaderboard"]["dataset"].unique()], results / ANSWER)
    return results


def event(*call):
    return f"{EVENT}{json.dumps(call)}\n"


class Process:
    """A child process that has ended."""

    def __init__(self, returncode=0, lines=()):
        self.returncode, self.stdout = returncode, lines

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def wait(self, timeout=None):
        return self.returncode


@pytest.fixture
def finished(tmp_path):
    write_results(tmp_path)
    return tmp_path


class TestRecommend:
    @pytest.mark.parametrize("folder", [".", "results"])
    def test_prints_all_sentences_under_headings(self, finished, folder, capsys):
        assert main(["recommend", str(finished / folder), "--all"]) == 0
        output = capsys.readouterr().out
        assert max(map(len, output.splitlines())) <= 100
        words = " ".join(output.split())
        for sentence in SENTENCES["sentence"]:
            assert sentence in words
        assert (
            output.index("plants") < output.index("The data\n") < output.index("To rank labels") < output.index("birds")
        )

    def test_of_one_dataset(self, finished, capsys):
        assert main(["recommend", str(finished), "--dataset", "birds", "--all"]) == 0
        assert "Any of these" in (output := capsys.readouterr().out) and "kNN" not in output
        assert main(["recommend", str(finished), "--dataset", "plants"]) == 0
        output = capsys.readouterr().out.splitlines()
        assert output[0].startswith(
            "Use gcForest+. With 1,060 samples, one other model is not significantly different. "
        )
        assert "This is kNN, which is faster: 2.00 s per fit instead of 3.00 s." in " ".join(map(str.strip, output[:2]))
        assert output[2] == "The average precision of gcForest+ is 0.800."
        assert output[4].split() == ["avg.", "precision", "gap", "to", "best", "MCC", "verdict", "s/fit"]
        assert output[6].split() == ["kNN", "0.790", "0.0100", "0.500", "not", "different,", "fastest", "2.00"]
        assert "average precision would be up to 0.900." in " ".join(output[9:11])
        assert len(output) <= 20
        assert main(["recommend", str(finished), "--dataset", "bird"]) == 1
        assert "did you mean 'birds'?" in capsys.readouterr().err

    def test_several_datasets_have_a_line_each(self, finished, capsys):
        assert main(["recommend", str(finished)]) == 0
        plants, birds, hint = capsys.readouterr().out.splitlines()
        assert plants.startswith("plants: Use gcForest+. With 1,060 samples")
        assert birds == "birds: Use gcForest+. There is no other model to compare it with."
        assert "--dataset NAME" in hint

    def test_where_there_is_nothing_yet(self, tmp_path, capsys):
        assert main(["recommend", str(tmp_path)]) == 1
        assert "has no results/recommendation/answer.json" in capsys.readouterr().err

    def test_of_an_interrupted_run(self, finished, tmp_path, capsys):
        shutil.copytree(finished, study := tmp_path / "study")
        next(study.rglob("tables/recommendation.csv")).unlink()
        assert main(["recommend", str(study)]) == 1
        assert f"{study} stopped before its recommendation was complete." in capsys.readouterr().err


@pytest.fixture
def installed(monkeypatch):
    """Return a function that sets the installed versions and whether fairfold runs from a checkout."""

    def set_versions(is_checkout, **versions):
        table = pd.DataFrame(versions.items(), columns=["software", "version"])
        monkeypatch.setattr("fairfold.core.versions.gather_versions", lambda: table)
        monkeypatch.setattr(doctor, "IS_CHECKOUT", is_checkout)

    return set_versions


class TestDoctor:
    def test_states_what_is_where(self, capsys, tmp_path, monkeypatch, installed):
        installed(True)
        monkeypatch.setenv("FAIRFOLD_MIRROR", str(tmp_path))
        assert main(["doctor"]) == 0
        output = capsys.readouterr().out
        assert all(word in output for word in ("cores", cache_folder(), str(tmp_path)))

    def test_mirrors_and_cache_are_those_of_the_configuration_too(self, capsys, tmp_path, monkeypatch, installed):
        installed(True)
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("FAIRFOLD_MIRROR", raising=False)

        def doctor_settings(*options):
            status = main(["doctor", *options])
            lines = map(str.split, capsys.readouterr().out.splitlines())
            return status, {line[0]: line[1] for line in lines if line and "mirror" in line[0].lower()}

        assert doctor_settings() == (0, {"data.mirrors": "none", "FAIRFOLD_MIRROR": "none"})
        (tmp_path / "files").mkdir()
        config = {"seed": 1, "weak_labels": {"datasets": ["yeast"]}, "data": {"mirrors": ["files"], "cache": "kept"}}
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(config))
        assert doctor_settings() == (0, {"data.mirrors": "files", "FAIRFOLD_MIRROR": "none"})
        assert (tmp_path / "kept").is_dir()  # the doctor has tried to write to it
        (tmp_path / "other.yaml").write_text(yaml.safe_dump(config | {"data": {"mirrors": ["away"]}}))
        assert doctor_settings("--configfile", "other.yaml") == (1, {"data.mirrors": "away", "FAIRFOLD_MIRROR": "none"})

    @pytest.mark.parametrize("text", ["seed: [", "", "sead: 1"])
    def test_a_configuration_with_a_mistake_is_wrong(self, text, capsys, tmp_path, installed):
        installed(True)
        (tmp_path / "mine.yaml").write_text(text)
        assert main(["doctor", "--configfile", str(tmp_path / "mine.yaml")]) == 1
        assert capsys.readouterr().err.startswith("ConfigError: ")

    def test_ends_with_one_sentence_for_each_thing_that_is_wrong(self, capsys, tmp_path, monkeypatch, installed):
        installed(True, numpy="1.0", tqdm="not installed")
        monkeypatch.setenv("FAIRFOLD_MIRROR", str(tmp_path / "away"))
        assert main(["doctor"]) == 1
        output = capsys.readouterr()
        assert "1.0 (the lock has" in output.out
        for sentence in ("needs tqdm", "versions of numpy differ", f"{tmp_path / 'away'}, which is not a folder"):
            assert output.err.count(sentence) == 1

    def test_what_studies_need_is_no_fault_of_an_installed_library_nor_are_other_versions(self, capsys, installed):
        installed(False, numpy="1.0", snakemake="not installed", lightgbm="not installed")
        assert main(["doctor"]) == 0
        *_, extra, others, last = capsys.readouterr().out.splitlines()
        assert "snakemake, lightgbm" in extra and "`pip install 'fairfold[study]'`" in extra
        assert "versions of numpy differ" in others and "make study" not in others
        assert last == "Nothing is wrong."


@pytest.fixture
def commands(monkeypatch):
    """Record the commands that are run; each of them succeeds."""
    found = []

    def start(command, **options):
        found.append(command)
        return Process()

    monkeypatch.setattr(subprocess, "Popen", start)
    return found


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "My plants (2).csv.gz"
    frame = pd.DataFrame({"plant": range(4), "leaf": range(4), "label_a": [0, 1, 0, 1], "label_b": [1, 0, 0, 1]})
    frame.to_csv(path, index=False)
    return path


KINDS = ("svm", "csv", "arff", "parquet")


class TestStudy:
    @pytest.fixture(autouse=True)
    def tables_are_not_read(self, monkeypatch):
        """The tables of these tests are too small for a study."""
        monkeypatch.setattr("fairfold.commands.study._look_at_columns", lambda options, folder: None)

    def test_writes_what_a_user_would_and_runs_it_in_a_folder_beside_the_table(self, table, commands):
        asked = [
            "--labels",
            "label_",
            "--ignore",
            "plant",
            "--models",
            "logistic",
            "kNN",
            "--missing-rates",
            "0",
            "--score",
            "f1_macro",
        ]
        assert main(["study", str(table), *asked, "--cores", "2", "--snakemake", "--quiet"]) == 0
        folder = table.with_name("My-plants-2-study")
        written = yaml.safe_load((folder / "study.yaml").read_text())
        assert written == {
            "seed": 1,
            "data": {
                "own": {
                    "My-plants-2": {"path": f"../{table.name}", "labels": {"prefix": "label_"}, "ignore": ["plant"]}
                }
            },
            "weak_labels": {
                "datasets": ["My-plants-2"],
                "missing_rates": [0],
                "scoring": "f1_macro",
                "models": ["logistic", "kNN"],
                "sample_curves": {"datasets": ["My-plants-2"], "models": ["joint-GB"], "shares": [0.25, 0.5, 1.0]},
            },
            "final": {"fit": True},
        }
        (command,) = commands
        at = command.index
        assert Path(command[at("--snakefile") + 1]).name == "Snakefile"
        # One argument, because the name of a folder may begin with a dash.
        assert {f"--configfile={folder / 'study.yaml'}", f"--directory={folder}"} <= {*command}
        assert command[at("--cores") + 1] == "2"
        assert "--dry-run" not in command
        # Targets come before options with several arguments.
        assert command[4:7] == ["results/scored/study.done", "--quiet", "--snakefile"]

    @pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
    def test_a_large_table_has_fewer_folds_and_models(self, suffix, table, commands, monkeypatch, capsys):
        monkeypatch.setattr("fairfold.commands.study.LARGE_TABLE", 10)
        large = table.with_name(f"large.{suffix}")
        rows = pd.DataFrame({"x": range(10), "label_a": [0, 1] * 5, "label_b": [1, 0] * 5})
        rows.to_parquet(large) if suffix == "parquet" else rows.to_csv(large, index=False)
        assert main(["study", str(large), "--labels", "label_", "--folds", "4"]) == 0
        written = yaml.safe_load((table.with_name("large-study") / "study.yaml").read_text())
        assert written["folds"] == {"n_splits": 4} and "missing_rates" not in written["weak_labels"]
        assert "Stack+" in written["weak_labels"]["models"] and written["weak_labels"]["models_per_job"] == 1
        message = capsys.readouterr().err
        assert "To save time, the study uses --models logistic+" in message
        assert "--folds" not in message

    @pytest.mark.parametrize(("kind", "n_labels"), [("csv", 5), *((kind, 130) for kind in KINDS)])
    @pytest.mark.parametrize("models", [[], ["logistic"]])
    def test_a_table_of_many_labels_has_models_that_learn_from_sketches(
        self, models, kind, n_labels, table, commands, monkeypatch, capsys
    ):
        monkeypatch.setattr("fairfold.commands.study._MOST_CELLS", 1000)
        is_large = kind == "svm"
        monkeypatch.setattr("fairfold.commands.study.LARGE_TABLE", 100 if is_large else 1000)
        Y = pd.DataFrame(np.eye(n_labels, dtype=int), columns=[f"label_{label}" for label in range(n_labels)])
        many, rows = table.with_name(f"many.{kind}"), Y.assign(x=1.5).to_numpy()
        attributes = [f"@attribute {name} numeric" for name in (*Y, "x")]
        lines = {"svm": [f"{row} 1:1.5" for row in range(n_labels)]}
        lines["arff"] = ["@relation many", *attributes, "@data", *[",".join(map(str, row)) for row in rows]]
        writers = {"csv": lambda: Y.assign(x=1.5).to_csv(many, index=False), "parquet": lambda: Y.to_parquet(many)}
        writers.get(kind, lambda: many.write_text("\n".join(lines[kind])))()
        assert main(["study", str(many), "--labels", "label_", *["--models"] * bool(models), *models]) == 0
        written = yaml.safe_load((table.with_name("many-study") / "study.yaml").read_text())["weak_labels"]
        message = capsys.readouterr().err
        if n_labels == 130:
            assert written["models"] == (models or ["RF+ET", "Stack+"])
            assert ("130 labels. To save time" in message) == (is_large or not models)
            assert ("add gcForest+" in message) == (not models)
            assert written["many_labels"] == {"datasets": ["many"]}
            assert written.get("missing_rates") == ([0] if is_large else None)
            assert written["sample_curves"]["models"] == ["RF+ET"]
        else:
            assert (
                written.get("models", []) == models and "many_labels" not in written and "To save time" not in message
            )

    def test_a_published_study_keeps_its_settings_with_a_large_table(self, table, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr("fairfold.commands.study.LARGE_TABLE", 1)
        assert main(["study", str(table), "--from", str(tmp_path / "missing.zip")]) == 1
        assert "is not an archive of `fairfold publish`" in capsys.readouterr().err

    def test_the_final_model_may_be_added_later(self, table, commands):
        asked = ["study", str(table), "--labels", "label_"]
        assert main([*asked, "--no-final"]) == main(asked) == 0
        assert main([*asked, "--seed", "2"]) != 0

    def test_the_final_model_is_a_target_next_to_the_study(self, table, commands):
        assert main(["study", str(table), "--labels", "label_", "-n", "--final", "--snakemake", "splitting"]) == 0
        assert main(["study", str(table), "--labels", "label_", "-n"]) == 0
        assert main(["study", str(table), "--labels", "label_", "-n", "--snakemake", "splitting"]) == 0
        assert main(["study", str(table), "--labels", "label_", "-n", "--no-final"]) == 0
        assert main(["study", "-n"]) == main(["study", "-n", "--final"]) == 0
        asked = [command[4 : command.index("--snakefile")] for command in commands]
        whole = ["results/scored/study.done"]  # with the final model, unless it is turned off
        assert asked == [[*whole, "splitting"], whole, ["splitting"], whole, whole, [*whole, "final"]]

    def test_without_a_table_the_configuration_of_the_folder_is_checked(self, tmp_path, commands, monkeypatch, capfd):
        monkeypatch.chdir(tmp_path)
        assert main(["study", "-n"]) == 0
        (tmp_path / "config").mkdir()
        (tmp_path / "config/config.yaml").write_text("")
        assert main(["study", "-n"]) == 1
        assert "expected keys" in capfd.readouterr().err

    def test_a_mistake_is_reported_before_anything_is_written(self, table, commands, capsys):
        """The user can correct the command and run it without cleaning up."""
        assert main(["study", str(table), "--labels", "label_", "-n", "--models", "Stak+"]) == 1
        assert "did you mean 'Stack+'" in capsys.readouterr().err
        assert not commands and [*table.parent.iterdir()] == [table]

    def test_it_ends_with_the_next_commands(self, table, commands, monkeypatch, capsys):
        monkeypatch.chdir(table.parent)
        results = write_results(Path("My-plants-2-study"), "My-plants-2")
        (results / "report.html").touch()
        asked = ["study", table.name, "--labels", "label_"]
        assert main(asked) == 0
        shown = capsys.readouterr()
        assert "All results are up to date   (log: My-plants-2-study/logs/study.log)" in shown.err
        assert shown.out.startswith("Use gcForest+. ")
        assert shown.out.splitlines()[-1] == "Report:   My-plants-2-study/results/report.html"
        home = results / "final/My-plants-2"
        home.mkdir(parents=True)
        (home / "model.fairfold").touch()
        assert main(asked) == 0
        relative = "My-plants-2-study/results/final/My-plants-2"
        model, last = capsys.readouterr().out.splitlines()[-2:]
        assert model.startswith(f"Model:    {relative}  (folder with the final model, gcForest+, ")
        assert last == f"Predict:  fairfold predict {relative} new.csv -o predictions.csv"
        (home / "label_scores.csv").write_text("model,label,mcc\nkNN,a,0.5\n")
        assert main(asked) == 0
        last = capsys.readouterr().out.splitlines()[-1]
        assert last == "  The final model is kNN. To change it, set final.model in the configuration."
        os.utime(home / "model.fairfold", (1, 1))  # as if written before the data were changed
        assert main(asked) == 0
        assert "fairfold predict" not in capsys.readouterr().out
        assert main([*asked, "--verbose"]) == 0
        assert "To rank labels by their probability" in capsys.readouterr().out

    def test_where_a_part_was_asked_for_what_is_not_there_is_not_reported(self, table, commands, capsys):
        assert main(["study", str(table), "--labels", "label_", "--snakemake", "splitting"]) == 0
        assert len(commands) == 1 and capsys.readouterr().out == ""

    def test_what_it_writes_is_a_configuration(self, table, commands, monkeypatch):
        text = ["--categorical", "one-hot"]
        assert main(["study", str(table), "--labels", "label_a", "label_b", "--id", "plant", *text]) == 0
        folder = table.with_name("My-plants-2-study")
        monkeypatch.chdir(folder)
        config = yaml.safe_load((folder / "study.yaml").read_text())
        entry = catalog_of(check_study(config))["My-plants-2"]
        assert [path.resolve() for path in entry.own_files] == [table]
        assert entry.categorical == "one-hot"

    def test_the_same_command_goes_on_and_another_asks_for_another_folder(self, table, commands, capsys):
        asked = ["study", str(table), "--labels", "label_"]
        assert main(asked) == main(asked) == 0
        before = (table.with_name("My-plants-2-study") / "study.yaml").read_bytes()
        assert main([*asked, "--seed", "2"]) == 1
        error = capsys.readouterr().err
        assert "belongs to a study with other options. Choose another folder with --directory" in error
        advice = re.search("run `fairfold (.*?)`", error)[1]
        assert main(shlex.split(advice)) == 0
        assert f"--directory={table.parent / 'My-plants-2-study'}" in commands[-1]
        assert (table.with_name("My-plants-2-study") / "study.yaml").read_bytes() == before
        assert main([*asked, "--predict-on", str(table)]) == 0  # Scores on unlike samples may follow.
        config = yaml.safe_load((table.with_name("My-plants-2-study") / "study.yaml").read_text())
        assert config["weak_labels"]["elsewhere"]["predict_on"] == {"My-plants-2": f"../{table.name}"}
        assert main([*asked, "--seed", "2", "--directory", str(table.parent / "other")]) == 0

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["away.csv", "--labels", "l_"], "there is no file away.csv in"),
            (["{table}"], "--labels is missing"),
            (["--labels", "l_", "away.csv"], "--labels needs a table. Name its file first"),
            (["--missing-rates", "0"], "--missing-rates needs a table. Name its file first"),
            (["--seed", "7"], "--seed needs a table"),
            (["{table}", "--labels", "label_", "--folds", "1"], "--folds: found 1"),
            (["{table}", "--labels", "label_", "--hierarchy", "away.obo"], "--hierarchy: there is no file away.obo"),
        ],
    )
    def test_what_is_missing_is_reported_before_anything_is_written(self, arguments, sentence, table, commands, capsys):
        assert main(["study", *[each.format(table=table) for each in arguments]]) == 1
        assert sentence in capsys.readouterr().err
        assert not commands and [*table.parent.iterdir()] == [table]

    def test_a_dry_run_keeps_no_configuration(self, table, commands):
        asked, path = ["study", str(table), "--labels", "label_"], table.with_name("My-plants-2-study") / "study.yaml"
        assert main([*asked, "--dry-run", "--seed", "2"]) == 0
        assert "--dry-run" in commands[0] and not path.exists()
        assert main(asked) == main([*asked, "--dry-run"]) == 0
        assert path.exists()

    def test_a_second_command_in_the_same_folder_changes_nothing(self, table, commands, capsys):
        asked, folder = ["study", str(table), "--labels", "label_"], table.with_name("My-plants-2-study")
        for more in ([], ["--seed", "2"], ["--dry-run"]):
            with lock_of_folder(folder, name=LOCK):
                assert main([*asked, *more]) == 1
            assert f"{folder}: another run is working in this folder. Wait until it" in capsys.readouterr().err
        assert not commands and not [path for path in folder.iterdir() if path.name != ".snakemake"]
        assert main(asked) == 0

    def test_columns_and_folds_are_options(self, table, commands, monkeypatch):
        (table.parent / "above.csv").write_text("label,parent\nlabel_a,label_b\n")
        hierarchy = str(table.parent / "above.csv")
        asked = ["study", str(table), "--labels", "label_", "--weights", "leaf", "--hierarchy", hierarchy]
        assert main([*asked, "--folds", "3", "--repeats", "2"]) == 0
        config = yaml.safe_load((table.with_name("My-plants-2-study") / "study.yaml").read_text())
        assert config["folds"] == {"n_splits": 3, "n_repeats": 2}
        (dataset,) = config["data"]["own"].values()
        assert dataset["weights"] == "leaf"
        assert dataset["labels"] == {"prefix": "label_", "hierarchy": "../above.csv"}
        by_date = ["study", str(table), "--labels", "label_", "--dates", "plant", "-d", str(table.parent / "d")]
        assert main([*by_date, "--folds", "1"]) == 0
        config = yaml.safe_load((table.parent / "d/study.yaml").read_text())
        (dataset,) = config["data"]["own"].values()
        assert (dataset["dates"], dataset["hold_out"]) == ("plant", {"n_splits": 1})
        assert "folds" not in config

    def test_an_arff_file_is_reported_to_be_one(self, tmp_path, commands, monkeypatch):
        rows = [
            "% a comment",
            "",
            "@RELATION plants",
            "@attribute x numeric",
            "@attribute label_a {0,1}",
            "@data",
            "1,0",
        ]
        (tmp_path / "plants.txt").write_text("\n".join(rows))
        assert main(["study", str(tmp_path / "plants.txt"), "--labels", "label_"]) == 0
        written = yaml.safe_load((tmp_path / "plants-study" / "study.yaml").read_text())
        assert written["data"]["own"]["plants"]["format"] == "arff"
        monkeypatch.chdir(tmp_path / "plants-study")
        assert catalog_of(check_study(written))["plants"].format == "arff"

    def test_a_table_may_have_the_name_of_a_dataset_of_the_catalog(self, table, commands, monkeypatch):
        mine = table.with_name("yeast.csv.gz")
        table.rename(mine)
        assert main(["study", str(mine), "--labels", "label_"]) == 0
        monkeypatch.chdir(folder := mine.with_name("yeast-study"))
        assert catalog_of(check_study(yaml.safe_load((folder / "study.yaml").read_text())))["my-yeast"].own_files

    def test_the_folder_may_be_a_link(self, table, commands):
        (table.parent / "far" / "away").mkdir(parents=True)
        link = table.parent / "link"
        link.symlink_to(table.parent / "far" / "away")
        assert main(["study", str(table), "--labels", "label_", "-d", str(link)]) == 0
        (entry,) = yaml.safe_load((link / "study.yaml").read_text())["data"]["own"].values()
        assert (link.resolve() / entry["path"]).resolve() == table

    def test_progress_and_messages(self, table, monkeypatch, capsys):
        """Messages go to the log file, except for warnings."""
        folder = table.with_name("My-plants-2-study")
        warning = {"check": "empty column", "severity": "warning", "message": "column 'x' is empty"}
        write_results(folder, "My-plants-2", audit=pd.DataFrame([warning]))
        (folder / "results/datasets").mkdir()
        audit = pd.DataFrame([warning]).assign(dataset="My-plants-2")
        write_table(audit, folder / "results/datasets/My-plants-2.audit.csv")
        lines = [
            *("warning: the disk is old\n", "warning: My-plants-2: column 'x' is empty\n", "Select jobs\n"),
            *(event("plan", {"describe_study": 1, "train": 1}), event("log", "Job stats")),
            *(event("start", 1, "describe_study", "Inspect"), event("finish", 1)),
            *(event("start", 2, "train", "Train"), event("finish", 2)),
        ]
        weak_labels = {"datasets": ["My-plants-2"], "models": ["kNN"], "missing_rates": [0, 50]}
        config = {"data": {"own": {"My-plants-2": {"path": f"../{table.name}", "labels": {"prefix": "l_"}}}}}
        config = yaml.safe_dump(config | {"seed": 1, "folds": {"n_splits": 3}, "weak_labels": weak_labels})
        (folder / "results/config.yaml").write_text(config)
        monkeypatch.setattr(subprocess, "Popen", lambda command, **options: Process(lines=lines))
        assert main(["study", str(table), "--labels", "label_"]) == 0
        printed = capsys.readouterr()
        shown = printed.err.splitlines()
        assert "Warning: column 'x' is empty." in printed.out.splitlines()  # repeated under the leaderboard
        assert shown[:4] == [
            "warning: the disk is old",
            "warning: My-plants-2: column 'x' is empty",
            f"{table.name}: 1,060 samples, 2 features, 14 labels. 1 data warning.",
            "1 model in 3 folds, on the labels as they are and with 50 % of the positives hidden: 6 trainings.",
        ]
        assert shown[4].startswith("[####################] 2 jobs done in 0 s ")
        log = (folder / "logs/study.log").read_text().splitlines()
        assert log == [*(line.strip() for line in lines[:3]), "Job stats"]

    @pytest.mark.parametrize(
        ("step", "error", "advice"),
        [
            (
                "prepare_dataset",
                "DataError: the table is empty. Fill it.",
                "Correct the table or the options of the command, then rerun it.",
            ),
            (
                "prepare_dataset",
                "DataError: the disk is full. Free space, then run the same command again; results are kept.",
                "Run the same command again to continue; finished results are kept.",
            ),
            (
                "train",
                "ModelError: kNN failed.",
                "Run the same command again to continue; finished results are kept.",
            ),
        ],
    )
    def test_a_failed_step_is_named_with_its_reason_and_log(self, table, monkeypatch, capsys, step, error, advice):
        folder = table.with_name("My-plants-2-study")
        (folder / "results").mkdir(parents=True)
        (folder / "results/read.log").write_text(f"Read it.\n{error}\n")
        lines = [event("fail", 1, step, ["results/read.log"]), "Traceback\n"]
        monkeypatch.setattr(subprocess, "Popen", lambda command, **options: Process(1, lines))
        assert main(["study", str(table), "--labels", "label_"]) == 1
        assert capsys.readouterr().err.splitlines() == [
            f"StudyError: Step {step} failed: {error.partition(': ')[2]}",
            f"Log of the step: {folder / 'results/read.log'}",
            f"Log of the study: {folder / 'logs/study.log'}",
            advice,
        ]

    def test_a_corrected_command_may_use_the_same_folder(self, table, monkeypatch, capsys):
        monkeypatch.setattr(subprocess, "Popen", lambda command, **options: Process(1))
        asked = ["study", str(table), "--labels", "label_"]
        folder = table.with_name("My-plants-2-study")
        assert main([*asked, "--weights", "lea"]) == main([*asked, "--weights", "leaf"]) == 1
        assert "The study failed" in capsys.readouterr().err and not (folder / "study.yaml").exists()
        (folder / "results/datasets").mkdir(parents=True)
        (folder / "results/datasets/My-plants-2.npz").touch()
        assert main(asked) == 1
        assert (folder / "study.yaml").exists()

    def test_a_wrong_value_is_refused_in_one_sentence(self, table, commands, capsys):
        with pytest.raises(SystemExit, match="2"):
            main(["study", str(table), "--labels", "label_", "--folds", "x"])
        assert capsys.readouterr().err == (
            "fairfold study: argument --folds: invalid int value: 'x'. Run `fairfold study --help` for the options.\n"
        )

    def test_without_a_failed_step_the_last_messages_are_shown(self, table, monkeypatch, capsys):
        lines = ["Using workflow specific profile x\n", "ConfigError: the seed is negative.\n"]
        monkeypatch.setattr(subprocess, "Popen", lambda command, **options: Process(1, lines))
        assert main(["study", str(table), "--labels", "label_"]) == 1
        assert capsys.readouterr().err.splitlines()[:2] == [
            "StudyError: The study failed:",
            "ConfigError: the seed is negative.",
        ]

    def test_options_have_one_name(self, table, commands, capsys):
        with pytest.raises(SystemExit):
            main(["study", str(table), "--labels", "label_", "--snake", "-n"])
        assert not commands and "unrecognized arguments: --snake" in capsys.readouterr().err

    def test_the_folder_may_not_be_a_file(self, table, commands, capsys):
        (table.parent / "out").touch()
        assert main(["study", str(table), "--labels", "label_", "-d", str(table.parent / "out")]) == 1
        assert "out cannot be a folder: File exists. Choose another name." in capsys.readouterr().err
