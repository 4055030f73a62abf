"""Plans of whole studies."""

import copy
import re
import sys

import pandas as pd
import pytest
import yaml

from fairfold.papers.published.comparison import compare_published
from fairfold.planning.check import catalog_of, check_study
from fairfold.planning.plan import plan


def test_the_published_study_is_planned(study, root):
    """The plan includes every file of the table of published numbers, and of the commands in it."""
    config = yaml.safe_load((root / "config" / "paper.yaml").read_text())
    config["data"]["unavailable"] = "stop"  # include unavailable datasets
    paths = (root / "resources/published").glob("*.csv")
    published = {path.stem: pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths}
    files = compare_published(published, {}, check_study(copy.deepcopy(config)))["file"].unique()
    assert len(files) > 50
    commands = pd.read_csv(root / "resources/regenerated/published.csv")["command"]
    asked = commands[commands.str.startswith("snakemake")].str.extract(r"(results/\S+)")[0]
    targets = sorted({*asked, *(f"results/{file}" for file in files)})
    code, output = study(config).run("study", *targets, "--dry-run", "--quiet", "rules", python=sys.executable)
    assert code == 0, output
    assert int(re.search(r"^total +(\d+)$", output, re.MULTILINE)[1]) > 600


# Cached and very short jobs have no benchmark.
MEASURED = {
    *("compare_splitters", "estimate_fold_effect", "compare_models", "train_and_score", "score_many_labels"),
    *("repeat_weak_labels", "score_mechanism", "repeat_procedures", "cross_test_models"),
    *("evaluate_pairs", "permute_pairs", "evaluate_feature_sets", "predict_ecoc"),
    "fit_final_model",
}


def jobs_of(one_study, **options):
    """Return the rule and the plan of each job in a dry run."""
    code, output = one_study.run("study", "--dry-run", "--quiet", "progress", **options)
    assert code == 0, output
    blocks = re.findall(r"^(?:local)?rule (\w+):\n((?:    .+\n)+)", output, re.MULTILINE)
    jobs = [(rule, dict(re.findall(r"^    (\w+): (.+)$", block, re.MULTILINE))) for rule, block in blocks]
    return [(rule, job) for rule, job in jobs if "output" in job]


def test_jobs_have_logs_of_their_own_and_make_the_files_of_the_plan(study, tiny):
    config = {**tiny, "final": {"fit": True}}
    jobs = jobs_of(study(config))
    assert len(jobs) > 40
    logs = [job["log"] for _, job in jobs]
    assert len(set(logs)) == len(logs)
    for rule, job in jobs:
        assert ("benchmark" in job) is (rule in MEASURED), rule
    made = {
        path
        for rule, job in jobs
        if rule != "check_scores"
        for path in re.sub(r" \(\w+\)", "", job["output"]).split(", ")
    }
    whole = check_study(config)
    assert made == {*plan(whole, catalog_of(whole)).targets["study"].files}


def test_the_quick_study_has_few_jobs(study, root):
    """Each job adds a second of overhead."""
    config = yaml.safe_load((root / "config" / "config.yaml").read_text())
    code, output = study(config).run("--dry-run", "--quiet", "rules")
    assert code == 0, output
    assert int(re.search(r"^total +(\d+)$", output, re.MULTILINE)[1]) <= 39


@pytest.mark.parametrize(("per_job", "n_jobs", "cores", "threads"), [(7, 4, 9, "2"), (3, 12, 400, "3")])
def test_trainings_are_split_into_jobs_that_share_the_cores(study, root, per_job, n_jobs, cores, threads):
    """Each job has an equal share of the cores, at least one and at most one per model."""
    config = yaml.safe_load((root / "config" / "config.yaml").read_text())
    config["weak_labels"]["models_per_job"] = per_job
    jobs = [job for rule, job in jobs_of(study(config), cores=cores) if rule == "train_and_score"]
    assert [job.get("threads", "1") for job in jobs] == [threads] * n_jobs


@pytest.mark.parametrize("is_checked", [False, True])
def test_checked_cells_choose_the_final_model(study, is_checked):
    dataset = "simulated-multilabel"
    weak_labels = {"datasets": [dataset], "models": ["RF+ET"], "missing_rates": [0]}
    mine = study({"seed": 1, "weak_labels": weak_labels, "final": {"fit": True}})
    (mine.folder / "checks/certify").mkdir(parents=True)
    # Cells that were chosen for certificates do not compare models.
    for place in ("checks", "checks/certify")[not is_checked :]:
        (mine.folder / place / f"{dataset}.csv").write_text("sample,label_index,draw_probability,label\n")
    jobs = {rule: job for rule, job in jobs_of(mine) if rule == "fit_final_model"}
    table = "results/recommendation/leaderboard.csv" if is_checked else "results/tables/recommendation.csv"
    wanted = {table, f"checks/certify/{dataset}.csv"}
    assert len(jobs) == 1 and all(wanted <= {*job["input"].split(", ")} for job in jobs.values())


def test_snakemakes_own_advice_is_followed(study):
    code, output = study().run("--lint")
    assert code == 0, output
    assert "in a good condition" in output


ORDER = [
    *("input", "output", "log", "benchmark", "wildcard_constraints", "cache", "retries", "priority", "localrule"),
    *("conda", "threads", "resources", "params", "message", "script"),
]


def test_rules_have_one_order(root):
    """Every rule has the same order of directives, and the number of rules is limited."""
    texts = [path.read_text() for path in (root / "workflow").glob("**/*.smk")]
    rules = [rule for text in texts for rule in re.split(r"^(?:use )?rule .*:\n", text, flags=re.MULTILINE)[1:]]
    assert len(rules) > 30
    for rule in rules:
        found = re.findall(r"^    (\w+):", re.split(r"^\S", rule, flags=re.MULTILINE)[0], re.MULTILINE)
        assert found == sorted(found, key=ORDER.index), rule
    paths = [root / "Snakefile", root / "workflow/Snakefile"]
    assert sum(text.count("\n") for text in [*texts, *(path.read_text() for path in paths)]) <= 1500
