"""RO-Crate of a study: its files, inputs, parameters, software and jobs (Provenance Run Crate 0.5)."""

from __future__ import annotations

import hashlib
import json
import mimetypes
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairfold import __version__
from fairfold.core.config import setting
from fairfold.core.files import write_json
from fairfold.publish.facts import Facts

METADATA = "ro-crate-metadata.json"
MAIN = "workflow/Snakefile"
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_LANGUAGE, _ENGINE, _RUN = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake", "#snakemake", "#run"
_PARAMETER = "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"
_PARAMETERS = (
    "seed",
    "folds.method",
    "folds.n_splits",
    "folds.n_repeats",
    "weak_labels.models",
    "weak_labels.missing_rates",
    "final.fit",
    "final.model",
)
_TYPES = {".md": "text/markdown", ".bib": "application/x-bibtex", ".yaml": "text/yaml", ".smk": "text/plain"}
_SCRIPT = re.compile(r'^rule (\w+):.*?"(?:\.\./)+(scripts/\w+\.py)"', re.MULTILINE | re.DOTALL)
Entity = dict[str, Any]


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_crate(facts: Facts, folder: Path) -> None:
    """Describe the files of a folder and the run of the study as an RO-Crate.

    Parameters
    ----------
    facts : Facts
        Facts of the study.
    folder : Path
        Folder of the publication with all other files. ``workflow`` has the Snakefile and the scripts.
    """
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    files = {name: _file(folder, name) for name in names if name != METADATA}
    jobs = _jobs(facts, files, _scripts(folder))
    entities = [*_root(facts, files, jobs), *_workflow(facts, files, jobs), *_run(facts, files, jobs), *files.values()]
    write_json({"@context": [*_CONTEXT], "@graph": entities}, folder / METADATA)


_CONTEXT = ("https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context")


def _file(folder: Path, name: str) -> Entity:
    path = folder / name
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    found = {"contentSize": str(path.stat().st_size), "sha256": checksum(path), "encodingFormat": kind}
    return {"@id": name, "@type": "File", "name": name, **found}


def _ids(names: Iterable[str]) -> Any:
    """Return references; RO-Crate wants a single one without a list."""
    found = [{"@id": name} for name in names]
    return found[0] if len(found) == 1 else found


def _authors(facts: Facts) -> list[Entity]:
    return [
        {
            "@id": f"https://orcid.org/{author.orcid}" if author.orcid else f"#author-{number}",
            "@type": "Person",
            "name": author.name,
            **({"affiliation": author.affiliation} if author.affiliation else {}),
        }
        for number, author in enumerate(facts.study.publish.authors, start=1)
    ]


def _ended(facts: Facts) -> str:
    ended = facts.jobs["ended"].dropna()
    return max(ended) if len(ended) else "1970-01-01T00:00:00+00:00"


def _root(facts: Facts, files: Mapping[str, Entity], jobs: list[Entity]) -> Iterator[Entity]:
    """Yield the descriptor, the root, the profiles and the authors."""
    about = {"conformsTo": _ids(["https://w3id.org/ro/crate/1.1", [*_PROFILES][-1]])}
    yield {"@id": METADATA, "@type": "CreativeWork", "about": {"@id": "./"}, **about}
    root = {"name": f"Study of {', '.join(facts.datasets)}", "datePublished": _ended(facts)}
    what = "Methods, tables, figures, checklists and provenance of a comparison of multilabel classifiers by fairfold."
    license_ = facts.study.publish.data_license or "The authors have not stated a license."
    yield {
        "@id": "./",
        "@type": "Dataset",
        **root,
        "description": what,
        "license": license_,
        "conformsTo": _ids(_PROFILES),
        "mainEntity": {"@id": MAIN},
        "hasPart": _ids(files),
        "mentions": _ids([_RUN, *(job["id"] for job in jobs)]),
        "author": _ids(each["@id"] for each in _authors(facts)),
    }
    for address, name in _PROFILES.items():
        yield {"@id": address, "@type": "CreativeWork", "name": name, "version": address.rsplit("/", 1)[1]}
    yield from _authors(facts)


def _scripts(folder: Path) -> dict[str, str]:
    """Return the script of each rule of the workflow, which is the first one after its name."""
    rules = sorted((folder / "workflow/rules").rglob("*.smk"))
    found = (_SCRIPT.findall(path.read_text(encoding="utf-8")) for path in rules)
    return {rule: f"workflow/{script}" for pairs in found for rule, script in pairs}


def _jobs(facts: Facts, files: Mapping[str, Entity], scripts: Mapping[str, str]) -> list[Entity]:
    """Describe each finished job by its rule, script, inputs, outputs and time."""
    found = []
    done = facts.jobs[facts.jobs["is_done"].astype(bool)]
    for number, ((rule, job), rows) in enumerate(done.groupby(["rule", "job"], sort=True), start=1):
        inputs = dict.fromkeys(path for cell in rows["inputs"] for path in cell.split(",") if path)
        found.append(
            {
                "id": f"#job-{number}",
                "rule": str(rule),
                "name": str(job),
                "ended": max(rows["ended"]),
                "script": scripts[str(rule)],
                "inputs": [_place(path, files) for path in inputs],
                "outputs": [_place(path, files) for path in rows["file"]],
            }
        )
    return found


def _place(path: str, files: Mapping[str, Entity]) -> str:
    """Return the identifier of a result: its copy in the crate, or a name of an intermediate file."""
    return path if path in files else f"#{path}"


def _parameters(facts: Facts) -> dict[str, Any]:
    return {key: value for key in _PARAMETERS if (value := setting(key, facts.study)) is not None}


def _workflow(facts: Facts, files: dict[str, Entity], jobs: list[Entity]) -> Iterator[Entity]:
    """Yield the workflow with its steps, tools and parameters."""
    versions = dict(facts.software.itertuples(index=False))
    rules = {job["rule"]: job["script"] for job in jobs}
    tools = sorted(set(rules.values())) or [_ENGINE]
    inputs = {f"#input-{number}": each for number, each in enumerate(facts.sources, start=1) if each.path is not None}
    keys = {f"#parameter-{key}": key for key in _parameters(facts)}
    named = {"name": "fairfold", "version": __version__, "license": "https://spdx.org/licenses/MIT"}
    files[MAIN] |= {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        **named,
        "programmingLanguage": {"@id": _LANGUAGE},
        "hasPart": _ids(tools),
        "input": _ids([*inputs, *keys]),
        "output": _ids(["#output"]),
        "step": _ids(f"#step-{rule}" for rule in rules),
        "conformsTo": {"@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"},
    }
    for script in rules.values():
        files[script] |= {"@type": ["File", "SoftwareSourceCode"], "programmingLanguage": {"@id": "#python"}}
        files[script]["version"] = __version__
    version = versions.get("snakemake", "")
    address = {key: {"@id": "https://snakemake.readthedocs.io"} for key in ("identifier", "url")}
    yield {"@id": _LANGUAGE, "@type": "ComputerLanguage", "name": "Snakemake", **address, "version": version}
    yield {"@id": "#python", "@type": "ComputerLanguage", "name": "Python", "version": versions.get("Python", "")}
    yield {"@id": _ENGINE, "@type": "SoftwareApplication", "name": "Snakemake", "softwareVersion": version, **address}
    for position, (rule, script) in enumerate(rules.items(), start=1):
        step = {"name": rule, "position": str(position), "workExample": {"@id": script}}
        yield {"@id": f"#step-{rule}", "@type": "HowToStep", **step}
    frame = {"@type": "FormalParameter", "conformsTo": {"@id": _PARAMETER}}
    for name, source in inputs.items():
        example: Entity = {"workExample": {"@id": source.name}} if source.name in files else {}
        yield {"@id": name, **frame, "additionalType": "File", "name": source.name, **example}
    for name, key in keys.items():
        example = {"additionalType": "Text", "name": key, "workExample": {"@id": f"#value-{key}"}}
        yield {"@id": name, **frame, **example}
    yield {"@id": "#output", **frame, "additionalType": "File", "name": "tables"}


def _run(facts: Facts, files: dict[str, Entity], jobs: list[Entity]) -> Iterator[Entity]:
    """Yield the run of the workflow, its jobs and their files."""
    agents = {"agent": _ids(each["@id"] for each in _authors(facts))} if _authors(facts) else {}
    values = {f"#value-{key}": value for key, value in _parameters(facts).items()}
    data = [(each, _place(each.name, files)) for each in facts.sources if each.path is not None]
    results = [name for name in files if name.startswith("results/")]
    span = {"endTime": max((job["ended"] for job in jobs), default=_ended(facts)), **agents}
    used = _ids([*(place for _, place in data), *values, *(["study.yaml"] if "study.yaml" in files else [])])
    run = {"name": "Run of the study", "instrument": {"@id": MAIN}, "object": used, "result": _ids(results)}
    yield {"@id": _RUN, "@type": "CreateAction", **run, **span}
    for name, value in values.items():
        text = value if isinstance(value, str) else json.dumps(value)
        example = {"exampleOfWork": {"@id": name.replace("#value", "#parameter")}}
        yield {"@id": name, "@type": "PropertyValue", "name": name.removeprefix("#value-"), "value": text, **example}
    for number, (source, place) in enumerate(data, start=1):
        example = {"exampleOfWork": {"@id": f"#input-{number}"}}
        if place in files:
            files[place] |= example
        else:
            about = {"name": source.name, "sha256": source.sha256, "description": "Input that is not in this crate."}
            yield {"@id": place, "@type": "CreativeWork", **about, **example}
    yield from _actions(facts, jobs, span)


def _actions(facts: Facts, jobs: list[Entity], span: Entity) -> Iterator[Entity]:
    """Yield the jobs, their scheduling by Snakemake, and the intermediate files."""
    for job in jobs:
        done = {"instrument": {"@id": job["script"]}, "endTime": job["ended"]}
        moved = {"object": _ids(job["inputs"]), "result": _ids(job["outputs"])}
        yield {"@id": job["id"], "@type": "CreateAction", "name": f"{job['rule']}: {job['name']}", **done, **moved}
        step = {"instrument": {"@id": f"#step-{job['rule']}"}, "object": {"@id": job["id"]}}
        yield {"@id": f"#control-{job['id'][1:]}", "@type": "ControlAction", "name": f"Start of {job['id']}", **step}
    if jobs:
        parts = {"object": _ids(f"#control-{job['id'][1:]}" for job in jobs), "result": {"@id": _RUN}}
        engine = {"name": "Scheduling by Snakemake", "instrument": {"@id": _ENGINE}}
        yield {"@id": "#organize", "@type": "OrganizeAction", **engine, **span, **parts}
    places = {place for job in jobs for place in (*job["inputs"], *job["outputs"]) if place.startswith("#")}
    for place in sorted(places):
        path = facts.results.parent / place[1:]
        found = {"sha256": checksum(path)} if path.is_file() else {}
        yield {"@id": place, "@type": "CreativeWork", "name": place[1:], **found}
