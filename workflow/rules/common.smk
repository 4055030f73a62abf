# What all stages share: the checked configuration, the catalog, and what makes a result outdated.

import fcntl
import os
import re
import sys
from pathlib import Path

from snakemake.utils import update_config

LIBRARY = (
    Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent / "fairfold"
)
SCRIPTS = LIBRARY.parent / "scripts"
ENVIRONMENT = str(LIBRARY.parents[1] / "envs" / "environment.yaml")

# Scripts import the library from here, whether or not it is installed in the environment that runs them.
sys.path.insert(0, str(LIBRARY.parent))
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(LIBRARY.parent), os.environ.get("PYTHONPATH")])
)

from fairfold.config import check, typed  # noqa: E402
from fairfold.datasets import load_catalog  # noqa: E402
from fairfold.errors import ConfigError, StudyError  # noqa: E402
from fairfold.files import check_writable, remove_leftovers  # noqa: E402
from fairfold.provenance import code_of  # noqa: E402
from fairfold.splitting.methods import METHOD_NAMES  # noqa: E402

# Snakemake reads `--config seed=7` as a number, but leaves those of `--config folds="{'n_splits': 7}"` as text.
update_config(
    config,
    {
        name: typed(value)
        for name, value in workflow.config_settings.config.items()
        if isinstance(value, (dict, list)) and name in config
    },
)


def used_datasets():
    """Id of each dataset that a part of the study uses, with the task that the part takes; part by part."""
    splitting, labels = config["splitting"], config["weak_labels"]
    cross_testing, wins = config["cross_testing"], config["win_percentage"]
    experiments = [each["dataset"] for each in cross_testing["experiments"].values()]
    parts = [
        ("multilabel", labels["datasets"]),
        ("multilabel", labels["rank_stability"]["datasets"]),
        ("multilabel", splitting["datasets"]),
        ("multilabel", splitting["fold_effect"]["datasets"]),
        ("multilabel", cross_testing["forests"]["datasets"]),
        ("multilabel", wins["forests"]["datasets"]),
        ("binary", wins["datasets"]),
        ("binary", experiments),
        ("multiclass", config["ecoc"]["comparison"]["datasets"]),
    ]
    return [(dataset, task) for task, datasets in parts for dataset in datasets]


try:
    check(config, "config.schema.yaml", "config")
    CATALOG = load_catalog().with_own(config["data"]["own"])
    for dataset, task in used_datasets():
        CATALOG[dataset].require(task)
    for dataset in config["ecoc"]["comparison"]["datasets"]:
        CATALOG[dataset].require_complete()
    sets = config["win_percentage"]["forests"]
    if (sets["n_permuted_sets"] or 0) > sets["n_sets"]:
        raise ConfigError(
            f"config.win_percentage.forests.n_permuted_sets: found {sets['n_permuted_sets']}, but the value must be at "
            f"most n_sets, {sets['n_sets']}."
        )
except StudyError as error:
    sys.exit(str(error))  # no traceback for a user's own mistake


wildcard_constraints:
    dataset="|".join(map(re.escape, CATALOG)),
    rate=r"\d{1,2}",
    splitter="|".join(map(re.escape, METHOD_NAMES)),
    repeats=r"\d+",
    model="|".join(map(re.escape, config["weak_labels"]["models"])),
    experiment="|".join(map(re.escape, config["cross_testing"]["experiments"]))
    or "none",
    first=r"\d+",
    part=r"\d+",


def code_of_rule(rule):
    """Parameter of a rule that changes with the code which its script runs, so that an update outdates its results."""
    chosen = [value for value in rule.params if str(value).startswith("fairfold.")]
    return lambda wildcards: code_of(SCRIPTS / Path(rule.script).name, *chosen)


def allow_one_run_only():
    """Refuse a second run in this directory while one is going on.

    The operating system drops this lock with the process that holds it, so that a killed run leaves none behind;
    the profiles therefore switch off Snakemake's own lock, which would have to be removed by hand.
    """
    Path(".snakemake").mkdir(exist_ok=True)
    stream = open(".snakemake/fairfold.lock", "w")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("Another run is working in this directory; wait for it or stop it.")
    globals()["_lock_of_this_run"] = stream  # kept open until this process ends


def refuse_unwritable(folder):
    """End in one sentence before the first job, and not in an error of each, when there is no place for results.

    Where there is no place for ``.snakemake`` either, Snakemake has some tracebacks of its own to say before.
    """
    try:
        check_writable(folder)
    except StudyError as error:
        sys.exit(str(error))
