"""The Slurm profile names existing rules and scales its requests; a run on a real Slurm gives the same bytes."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
import yte

from fairfold.planning.forecast import memory_to_request

PROFILE = "workflow/profiles/slurm"
# Targets of the tiny study with few submissions: single jobs, one with threads, and jobs that go together.
MODELS = ["weak_labels/simulated-multilabel/rate-50/scores_0.csv"]
SPLITS = ["splitting/simulated-multilabel.csv"]
TOGETHER = [f"win_percentage/models/simulated-multilabel/rate-50/sets-from-{first}.csv" for first in (0, 3)]
TARGETS = [f"results/{path}" for path in (*SPLITS, *MODELS, *TOGETHER)]
TOO_LITTLE = 100  # MiB per model; Snakemake alone needs that much in the job
# Options for a local Slurm without accounting; a real cluster does not need them.
FOR_THIS_SLURM = [
    *("--slurm-status-command", "squeue", "--slurm-no-account", "--slurm-init-seconds-before-status-checks", "1"),
    *("--seconds-between-status-checks", "1", "--latency-wait", "10"),
]


def load_profile(root, profile=PROFILE):
    return yte.process_yaml((root / profile / "config.yaml").read_text(), require_use_yte=True)


def rules(root, study):
    """Return every rule that runs a script and whether it is a local rule."""
    # The quick study has all parts and figures, except those of slow parts.
    config = yaml.safe_load((root / "config/config.yaml").read_text())
    for part in ("mechanisms", "sample_curves"):
        config["weak_labels"][part] = {"datasets": ["simulated-multilabel"]}
    code, output = study(config).run("--list-rules", "--workflow-profile", str(root / PROFILE))
    assert code == 0, output
    snakefiles = [(root / name).read_text() for name in ("Snakefile", "workflow/Snakefile")]
    targets = re.findall(r"^rule (\w+):$", "\n".join(snakefiles), flags=re.MULTILINE)
    text = "\n".join(path.read_text() for path in sorted((root / "workflow/rules").glob("*.smk")))
    local = re.findall(r"^rule (\w+):\n(?:(?:    .*)?\n)*?    localrule: True", text, flags=re.MULTILINE)
    names = set(re.findall(r"^(\w+)$", output, flags=re.MULTILINE)) - {*targets}
    assert len(names) > 30
    return {name: name in local for name in names}


def evaluate(expression, size_mb=0, attempt=1, splitter="IS"):
    names = {"input": SimpleNamespace(size_mb=size_mb), "wildcards": SimpleNamespace(splitter=splitter)}
    return eval(str(expression), {**names, "attempt": attempt})


def test_each_rule_is_in_a_group_or_has_resources_of_its_own(root, study):
    profile, known = load_profile(root), rules(root, study)
    named = {*profile["groups"], *profile["set-resources"]}
    assert {*named, *profile["set-threads"]} <= {*known}
    rest = {name for name, is_local in known.items() if not is_local} - named
    # These read small tables; the default requests are enough.
    assert rest == {
        "compare_published",
        "score_checked_cells",
        *(f"tabulate_{part}" for part in ("splitting", "rank_stability", "cross_testing")),
    }


def test_a_rule_is_in_one_group(root):
    profile = load_profile(root)
    variables = yaml.safe_load((root / PROFILE / "config.yaml").read_text())["__variables__"]
    groups = {**variables["chains"], **variables["likes"]}
    assert max(Counter(rule for members in groups.values() for rule in members).values()) == 1
    assert {*profile["groups"].values()} == {*groups}


def test_no_dataset_waits_for_another(root):
    """Independent jobs are grouped only within one dataset or experiment."""
    profile = load_profile(root)
    assert {*profile["group-components"]} == {group for group in profile["groups"].values() if "{" in group}
    for group in profile["group-components"]:
        assert re.search("{(dataset|experiment)}", group)


def test_jobs_that_do_not_need_each_other_run_at_once(root):
    profile = load_profile(root)
    assert {*profile["group-components"].values()} == {profile["cores"]}


def test_members_of_a_group_are_not_sized_by_what_the_group_itself_makes(root):
    profile = load_profile(root)
    chained = {rule for rule, group in profile["groups"].items() if group not in profile["group-components"]}
    assert chained and not chained & {*profile["set-resources"]}


@pytest.mark.parametrize("resource", ["mem_mb", "runtime"])
@pytest.mark.parametrize("splitter", ["IS", "SOIS"])
def test_resources_grow_with_the_dataset_and_with_each_attempt(root, resource, splitter):
    profile = load_profile(root)
    sized = [wanted for wanted in profile["set-resources"].values() if resource in wanted]
    for wanted in [profile["default-resources"], *sized]:
        first = evaluate(wanted[resource], splitter=splitter)
        assert isinstance(first, int)
        assert evaluate(wanted[resource], attempt=2, splitter=splitter) == 2 * first
    for wanted in sized:
        assert evaluate(wanted[resource], 100.5, splitter=splitter) > evaluate(wanted[resource], splitter=splitter)


def test_the_whole_study_requests_memory_by_the_sizes_of_the_dataset(root, study):
    """Requests without a size in the profile are those of the rules. A missing dataset has a constant one.

    Planning fails if the name of a group uses a wildcard that one of its rules lacks.
    """
    wanted = load_profile(root)["set-resources"]
    sized = {"train_and_score", "correct_scores", "fit_final_model"}
    without = {rule for rule, resources in wanted.items() if "mem_mb" not in resources}
    assert without == {*sized, "compare_models", "score_elsewhere"}
    code, output = study().run("--dry-run", "--workflow-profile", str(root / PROFILE), "study", "final")
    assert code == 0, output
    jobs = [job.split(":\n", 1) for job in re.split(r"^ *rule ", output, flags=re.MULTILINE)[1:]]
    for rule in sized:
        requested = [text for name, text in jobs if name == rule]
        assert requested and all(f"mem_mb={memory_to_request('missing')}," in text for text in requested), rule


def test_threads_grow_up_to_the_cap(root):
    profile = load_profile(root)
    for expression in profile["set-threads"].values():
        threads = expression.split(" if ")[0]
        sizes = [evaluate(threads, 5 * size) for size in (0.1, 3.5, 1000)]
        assert sizes == [1, 4, profile["cores"]]
        assert evaluate(threads, attempt=2) == 2


def test_partition_and_account_are_those_of_the_user(root, monkeypatch):
    monkeypatch.delenv("SBATCH_PARTITION", raising=False)
    monkeypatch.delenv("SBATCH_ACCOUNT", raising=False)
    assert {*load_profile(root)["default-resources"]} == {"mem_mb", "runtime"}
    monkeypatch.setenv("SBATCH_PARTITION", "short")
    monkeypatch.setenv("SBATCH_ACCOUNT", "me")
    asked = load_profile(root)["default-resources"]
    assert (asked["slurm_partition"], asked["slurm_account"]) == ("short", "me")


def test_the_profile_has_what_the_default_profile_has(root, monkeypatch):
    monkeypatch.setenv("SNAKEMAKE_OUTPUT_CACHE", "somewhere")
    default = load_profile(root, "workflow/profiles/default")
    assert default["cache"] is True
    assert default.items() <= load_profile(root).items()


def cores_on_slurm():
    """Return the cores of the node; a group that requests more would be pending forever."""
    return min(2, os.cpu_count())


def run_on_slurm(study, root, *targets, profile=None):
    """Run the study on a new local Slurm and return the output, or skip the test if none can be started."""
    profile = str(profile or root / PROFILE)
    options = {"cores": cores_on_slurm(), "python": sys.executable}
    command = study.command(*targets, "--workflow-profile", profile, *FOR_THIS_SLURM, **options)
    with (study.folder / "slurm.txt").open("w+") as stream:
        process = subprocess.Popen(
            ["sh", str(root / "tests/cluster/with_slurm.sh"), *command],
            cwd=study.folder,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
        try:
            process.wait()
        finally:  # also after a timeout of pytest
            process.terminate()
            process.wait(timeout=60)
        output = Path(stream.name).read_text()
    if process.returncode == 77:
        pytest.skip(output.strip())
    assert process.returncode == 0, output
    return output


@pytest.fixture(scope="module")
def on_slurm(tmp_path_factory, study_class, root):
    """Run a study on Slurm; its training jobs first request too little memory. Return it and its output."""
    folder = tmp_path_factory.mktemp("on-slurm")
    profile = json.loads(json.dumps(load_profile(root)))  # a copy without aliases
    profile["set-resources"]["train_and_score"]["mem_mb"] = f"{TOO_LITTLE} if attempt == 1 else 1500"
    (folder / "profile").mkdir()
    (folder / "profile/config.yaml").write_text(yaml.safe_dump(profile))
    study = study_class(folder / "study", root)
    return study, run_on_slurm(study, root, *TARGETS, profile=folder / "profile")


@pytest.mark.timeout(3600)
def test_a_run_on_slurm_gives_the_same_bytes(on_slurm, finished):
    made, expected = on_slurm[0].results(), finished[0].results()
    assert {*SPLITS, *MODELS, *TOGETHER} <= {*made}
    assert made == {path: expected[path] for path in made}


def test_short_jobs_went_together(on_slurm):
    output = on_slurm[1]
    jobs = int(re.search(r"^\[\d+/(\d+) jobs", output, re.MULTILINE)[1])
    submissions = output.count("has been submitted with SLURM jobid") - output.count("Trying to restart job")
    assert 0 < submissions < jobs - 1  # the dataset is prepared by a local rule


def test_jobs_out_of_memory_were_made_again_with_more(on_slurm):
    study, output = on_slurm
    assert "Trying to restart job" in output
    (log,) = study.folder.glob(".snakemake/slurm_logs/group_models_*/**/*.log")  # of the failed jobs
    asked = min(len(MODELS), cores_on_slurm()) * TOO_LITTLE * 2**20
    assert re.search(rf"exceeded memory limit \(\d+ > {asked}\), being killed", log.read_text())


@pytest.mark.timeout(3 * 3600)
def test_the_study_on_slurm_is_that_of_this_machine(study, root):
    """Runs only with `make slurm-test`, because it runs the quick study twice."""
    config = os.environ.get("FAIRFOLD_SLURM_STUDY")
    if not config:
        pytest.skip("takes two runs of the quick study; `make slurm-test` runs it")
    config = yaml.safe_load((root / config).read_text())
    mine, here = study(config, "on-slurm"), study(config, "here")
    run_on_slurm(mine, root)
    code = subprocess.run(here.command(), cwd=here.folder, stdout=sys.stderr).returncode
    assert code == 0
    assert mine.results() == here.results()
