# The checked configuration, the plan of all files, and functions that several rule files use.

import os
import sys

# Snakemake imports the library next to the Snakefile. It finds none there after an installation, or at a git address.
try:
    from fairfold.planning import border, models
except ImportError:
    how = "install the same version of fairfold where snakemake runs, as by `pip install 'fairfold[study]'`"
    sys.exit(f"This workflow needs its library: {how}.")
from fairfold.models.code import code_of_models
from fairfold.planning.border import code_of
from fairfold.planning.forecast import memory_to_request
from fairfold.planning.paths import one_of
from fairfold.planning.plan import files_of_figures, plan
from fairfold.planning.stages import folds_of
from fairfold.splitting.methods import METHOD_NAMES

border.share_library()
STUDY, CATALOG, LEFT_OUT = border.open_study(config, workflow.configfiles, is_main_process=workflow.is_main_process)
PLAN = plan(STUDY, CATALOG, LEFT_OUT)


wildcard_constraints:
    n_splits=r"\d+",
    n_repeats=r"\d+",
    first=r"\d+",
    part=r"\d+",
    dataset=one_of(CATALOG),
    rate=r"\d{1,2}",
    splitter=one_of(METHOD_NAMES),
    model=one_of([*models.used_models(STUDY), models.REFERENCE]),
    experiment=one_of(STUDY.cross_testing.experiments),
    mechanism="[a-z]+",


def numbers_of_job(firsts):
    """Return a function of wildcards: the first number of a job, and the number after its last."""
    return lambda wildcards: [int(wildcards.first), min(int(wildcards.first) + firsts.step, firsts.stop)]


def threads_of_each(n_jobs, most):
    """Return the threads of each of some jobs: one, and more if there are more cores than jobs."""
    return max(min((workflow.resource_settings.cores or 1) // max(n_jobs, 1), most), 1)


def memory_for(wildcards, input, attempt):
    """Return the MB that a job requests to train one model at a time."""
    return memory_to_request(input.dataset, attempt=attempt)


def strict_audit_of(wildcards):
    """Return the audit of a dataset if its errors stop the study.

    A later change of the configuration describes the study again without splitting again.
    """
    is_audited = STUDY.data.strict and wildcards.dataset in PLAN.data.described
    return [ancient(f"results/datasets/{wildcards.dataset}.audit.csv")] if is_audited else []


def set_aside_of(dataset):
    """Return the share of samples that is set aside, with its seed; nothing if all samples are in the study."""
    is_part = dataset in [*STUDY.weak_labels.datasets, *STUDY.final.datasets]
    return [STUDY.data.set_aside, STUDY.seed] if STUDY.data.set_aside and is_part else []


def new_table_of(dataset):
    """Return the modification time and size of the new table whose score is expected; nothing without one."""
    path = STUDY.weak_labels.elsewhere.predict_on.get(dataset)
    return [os.stat(path).st_mtime_ns, os.stat(path).st_size] if path and exists(path) else []


def checked_cells_of(dataset):
    """Return the file with the cells of a dataset that a person has checked; nothing without such a file."""
    path = f"{STUDY.weak_labels.checked_cells}/{dataset}.csv"
    return [path] if exists(path) else []


def known_cells_of(dataset):
    """Return the files with cells of a dataset that a person has checked, for scores or for certificates."""
    path = f"{STUDY.weak_labels.checked_cells}/certify/{dataset}.csv"
    return checked_cells_of(dataset) + ([path] if exists(path) else [])


def recommended_of(wildcards):
    """Return the table with the name of the final model; nothing if the configuration names it."""
    is_checked = bool(checked_cells_of(wildcards.dataset))
    table = "recommendation/leaderboard.csv" if is_checked else "tables/recommendation.csv"
    return [] if STUDY.final.model else [f"results/{table}"]


def figures_of_job(job):
    """Return the files of each figure that a job draws; Snakemake's own report shows them, too."""
    files = {}
    for name, figure in PLAN.drawn_by(job).items():
        shown = report(f"results/{figure.path}.png", category=figure.category, labels={"figure": figure.label})
        files[f"figure_{name}"] = [f"results/{figure.path}.pdf", shown]
    return files


def specs_of_figures(job):
    """Return the name, the options and the tables of each figure that a job draws."""
    return {
        f"figure_{name}": [figure.spec.name, figure.options, figure.reads]
        for name, figure in PLAN.drawn_by(job).items()
    }


def legend_of(job):
    """Return the legend if a figure of a job reads it."""
    is_read = any("legend.csv" in figure.reads for figure in PLAN.drawn_by(job).values())
    return ["results/legend.csv"] if is_read else []
