"""The commands in the documents run unchanged in the root of a copy of the project.

Long commands are dry runs; each line is one command. The site is built once with its gallery, and Sphinx must not
report any warning.
"""

import io
import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from browser import find_browser, see, served
from snakemake.cli import get_argument_parser

from fairfold.commands.study import LEARNING_CURVE
from fairfold.core.files import write_table
from fairfold.datasets import Dataset, prepare
from fairfold.datasets.catalog import Entry
from fairfold.evaluation.certified import curve_table
from fairfold.final.model import fit_final
from fairfold.planning.check import check_config, check_study
from fairfold.report.contents import figures_of, load_contents

ROOT = Path(__file__).resolve().parents[2]
REGENERATED = ROOT / "resources" / "regenerated"
MADE = ("_build", "auto_gallery", "api")
PAGES = sorted(
    str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md") if not set(path.parts).intersection(MADE)
)
# Pages of the site include files of these folders.
FOLDERS = ("config", "benchmarks", "envs", "resources", "results", "tests/cluster")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *(f"{folder}/README.md" for folder in FOLDERS), *PAGES]
TABLE = "docs/guide/run-my-table.md"
TEXT = "docs/guide/text-categories-dates.md"
DOORS = "docs/extend.md"  # tests/workflow/test_doors.py runs it
PROFILES = "docs/reference/software.md"  # for engines that are not installed
LANGUAGES = ("sh", "yaml", "csv", "python", "snakemake", "text", "bibtex")  # the last one: see test_module.py


def blocks(document, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)


def commands_of(document):
    """Yield each command of the document, for any number of cores, with the folders that the block names."""
    for block in blocks(document, "sh"):
        before = ""
        for line in block.splitlines():
            command = re.sub(r"--cores \w+", "--cores 2", " ".join(line.split("  #")[0].split()))
            if exported := re.fullmatch(r"export (\w+)=/\S+", command):
                before += f"{exported[1]}=. "
            elif command != ACTIVATE:
                yield before + command


def planned_together(commands):
    """Merge commands that differ only in their targets to start Snakemake once."""
    targets = {}
    for command in commands:
        start, named, rest = re.fullmatch(r"(snakemake --cores 2|)((?: (?!-)\S+)*)(.*)", command).groups()
        targets.setdefault((start, named != "", rest.removesuffix(" -n")), []).append(named)
    return ["".join([start, *named, rest]) for (start, _, rest), named in targets.items()]


ACTIVATE = ". .venv/bin/activate"
COMMANDS = planned_together(sorted({command for document in DOCUMENTS for command in commands_of(document)}))
STANZAS = [(name, block) for name in DOCUMENTS if name not in (DOORS, PROFILES) for block in blocks(name, "yaml")]
EXAMPLES = [(name, block) for name in DOCUMENTS if name != DOORS for block in blocks(name, "python")]


def longer(text):
    """Return a table with 150 rows, enough to hold out 30, that are like the few of a page."""
    rng, few = np.random.default_rng(0), pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    many = pd.DataFrame({name: rng.choice(few[name], 150) for name in few})
    for name in many:
        if re.fullmatch(r"\d+\.\d+", few[name][0]):
            many[name] = rng.normal(size=150).round(3)
    return many.assign(**({"visit": [f"v{row}" for row in range(150)]} if "visit" in many else {})).to_csv(index=False)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Return a copy of the project with the files that the documents require."""
    folder = tmp_path_factory.mktemp("reader") / "project"
    folder.mkdir()
    for part in ("workflow", "resources", "config", "envs", "tests/cluster"):
        shutil.copytree(ROOT / part, folder / part)
    for part in ("Snakefile", "Makefile", "pyproject.toml"):
        shutil.copy2(ROOT / part, folder)
    (folder / "profiles").symlink_to("workflow/profiles")
    (folder / "config/mine.yaml").write_text(blocks(TABLE, "yaml")[0])
    for place in (folder, folder.parent / "my-study"):
        place.mkdir(exist_ok=True)
        (place / "my-plants.csv").write_text(longer(blocks(TABLE, "csv")[0]))
    (folder / "visits.csv").write_text(longer(blocks(TEXT, "csv")[0]))
    # `fairfold study` writes this file and rejects a different one.
    stanza = {"path": "../my-plants.csv", "labels": {"prefix": "label_"}}
    compared = {"datasets": ["my-plants"], "sample_curves": {"datasets": ["my-plants"], **LEARNING_CURVE}}
    study = {"seed": 1, "data": {"own": {"my-plants": stanza}}, "weak_labels": compared}
    (folder / "my-plants-study").mkdir()
    (folder / "my-plants-study/study.yaml").write_text(yaml.safe_dump(study))
    check_config(study)
    (folder / "my-plants-study/results").mkdir()
    (folder / "my-plants-study/results/config.yaml").write_text(yaml.safe_dump(study))
    plants = pd.read_csv(folder / "my-plants.csv")
    labels = [name for name in plants if name.startswith("label_")]
    X, Y = plants.drop(columns=labels), plants[labels].astype("int8")
    data = Dataset("my-plants", "multilabel", X.to_numpy(float), Y.to_numpy(), tuple(X), tuple(labels))
    curves = curve_table(data.Y, 0 * data.Y + 0.5, data.label_names)
    for place in (folder, folder / "my-plants-study"):
        fit_final(data, "dummy", {}, seed=1).save(place / "results/final/my-plants")
        write_table(curves, place / "results/final/my-plants/certificates.csv")
    shutil.copytree(ROOT / "docs/example", folder / "docs/example")
    stanza = yaml.safe_load((ROOT / "docs/example/leaves.yaml").read_text())["data"]["own"]["leaves"]
    leaves = Entry.from_own("leaves", {"format": "csv", **stanza, "path": ROOT / stanza["path"]})
    fit_final(prepare(leaves), "dummy", {}, seed=1).save(folder / "results/final/leaves")
    X.to_csv(folder / "new.csv", index=False)
    return folder


def dry(command, python):
    """Change a command to a dry run with this Python."""
    before, command = re.fullmatch(r"((?:[A-Z_]+=\S+ )*)(.*)", command).groups()
    program, *words = command.split(maxsplit=1)
    if program == "apptainer":  # the definition file and the image of the rules
        return f"test -f envs/Apptainer.def && grep fairfold.sif workflow/Snakefile && echo {command}"
    if program == "sh":
        return f"sh -n {words[0].split()[0]} && echo {command.split()[1]}"
    if program == "make":
        return f"make --dry-run {' '.join(words)}"
    if program == "fairfold":
        return f"{python} -m {command}{' --dry-run --verbose' if command.startswith('fairfold study') else ''}"
    if program == "python":
        return f"{python} {' '.join(words)}"
    assert program == "snakemake", f"say how {command!r} is to be tested"
    if "config/paper.yaml" in command:  # the whole study, including unavailable data
        words.append("""--config "data={'unavailable': 'stop'}" """)
    return f"{before}{python} -m snakemake --dry-run --quiet rules {' '.join(words)}"


@pytest.fixture(scope="module")
def results(reader, python):
    """Run the commands, two at a time; return the future process of each."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MAKEFLAGS")}
    stand_in = reader.parent / "tools/apptainer"  # Snakemake checks its version before planning
    stand_in.parent.mkdir()
    stand_in.write_text("#!/bin/sh\necho apptainer version 1.3.4\n")
    stand_in.chmod(0o755)
    environment["PATH"] = f"{stand_in.parent}{os.pathsep}{environment['PATH']}"
    options = {"shell": True, "cwd": reader, "env": environment, "capture_output": True, "text": True, "timeout": 600}
    with ThreadPoolExecutor(2) as pool:
        yield {each: pool.submit(subprocess.run, dry(each, python), **options) for each in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_can_be_run(reader, results, command):
    done = results[command].result()
    status = int(command.startswith("fairfold check"))  # The study of the reader is not finished.
    assert done.returncode == status, done.stdout + done.stderr
    if command.startswith("fairfold check"):
        assert "is not a finished study" in done.stderr
        return
    if command.startswith("make"):
        assert re.search("pytest|fairfold study|snakemake|sphinx", done.stdout), done.stdout
        return
    if command.startswith("fairfold predict"):
        assert re.search(r"predictions\.csv: (2|30) labels of", done.stdout), done.stdout
        return
    if command == "python -m fairfold.planning.schema > config.schema.json":
        assert "weak_labels" in json.loads((reader / "config.schema.json").read_text())["properties"]
        return
    if command.startswith(("apptainer", "sh")):
        assert re.search(r"fairfold\.sif|with_slurm\.sh", done.stdout), done.stdout
        return
    if command.startswith("fairfold audit"):
        assert "0 errors" in done.stdout
        return
    if command.startswith("fairfold publish"):
        assert "This study is unfinished" in done.stdout and "of 32 items filled" in done.stdout
        return
    planned = int(re.search(r"^total +(\d+)$", done.stdout, re.MULTILINE)[1])
    assert planned > 0


def test_the_published_scale_is_planned():
    assert sum("config/paper.yaml" in command and "--workflow-profile" in command for command in COMMANDS) == 1


@pytest.mark.parametrize(("document", "stanza"), STANZAS)
def test_each_configuration_is_a_whole_one(document, stanza):
    check_config(yaml.safe_load(stanza))


@pytest.mark.parametrize(("document", "example"), EXAMPLES)
def test_each_example_of_the_library_runs(document, example, tmp_path, python):
    (tmp_path / "example.py").write_text(example)
    subprocess.run([python, "example.py"], check=True, cwd=tmp_path, timeout=600)


def test_each_profile_states_what_there_is_to_state():
    """For engines without installed plugins, all options except those of the plugins are checked."""
    options = {name.removeprefix("--") for name in get_argument_parser()._option_string_actions}
    asked = yaml.safe_load((ROOT / "workflow/profiles/slurm/config.yaml").read_text())["default-resources"]
    profiles = [yaml.safe_load(block) for block in blocks(PROFILES, "yaml")]
    assert [profile["executor"] for profile in profiles] == ["cluster-generic", "kubernetes"]
    for profile in profiles:
        assert {key for key in profile if not key.startswith(profile["executor"])} <= options
        text = yaml.safe_dump(profile)
        assert f"snakemake-executor-plugin-{profile['executor']}" in (ROOT / PROFILES).read_text()
        assert {*re.findall(r"\{resources\.(\w+)\}", text)} <= asked.keys()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_block_of_the_documents_is_left_out(document):
    fences = [line for line in (ROOT / document).read_text().splitlines() if line.startswith("```")]
    assert set(fences[1::2]) <= {"```"}
    shown = {fence.removeprefix("```") for fence in fences[::2] if not fence.startswith("```{")}  # skip directives
    assert shown <= {*LANGUAGES}


def test_there_are_blocks_of_each_kind():
    assert len(COMMANDS) > 20 and len(STANZAS) > 3 and len(EXAMPLES) > 5


def slug(heading):
    """Return the anchor of a heading on the site and in the rendered sources."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def anchors(page):
    """Return the anchors of a page and of the files that it includes."""
    text = page.read_text()
    included = re.findall(r"^```{include} (\S+)$", text, re.MULTILINE)
    found = {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
    return found.union(*(anchors(page.parent / each) for each in included))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_to_what_is_there(document):
    text = re.sub(r"^```.*?^```$", "", (ROOT / document).read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"", text):
        path, _, anchor = "".join(target).partition("#")
        if path.startswith(("https:", "http:")) or "auto_gallery/" in path:  # checked by Sphinx
            continue
        there = (ROOT / document).parent / path if path else ROOT / document
        assert there.exists(), f"{document}: {path}"
        if anchor:
            assert anchor in anchors(there), f"{document}: #{anchor}"


def test_lines_are_short_enough_to_be_read():
    for document in DOCUMENTS:
        lines = (ROOT / document).read_text().splitlines()
        assert [line for line in lines if len(line) > 130 and not line.startswith("|")] == [], document
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


@pytest.fixture(scope="module")
def site(tmp_path_factory, python):
    """Build the site from a copy of the documents; the gallery uses the compiled code of other tests."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "workflow").symlink_to(ROOT / "workflow")
    for part in ("docs", "resources", "benchmarks", "envs", "results", "config", "tests/cluster"):
        ignored = shutil.ignore_patterns(*MADE, *(["[!R]*"] if part == "results" else []))
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    for name in ("CITATION.cff", "CHANGELOG.md"):
        shutil.copy2(ROOT / name, folder)
    command = [python, "-m", "sphinx", "-q", "-W", "--keep-going", "docs", "html"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), "MPLBACKEND": "agg"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_the_site_is_built_without_a_warning(site):
    pages = {str(path.relative_to(site).with_suffix("")) for path in site.rglob("*.html")}
    assert {page.removeprefix("docs/").removesuffix(".md") for page in PAGES} <= pages
    gallery = [path.stem for path in (ROOT / "docs/gallery").glob("plot_*.py")]
    assert len(gallery) >= 8
    for name in gallery:
        assert f"sphx_glr_{name}_001.png" in (site / f"auto_gallery/{name}.html").read_text()


def test_the_site_needs_nothing_from_elsewhere(site):
    for path in site.rglob("*.html"):
        text = path.read_text()
        assert re.findall(r"<(?:script|img|link)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*\"", text) == [], path
    found = (site / "searchindex.js").read_text()
    assert "Search.setIndex" in found and "models_per_job" in found


LOOK = """
async function look() {
  const seen = { wide: [], broken: [] };
  for (const name of %(pages)s) {
    await load(`html/${name}`);
    const page = frame.contentDocument;
    seen.width = frame.contentWindow.innerWidth;
    if (page.documentElement.scrollWidth > seen.width) seen.wide.push(name);
    for (const image of page.images) {
      image.loading = "eager";
      for (let k = 0; k < 500 && !image.complete; k++) await wait(20);
      if (!image.naturalWidth) seen.broken.push(`${name}: ${image.src}`);
    }
  }
  await load("html/search.html?q=stratification");
  await wait(5000); // one result appears after the other
  seen.found = [...frame.contentDocument.querySelectorAll("#search-results li a")].map((link) => link.textContent);
  seen.first = [];
  for (const query of ["missing labels", "threshold", "confidence interval"]) {
    await load(`html/search.html?q=${query}`);
    await wait(1000);
    seen.first.push(frame.contentDocument.querySelector("#search-results li a").textContent);
  }
  return seen;
}
"""


def test_the_site_in_a_browser(site, tmp_path):
    """Offline, no page is wider than a phone, all images load, and the search finds existing pages."""
    find_browser()
    width = 390
    pages = sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))
    with served(site.parent) as address:
        seen = see(site.parent, address, width, LOOK % {"pages": json.dumps(pages)}, tmp_path / "browser")
    assert "failed" not in seen, seen
    assert seen["width"] == width
    assert seen["wide"] == [] and seen["broken"] == []
    assert {"Balanced folds", "IterativeStratification"} <= {*seen["found"]}
    assert seen["first"] == ["Missing or unmeasured labels", "Predict new data", "Read the report"]


def test_what_derives_from_code_and_tables_is_on_the_site(site):
    race = pd.read_csv(ROOT / "resources/measured/race.csv").query("model == 'Stack+' and missing_rate == 0")
    leaderboard = (site / "guide/leaderboard.html").read_text()
    assert f"<td><p>{race['average_precision'].mean():.3f}</p></td>" in leaderboard
    names = (site / "reference/names.html").read_text()
    assert "annealed" in names and "micro average precision" in names
    assert "data.own.&lt;id&gt;.labels.prefix" in (site / "reference/configuration.html").read_text()
    assert "gene-ontology-large" in (site / "reference/datasets.html").read_text()


def test_each_printed_number_and_figure_is_on_the_site(site):
    text = (site / "regenerated.html").read_text()
    published = pd.read_csv(ROOT / "resources/regenerated/published.csv")
    tables = re.findall(r'<details class="numbers">.*?</details>', text, re.DOTALL)
    assert sum(table.count("<tr>") - 1 for table in tables) == len(published)
    drawn = re.findall(r'<img[^>]*src="_images/([\w-]+)\.png"', text)
    assert {"published", "metric_behavior", "fold_effect", "ecoc_comparison"} <= {*drawn}
    assert all((site / f"_images/{name}.png").stat().st_size > 5000 for name in drawn)


def test_each_figure_of_the_papers_is_drawn_or_reported_not_to_be(site):
    text = (site / "regenerated.html").read_text()
    kept = [str(path.relative_to(REGENERATED)).removesuffix(".gz") for path in REGENERATED.rglob("*.csv*")]
    config = yaml.safe_load((ROOT / "config/paper.yaml").read_text())
    check_study(config)
    sections = {"splitting", "weak_labels", "cross_testing", "win_percentage", "ecoc"}
    labels = [each.label for each in figures_of(load_contents(), config, kept) if each.section in sections]
    assert len(labels) > 20
    assert not [label for label in labels if escape(label, quote=False) not in text]
