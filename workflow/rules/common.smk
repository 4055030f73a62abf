# The checked configuration, the catalog, and functions that all stages use.

import logging
import os
import re
import sys
from pathlib import Path

from snakemake.sourcecache import infer_source_file
from snakemake.utils import update_config

# Common prefix of the addresses of all rules; in a git repository, it ends with the name of the branch.
ADDRESS = workflow.current_basedir.get_path_or_uri(secret_free=True).rpartition("/")[0]
WORKFLOW = Path(ADDRESS)
if not (WORKFLOW / "fairfold").is_dir():  # installed with the library, or from a git address
    try:
        from fairfold.core.project import PROJECT
    except ImportError:
        how = "install the same version of fairfold where snakemake runs, as by `pip install 'fairfold[study]'`"
        sys.exit(f"This workflow needs its library: {how}.")
    WORKFLOW = PROJECT / "workflow"
SCRIPTS = WORKFLOW / "scripts"
BASE_OF_SCRIPTS = infer_source_file(str(WORKFLOW / "rules"))
ENVIRONMENT = str(WORKFLOW.parent / "envs" / "environment.yaml")
# Scripts import the library next to them, even if another version is installed.
sys.path.insert(0, str(WORKFLOW))
PATHS = [str(WORKFLOW), str(SCRIPTS), os.environ.get("PYTHONPATH")]
# Jobs import nothing from the working directory, where a file such as random.py would hide a module of Python.
os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, PATHS)), PYTHONSAFEPATH="1")
# On a full disk, logging would otherwise print a traceback for each line.
logging.raiseExceptions = False

from fairfold import study  # noqa: E402
from fairfold.commands.forecast import memory_to_request, small_datasets  # noqa: E402
from fairfold.core.config import typed  # noqa: E402
from fairfold.core.project import REPORT  # noqa: E402
from fairfold.core.provenance import code_of  # noqa: E402
from fairfold.core.runs import remove_damage  # noqa: E402
from fairfold.errors import StudyError  # noqa: E402
from fairfold.models.code import code_of_models  # noqa: E402
from fairfold.models.registry import spec_of  # noqa: E402
from fairfold.papers.published.comparison import COMPARISONS, OUR_TABLES  # noqa: E402
from fairfold.report.contents import figures_of, load_contents, pages_of  # noqa: E402
from fairfold.splitting.methods import METHOD_NAMES  # noqa: E402

# Snakemake does not convert nested values such as `--config folds="{'n_splits': 7}"` from text.
GIVEN = {name: value for name, value in workflow.config_settings.config.items() if isinstance(value, (dict, list))}
update_config(config, {name: typed(value) for name, value in GIVEN.items() if name in config})
try:
    CATALOG = study.check_study(config, list(map(Path, workflow.configfiles)))
    LEFT_OUT = study.leave_out_unavailable(config, CATALOG, workflow.is_main_process)
except StudyError as error:
    sys.exit(str(error))
CONTENTS = load_contents()
# Datasets with many labels. The model that estimates missing labels is trained on their most common labels only.
WITH_OWN_REFERENCE = study.with_own_reference(config, CATALOG)
# Stage -> all files that its rules write, without figures. The stages add their entries.
FILES_OF = {}


wildcard_constraints:
    **dict.fromkeys(("n_splits", "repeats", "first", "part"), r"\d+"),
    dataset="|".join(map(re.escape, CATALOG)),
    rate=r"\d{1,2}",
    splitter="|".join(map(re.escape, METHOD_NAMES)),
    model="|".join(map(re.escape, [*study.used_models(config), study.REFERENCE])),
    experiment="|".join(map(re.escape, config["cross_testing"]["experiments"])) or "none",
    mechanism="[a-z]+",


def numbers_of_job(firsts):
    """Return a function of wildcards: the first number of a job, and the number after its last."""
    return lambda wildcards: [int(wildcards.first), min(int(wildcards.first) + firsts.step, firsts.stop)]


def threads_of_each(n_jobs, most):
    """Return the threads of each of some jobs: one, and more if there are more cores than jobs."""
    return max(min((workflow.cores or 1) // max(n_jobs, 1), most), 1)


def memory_for(wildcards, input, attempt):
    """Return the MB that a job requests to train one model at a time."""
    return memory_to_request(input.dataset, attempt=attempt)


def folds_of(n_splits, splitter=config["folds"]["method"], repeats=1):
    """Return the path of the folds of a dataset."""
    return f"results/folds/{{dataset}}/{splitter}/{n_splits}-folds/repeats-{repeats}.npz"


def predictions_of_unit(wildcards):
    """Return the files with the predictions of a dataset at a missing rate; none if the study hides no such share."""
    unit = f"results/weak_labels/{wildcards.dataset}/rate-{wildcards.rate}"
    is_trained = int(wildcards.rate) in WEAK_LABELS["missing_rates"]
    return [f"{unit}/predictions_{part}.npz" for part in PARTS_OF_UNIT if is_trained]


def recommended_of(wildcards):
    """Return the table with the name of the final model; nothing if the configuration names it."""
    table = "recommendation/leaderboard.csv" if wildcards.dataset in CHECKED else "tables/recommendation.csv"
    return [f"results/{table}"] * (config["final"]["model"] is None)


def drawn_for(part):
    """Return the figures of a part by name."""
    part_of = {section: section for section in PARTS_WITH_FIGURES}
    return {name: figure for name, figure in DRAWN.items() if part_of.get(figure.section, "overview") == part}


def read_by_figures(part):
    """Return the tables that each figure of a part reads."""
    return {name: [f"results/{table}" for table in figure.reads] for name, figure in drawn_for(part).items()}


def figures_for(part):
    """Return the files of each figure of a part; Snakemake's own report shows them, too."""
    files = {}
    for name, figure in drawn_for(part).items():
        shown = report(f"results/{figure.path}.png", category=figure.category, labels={"figure": figure.label})
        files[name] = [f"results/{figure.path}.pdf", shown]
    return files


def files_of(*stages):
    """List all files of stages, because Snakemake looks for a missing file only where a target names it."""
    found = [path for stage in stages for path in FILES_OF[stage]]
    figures = [figure for figure in DRAWN.values() if figure.section in stages]
    return [*found, *[f"results/{figure.path}{suffix}" for figure in figures for suffix in (".pdf", ".png")]]


def scored(target):
    """Return the files of a target, and the check of its scores if it has any."""
    files, parts = TARGETS[target]
    return [*files, *[f"results/scored/{target}.done"] * any(SCORES_OF[part] for part in parts)]


if workflow.is_main_process:
    for path, flaw in remove_damage("results").items():
        print(f"warning: {path}: {flaw}. It is recomputed.", file=sys.stderr)
