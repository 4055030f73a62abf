# What all stages share: the checked configuration, the catalog, and functions that rules are written with.

import fcntl
import logging
import os
import re
import sys
from functools import cache
from pathlib import Path

from snakemake.sourcecache import infer_source_file
from snakemake.utils import Wildcards, update_config

ADDRESS = workflow.current_basedir.get_path_or_uri(secret_free=True).rpartition("/")[0]
WORKFLOW = Path(ADDRESS)
# Scripts import the library beside them, whether or not it is installed in the environment that runs them. A workflow
# that is installed with the library has it around, and one that comes from elsewhere, file by file, needs both installed.
if not (WORKFLOW / "fairfold").is_dir():
    try:
        from fairfold.core.home import PROJECT
    except ImportError:
        sys.exit(
            "This workflow needs its library: install the same version of fairfold where snakemake runs, as by "
            "`pip install 'fairfold[study]'`."
        )
    WORKFLOW = PROJECT / "workflow"
SCRIPTS = WORKFLOW / "scripts"
logging.raiseExceptions = (
    False  # else a full disk shows a traceback for each line of Snakemake's log
)
# Scripts run beside the library: from a git repository Snakemake would take them one by one.
BASE_OF_SCRIPTS = infer_source_file(str(WORKFLOW / "rules"))
ENVIRONMENT = str(WORKFLOW.parent / "envs" / "environment.yaml")
sys.path.insert(0, str(WORKFLOW))
os.environ.update(
    PYTHONPATH=os.pathsep.join(
        filter(None, [str(WORKFLOW), os.environ.get("PYTHONPATH")])
    )
)

from fairfold import study  # noqa: E402
from fairfold.core.config import typed  # noqa: E402
from fairfold.errors import StudyError  # noqa: E402
from fairfold.core.files import (  # noqa: E402
    check_writable,
    remove_damaged,
    remove_leftovers,
)
from fairfold.core.runs import RUN_AGAIN, remove_damage  # noqa: E402
from fairfold.models.own_sources import checksum_of  # noqa: E402
from fairfold.models.registry import modules_of_models, spec_of  # noqa: E402
from fairfold.core.provenance import code_of  # noqa: E402
from fairfold.report.contents import FOLDER as PAGES  # noqa: E402
from fairfold.papers.published.comparison import COMPARISONS as PUBLISHED  # noqa: E402
from fairfold.report.contents import figures_of, load_contents, owner  # noqa: E402
from fairfold.splitting.methods import METHOD_NAMES  # noqa: E402
from fairfold.splitting.methods import modules_of_splitters  # noqa: E402

# Snakemake reads `--config seed=7` as a number, but leaves those of `--config folds="{'n_splits': 7}"` as text.
update_config(
    config,
    {
        name: typed(value)
        for name, value in workflow.config_settings.config.items()
        if isinstance(value, (dict, list)) and name in config
    },
)
try:
    CATALOG = study.check_study(config, list(map(Path, workflow.configfiles)))
except StudyError as error:
    sys.exit(str(error))  # no traceback for a user's own mistake


def placed(path):
    """Where a file of this workflow lies: elsewhere, where it is a module of another one with a prefix."""
    return str(workflow.modifier.path_modifier.replace_prefix(path))


AVAILABILITY = Path(placed("results/unavailable.json"))


def left_out():
    """Datasets that the study is made without, and why; what a run has found, it remembers for its jobs' processes."""
    settings = config["data"]
    if settings["unavailable"] == "stop":
        return settings["left_out"]

    # here, as they load what other studies need not wait for
    from fairfold.datasets.availability import remember, remembered, unavailable
    from fairfold.datasets.preparation import environment_mirrors

    if not workflow.is_main_process:
        return remembered(AVAILABILITY)
    used = [dataset for dataset, _ in study.used_datasets(config)]
    used += [study.EXAMPLE_DATASETS[name] for name in config["ecoc"]["examples"]]
    found = unavailable(
        [
            CATALOG[dataset]
            for dataset in dict.fromkeys(used)
            if not os.path.exists(placed(f"results/datasets/{dataset}.npz"))
        ],
        mirrors=[*settings["mirrors"], *environment_mirrors()],
        cache=settings["cache"],
        offline=settings["offline"],
    )
    for dataset, reason in found.items():
        print(f"{dataset} is left out: {reason}", file=sys.stderr)
    found |= settings["left_out"]
    remember(AVAILABILITY, found)
    return found


try:
    LEFT_OUT = study.leave_out(config, left_out())
except (OSError, StudyError) as error:
    sys.exit(str(error))
CONTENTS = load_contents()
# Where labels are many, the model by which missing ones are estimated learns the most common ones only.
WITH_OWN_REFERENCE = study.with_own_reference(config, CATALOG)
# Stage -> its results, but for figures; filled in by the stages
RESULTS_OF = {}


wildcard_constraints:
    dataset="|".join(map(re.escape, CATALOG)),
    rate=r"\d{1,2}",
    splitter="|".join(map(re.escape, METHOD_NAMES)),
    n_splits=r"\d+",
    repeats=r"\d+",
    model="|".join(map(re.escape, [*study.used_models(config), study.REFERENCE])),
    first_level="text|authors-code|chosen-shapes",
    experiment="|".join(map(re.escape, config["cross_testing"]["experiments"]))
    or "none",
    example="linear|custom-loss|posterior|arrhythmia",
    first=r"\d+",
    part=r"\d+",


@cache  # once for a rule, not for each of its jobs
def code(script, *chosen):
    """Checksum of the code that a script runs, with what the rule chooses of it by name."""
    return code_of(SCRIPTS / f"{script}.py", *chosen)


def own_models(models):
    """What the configuration says of those of these models that are the user's own, corrected or not."""
    families = dict.fromkeys(spec_of(model).family for model in models)
    return {
        name: spec_of(name).parameters["entry"]
        for name in families
        if name in config["models"]["own"]
    }


def code_of_models(script, models, *chosen):
    """Checksum of the code that a script runs with these models, and of the user's own among them."""
    own = [checksum_of(entry) for entry in own_models(models).values()]
    return " ".join([code(script, *modules_of_models(models), *chosen), *own])


def code_of_rule(rule):
    """Parameter of a rule that changes with the code which its script runs, so that an update outdates its results."""
    chosen = [value for value in rule.params if str(value).startswith("fairfold.")]
    return lambda wildcards: code(Path(rule.script).stem, *chosen)


def numbers_of_job(step, end):
    """Wildcards -> the numbers of a job that begins with `first`, from and to."""
    return lambda wildcards: [
        int(wildcards.first),
        min(int(wildcards.first) + step, end),
    ]


def threads_of_each(n_jobs, most):
    """Cores of each of these jobs, which may run side by side: one, and more where there are more cores than jobs."""
    cores = workflow.resource_settings.cores or 1
    return max(min(cores // max(n_jobs, 1), most), 1)


def folds_of(n_splits, splitter=config["folds"]["method"], repeats=1):
    """Path of the folds of a dataset."""
    return (
        f"results/folds/{{dataset}}/{splitter}/{n_splits}-folds/repeats-{repeats}.npz"
    )


def own_files(wildcards):
    """The user's own files of a dataset, so that a change of theirs is noticed; nothing for the catalog's datasets.

    With their whole paths, as to others a module's prefix would be added, below which they are not looked for.
    """
    paths = map(os.path.abspath, CATALOG[wildcards.dataset].own_files)
    return [path for path in paths if "{" not in path]


def versions_of_own_files(wildcards):
    """Return the times and sizes of own files with braces in their paths, which Snakemake takes for wildcards.

    A change of these files is noticed as a change of a parameter.
    """
    paths = map(os.path.abspath, CATALOG[wildcards.dataset].own_files)
    found = [os.stat(path) for path in paths if "{" in path and os.path.exists(path)]
    return [[each.st_mtime_ns, each.st_size] for each in found]


def first_level_of(wildcards):
    """Level 0 that a model shares with others; none for a model that shares none."""
    name = study.first_level(config, wildcards.model)
    folder = "results/weak_labels/{dataset}/rate-{rate}/first_level"
    return [] if name is None else f"{folder}/{name}.npz"


def reference_of(dataset, rate):
    """Predictions by which missing labels of a dataset are estimated."""
    unit = f"results/weak_labels/{dataset}/rate-{rate}"
    few = f"{unit}/predictions/{study.REFERENCE}.npz"
    return f"{unit}/reference.npz" if dataset in WITH_OWN_REFERENCE else few


def allow_one_run_only():
    """Refuse a second run in this directory while one is going on.

    The operating system drops this lock with the process that holds it, so that a killed run leaves none behind;
    the profiles therefore switch off Snakemake's own lock, which would have to be removed by hand.
    """
    if (stream := lock_of_directory()) is None:
        sys.exit("Another run is working in this directory; wait for it or stop it.")
    globals()["_lock_of_this_run"] = stream  # kept open until this process ends


def lock_of_directory():
    """Open this directory's lock; None while another run holds it."""
    Path(".snakemake").mkdir(exist_ok=True)
    stream = open(".snakemake/fairfold.lock", "w")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    return stream


def delete_what_is_damaged():
    """Have damaged results made again; not while another run writes here."""
    if workflow.is_main_process and (stream := lock_of_directory()):
        with stream:
            for path, flaw in remove_damage(".snakemake", placed("results")).items():
                print(f"{path}: {flaw}. It is made again.", file=sys.stderr)


def refuse_unwritable(folder):
    """End in one sentence before the first job, and not in an error of each, when there is no place for results.

    Where there is no place for ``.snakemake`` either, Snakemake has some tracebacks of its own to say before.
    """
    try:
        check_writable(folder)
    except StudyError as error:
        sys.exit(str(error))


def try_out_own_models():
    """End in one sentence before the first job when a model of the configuration cannot be one; warn of what fails."""
    for name, entry in own_models(study.used_models(config)).items():
        from fairfold.models.isolated import try_out

        try:
            if failure := try_out(name, entry):
                print(f"Tried on 60 simulated samples, {failure}", file=sys.stderr)
        except StudyError as error:
            sys.exit(str(error))


LOGS_OF_CHECKS = Path(placed("results/logs/check_scores"))


def scored(target):
    """What a target makes, and the check of its scores where it has any."""
    results, parts = TARGETS[target]
    has_scores = any(SCORES_OF[part] for part in parts)
    return [*results, *[f"results/scored/{target}.done"] * has_scores]


def forget_checks():
    """Remove what the checks of earlier runs said."""
    for path in LOGS_OF_CHECKS.glob("*.log"):
        path.unlink()


def ask_for_another_run():
    """Name the damaged files that jobs set aside, and end with the status that asks for the same command again."""
    if damaged := remove_damaged(placed("results")):
        names = ", ".join(map(str, damaged))
        print(
            f"{names}: damaged and deleted. Run the same command again to write what is missing.",
            file=sys.stderr,
        )
        sys.exit(RUN_AGAIN)


def end_with_what_was_not_scored():
    """Say it once more where it is seen, below all that Snakemake says of a failed job."""
    said = [path.read_text(encoding="utf-8") for path in LOGS_OF_CHECKS.glob("*.log")]
    sentences = {text.partition("ModelError: ")[2].strip() for text in said} - {""}
    if sentences:
        sys.exit("\n".join(sorted(sentences)))


def piece(of, unit, **others):
    """One job of a rule as ../scripts/run_pieces.py runs it; its wildcards are those of the unit, and others."""
    # not by its name, which is another where this is a module of another workflow
    of = of.rule
    wildcards = Wildcards(
        fromdict={
            **dict(unit.items()),
            **{key: str(each) for key, each in others.items()},
        }
    )
    files = of.expand_input(wildcards)[0]._plainstrings()
    made = of.expand_output(wildcards)[0]._plainstrings()
    params = of.expand_params(wildcards, files, made, job=None)[0]
    benchmark = of.expand_benchmark(wildcards)
    return {
        "script": Path(of.script).name,
        "given": {
            "input": files,
            "output": made,
            "params": params,
            "wildcards": wildcards,
            "log": of.expand_log(wildcards)._plainstrings(),
        },
        "benchmark": benchmark and str(benchmark),
    }


def training_stages(unit, levels, models):
    """First levels and models on top of them, and the other models; at every second missing rate these come first.

    Jobs that begin together would all wait for one of them to compile what they need next. The other models share a
    stage with one of the two, so that they fill the cores of a job that has several, which all wait for a stage's last.
    """
    with_level = {
        model for model in models if study.first_level(config, model) is not None
    }
    trained = {model: piece(rules.train_model, unit, model=model) for model in models}
    on_top = [each for model, each in trained.items() if model in with_level]
    others = [each for model, each in trained.items() if model not in with_level]
    first = [piece(rules.grow_first_level, unit, first_level=name) for name in levels]
    number = [*map(str, WEAK_LABELS["missing_rates"])].index(unit.rate)
    return [[*others, *first], on_top] if number % 2 else [first, [*on_top, *others]]
