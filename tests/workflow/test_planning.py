"""Planning is no part of the wait, even for thousands of jobs."""

import re
import resource

import yaml


def test_2500_jobs_are_planned_in_half_a_minute(study, root):
    config = yaml.safe_load((root / "config" / "paper.yaml").read_text())
    config["cross_testing"]["repetitions_per_job"] = 9  # shorter chunks, more of them
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code, output = study(config).run("--dry-run", "--quiet", "rules", cores=1)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert code == 0, output
    assert int(re.search(r"^total +(\d+)$", output, re.MULTILINE)[1]) > 2500
    # CPU seconds, which other work on the machine does not change; some 8 were measured
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 30
