"""Commands describe themselves in one sentence, write the expected files and do not overwrite existing ones."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numba
import pandas as pd
import pytest
import yaml

import fairfold
from fairfold import study as studies
from fairfold.__main__ import main
from fairfold.commands import doctor
from fairfold.core.threads import one_thread_each

SENTENCES = pd.DataFrame(
    [
        ("plants", "data", "Some 20 % of the positives seem to be missing."),
        ("plants", "ranking", "Trust gcForest+, " + "which leads by far, " * 8 + "and no other."),
        ("birds", "threshold", "Any of these will do."),
    ],
    columns=["dataset", "use", "sentence"],
)


SLOW_TO_END = """
import time

try:
    print("begun", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(0.5)
    print("ended", flush=True)
    raise SystemExit(1)
"""


class Process:
    """A child process that has ended."""

    def __init__(self, returncode=0):
        self.returncode = returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def poll(self):
        return self.returncode


@pytest.fixture
def finished(tmp_path):
    (tmp_path / "results/recommendation").mkdir(parents=True)
    SENTENCES.to_csv(tmp_path / "results/recommendation/sentences.csv", index=False)
    return tmp_path


class TestRecommend:
    @pytest.mark.parametrize("folder", [".", "results"])
    def test_prints_all_sentences_under_headings(self, finished, folder, capsys):
        assert main(["recommend", str(finished / folder)]) == 0
        said = capsys.readouterr().out
        assert max(map(len, said.splitlines())) <= 100
        words = " ".join(said.split())
        for sentence in SENTENCES["sentence"]:
            assert sentence in words
        assert said.index("plants") < said.index("  The data") < said.index("  To rank labels") < said.index("birds")

    def test_of_one_dataset(self, finished, capsys):
        assert main(["recommend", str(finished), "--dataset", "birds"]) == 0
        assert "gcForest+" not in capsys.readouterr().out
        assert main(["recommend", str(finished), "--dataset", "bird"]) == 1
        assert "did you mean 'birds'?" in capsys.readouterr().err

    def test_where_there_is_nothing_yet(self, tmp_path, capsys):
        assert main(["recommend", str(tmp_path)]) == 1
        assert "has no results/recommendation/sentences.csv" in capsys.readouterr().err


@pytest.fixture
def installed(monkeypatch):
    """Return a function that sets the installed versions and whether fairfold runs from a checkout."""

    def set_versions(is_checkout, **versions):
        table = pd.DataFrame(versions.items(), columns=["software", "version"])
        monkeypatch.setattr("fairfold.report.versions.gather_versions", lambda: table)
        monkeypatch.setattr(doctor, "IS_CHECKOUT", is_checkout)

    return set_versions


class TestDoctor:
    def test_says_what_is_where(self, capsys, tmp_path, monkeypatch, installed):
        installed(True)
        monkeypatch.setenv("FAIRFOLD_MIRROR", str(tmp_path))
        assert main(["doctor"]) == 0
        said = capsys.readouterr().out
        assert all(word in said for word in ("cores", os.environ["NUMBA_CACHE_DIR"], str(tmp_path)))

    def test_says_how_many_threads_there_are(self, capsys, monkeypatch, installed):
        installed(True)
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        monkeypatch.setenv("MKL_NUM_THREADS", "7")
        with one_thread_each():
            main(["doctor"])
        said = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert ["OMP_NUM_THREADS", "not", "set"] in said and ["MKL_NUM_THREADS", "7"] in said
        assert ["numba", str(numba.get_num_threads())] in said
        (n_threads,) = {line[-1] for line in said if line and line[0] in ("openblas", "mkl", "openmp")}
        assert n_threads == "1"

    def test_mirrors_and_cache_are_those_of_the_configuration_too(self, capsys, tmp_path, monkeypatch, installed):
        installed(True)
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("FAIRFOLD_MIRROR", raising=False)

        def told(*options):
            status = main(["doctor", *options])
            lines = map(str.split, capsys.readouterr().out.splitlines())
            return status, {line[0]: line[1] for line in lines if line and "mirror" in line[0].lower()}

        assert told() == (0, {"data.mirrors": "none", "FAIRFOLD_MIRROR": "none"})
        (tmp_path / "files").mkdir()
        config = {"seed": 1, "weak_labels": {"datasets": ["yeast"]}, "data": {"mirrors": ["files"], "cache": "kept"}}
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(config))
        assert told() == (0, {"data.mirrors": "files", "FAIRFOLD_MIRROR": "none"})
        assert (tmp_path / "kept").is_dir()  # the doctor has tried to write to it
        (tmp_path / "other.yaml").write_text(yaml.safe_dump(config | {"data": {"mirrors": ["away"]}}))
        assert told("--configfile", "other.yaml") == (1, {"data.mirrors": "away", "FAIRFOLD_MIRROR": "none"})

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
        said = capsys.readouterr()
        assert "1.0 (the lock has" in said.out
        for sentence in ("needs tqdm", "versions of numpy are not", f"{tmp_path / 'away'}, which is no folder"):
            assert said.err.count(sentence) == 1

    def test_what_is_missing_keeps_no_one_from_saying_so(self, capsys, monkeypatch, installed):
        installed(False, threadpoolctl="not installed")
        monkeypatch.setitem(sys.modules, "threadpoolctl", None)
        assert main(["doctor"]) == 1
        said = capsys.readouterr()
        assert "the library needs threadpoolctl" in said.err and "FAIRFOLD_MIRROR" in said.out

    def test_what_studies_need_is_no_fault_of_an_installed_library_nor_are_other_versions(self, capsys, installed):
        installed(False, numpy="1.0", snakemake="not installed", lightgbm="not installed")
        assert main(["doctor"]) == 0
        *_, extra, others, last = capsys.readouterr().out.splitlines()
        assert "snakemake, lightgbm" in extra and "`pip install 'fairfold[study]'`" in extra
        assert "versions of numpy are not" in others and "make study" not in others
        assert last == "Nothing is wrong."


@pytest.fixture
def commands(monkeypatch):
    """Record the commands that are run; each of them succeeds."""
    found = []

    def start(command):
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


class TestStudy:
    @pytest.mark.parametrize(("statuses", "ends_well"), [([75, 0], True), ([75, 75], False), ([1], False)])
    def test_runs_once_more_where_results_were_damaged(self, table, monkeypatch, statuses, ends_well):
        left = [*statuses]
        monkeypatch.setattr(subprocess, "Popen", lambda command: Process(left.pop(0)))
        assert main(["study", str(table), "--labels", "label_"]) == (not ends_well)
        assert left == []

    def test_writes_what_a_user_would_and_runs_it_in_a_folder_beside_the_table(self, table, commands):
        asked = ["--labels", "label_", "--ignore", "plant", "--models", "logistic", "kNN", "--missing-rates", "0"]
        assert main(["study", str(table), *asked, "--dry-run", "--cores", "2", "--snakemake", "--quiet"]) == 0
        folder = table.with_name("My-plants-2-study")
        written = yaml.safe_load((folder / "study.yaml").read_text())
        assert written == {
            "seed": 1,
            "data": {
                "own": {
                    "My-plants-2": {"path": f"../{table.name}", "labels": {"prefix": "label_"}, "ignore": ["plant"]}
                }
            },
            "weak_labels": {"datasets": ["My-plants-2"], "missing_rates": [0], "models": ["logistic", "kNN"]},
        }
        (command,) = commands
        at = command.index
        assert Path(command[at("--snakefile") + 1]).name == "Snakefile"
        # One argument, because the name of a folder may begin with a dash.
        assert {f"--configfile={folder / 'study.yaml'}", f"--directory={folder}"} <= {*command}
        assert command[at("--cores") + 1] == "2"
        assert "--dry-run" in command
        assert command[3:5] == ["--quiet", "--snakefile"]  # before options with several arguments

    def test_the_model_to_take_home_is_asked_for_beside_the_study(self, table, commands):
        assert main(["study", str(table), "--labels", "label_", "-n", "--final", "--snakemake", "splitting"]) == 0
        (command,) = commands
        assert command[1:7] == ["-m", "snakemake", "all", "final", "splitting", "--snakefile"]

    def test_without_a_table_the_configuration_of_the_folder_is_checked(self, tmp_path, commands, monkeypatch, capfd):
        monkeypatch.chdir(tmp_path)
        assert main(["study", "-n"]) == 0
        (tmp_path / "config").mkdir()
        (tmp_path / "config/config.yaml").write_text("")
        assert main(["study", "-n"]) == 1
        assert "it needs keys" in capfd.readouterr().err

    def test_a_mistake_is_told_before_anything_is_written(self, table, commands, capsys):
        """The user can correct the command and run it without cleaning up."""
        assert main(["study", str(table), "--labels", "label_", "-n", "--models", "Stak+"]) == 1
        assert "did you mean 'Stack+'" in capsys.readouterr().err
        assert not commands and [*table.parent.iterdir()] == [table]

    def test_it_ends_with_the_next_commands(self, table, commands, monkeypatch, capsys):
        monkeypatch.chdir(table.parent)
        results = table.with_name("My-plants-2-study") / "results"
        (results / "recommendation").mkdir(parents=True)
        (results / "tables").mkdir()
        SENTENCES.to_csv(results / "recommendation/sentences.csv", index=False)
        (results / "tables/recommendation.csv").touch()
        asked = ["study", table.name, "--labels", "label_"]
        assert main([*asked, "--snakemake", "--quiet"]) == 0
        said = capsys.readouterr().out.splitlines()
        assert (
            said[-1] == "  python -m fairfold study 'My plants (2).csv.gz' --labels label_ --final --snakemake --quiet"
        )
        assert main([*asked, "--snakemake=--quiet"]) == 0
        assert capsys.readouterr().out.splitlines()[-1].endswith("--labels label_ --final --snakemake=--quiet")
        home = results / "final/My-plants-2"
        home.mkdir(parents=True)
        (home / "model.fairfold").touch()
        assert main(asked) == 0
        said = capsys.readouterr().out.splitlines()
        relative = "My-plants-2-study/results/final/My-plants-2"
        assert said[-1] == f"  python -m fairfold predict {relative} new.csv -o predictions.csv"
        os.utime(home / "model.fairfold", (1, 1))  # as if written before the data were changed
        assert main(asked) == 0
        assert capsys.readouterr().out.splitlines()[-1].endswith("--labels label_ --final")

    def test_where_a_part_was_asked_for_what_is_not_there_is_not_told(self, table, commands, capsys):
        assert main(["study", str(table), "--labels", "label_", "--snakemake", "splitting"]) == 0
        assert len(commands) == 1 and capsys.readouterr().out == ""

    def test_what_it_writes_is_a_configuration(self, table, commands, monkeypatch):
        assert main(["study", str(table), "--labels", "label_a", "label_b", "--id", "plant", "-n"]) == 0
        folder = table.with_name("My-plants-2-study")
        monkeypatch.chdir(folder)
        config = yaml.safe_load((folder / "study.yaml").read_text())
        entry = studies.check_study(config)["My-plants-2"]
        assert [path.resolve() for path in entry.own_files] == [table]

    def test_the_same_command_goes_on_and_another_asks_for_another_folder(self, table, commands, capsys):
        asked = ["study", str(table), "--labels", "label_", "-n"]
        assert main(asked) == main(asked) == 0
        before = (table.with_name("My-plants-2-study") / "study.yaml").read_bytes()
        assert main([*asked, "--seed", "2"]) == 1
        assert "is of a study with other options; name another folder by --directory" in capsys.readouterr().err
        assert (table.with_name("My-plants-2-study") / "study.yaml").read_bytes() == before
        assert main([*asked, "--seed", "2", "--directory", str(table.parent / "other")]) == 0

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["away.csv", "--labels", "l_"], "there is no file away.csv in"),
            (["{table}"], "which columns are labels?"),
            (["--labels", "l_", "away.csv"], "--labels is of the study of a table; name its file first"),
            (["--missing-rates", "0"], "--missing-rates is of the study of a table; name its file first"),
            (["--seed", "7"], "--seed is of the study of a table"),
        ],
    )
    def test_what_is_missing_is_said_before_anything_is_written(self, arguments, sentence, table, commands, capsys):
        assert main(["study", *[each.format(table=table) for each in arguments]]) == 1
        assert sentence in capsys.readouterr().err
        assert not commands and [*table.parent.iterdir()] == [table]

    def test_an_arff_file_is_said_to_be_one(self, tmp_path, commands, monkeypatch):
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
        assert main(["study", str(tmp_path / "plants.txt"), "--labels", "label_", "-n"]) == 0
        written = yaml.safe_load((tmp_path / "plants-study" / "study.yaml").read_text())
        assert written["data"]["own"]["plants"]["format"] == "arff"
        monkeypatch.chdir(tmp_path / "plants-study")
        assert studies.check_study(written)["plants"].format == "arff"

    def test_a_table_may_have_the_name_of_a_dataset_of_the_catalog(self, table, commands, monkeypatch):
        mine = table.with_name("yeast.csv.gz")
        table.rename(mine)
        assert main(["study", str(mine), "--labels", "label_", "-n"]) == 0
        monkeypatch.chdir(folder := mine.with_name("yeast-study"))
        assert studies.check_study(yaml.safe_load((folder / "study.yaml").read_text()))["my-yeast"].own_files

    def test_the_folder_may_be_a_link(self, table, commands):
        (table.parent / "far" / "away").mkdir(parents=True)
        link = table.parent / "link"
        link.symlink_to(table.parent / "far" / "away")
        assert main(["study", str(table), "--labels", "label_", "-d", str(link), "-n"]) == 0
        (entry,) = yaml.safe_load((link / "study.yaml").read_text())["data"]["own"].values()
        assert (link.resolve() / entry["path"]).resolve() == table

    def test_a_study_that_fails_is_said_to(self, table, monkeypatch, capsys):
        monkeypatch.setattr(subprocess, "Popen", lambda command: Process(1))
        assert main(["study", str(table), "--labels", "label_"]) == 1
        assert "The study did not end" in capsys.readouterr().err

    def test_snakemake_ends_its_jobs_where_it_is_interrupted(self, table, tmp_path):
        """Snakemake may take all the time that it needs to end its jobs."""
        (tmp_path / "snakemake.py").write_text(SLOW_TO_END)
        command = [sys.executable, "-m", "fairfold", "study", table.name, "--labels", "label_"]
        paths = os.pathsep.join([str(tmp_path), str(Path(fairfold.__file__).parents[1])])
        process = subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": paths},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # tests may run with SIGINT ignored
        )
        assert process.stdout.readline() == "begun\n"
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        assert (process.returncode, output) == (1, "ended\n")
        assert errors.splitlines()[-1].endswith("was interrupted. The same command goes on where it stopped.")
        assert "Traceback" not in errors

    def test_options_have_one_name(self, table, commands, capsys):
        with pytest.raises(SystemExit):
            main(["study", str(table), "--labels", "label_", "--snake", "-n"])
        assert not commands and "unrecognized arguments: --snake" in capsys.readouterr().err

    def test_the_folder_may_not_be_a_file(self, table, commands, capsys):
        (table.parent / "out").touch()
        assert main(["study", str(table), "--labels", "label_", "-d", str(table.parent / "out")]) == 1
        assert "out cannot be a folder: File exists. Choose another name." in capsys.readouterr().err
