"""Gather what the texts of a publication state, and write its folder."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fairfold.console.running import snakemake_command
from fairfold.core.config import load_yaml
from fairfold.errors import DataError, StudyError

if TYPE_CHECKING:
    import pandas as pd

    from fairfold.datasets import Dataset
    from fairfold.publish.facts import Facts, Source
    from fairfold.settings import Study

FOLDER = "publication"
"""Name of the folder in the results."""
_IMPORTANCE = "feature_importance.csv"
_CONFIGURATION, _VERSIONS, _OF_USER = Path("results", "config.yaml"), Path("results", "versions.csv"), "study.yaml"
_DATE = "%a %b %d %H:%M:%S %Y"
_NOT_NEEDED = (".html", ".done")  # pages, and files that are written last


def publish(study: Path, target: Path, *, with_data: bool = False) -> list[str]:
    """Write the folder of a publication and its archive.

    Parameters
    ----------
    study : Path
        Folder of the study.
    target : Path
        Folder to write.
    with_data : bool, default=False
        Whether the folder contains the data and the final models, also if the configuration does not ask for it.

    Returns
    -------
    list of str
        Sentences on the state of the study and of the checklists.

    Raises
    ------
    DataError
        If the folder has no study.
    """
    from fairfold.publish.folder import write_publication

    return write_publication(gather_facts(study, with_data=with_data), target)


def gather_facts(folder: Path, *, with_data: bool = False) -> Facts:
    """Gather the facts of a study.

    Parameters
    ----------
    folder : Path
        Folder of the study.
    with_data : bool, default=False
        Value of ``publish.with_data``, if true.

    Returns
    -------
    Facts
        Facts for the texts of a publication.

    Raises
    ------
    DataError
        If the folder has no study.
    """
    from fairfold.core.files import read_table
    from fairfold.core.versions import gather_versions
    from fairfold.datasets import Dataset
    from fairfold.final.labels import n_resamplings
    from fairfold.planning.models import REFERENCE, chosen_by, hyperparameters, specifications
    from fairfold.planning.stages import folds_of as folds_path
    from fairfold.publish.facts import Facts
    from fairfold.publish.summaries import folds_of, groups_of, n_rounded, outcomes_of, predictors_of
    from fairfold.recommendation.complete_scores import N_DRAWS

    study = _study_of(folder)
    study.publish.with_data |= with_data
    prepared = (folder / "results" / "datasets" / f"{name}.npz" for name in study.weak_labels.datasets)
    datasets = [Dataset.load(path) for path in prepared if path.is_file()]
    folds = folds_path(study, study.folds.n_splits, n_repeats=study.folds.n_repeats)
    recorded, final = folder / _VERSIONS, folder / "results" / "final"
    return Facts(
        results=(folder / "results").resolve(),
        study=study,
        jobs=_jobs(folder),
        sources=list(_sources(folder, study)),
        outcomes=_joined(outcomes_of(data) for data in datasets),
        predictors=_joined(predictors_of(data) for data in datasets),
        folds=_joined(folds_of(data, folder / folds.format(dataset=data.id)) for data in datasets),
        hyperparameters=hyperparameters(
            study,
            [(data.shape[0], data.Y.shape[1]) for data in datasets],
            has_text=any(map(_has_terms, datasets)),
        ),
        software=read_table(recorded) if recorded.is_file() else gather_versions(),
        is_recorded=recorded.is_file(),
        **specifications(study),
        n_draws=N_DRAWS,
        n_resamplings={data.id: n_resamplings(data.shape[0]) for data in datasets},
        reference=REFERENCE,
        feature_groups=_joined(groups_of(each) for each in datasets if (final / each.id / _IMPORTANCE).is_file()),
        n_rounded={data.id: n_rounded(data) for data in datasets},
        limits=_limits(),
        chosen_settings=_joined(
            chosen_by(each.id, path) for each in datasets if (path := final / each.id / "model.fairfold").is_file()
        ),
    )


def _has_terms(data: Dataset) -> bool:
    """Check whether the features are text or counts, for which pools have other members."""
    from fairfold.core.arrays import are_counts

    return any("text" in role.role for role in data.typed.roles) if data.typed else are_counts(data.X)


def _limits() -> dict[str, float]:
    """Return the constants that texts state."""
    from fairfold.datasets.audit import changes, labels
    from fairfold.recommendation.certainty import POWER

    found = {"surprise": labels.SURPRISE, "explained": labels.EXPLAINED, "row_orders": changes.N_ORDERS}
    return {**found, "power": round(100 * POWER)}


def _joined(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate the tables of the datasets."""
    import pandas as pd

    return pd.concat([*tables] or [pd.DataFrame(columns=["dataset"])])


def _study_of(folder: Path) -> Study:
    """Read the checked configuration of the results. ``study.yaml`` may have newer settings of the publication."""
    from fairfold.planning.check import check_config

    if not (path := folder / _CONFIGURATION).is_file():
        raise DataError(
            f"{folder} has no {_CONFIGURATION.as_posix()}. Name the folder of a study, or run `fairfold study` first."
        )
    document = load_yaml(path)
    if (own := folder / _OF_USER).is_file() and "publish" in (newer := load_yaml(own)):
        document["publish"] = newer["publish"]
    return check_config(document, [own if own.is_file() else path])


def _jobs(folder: Path) -> pd.DataFrame:
    """List the files of the study with the state that Snakemake finds."""
    import pandas as pd

    targets = ["all", "final"] if any((folder / "results" / "final").glob("*")) else ["all"]
    command = snakemake_command(folder, *targets, "--detailed-summary")
    done = subprocess.run([*command, "--configfile", str(folder / _CONFIGURATION)], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith("output_file\t")), None)
    if done.returncode or start is None:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise StudyError(f"{folder}: Snakemake cannot list the files of the study: {last}")
    rows = [
        {
            "file": row["output_file"],
            "rule": row["rule"],
            "inputs": row["input-file(s)"].replace(" ", ""),
            "job": Path(row["log-file(s)"].split(",")[0]).stem,
            "ended": None if row["date"] == "-" else datetime.strptime(row["date"], _DATE).astimezone().isoformat(),
            "is_done": row["status"] == "ok" and row["plan"] == "no update",
        }
        for row in csv.DictReader(lines[start:], delimiter="\t", quoting=csv.QUOTE_NONE)
        if not row["output_file"].endswith(_NOT_NEEDED)
    ]
    return pd.DataFrame(rows, columns=["file", "rule", "job", "inputs", "ended", "is_done"])


def _sources(folder: Path, study: Study) -> Iterator[Source]:
    """Yield the files and the datasets of the catalog that the study reads."""
    from fairfold.datasets import load_catalog
    from fairfold.publish.crate import checksum
    from fairfold.publish.facts import Source
    from fairfold.publish.folder import CHECKS, places_of_files
    from fairfold.recommendation.certified_cells import FOLDER as CERTIFY

    catalog = load_catalog()
    public = {file.sha256: name for name in catalog for file in catalog[name].files if file.sha256}
    for name, dataset in study.data.own.items():
        for part, key in places_of_files(dataset):
            path = (folder / getattr(part, key)).resolve()
            sha256 = checksum(path) if path.is_file() else ""
            yield Source(name, path, f"data/{name}/{path.name}", sha256, public=public.get(sha256, ""))
    for model in study.models.own.values():
        for path in sorted((folder / model.file).parent.glob("*.py")) if model.file else ():
            name = path.resolve().relative_to(folder.resolve()).as_posix()
            yield Source("", path.resolve(), name, checksum(path))
    for name in study.weak_labels.datasets:
        for place in (f"{name}.csv", f"{CERTIFY}/{name}.csv"):
            if (path := folder / study.weak_labels.checked_cells / place).is_file():
                yield Source("", path.resolve(), f"{CHECKS}/{place}", checksum(path))
        if name in catalog:
            entry = catalog[name]
            about = f"{entry.citation.rstrip('.')} (license: {entry.license})"
            yield Source(name, None, entry.title, about=about, public=name)
