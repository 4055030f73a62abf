"""``fairfold study``: run a study of a table, from the file to the report, without a configuration."""

from __future__ import annotations

import argparse
import contextlib
import copy
import importlib.util
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from fairfold.commands import recommend
from fairfold.console import rerun
from fairfold.console.options import OF_A_TABLE, add_options, check_options, errors_in_options, in_options, stanza_of
from fairfold.console.running import LOCK, check_file, jobs_to_run, run_study, snakemake_command
from fairfold.core.config import check_command_line, load_yaml
from fairfold.core.defaults import MISSING_RATES, N_SPLITS, SCORE
from fairfold.core.files import write_text
from fairfold.core.machine import check_machine
from fairfold.core.runs import lock_of_folder
from fairfold.errors import ConfigError, DataError
from fairfold.planning.forecast import LARGE_TABLE, MANY_LABELS

if TYPE_CHECKING:
    from fairfold.datasets import Dataset
    from fairfold.planning.settings import Study

CONFIGURATION = "study.yaml"
_RATES = " ".join(map(str, MISSING_RATES))
_WHOLE_STUDY = "results/scored/study.done"  # The target `all` would add a job without work.
_OF_COMPARISON: tuple[str, ...] = ("models", "missing_rates", "score", "folds", "repeats", "seed", "strict")
_OF_COMPARISON += ("hold_out", "elsewhere", "predict_on", "private")
LEARNING_CURVE = {"models": ["joint-GB"], "shares": [0.25, 0.5, 1.0]}  # a fast model and few sizes
# Defaults from LARGE_TABLE rows on, which save run time.
_OF_LARGE: dict[str, Any] = {"folds": 3}
_MODELS_OF_LARGE = ["logistic+", "kernel-ridge+", "joint-GB", "Stack+"]  # followed by a boosting of another package
# Other models learn one label after the other or from dense labels, which takes hours from this number of cells on. The
# levels of deep forests take many times as long as these two models.
_MODELS_OF_MANY = ["RF+ET", "Stack+"]
_MOST_CELLS = 5_000_000  # samples times labels
_UNREADABLE = (DataError, ImportError, OSError, ValueError)  # Reported later.
_SUFFIXES = re.compile(
    r"(\.(csv|tsv|txt|parquet|feather|xlsx|arff|npz|svm|libsvm|svmlight|gz|bz2|xz|zst|zip))+$", re.IGNORECASE
)


def add_to(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse._SubParsersAction
        Subparsers of the command line.
    """
    parser = commands.add_parser(
        "study",
        allow_abbrev=False,  # Messages repeat the command with its full option names.
        help="compare classifiers on your table; without a table, run the quick study",
        description="Run a study of one table in its own folder and print the recommendation. If you interrupt the "
        "study, the same command continues it. The settings are written to "
        f"{CONFIGURATION} in that folder, a configuration for `snakemake --configfile`.",
    )
    add = parser.add_argument
    add("table", nargs="?", help="CSV, TSV, Parquet, Excel, ARFF or svmlight file with one row per sample")
    add("--from", type=Path, dest="crate", metavar="ZIP", help="run a published study again; see `fairfold publish`")
    trust = "with --from: run the models of the archive that are not part of fairfold, after you have read their code"
    add("--allow-own-code", action="store_true", help=trust)
    add("-d", "--directory", type=Path, help="folder of the study (default: a folder next to the table, with its name)")
    add("-c", "--cores", type=_cores, default="all", metavar="N", help="number of cores to use (default: all)")
    add("-n", "--dry-run", action="store_true", help="only print the plan; with --verbose, all jobs")
    add("-v", "--verbose", action="store_true", help="show the messages of Snakemake and the whole recommendation")
    last: dict[str, Any] = {"nargs": argparse.REMAINDER, "default": [], "metavar": "OPTION"}
    add("--snakemake", **last, help="targets and options of Snakemake; must come last")
    number: dict[str, Any] = {"type": int, "metavar": "N"}
    add = parser.add_argument_group("data").add_argument
    add_options(add)
    add = parser.add_argument_group("study").add_argument
    add(
        "--models",
        nargs="+",
        default=[],
        metavar="MODEL",
        help="models to compare (default: seven models, five for large tables, two for many labels)",
    )
    folds = f"number of folds, or of test periods with --dates (default: {N_SPLITS}, large tables {_OF_LARGE['folds']})"
    add("--folds", **number, help=folds)
    add("--repeats", **number, help="number of cross-validations, each on other folds (default: 1)")
    score = f"score that ranks models (default: {SCORE}); mcc_macro or f1_macro if rare labels must be predicted"
    add("--score", metavar="METRIC", help=score)
    rates = f"percentages of positives to hide (default: {_RATES}, with many labels 0)"
    add("--missing-rates", nargs="+", type=int, default=[], metavar="PERCENT", help=rates)
    add("--strict", action="store_true", default=None, help="stop if the audit of the table finds an error")
    add("--seed", **number, help="seed of all random numbers (default: 1)")
    held_out = "set aside this share of the rows, such as 0.2, before the study, and certify the final model by them"
    add("--hold-out", type=float, metavar="SHARE", help=held_out)
    elsewhere = "score the best models on samples unlike the training samples, too, in folds of whole clusters"
    add("--elsewhere", action="store_true", default=None, help=elsewhere)
    new = "also score them on samples as far from the training samples as the rows of this table, whose labels may be "
    add("--predict-on", metavar="TABLE", help=f"{new}unknown; implies --elsewhere")
    final = "fit the recommended model to all rows (default for a table)"
    add("--final", action=argparse.BooleanOptionalAction, help=final)
    private = "leave the sketch of the training data out of the final model, which then finds no unlike rows"
    add("--private", action="store_true", default=None, help=private)
    parser.set_defaults(run=run)


def _cores(text: str) -> str:
    if text != "all" and not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a number of cores or 'all', found {text!r}")
    return text


def run(options: argparse.Namespace) -> None:
    """Write the configuration, run Snakemake, and print the recommendations.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.

    Raises
    ------
    ConfigError
        If the options are incomplete, or the folder contains another study.
    DataError
        If the table does not exist.
    StudyError
        If Snakemake fails.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise ConfigError("a study needs packages that are not installed. Run `pip install 'fairfold[study]'`.")
    _set_defaults_of_size(options)
    with contextlib.ExitStack() as held:
        _run(options, *_study_of(options, held))


def _run(options: argparse.Namespace, folder: Path, configuration: dict[str, Any] | None) -> None:
    """Run Snakemake in the locked folder of the study, and print the recommendations."""
    command = snakemake_command(folder, *_targets(options), *options.snakemake, cores=options.cores)
    prints_plan = options.dry_run and configuration is not None and not options.verbose
    if options.dry_run and not prints_plan:
        command.append("--dry-run")
    path = folder / CONFIGURATION
    is_new = configuration is not None and not path.exists()
    if configuration is not None:
        write_text(yaml.safe_dump(configuration, sort_keys=False, allow_unicode=True), path)
        command.append(f"--configfile={path}")
    check_machine(folder)
    is_kept, is_table = False, configuration is not None and not options.crate
    say = in_options if is_table else str
    try:
        with errors_in_options(is_table):
            if prints_plan and configuration is not None:
                print(*_plan(command, folder, configuration), sep="\n")
            else:
                run_study(command, folder, is_verbose=options.verbose or options.dry_run, say=say)
        is_kept = not options.dry_run
    finally:
        # The next command may have other options after a dry run, or if a failed study has no results.
        if is_new and not is_kept and not any(folder.glob("results/datasets/*.npz")):
            path.unlink(missing_ok=True)
    if not options.dry_run and recommend.answers_of(folder):
        print(file=sys.stderr)
        recommend.print_answer(folder, in_full=options.verbose, say=say)
        if command_with_roles := getattr(options, "command_with_roles", ""):
            print(f"Roles:    scores may be too good. If the roles above are right: {command_with_roles}")
        if options.crate:
            print(rerun.comparison(options.crate, folder))


def _plan(command: Sequence[str], folder: Path, configuration: dict[str, Any]) -> Iterator[str]:
    """Yield what the study would compute."""
    # Import here to keep other commands fast.
    from fairfold.console.plan import plan_lines
    from fairfold.planning.check import check_config

    study = check_config(copy.deepcopy(configuration))
    yield from plan_lines(jobs_to_run(command, folder), study, _sizes_of(folder, study))


def _sizes_of(folder: Path, study: Study) -> tuple[int, int, int] | None:
    """Return the sizes of the only dataset, prepared or as its file says."""
    from fairfold.datasets.dataset import sizes_of
    from fairfold.tables.reading import survey
    from fairfold.tables.table import label_columns

    if len(study.data.own) != 1:
        return None
    ((name, own),) = study.data.own.items()
    if (prepared := folder / f"results/datasets/{name}.npz").is_file():
        return sizes_of(prepared)
    with contextlib.suppress(*_UNREADABLE):
        n_rows, columns = survey(folder / own.path)
        n_labels = len(label_columns(own.labels.names or [own.labels.prefix], columns, own.path))
        return n_rows - 1, len(columns) - n_labels, n_labels
    return None


def _set_defaults_of_size(options: argparse.Namespace) -> None:
    """Choose fewer folds, missing rates and models for a large table, except where options are given."""
    if options.table is None or options.crate:
        return
    # Import here to keep other commands fast.
    from fairfold.tables.reading import survey
    from fairfold.tables.table import label_columns

    check_file(Path(options.table))
    n_rows = n_labels = 0
    with contextlib.suppress(*_UNREADABLE):
        n_rows, columns = survey(options.table)
        n_labels = len(label_columns(options.labels or [], columns, options.table))
    defaults: dict[str, Any] = {}
    if n_rows >= LARGE_TABLE:
        boosting = "LightGBM" if importlib.util.find_spec("lightgbm") else "HistGB"
        defaults = {**_OF_LARGE, "models": [*_MODELS_OF_LARGE, boosting]}
    has_many_cells = n_labels > MANY_LABELS and n_rows * n_labels > _MOST_CELLS
    if has_many_cells:
        defaults |= {"models": _MODELS_OF_MANY, **({"missing_rates": [0]} if defaults else {})}
    vars(options).update(has_many_labels=n_labels > MANY_LABELS, has_many_cells=has_many_cells)
    if not defaults:
        return
    chosen = {name: value for name, value in defaults.items() if getattr(options, name) in (None, [])}
    # An interrupted study repeats at most the training of one model.
    vars(options).update(chosen, models_per_job=1)
    if chosen:
        lists = {name: value if isinstance(value, list) else [value] for name, value in chosen.items()}
        words = [f"--{name.replace('_', '-')} {' '.join(map(str, values))}" for name, values in lists.items()]
        labels = f" and {n_labels:,} labels" if n_labels > MANY_LABELS else ""
        leaves_out_deep = chosen.get("models") == _MODELS_OF_MANY
        deep = " With --models, add gcForest+ if it may take ten times as long as RF+ET." if leaves_out_deep else ""
        print(
            f"{options.table} has about {n_rows:,} rows{labels}. To save time, the study uses {', '.join(words)}. Set "
            f"these options for a study of all ({N_SPLITS} folds, missing rates {_RATES}, and any models).{deep}",
            file=sys.stderr,
        )


def _targets(options: argparse.Namespace) -> list[str]:
    """Return the targets of the study. The configuration of a table contains its final model."""
    if _fits_final(options):
        return [_WHOLE_STUDY] if _is_of_table(options) else [_WHOLE_STUDY, "final"]
    return [] if _names_target(options) else [_WHOLE_STUDY]


def _fits_final(options: argparse.Namespace) -> bool:
    """Return whether the final model is fitted: by default, if a table and no other target is given."""
    is_default = _is_of_table(options) and not _names_target(options)
    return is_default if options.final is None else options.final


def _is_of_table(options: argparse.Namespace) -> bool:
    return options.table is not None and options.crate is None


def _names_target(options: argparse.Namespace) -> bool:
    return bool(options.snakemake) and not options.snakemake[0].startswith("-")


def _study_of(options: argparse.Namespace, held: contextlib.ExitStack) -> tuple[Path, dict[str, Any] | None]:
    """Return the folder of the study, which is locked, and its configuration for the study of a table."""
    if options.crate:
        return _study_of_crate(options, held)
    if options.table is None:
        if option := _option_of_table(options):
            raise ConfigError(f"{option} needs a table. Name its file first, as in `fairfold study my-plants.csv`.")
        folder = options.directory or Path()
        check_command_line(["--directory", str(folder)])
        held.enter_context(lock_of_folder(folder, name=LOCK))
        return folder, None
    table = Path(options.table)
    check_file(table)
    check_options(options)
    if options.hold_out is not None and options.final is False:
        raise ConfigError("--hold-out certifies the final model. Leave out --no-final or --hold-out.")
    if options.hierarchy:
        check_file(Path(options.hierarchy), "--hierarchy")
    if options.predict_on:
        check_file(Path(options.predict_on), "--predict-on")
    folder = options.directory or table.with_name(f"{_name_of(table)}-study")
    configuration = _configuration(options, folder)
    if not options.snakemake:  # Snakemake checks the whole configuration.
        with errors_in_options():
            _checked(configuration, folder)
    before = _study_before(folder, configuration, held)
    check_machine(folder)
    if not options.snakemake and not any(folder.glob("results/datasets/*.npz")):
        _look_at_columns(options, folder)
    return folder, configuration | {key: before[key] for key in ("publish",) if key in before}


def _study_before(folder: Path, configuration: dict[str, Any], held: contextlib.ExitStack) -> dict[str, Any]:
    """Lock the folder and return the configuration that it contains; refuse another study."""
    held.enter_context(lock_of_folder(folder, name=LOCK))
    path = folder / CONFIGURATION
    before = (load_yaml(path) if path.exists() else None) or {}
    if before and _that_stays(before) != _that_stays(configuration):
        file, study = shlex.quote(str(path)), shlex.quote(str(path.parent))
        raise ConfigError(
            f"{path} belongs to a study with other options. Choose another folder with --directory, or change the file "
            f"and run `fairfold study --final --directory {study} --snakemake --configfile {file}`, which keeps all "
            "results that still apply."
        )
    return before


def _that_stays(configuration: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration without what may change later.

    These are the final model, the publication, the state of the labels, and scores on unlike samples.
    """
    kept = copy.deepcopy({key: value for key, value in configuration.items() if key not in ("final", "publish")})
    for dataset in kept.get("data", {}).get("own", {}).values():
        for key in ("labels_are", "missing_rate"):
            dataset.pop(key, None)
    kept.get("weak_labels", {}).pop("elsewhere", None)
    return kept


def _study_of_crate(options: argparse.Namespace, held: contextlib.ExitStack) -> tuple[Path, dict[str, Any]]:
    """Unpack a published study. Its configuration decides everything."""
    if option := _option_of_table(options):
        raise ConfigError(f"{option} cannot change a published study. Leave it out.")
    crate = options.crate.resolve()
    folder = options.directory or crate.with_name(f"{crate.stem}-study")
    table = Path(options.table) if options.table else None
    check = partial(_study_before, folder, held=held)
    return folder, rerun.unpack(options.crate, folder, table, check=check, allow_own_code=options.allow_own_code)


def _option_of_table(options: argparse.Namespace) -> str | None:
    names = (name for name in (*OF_A_TABLE, *_OF_COMPARISON) if getattr(options, name) not in (None, []))
    return next((f"--{name.replace('_', '-')}" for name in names), None)


def _look_at_columns(options: argparse.Namespace, folder: Path) -> None:
    """Read the table before anything else, and print the roles that columns probably have."""
    # Import here to keep other commands fast.
    from fairfold.console.roles import SCORES_TOO_GOOD, guess_roles, lines_on_roles
    from fairfold.datasets.preparation import prepare_for_study
    from fairfold.datasets.similarity import comparable_new_rows

    def read_table(arguments: argparse.Namespace) -> Dataset:
        checked = _checked(_configuration(arguments, folder), folder)
        (name,) = checked["data"]["own"]
        return prepare_for_study(name, checked)

    with errors_in_options():
        data = read_table(options)
        if options.predict_on:
            comparable_new_rows(data, options.predict_on)
    guesses = guess_roles(data, options, read_table)
    lines = [*lines_on_roles(options, *guesses, _OF_COMPARISON)]
    print(*lines, sep="\n", end="\n" if lines else "", file=sys.stderr)
    if any(SCORES_TOO_GOOD in line for line in lines):
        again = argparse.Namespace(**{**vars(options), "directory": f"{folder}-2"})
        *_, command = lines_on_roles(again, *guesses, _OF_COMPARISON)
        options.command_with_roles = command.strip()


def _checked(configuration: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Check a configuration before anything is written, and return it with defaults and with paths of files."""
    # Import here to keep other commands fast.
    from fairfold.planning.check import check_study

    checked = copy.deepcopy(configuration)
    # Paths are relative to a folder that may not exist yet.
    for stanza in checked["data"]["own"].values():
        for part, key in ((stanza, "path"), (stanza["labels"], "hierarchy")):
            if key in part:
                part[key] = os.path.normpath(folder.resolve() / part[key])
    for name, path in checked["weak_labels"].get("elsewhere", {}).get("predict_on", {}).items():
        checked["weak_labels"]["elsewhere"]["predict_on"][name] = os.path.normpath(folder.resolve() / path)
    check_study(checked)
    return checked


def _name_of(table: Path) -> str:
    """Return a name for the table that is valid for files and folders."""
    return re.sub(r"[^A-Za-z0-9_+-]+", "-", _SUFFIXES.sub("", table.name)).strip("-_+") or "table"


def _configuration(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Build the configuration from the options; other settings keep their defaults."""
    # Import here to keep other commands fast.
    from fairfold.datasets.catalog import load_catalog
    from fairfold.tables.svmlight import format_of

    def relative(path: str) -> str:
        # Resolve both folders: a symbolic link has other neighbors than its target.
        return os.path.relpath(Path(path).parent.resolve() / Path(path).name, folder.resolve())

    table = Path(options.table)
    name = _name_of(table)
    name = f"my-{name}" if name in load_catalog() else name
    dataset = stanza_of(options, relative(options.table))
    if (kind := format_of(table)) != "csv":
        dataset["format"] = kind
    if options.hierarchy:
        dataset["labels"]["hierarchy"] = relative(options.hierarchy)
    chosen = {key: value for key, value in vars(options).items() if value not in (None, [])}
    folds = {
        key: chosen[option] for key, option in (("n_splits", "folds"), ("n_repeats", "repeats")) if option in chosen
    }
    if "dates" in chosen:
        dataset["hold_out"] = {"n_splits": folds.pop("n_splits", N_SPLITS)}
    keys = "missing_rates", "models", "models_per_job"
    compared: dict[str, Any] = {key: chosen[key] for key in keys if key in chosen}
    if "score" in chosen:
        compared["scoring"] = chosen["score"]
    study = {"seed": chosen.get("seed", 1), "data": {"own": {name: dataset}}}
    if "dates" not in chosen:  # Learning curves draw random folds.
        curve = LEARNING_CURVE | ({"models": _MODELS_OF_MANY[:1]} if chosen.get("has_many_cells") else {})
        compared["sample_curves"] = {"datasets": [name], **curve}
    if "elsewhere" in chosen or "predict_on" in chosen:
        new = {"predict_on": {name: relative(chosen["predict_on"])}} if "predict_on" in chosen else {}
        compared["elsewhere"] = {"datasets": [name], **new}
    if chosen.get("has_many_labels"):
        compared["many_labels"] = {"datasets": [name]}
    study |= {"weak_labels": {"datasets": [name], **compared}} | ({"folds": folds} if folds else {})
    study["data"] |= {"strict": True} if options.strict else {}
    study["data"] |= {"set_aside": options.hold_out} if options.hold_out is not None else {}
    final = {"fit": True} | ({"sketch": False} if options.private else {})
    return study | ({"final": final} if _fits_final(options) else {})
