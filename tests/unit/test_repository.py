"""Test what catalogs and journals ask of the repository."""

import html
import json
import re
import tomllib

import pytest
import yaml
from PIL import Image

from fairfold.planning.check import check_config


@pytest.fixture
def citation(root):
    return yaml.safe_load((root / "CITATION.cff").read_text())


def test_the_workflow_catalog_finds_what_it_needs(root):
    """Rules of the Snakemake workflow catalog for standardized usage."""
    usage = yaml.safe_load((root / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert usage["software-stack-deployment"] == {"conda": True, "apptainer": True} and usage["report"] is True
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    assert (root / "workflow/Snakefile").is_file() and (root / "config/config.yaml").is_file()
    readme = (root / "config/README.md").read_text()
    assert "config.yaml" in readme
    assert not re.search(r"\]\((?!https:)", readme)  # The catalog shows this page elsewhere.
    assert set(re.findall(r"^\| `([a-z_]+)[.`]", readme, re.MULTILINE)) >= {"seed", "data", "folds", "weak_labels"}
    check_config(yaml.safe_load((root / ".test/config/config.yaml").read_text()))
    assert "snakemake" in (root / "README.md").read_text().lower()
    text = (root / "workflow/Snakefile").read_text()
    assert re.search(r"^report: ", text, re.MULTILINE) and re.search(r"^container: ", text, re.MULTILINE)


def test_rules_need_no_number_of_cores(root):
    """``workflow.cores`` stops ``snakemake --rulegraph`` and ``--dag`` without ``--cores``."""
    files = [root / "workflow/Snakefile", *(root / "workflow/rules").rglob("*.smk")]
    assert [path.name for path in files if "workflow.cores" in path.read_text()] == []


def test_workflows_run_targets_of_make(root):
    jobs = yaml.safe_load((root / ".github/workflows/tests.yml").read_text())["jobs"]
    targets = jobs["make"]["strategy"]["matrix"]["target"]
    assert set(targets) == {"lint", "test", "docs", "package-test"}
    assert set(targets) <= set(re.findall(r"^([\w-]+): ", (root / "Makefile").read_text(), re.MULTILINE))


def test_the_citation_names_the_organization(root, citation):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    codemeta = json.loads((root / "codemeta.json").read_text())
    names = {
        author["name"] for each in (citation["authors"], project["authors"], codemeta["author"]) for author in each
    }
    assert names == {"The fairfold authors"}
    assert {citation["version"], codemeta["version"]} == {project["version"]}
    assert citation["license"] == project["license"] == "MIT"


def test_every_file_has_a_license(root):
    """``reuse lint`` checks the same with its own package."""
    (rule,) = tomllib.loads((root / "REUSE.toml").read_text())["annotations"]
    assert (rule["path"], rule["SPDX-License-Identifier"]) == ("**", "MIT")
    assert (root / "LICENSES/MIT.txt").read_text() == (root / "LICENSE").read_text()


def test_pictures_show_the_answer_of_one_run(root):
    """``make pictures`` writes the lines of the terminal into both pictures."""
    svg = (root / "docs/_static/terminal.svg").read_text()
    shown = [html.unescape(text) for text in re.findall(r"<text [^>]*>(.*?)</text>", svg)]
    (best,) = {found[1] for line in shown if (found := re.match(r"Use (\S+)\. ", line))}
    pages = [root / name for name in ("README.md", "docs/index.md", "docs/guide/run-my-table.md")]
    assert [path.name for path in pages if not re.search(rf"[uU]se {re.escape(best)}[, ]", path.read_text())] == []
    with Image.open(root / "docs/_static/report.png") as image:
        if "terminal" not in image.text:
            pytest.skip("report.png is older than `make pictures`")
        assert image.text["terminal"].splitlines() == shown


def test_the_paper_is_short_and_cites_known_works(root, citation):
    _, head, body = (root / "paper/paper.md").read_text().split("---\n", 2)
    about = yaml.safe_load(head)
    assert about["title"] == citation["title"]
    assert {author["name"] for author in about["authors"]} == {author["name"] for author in citation["authors"]}
    assert 250 <= len(body.split()) <= 1000
    for heading in ("Summary", "Statement of need", "State of the field", "References"):
        assert f"# {heading}\n" in body
    entries = (root / "paper" / about["bibliography"]).read_text()
    assert {key for key in re.findall(r"@([a-z]+\d{4})", body) if f"{{{key}," not in entries} == set()
    assert all((root / "paper" / path).is_file() for path in re.findall(r"\]\((\S+\.png)\)", body))
