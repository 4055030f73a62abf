"""Planning is no part of the wait, even for thousands of jobs."""

import re
import resource

import pytest
import yaml


def test_2500_jobs_are_planned_in_half_a_minute(study, root):
    config = yaml.safe_load((root / "config" / "paper.yaml").read_text())
    config["cross_testing"]["repetitions_per_job"] = 4  # shorter chunks, more of them
    config["data"]["unavailable"] = "stop"  # whatever can be had here
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code, output = study(config).run("--dry-run", "--quiet", "rules", cores=1)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert code == 0, output
    assert int(re.search(r"^total +(\d+)$", output, re.MULTILINE)[1]) > 2500
    # CPU seconds, which other work on the machine does not change; some 8 were measured
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 30


UNMEASURED = {  # what may come from a cache cannot be measured, and what computes nothing need not be
    *("prepare_dataset", "split_dataset", "write_config", "check_scores", "describe_datasets", "describe_models"),
    # of which each part is measured
    *("score_models", "score_models_of_many_labels", "compare_splitters"),
    *("search_pairs", "search_feature_sets", "run_examples"),
}


def test_every_job_has_a_log_of_its_own_and_is_measured(study):
    code, output = study().run("--dry-run", "--quiet", "progress")
    assert code == 0, output
    blocks = re.findall(r"^(?:local)?rule (\w+):\n((?:    .+\n)+)", output, re.MULTILINE)
    jobs = [(rule, dict(re.findall(r"^    (\w+): (.+)$", block, re.MULTILINE))) for rule, block in blocks]
    jobs = [(rule, job) for rule, job in jobs if "output" in job]
    assert len(jobs) > 60
    logs = [job["log"] for _, job in jobs]
    assert len(set(logs)) == len(logs)
    for rule, job in jobs:
        assert ("benchmark" in job) is (rule not in UNMEASURED), rule


@pytest.mark.parametrize(("cores", "expected"), [(2, {"1"}), (9, {"2"}), (400, {"8"})])
def test_units_share_the_cores(study, root, cores, expected):
    """Of four units each has a core, or as many as are there for each, and no more than it has models."""
    config = yaml.safe_load((root / "config" / "config.yaml").read_text())
    code, output = study(config).run("--dry-run", "--quiet", "progress", cores=cores)
    assert code == 0, output
    units = re.findall(r"^(?:local)?rule score_models:\n((?:    .+\n)+)", output, re.MULTILINE)
    threads = [re.search(r"^    threads: (\d+)$", unit, re.MULTILINE) for unit in units if "output" in unit]
    assert len(threads) == 4
    assert {found[1] if found else "1" for found in threads} == expected


def test_snakemakes_own_advice_is_followed(study):
    code, output = study().run("--lint")
    assert code == 0, output
    assert "in a good condition" in output
