"""Test the run time and memory of each step."""

import pandas as pd

from fairfold.report.costs import costs_sentence, gather_costs

HEADER = "s\th:m:s\tmax_rss\tcpu_time\n"


def write(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + "".join("\t".join(map(str, row)) + "\n" for row in rows))


def test_jobs_of_a_step_are_summed(tmp_path):
    write(tmp_path / "train/a.tsv", (10, "0:00:10", 100, 9))
    write(tmp_path / "train/deep/b.tsv", (30, "0:00:30", 250, 28), (5, "0:00:05", 90, 4))
    write(tmp_path / "gather.tsv", (50, "0:00:50", 80, 1))
    expected = {
        "step": ["gather", "train"],
        "jobs": [1, 3],
        "seconds": [50, 45],
        "longest_job_seconds": [50, 30],
        "cpu_seconds": [1, 41],
        "peak_memory_mib": [80, 250],
    }
    pd.testing.assert_frame_equal(gather_costs(tmp_path), pd.DataFrame(expected), check_dtype=False)


def test_what_was_too_short_to_measure_does_not_count(tmp_path):
    write(tmp_path / "train/a.tsv", (0.1, "0:00:00", "NA", "NA"), (1, "0:00:01", "-", 1))
    costs = gather_costs(tmp_path).iloc[0]
    assert costs["jobs"] == 2
    assert costs["cpu_seconds"] == 1
    assert pd.isna(costs["peak_memory_mib"])


def test_nothing_measured(tmp_path):
    costs = gather_costs(tmp_path / "missing")
    assert costs.empty
    assert "No job" in costs_sentence(costs)


def test_the_sentence_names_the_longest_step(tmp_path):
    write(tmp_path / "train/a.tsv", (7260, "2:01:00", 1234, 9))
    write(tmp_path / "gather.tsv", (119, "0:01:59", 80, 1))
    sentence = costs_sentence(gather_costs(tmp_path))
    assert "2 measured jobs took 2.0 h one after the other" in sentence
    assert "train (2.0 h)" in sentence
    assert "1,234 MiB" in sentence


def test_an_incomplete_benchmark_is_skipped(tmp_path):
    (tmp_path / "step").mkdir()
    (tmp_path / "step" / "killed.tsv").touch()
    (tmp_path / "step" / "whole.tsv").write_text("s\tcpu_time\tmax_rss\n1.0\t2.0\t3.0\n")
    assert gather_costs(tmp_path)["jobs"].tolist() == [1]
