"""Write the folder of a publication and its archive."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from fairfold import __version__
from fairfold.core.files import write_table, write_text
from fairfold.core.project import IS_CHECKOUT, PROJECT
from fairfold.publish import methods
from fairfold.publish.cards import write_cards
from fairfold.publish.checklists import CHECKLISTS, answer_checklist, summary
from fairfold.publish.crate import checksum, write_crate
from fairfold.publish.facts import Facts
from fairfold.publish.figures import write_figures
from fairfold.publish.sentences import load_phrases, page, state
from fairfold.publish.tables import paper_tables, write_table_files
from fairfold.report.archive import write_zip
from fairfold.report.costs import gather_costs

if TYPE_CHECKING:
    from fairfold.core.settings import Settings
    from fairfold.datasets.settings import OwnDataset

CHECKS = "checks"
"""Folder with the cells that a person checked."""
_COPIED = ("tables/*.csv", "tables/*/*.csv", "recommendation/*.csv", "recommendation/checked/*.csv", "final/*/*.csv")
_PRIVATE = ("likely_label_errors.csv", "explained_prediction.csv")  # contain samples
_WORKFLOW = ("Snakefile", "workflow/Snakefile", "workflow/rules/**/*.smk", "workflow/scripts/*.py")
_ENVIRONMENT = ("envs/requirements.lock", "workflow/envs/environment.yaml")
_LIBRARY = Path(__file__).parents[2]
# Files of a checkout from which `pip install` builds the package.
_CODE = ("LICENSE", "README.md", "Snakefile", "pyproject.toml", "setup.py", "workflow/**/*")
_SOURCES = (*_CODE, "config/**/*", "envs/*", "resources/datasets.yaml", "resources/published/*")


def write_publication(facts: Facts, folder: Path) -> list[str]:
    """Write the folder of a publication, and an archive with the same files next to it.

    Parameters
    ----------
    facts : Facts
        Facts of the study.
    folder : Path
        Folder to write. It replaces an earlier one when it is complete.

    Returns
    -------
    list of str
        Sentences on the state of the study and of the checklists.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as place:
        new = Path(place) / folder.name
        lines = _write_folder(facts, new)
        if folder.exists():
            folder.rename(Path(place) / "earlier")
        new.rename(folder)
        new.with_suffix(".zip").replace(folder.with_suffix(".zip"))
    return lines


def _write_folder(facts: Facts, folder: Path) -> list[str]:
    folder.mkdir()
    _copy_results(facts, folder)
    _copy_software(facts, folder)
    written = []
    for table in paper_tables(facts):
        write_table_files(table, facts, folder / "tables")
        written.append(table.name)
    write_figures(facts, folder / "figures")
    write_cards(facts, folder / "model")
    paragraphs = methods.methods(facts)
    texts = {"methods.md": methods.as_markdown(paragraphs), "methods.tex": methods.as_latex(paragraphs)}
    sources = [load_phrases(name)["source"] for name in CHECKLISTS]
    texts["references.bib"] = methods.references([text for _, text in paragraphs], sources)
    texts |= {name: page(f"{name}.jinja", facts, written=written) for name in ("data_statement.md", "README.md")}
    _write(texts, folder)  # The checklists name files that exist.
    lines = state(facts)
    for name in CHECKLISTS:
        title, answers = load_phrases(name)["title"], answer_checklist(name, facts, folder)
        source = load_phrases(name)["source"]
        about = {"title": f"{title} checklist", "source": source, "summary": summary(answers), "answers": answers}
        for suffix in (".md", ".html"):
            _write({f"checklist-{name}{suffix}": page(f"checklist{suffix}.jinja", facts, **about)}, folder)
        lines.append(f"{title}: {summary(answers)}.")
    write_crate(facts, folder)
    content = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    write_zip(content, folder.with_suffix(".zip"))
    return lines


def _write(texts: Mapping[str, str], folder: Path) -> None:
    for name, text in texts.items():
        write_text(text, folder / name)


def _copy(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def _copy_results(facts: Facts, folder: Path) -> None:
    """Copy the tables of the study, and with ``publish.with_data`` its data and final models."""
    for name in facts.files:
        if any(Path(name).match(pattern) for pattern in _COPIED) and Path(name).name not in _PRIVATE:
            _copy(facts.results / name, folder / "results" / name)
    for source in facts.sources:
        if source.path is not None and (facts.study.publish.with_data or not source.dataset):
            _copy(source.path, folder / source.name)
    if facts.study.publish.with_data:
        for dataset in facts.finals:
            for name in ("model.fairfold", "columns.json", "probe.npz"):
                if (path := facts.results / "final" / dataset / name).is_file():
                    _copy(path, folder / "model" / dataset / name)


def _copy_software(facts: Facts, folder: Path) -> None:
    """Copy the workflow, and write the configuration and the versions of all packages."""
    for pattern in _WORKFLOW:
        for path in sorted(PROJECT.glob(pattern)):
            _copy(path, folder / path.relative_to(PROJECT))
    for name in filter(lambda name: (PROJECT / name).is_file(), _ENVIRONMENT):
        _copy(PROJECT / name, folder / "environment" / Path(name).name)
    packages = sorted({f"{each.name}=={each.version}" for each in metadata.distributions()}, key=str.lower)
    config = yaml.safe_dump(portable(facts), sort_keys=True, allow_unicode=True)
    facts.memo["source"] = _write_source(folder / "environment")
    _write({"environment/requirements.txt": "\n".join(packages) + "\n", "study.yaml": config}, folder)
    write_table(facts.software, folder / "environment/software.csv")
    write_table(gather_costs(facts.results / "benchmarks"), folder / "environment/costs.csv")


def _write_source(folder: Path) -> dict[str, str]:
    """Write the source code of fairfold as an archive, and return its name and checksum."""
    installed = (f"{_LIBRARY.name}/**/*", "snakemake_logger_plugin_fairfold/*")
    root, patterns = (PROJECT, _SOURCES) if IS_CHECKOUT else (_LIBRARY.parent, installed)
    paths = {path for pattern in patterns for path in root.glob(pattern) if path.is_file()}
    release = f"fairfold-{__version__}"
    content = {
        f"{release}/{path.relative_to(root).as_posix()}": path.read_bytes()
        for path in paths
        if "__pycache__" not in path.parts
    }
    write_zip(content, target := folder / f"{release}.zip")
    return {
        "name": f"{folder.name}/{target.name}",
        "sha256": checksum(target),
        "installs": "yes" if IS_CHECKOUT else "",
    }


def portable(facts: Facts) -> dict[str, Any]:
    """Return the configuration with the paths of this folder, and without folders of this machine.

    Parameters
    ----------
    facts : Facts
        Facts of the study.

    Returns
    -------
    dict
        Configuration.
    """
    study = facts.study.model_copy(deep=True)
    study.data.cache, study.data.mirrors = None, []
    study.weak_labels.checked_cells = CHECKS
    study.final.fit |= bool(facts.finals)
    study.weak_labels.elsewhere.predict_on = {}  # No row of a new table is published.
    names = {each.path: each.name for each in facts.sources if each.path is not None}
    for dataset in study.data.own.values():
        for part, key in places_of_files(dataset):
            setattr(part, key, names[(facts.results.parent / getattr(part, key)).resolve()])
    return study.model_dump(by_alias=True)


def places_of_files(dataset: OwnDataset) -> list[tuple[Settings, str]]:
    """List the keys of the settings of a dataset that name files.

    Parameters
    ----------
    dataset : OwnDataset
        Entry of ``data.own``.

    Returns
    -------
    list of tuple of (Settings, str)
        Section and key of each path.

    Examples
    --------
    >>> from fairfold.datasets.settings import OwnDataset
    >>> dataset = OwnDataset(path="a.csv", labels={"prefix": "l_", "hierarchy": "b.obo"})
    >>> [key for _, key in places_of_files(dataset)]
    ['path', 'hierarchy']
    """
    keys = [(dataset, "path"), *((dataset.labels, key) for key in ("xml", "table", "hierarchy"))]
    return [(part, key) for part, key in [*keys, (dataset.samples, "table")] if part and getattr(part, key) is not None]
