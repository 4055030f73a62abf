"""``fairfold publish``: write the folder of a publication from the results of a study."""

from __future__ import annotations

import argparse
import csv
import subprocess
import textwrap
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfold.commands.running import snakemake_command
from fairfold.core.arrays import to_dense
from fairfold.core.config import load_yaml
from fairfold.core.project import PROJECT
from fairfold.core.provenance import code_of
from fairfold.errors import DataError, StudyError

if TYPE_CHECKING:
    import pandas as pd

    from fairfold.datasets import Dataset
    from fairfold.report.publish.facts import Facts, Source

FOLDER = "publication"
_CONFIGURATION, _OF_USER = Path("results", "config.yaml"), "study.yaml"
_SCRIPT = PROJECT / "workflow" / "scripts" / "publish.py"
_WIDTH = 100  # characters per line
_DATE = "%a %b %d %H:%M:%S %Y"
_COLUMNS_AT_ONCE = 500
_NOT_NEEDED = (".html", ".done")  # pages, and files that are written last


def add_to(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse._SubParsersAction
        Subparsers of the command line.
    """
    parser = commands.add_parser(
        "publish",
        help="write methods, tables, figures, checklists and an RO-Crate for a paper",
        description="Write the folder results/publication of a study, and an archive of it: methods, tables, figures "
        "at journal widths, reporting checklists, data statement, model cards, and an RO-Crate that "
        "`fairfold study --from` runs again. Texts state only what the study has computed.",
    )
    add = parser.add_argument
    add("study", nargs="?", type=Path, default=Path(), help="folder of the study (default: this folder)")
    add("--with-data", action="store_true", help="include the data files and the final models")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the folder, and print the state of the study and of the checklists.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.

    Raises
    ------
    DataError
        If the folder has no study.
    """
    target = options.study / "results" / FOLDER
    for sentence in publish(options.study, target, with_data=options.with_data):
        print(textwrap.fill(sentence, _WIDTH, subsequent_indent="  "))
    print(f"Folder:   {target}\nArchive:  {target.with_suffix('.zip')}")


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
    from fairfold.report.publish.folder import write_publication

    return write_publication(gather_facts(study, with_data=with_data), target)


def gather_facts(study: Path, *, with_data: bool = False) -> Facts:
    """Gather the facts of a study.

    Parameters
    ----------
    study : Path
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
    import pandas as pd

    from fairfold.core.versions import gather_versions
    from fairfold.datasets import Dataset
    from fairfold.report.publish.facts import Facts

    config = _configuration(study)
    config["publish"]["with_data"] |= with_data
    prepared = (study / "results" / "datasets" / f"{name}.npz" for name in config["weak_labels"]["datasets"])
    datasets = [Dataset.load(path) for path in prepared if path.is_file()]
    versions = gather_versions()
    versions.loc[len(versions)] = ["source code", code_of(_SCRIPT)]
    return Facts(
        results=(study / "results").resolve(),
        config=config,
        jobs=_jobs(study),
        sources=list(_sources(study, config)),
        outcomes=pd.concat([_outcomes(data) for data in datasets] or [pd.DataFrame(columns=["dataset"])]),
        predictors=pd.concat([_predictors(data) for data in datasets] or [pd.DataFrame(columns=["dataset"])]),
        software=versions,
    )


def _configuration(study: Path) -> dict[str, Any]:
    """Read the checked configuration of the results. ``study.yaml`` may have newer settings of the publication."""
    from fairfold.study import check_config

    if not (path := study / _CONFIGURATION).is_file():
        raise DataError(
            f"{study} has no {_CONFIGURATION.as_posix()}. Name the folder of a study, or run `fairfold study` first."
        )
    config = load_yaml(path)
    if (own := study / _OF_USER).is_file() and "publish" in (given := load_yaml(own)):
        config["publish"] = given["publish"]
    check_config(config, [own if own.is_file() else path])
    return config


def _jobs(study: Path) -> pd.DataFrame:
    """List the files of the study with the state that Snakemake finds."""
    import pandas as pd

    targets = ["all", *["final"] * any((study / "results" / "final").glob("*"))]
    command = snakemake_command(study, *targets, "--detailed-summary")
    done = subprocess.run([*command, "--configfile", str(study / _CONFIGURATION)], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith("output_file\t")), None)
    if done.returncode or start is None:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise StudyError(f"{study}: Snakemake cannot list the files of the study: {last}")
    rows = [
        {
            **{"file": row["output_file"], "rule": row["rule"], "inputs": row["input-file(s)"].replace(" ", "")},
            "job": Path(row["log-file(s)"].split(",")[0]).stem,
            "ended": None if row["date"] == "-" else datetime.strptime(row["date"], _DATE).astimezone().isoformat(),
            "is_done": row["status"] == "ok" and row["plan"] == "no update",
        }
        for row in csv.DictReader(lines[start:], delimiter="\t", quoting=csv.QUOTE_NONE)
        if not row["output_file"].endswith(_NOT_NEEDED)
    ]
    return pd.DataFrame(rows, columns=["file", "rule", "job", "inputs", "ended", "is_done"])


def _sources(study: Path, config: dict[str, Any]) -> Iterator[Source]:
    """Yield the files and the datasets of the catalog that the study reads."""
    from fairfold.datasets import load_catalog
    from fairfold.report.publish.crate import checksum
    from fairfold.report.publish.facts import Source
    from fairfold.report.publish.folder import CHECKS, places_of_files

    own, catalog = config["data"]["own"], load_catalog()
    for name, stanza in own.items():
        for part, key in places_of_files(stanza):
            path = (study / part[key]).resolve()
            yield Source(name, path, f"data/{name}/{path.name}", checksum(path) if path.is_file() else "")
    for model in config["models"]["own"].values():
        for path in sorted((study / model["file"]).parent.glob("*.py")) if model["file"] else ():
            name = path.resolve().relative_to(study.resolve()).as_posix()
            yield Source("", path.resolve(), name, checksum(path))
    for name in config["weak_labels"]["datasets"]:
        if (path := study / config["weak_labels"]["checked_cells"] / f"{name}.csv").is_file():
            yield Source("", path.resolve(), f"{CHECKS}/{name}.csv", checksum(path))
        if name in catalog:
            entry = catalog[name]
            yield Source(name, None, entry.title, about=f"{entry.citation.rstrip('.')} (license: {entry.license})")


def _outcomes(data: Dataset) -> pd.DataFrame:
    """Count the positives, negatives and unmeasured cells of each label, and missing features by its values."""
    import numpy as np
    import pandas as pd
    from scipy import sparse

    # Sparse features have no missing cells.
    gaps = np.zeros(data.shape[0]) if sparse.issparse(data.X) else np.isnan(data.X).mean(axis=1)
    Y, rows = sparse.csc_array(data.Y) if sparse.issparse(data.Y) else data.Y, []
    for number, label in enumerate(data.label_names):
        y = to_dense(Y[:, [number]], "labels", DataError).ravel()
        shares = [gaps[y == value].mean() if (y == value).any() else np.nan for value in (1, 0)]
        rows.append((data.id, label, (y == 1).sum(), (y == 0).sum(), np.isnan(y).sum(), *shares))
    names = ["dataset", "label", "positives", "negatives", "unmeasured", "missing_if_positive", "missing_if_negative"]
    return pd.DataFrame(rows, columns=names)


def _predictors(data: Dataset) -> pd.DataFrame:
    """Summarize each feature."""
    import pandas as pd

    blocks = [data.X[:, start : start + _COLUMNS_AT_ONCE] for start in range(0, data.shape[1], _COLUMNS_AT_ONCE)]
    dense = (pd.DataFrame(to_dense(block, "features", DataError)) for block in blocks)
    table = pd.concat([pd.DataFrame(columns=["count"]), *(block.describe().T for block in dense)])
    names = {"mean": "mean", "std": "sd", "25%": "q25", "50%": "median", "75%": "q75"}
    about = {
        "dataset": data.id,
        "predictor": [*data.feature_names],
        "missing": data.shape[0] - table["count"].to_numpy(int),
    }
    return pd.DataFrame(about).join(table.reset_index()[[*names]].rename(columns=names))
