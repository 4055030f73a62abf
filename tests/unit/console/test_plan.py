"""The plan of a study lists stages with their trainings, seconds and memory."""

from fairfold.console.plan import plan_lines
from fairfold.planning.check import check_config


def study(**weak_labels):
    own = {"plants": {"path": "plants.csv", "labels": {"prefix": "label_"}}}
    labels = {"datasets": ["plants"], "models": ["kNN", "logistic"], "missing_rates": [0, 50], **weak_labels}
    return check_config({"seed": 1, "data": {"own": own}, "weak_labels": labels, "folds": {"n_splits": 3}})


def test_stages_have_jobs_trainings_and_seconds():
    jobs = {"train_and_score": 2, "prepare_dataset": 1, "describe_study": 1, "fit_final_model": 1, "concat_tables": 2}
    lines = [*plan_lines(jobs, study(), (100, 5, 3))]
    rows = {line[:24].strip(): line[24:].split() for line in lines[:-2]}
    assert rows == {
        "stage": ["jobs", "trainings", "seconds"],
        "read and audit the data": ["2", "-", "4"],
        "train and score models": ["2", "12", "8"],  # 2 models, 2 missing rates, 3 folds
        "final model": ["1", "7", "4"],
        "other steps": ["2", "-", "4"],
    }
    assert lines[-2].startswith("Expected: about 20 s of processor time") and "0.4 GiB of memory" in lines[-2]


def test_large_tables_take_longer_and_many_rules_few_lines():
    rules = ["prepare_dataset", "train_and_score", "correct_scores", "score_by_samples", "draw_figures", "a", "b"]
    lines = [*plan_lines(dict.fromkeys(rules, 1), study(), (100_000, 50, 20))]
    assert len(lines) <= 20 and float(lines[2].split()[-1].replace(",", "")) > 100
    assert "GiB" not in "".join(plan_lines({"a": 1}, study(), None))


def test_a_finished_study_has_nothing_to_compute():
    assert [*plan_lines({}, study(), None)] == ["All results are up to date: there is nothing to compute."]
