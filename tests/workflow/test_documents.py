"""What the documents tell a reader to type is run as it stands there, in the root of a copy of the project.

Commands that take long are run dry; each is a line of its own.
"""

import itertools
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
import yaml

from fairfold.datasets import Dataset, prepare
from fairfold.datasets.catalog import Entry
from fairfold.final.model import fit_final
from fairfold.study import check_config

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", "config/README.md")
README = (ROOT / "README.md").read_text()


def blocks(document, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)


COMMANDS = [
    (document, line.split("  #")[0].strip())
    for document in DOCUMENTS
    for block in blocks(document, "sh")
    for line in block.splitlines()
]
STANZAS = [(document, block) for document in DOCUMENTS for block in blocks(document, "yaml")]
EXAMPLES = [(document, block) for document in DOCUMENTS for block in blocks(document, "python")]


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A copy of the project, with the files that the documents tell the reader to have."""
    folder = tmp_path_factory.mktemp("reader") / "project"
    folder.mkdir()
    for part in ("workflow", "resources", "config", "envs"):
        shutil.copytree(ROOT / part, folder / part)
    for part in ("Snakefile", "Makefile", "pyproject.toml"):
        shutil.copy2(ROOT / part, folder)
    (folder / "profiles").symlink_to("workflow/profiles")
    (folder / "config/mine.yaml").write_text(blocks("config/README.md", "yaml")[0])
    for place in (folder, folder.parent / "my-study"):
        place.mkdir(exist_ok=True)
        (place / "my-plants.csv").write_text(blocks("config/README.md", "csv")[0])
    plants = pd.read_csv(folder / "my-plants.csv")
    labels = [name for name in plants if name.startswith("label_")]
    X, Y = plants.drop(columns=labels), plants[labels].astype("int8")
    data = Dataset("my-plants", "multilabel", X.to_numpy(float), Y.to_numpy(), tuple(X), tuple(labels))
    fit_final(data, "dummy", {}, seed=1).save(folder / "results/final/my-plants")
    shutil.copytree(ROOT / "docs/example", folder / "docs/example")
    stanza = yaml.safe_load((ROOT / "docs/example/leaves.yaml").read_text())["data"]["own"]["leaves"]
    leaves = Entry.from_own("leaves", {"format": "csv", **stanza, "path": ROOT / stanza["path"]})
    fit_final(prepare(leaves), "dummy", {}, seed=1).save(folder / "results/final/leaves")
    X.to_csv(folder / "new.csv", index=False)
    return folder


def dry(command, python):
    """The command as it is to be tested: planned only, and by this Python."""
    program, *words = command.split(maxsplit=1)
    if program == "make":
        return f"make --dry-run {' '.join(words)}"
    if program == "python":
        return f"{python} {' '.join(words)}"
    assert program == "snakemake", f"say how {command!r} is to be tested"
    if "config/paper.yaml" in command:  # all of it, whatever can be had here
        words.append("""--config "data={'unavailable': 'stop'}" """)
    return f"{python} -m snakemake --dry-run --quiet rules {' '.join(words)}"


@pytest.fixture(scope="module")
def results(reader, python):
    """What each command did: document and command -> the future process, two at a time."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MAKEFLAGS")}
    options = {"shell": True, "cwd": reader, "env": environment, "capture_output": True, "text": True, "timeout": 600}
    with ThreadPoolExecutor(2) as pool:
        yield {each: pool.submit(subprocess.run, dry(each[1], python), **options) for each in COMMANDS}


@pytest.mark.parametrize(("document", "command"), COMMANDS)
def test_each_command_can_be_run(results, document, command):
    done = results[document, command].result()
    assert done.returncode == 0, done.stdout + done.stderr
    if command.startswith("make"):
        assert re.search("pytest|snakemake", done.stdout), done.stdout
        return
    if command.startswith("python"):
        assert re.search(r"predictions\.csv: (2|30) labels of", done.stdout), done.stdout
        return
    planned = int(re.search(r"^total +(\d+)$", done.stdout, re.MULTILINE)[1])
    assert planned > 0
    if "config/paper.yaml" in command and "splitting" not in command:
        # by any profile, and nothing of the quick study's beside it
        assert planned == int(re.search(r"The published scale is ([\d,]+) jobs", README)[1].replace(",", ""))


@pytest.mark.parametrize(("document", "stanza"), STANZAS)
def test_each_configuration_is_a_whole_one(document, stanza):
    check_config(yaml.safe_load(stanza))


@pytest.mark.parametrize(("document", "example"), EXAMPLES)
def test_each_example_of_the_library_runs(document, example, tmp_path, python):
    (tmp_path / "example.py").write_text(example)
    subprocess.run([python, "example.py"], check=True, cwd=tmp_path, timeout=600)


def test_no_block_of_the_documents_is_left_out():
    assert {document for document, _ in COMMANDS} == {document for document, _ in STANZAS} == set(DOCUMENTS)
    fences = [line for name in DOCUMENTS for line in (ROOT / name).read_text().splitlines() if line.startswith("```")]
    assert set(fences) <= {"```", "```sh", "```yaml", "```csv", "```python"}  # another language needs a test


def rows_of(first):
    """Rows of the README's table under the heading row that begins so, by their first cell."""
    lines = README[README.index(first) :].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2 : lines.index("")]]
    return {name: values for name, *values in cells}


def test_the_table_of_what_parts_add_is_what_was_measured():
    text = (ROOT / "docs/how-it-works.md").read_text()
    lines = text[text.index("| | AP, 0 | AP, 50 | MCC, 0 | MCC, 50 |\n|---|---|---|---|---|\n| forests") :].splitlines()
    table = pd.read_csv(ROOT / "resources/measured/ablation.csv").query("dataset == 'all'")
    rows = table.set_index(["part", "metric", "missing_rate"])
    expected = []
    for part in table["part"].unique():
        cells = []
        for metric, rate in itertools.product(("average_precision", "mcc"), (0, 50)):
            numbers = rows.loc[(part, metric, rate), ["gain", "low", "high"]]
            gain, low, high = (f"{number:.3f}".replace("-0.000", "0.000") for number in numbers)
            cells.append(f"{gain} ({low} to {high})")
        expected.append(f"| {part} | {' | '.join(cells)} |")
    assert lines[2 : lines.index("")] == expected


def test_the_tables_of_the_race_are_what_was_measured():
    race, regret = (pd.read_csv(ROOT / "resources/measured" / name) for name in ("race.csv", "race_regret.csv"))
    means = race.groupby(["model", "missing_rate"])[["average_precision", "mcc"]].mean().unstack("missing_rate")
    seconds = race[race["dataset"] == "yeast"].groupby("model")["fit_seconds"].mean()
    shown = rows_of("| | AP, 0 | 30 | 50 | 70 | MCC, 0 | 30 | 50 | 70 | seconds")
    assert shown == {
        model: [*(f"{mean:.3f}" for mean in means.loc[model]), f"{seconds[model]:.1f}"] for model in means.index
    }
    regrets = regret.set_index(["strategy", "metric", "missing_rate"])["regret"].unstack(["metric", "missing_rate"])
    shown = rows_of("| | AP, 0 | 30 | 50 | 70 | MCC, 0 | 30 | 50 | 70 |\n")
    assert shown == {strategy: [f"{value:.3f}" for value in regrets.loc[strategy]] for strategy in shown}
    assert {"recommendation", "observed labels", "other datasets", "any model"} < shown.keys()
