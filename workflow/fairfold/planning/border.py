"""What the rule files call: the only module of the library that handles Snakemake's configuration."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from fairfold.core import provenance
from fairfold.core.config import load_yaml, typed
from fairfold.core.files import check_writable, read_json, remove_leftovers, write_json
from fairfold.core.memory import prepare_cache
from fairfold.core.project import PROJECT
from fairfold.core.runs import lock_of_folder, remove_damage
from fairfold.datasets.catalog import Catalog
from fairfold.errors import StudyError
from fairfold.planning.check import catalog_of, check_study
from fairfold.planning.models import used_models
from fairfold.planning.parts import EXAMPLE_DATASETS, leave_out, used_datasets
from fairfold.settings import Study

WORKFLOW = PROJECT / "workflow"
UNAVAILABLE = Path(".snakemake", "fairfold-unavailable.json")
_CHECKS = Path("results", "logs", "check_scores")
_held: list[IO[str]] = []  # the lock of the working directory, until this process ends


def share_library() -> None:
    """Let the jobs of this process import the scripts, and this library even if another version is installed.

    Jobs import nothing from the working directory, where a file such as ``random.py`` would hide a module of Python.
    """
    paths = [str(WORKFLOW), str(WORKFLOW / "scripts")]
    sys.path.insert(0, paths[0])
    paths += filter(None, [os.environ.get("PYTHONPATH")])
    os.environ.update(PYTHONPATH=os.pathsep.join(paths), PYTHONSAFEPATH="1")
    logging.raiseExceptions = False  # On a full disk, logging would otherwise print a traceback for each line.


def code_of(script: str, *read: str) -> str:
    """Compute the checksum of the code of a rule, which is a parameter, so new code outdates the results.

    Parameters
    ----------
    script : str
        Name of the script without suffix.
    *read : str
        Folders of the workflow that the script reads.

    Returns
    -------
    str
        See :func:`fairfold.core.provenance.code_of`.
    """
    return provenance.code_of(WORKFLOW / "scripts" / f"{script}.py", *(WORKFLOW / name for name in read))


def open_study(
    config: dict[str, Any], files: Sequence[str], *, is_main_process: bool
) -> tuple[Study, Catalog, list[dict[str, str]]]:
    """Check a configuration, and leave out unavailable datasets. End this process if the configuration is wrong.

    Parameters
    ----------
    config : dict
        Configuration of Snakemake. Defaults are filled in place.
    files : sequence of str
        Configuration files.
    is_main_process : bool
        Whether this process plans the study. It then removes damaged results.

    Returns
    -------
    study : Study
        Checked configuration.
    catalog : Catalog
        Datasets of the project and of the configuration.
    left_out : list of dict
        Excluded datasets; see :func:`fairfold.planning.parts.leave_out`.
    """
    try:
        _convert_text(config, files)
        study = check_study(config, [Path(file) for file in files])
        catalog = catalog_of(study)
        study, left_out = leave_out_unavailable(study, catalog, is_main_process)
    except StudyError as error:
        sys.exit(str(error))
    config.update(study.model_dump(by_alias=True))
    if is_main_process:
        for path, flaw in remove_damage("results").items():
            print(f"warning: {path}: {flaw}. It is recomputed.", file=sys.stderr)
    return study, catalog, left_out


def _convert_text(config: dict[str, Any], files: Sequence[str]) -> None:
    """Convert nested values of ``--config``, such as ``folds="{'n_splits': 7}"``, which Snakemake leaves as text.

    They differ from the values of the files. A module gets its configuration from elsewhere.
    """
    documents = [load_yaml(Path(file)) for file in files]
    if all(isinstance(each, Mapping) and each.keys() <= config.keys() for each in documents):
        config.update(_typed_beside(config, documents))


def _typed_beside(value: Any, written: Sequence[Any]) -> Any:
    """Convert text that is none of the written values, which are those of files at the same place."""
    if isinstance(value, Mapping):
        around = [each for each in written if isinstance(each, Mapping)]
        return {
            name: _typed_beside(inner, [each[name] for each in around if name in each]) for name, inner in value.items()
        }
    return value if value in written else typed(value)


def leave_out_unavailable(study: Study, catalog: Catalog, is_main_process: bool) -> tuple[Study, list[dict[str, str]]]:
    """Exclude unavailable datasets from all parts of a study.

    The main process searches for the datasets and stores the result for the processes of its jobs.

    Parameters
    ----------
    study : Study
        Checked configuration.
    catalog : Catalog
        Datasets of the project and of the configuration.
    is_main_process : bool
        Whether this process plans the study.

    Returns
    -------
    study : Study
        Study without the datasets.
    left_out : list of dict
        Excluded datasets; see :func:`fairfold.planning.parts.leave_out`.
    """
    data = study.data
    if data.unavailable == "stop":
        return leave_out(study, data.left_out)
    from fairfold.datasets.availability import unavailable
    from fairfold.datasets.preparation import environment_mirrors

    if not is_main_process:
        return leave_out(study, read_json(UNAVAILABLE))
    used = [dataset for dataset, _ in used_datasets(study)]
    used += [EXAMPLE_DATASETS[name] for name in study.ecoc.examples]
    missing = [name for name in dict.fromkeys(used) if not Path(f"results/datasets/{name}.npz").exists()]
    found = unavailable(
        [catalog[dataset] for dataset in missing],
        mirrors=[*data.mirrors, *environment_mirrors()],
        cache=data.cache,
        offline=data.offline,
    )
    for dataset, reason in found.items():
        print(f"warning: {dataset} is left out: {reason}", file=sys.stderr)
    write_json(found | data.left_out, UNAVAILABLE)
    return leave_out(study, found | data.left_out)


def start_run(study: Study) -> None:
    """Check before the first job of a study that it can run, and lock the working directory until this process ends.

    End this process if another run works in this directory, or results cannot be written.

    Parameters
    ----------
    study : Study
        Checked configuration.
    """
    try:
        _prepare_run(study)
    except StudyError as error:
        sys.exit(str(error))


def _prepare_run(study: Study) -> None:
    _held.append(lock_of_folder())
    check_writable("results")
    for name, entry in study.models.entries(used_models(study)).items():
        from fairfold.models.isolated import try_out

        if failure := try_out(name, entry):
            print(f"warning: in a trial on 60 simulated samples, {failure}", file=sys.stderr)
    remove_leftovers("results")
    prepare_cache()
    for path in _CHECKS.glob("*.log"):
        path.unlink()


def explain_failure() -> None:
    """End this process with the reasons why models have no scores, if such are logged."""
    texts = [path.read_text(encoding="utf-8") for path in _CHECKS.glob("*.log")]
    if sentences := sorted({text.partition("ModelError: ")[2].strip() for text in texts} - {""}):
        sys.exit("\n".join(sentences))
