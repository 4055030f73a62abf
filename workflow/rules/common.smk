# The checked configuration, the catalog, and functions that all stages use.

import logging
import os
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from snakemake.sourcecache import infer_source_file
from snakemake.utils import update_config

# Begins the address of each rule; in a git repository, the name of a branch ends it.
ADDRESS = workflow.current_basedir.get_path_or_uri(secret_free=True).rpartition("/")[0]
WORKFLOW = Path(ADDRESS)
if not (WORKFLOW / "fairfold").is_dir():  # installed with the library, or from a git address
    try:
        from fairfold.core.home import PROJECT
    except ImportError:
        sys.exit(
            "This workflow needs its library: install the same version of fairfold where snakemake runs, as by "
            "`pip install 'fairfold[study]'`."
        )
    WORKFLOW = PROJECT / "workflow"
SCRIPTS = WORKFLOW / "scripts"
BASE_OF_SCRIPTS = infer_source_file(str(WORKFLOW / "rules"))
ENVIRONMENT = str(WORKFLOW.parent / "envs" / "environment.yaml")
# Scripts import the library beside them, whether or not another one is installed.
sys.path.insert(0, str(WORKFLOW))
PATHS = [str(WORKFLOW), str(SCRIPTS), os.environ.get("PYTHONPATH")]
os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, PATHS)))
# A full disk would show a traceback for each line of Snakemake's log.
logging.raiseExceptions = False

from fairfold import study  # noqa: E402
from fairfold.core.config import typed  # noqa: E402
from fairfold.core.files import (  # noqa: E402
    check_writable,
    remove_damaged,
    remove_leftovers,
)
from fairfold.core.provenance import code_of  # noqa: E402
from fairfold.core.runs import RUN_AGAIN, lock_of_folder, remove_damage  # noqa: E402
from fairfold.errors import StudyError  # noqa: E402
from fairfold.models.own_sources import checksum_of  # noqa: E402
from fairfold.models.registry import spec_of  # noqa: E402
from fairfold.report.contents import FOLDER as PAGES  # noqa: E402
from fairfold.papers.published.comparison import COMPARISONS as PUBLISHED  # noqa: E402
from fairfold.report.contents import figures_of, load_contents, owner  # noqa: E402
from fairfold.splitting.methods import METHOD_NAMES  # noqa: E402

# Snakemake leaves the nested values of `--config folds="{'n_splits': 7}"` as text.
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
    LEFT_OUT = study.leave_out_unavailable(config, CATALOG, workflow.is_main_process)
except StudyError as error:
    sys.exit(str(error))
CONTENTS = load_contents()
# Datasets with many labels: the model that estimates missing labels learns their most common ones only.
WITH_OWN_REFERENCE = study.with_own_reference(config, CATALOG)
# Stage -> its results without figures; filled in by the stages
RESULTS_OF = {}


wildcard_constraints:
    dataset="|".join(map(re.escape, CATALOG)),
    rate=r"\d{1,2}",
    splitter="|".join(map(re.escape, METHOD_NAMES)),
    n_splits=r"\d+",
    repeats=r"\d+",
    model="|".join(map(re.escape, [*study.used_models(config), study.REFERENCE])),
    experiment="|".join(map(re.escape, config["cross_testing"]["experiments"])) or "none",
    example="linear|custom-loss|posterior|arrhythmia",
    first=r"\d+",
    part=r"\d+",


@cache
def code(script):
    """Return the checksum of the code that a script runs, so that an update outdates its results."""
    return code_of(SCRIPTS / f"{script}.py")


def own_code(models):
    """Return the checksums of the user's own models among these, corrected or not."""
    return {name: checksum_of(entry) for name, entry in own_models(models).items()}


def own_models(models):
    """Return the configuration of the user's own models among these, corrected or not."""
    families = dict.fromkeys(spec_of(model).family for model in models)
    return {name: spec_of(name).parameters["entry"] for name in families if name in config["models"]["own"]}


def numbers_of_job(step, end):
    """Return a function of wildcards: the first number of a job, and the number after its last."""
    return lambda wildcards: [
        int(wildcards.first),
        min(int(wildcards.first) + step, end),
    ]


def threads_of_each(n_jobs, most):
    """Return the threads of each of some jobs: one, and more if there are more cores than jobs."""
    return max(min((workflow.cores or 1) // max(n_jobs, 1), most), 1)


def folds_of(n_splits, splitter=config["folds"]["method"], repeats=1):
    """Return the path of the folds of a dataset."""
    return f"results/folds/{{dataset}}/{splitter}/{n_splits}-folds/repeats-{repeats}.npz"


def own_files(wildcards):
    """Return the user's own files of a dataset, so that changes are noticed; nothing for the catalog's datasets.

    The paths are absolute, because a module's prefix would be added to others.
    """
    paths = map(os.path.abspath, CATALOG[wildcards.dataset].own_files)
    return [path for path in paths if "{" not in path]


def versions_of_own_files(wildcards):
    """Return the times and sizes of own files with braces in their paths, which Snakemake takes for wildcards."""
    paths = map(os.path.abspath, CATALOG[wildcards.dataset].own_files)
    found = [os.stat(path) for path in paths if "{" in path and os.path.exists(path)]
    return [[each.st_mtime_ns, each.st_size] for each in found]


def scored(target):
    """Return the files of a target, and the check of its scores if it has any."""
    results, parts = TARGETS[target]
    has_scores = any(SCORES_OF[part] for part in parts)
    return [*results, *[f"results/scored/{target}.done"] * has_scores]


def model_of_study(model):
    """Return the parameters of a model of the study, and the checksum of a user's own code."""
    own = own_code([model]).get(spec_of(model).family, "")
    return {**study.model_of_study(config, model), "own": own}


def predictions_of_reference(wildcards):
    """Return the file with predictions of the reference model, if it is a model of the study."""
    if (
        study.REFERENCE not in WEAK_LABELS["models"]
        or int(wildcards.rate) not in WEAK_LABELS["missing_rates"]
        or wildcards.dataset in WITH_OWN_REFERENCE
    ):
        return []
    part = WEAK_LABELS["models"].index(study.REFERENCE) // MODELS_PER_JOB
    unit = f"results/weak_labels/{wildcards.dataset}/rate-{wildcards.rate}"
    return [f"{unit}/predictions_{part}.npz"]


def page_of(table):
    """The page of a table, in Snakemake's own report under the section that has the table in ours."""
    path = table.removeprefix("results/")
    section, item = owner(path, CONTENTS) or (None, None)
    caption = item.caption if item and item.caption.endswith(".rst") else None
    return report(
        table.removesuffix("csv") + "html",
        caption=caption and f"../report/{caption}",
        category=section.title if section else "Other results",
        labels={"table": item.title if item else path, "file": Path(path).stem},
    )


def prepare_run():
    """Check before the first job that this run can work; end in one sentence if it cannot."""
    global run_lock  # held until this process ends
    try:
        run_lock = lock_of_folder()
        check_writable("results")
        for name, entry in own_models(study.used_models(config)).items():
            from fairfold.models.isolated import try_out

            if failure := try_out(name, entry):
                print(f"Tried on 60 simulated samples, {failure}", file=sys.stderr)
    except StudyError as error:
        sys.exit(str(error))
    remove_leftovers("results")
    for path in Path("results/logs/check_scores").glob("*.log"):
        path.unlink()


def explain_failure():
    """Ask for another run if files were damaged, and repeat which scores are missing below Snakemake's messages."""
    if damaged := remove_damaged("results"):
        names = ", ".join(map(str, damaged))
        print(
            f"{names}: damaged and deleted. Run the same command again to write what is missing.",
            file=sys.stderr,
        )
        sys.exit(RUN_AGAIN)
    logs = Path("results/logs/check_scores").glob("*.log")
    texts = [path.read_text(encoding="utf-8") for path in logs]
    sentences = {text.partition("ModelError: ")[2].strip() for text in texts} - {""}
    if sentences:
        sys.exit("\n".join(sorted(sentences)))


if workflow.is_main_process:
    # Damaged results are recomputed; while another run writes here, it is left to that run.
    with suppress(StudyError), lock_of_folder():
        for path, flaw in remove_damage("results").items():
            print(f"{path}: {flaw}. It is made again.", file=sys.stderr)
