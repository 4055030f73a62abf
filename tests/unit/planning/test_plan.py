"""Test the plan of a study, without Snakemake."""

import dataclasses

import pytest

from fairfold.planning.check import catalog_of, check_study
from fairfold.planning.plan import DRAWN_APART, plan

DATASET = "simulated-multilabel"


def planned(left_out=(), **parts):
    weak_labels = {"datasets": [DATASET], "models": ["kNN", "RF+ET", "FLAForest+"], "missing_rates": [50]}
    study = check_study({"seed": 1, **parts, "weak_labels": weak_labels | parts.get("weak_labels", {})})
    return plan(study, catalog_of(study), left_out)


def test_a_small_study_has_the_files_of_its_units():
    whole = planned(folds={"n_splits": 3}, weak_labels={"models_per_job": 2})
    stage = whole.weak_labels
    assert stage.models_of_part == [["kNN", "RF+ET"], ["FLAForest+"]] and stage.imputing == [1]
    assert stage.estimated["rate"] == [0, 50] and stage.least == 50 and stage.n_jobs == 2
    unit = f"results/weak_labels/{DATASET}/rate-50"
    assert stage.files == [
        f"results/folds/{DATASET}/annealed/3-folds/repeats-1.npz",
        *(f"{unit}/{name}_{part}.csv" for name in ("scores", "imputation") for part in (0, 1)),
        *(f"{unit}/predictions_{part}.npz" for part in (0, 1)),
        *(f"results/timings/models/{DATASET}_50_{part}.csv" for part in (0, 1)),
        "results/tables/models.csv",
    ]
    assert f"results/weak_labels/{DATASET}/rate-0/missing_rate.csv" in whole.recommendation.files
    assert whole.recommendation.imputation[0] == "results/tables/imputation.csv"


def test_parts_without_datasets_have_no_files():
    whole = planned()
    for name in ("splitting", "rank_stability", "sample_curves", "mechanisms", "cross_testing", "win_percentage"):
        assert getattr(whole, name).files == []
    assert whole.ecoc.files == whole.mlc_comparison.files == []
    assert [part for part, tables in whole.scores.items() if tables] == ["weak_labels"]
    assert whole.pages == ["report", "papers"] and whole.published.files


def test_jobs_are_named_after_their_first_number():
    whole = planned(
        cross_testing={"models": {"datasets": [DATASET], "n_repeats": 5, "repeats_per_job": 2}},
        win_percentage={"models": {"datasets": [DATASET], "n_sets": 4, "sets_per_job": 3, "n_permutations": 2}},
        weak_labels={"rank_stability": {"datasets": [DATASET], "splitters": ["IS"], "n_repeats": 2}},
    )
    assert whole.cross_testing.files[:3] == [
        f"results/cross_testing/models/{DATASET}/from-{first}.csv" for first in (0, 2, 4)
    ]
    wins = [path for path in whole.win_percentage.files if "/rate-" in path]
    assert [path.rpartition("/")[2] for path in wins] == [
        *("sets-from-0.csv", "sets-from-3.csv", "permuted-from-1.csv", "permuted-from-2.csv")
    ]
    assert whole.rank_stability.scores == [
        f"results/rank_stability/{DATASET}/rate-50/IS/from-{first}.csv" for first in (0, 1)
    ]
    assert whole.targets["win_percentage"].scores == {
        "win_percentage.models": ["results/tables/win_percentage/model_sets.csv"]
    }


def test_targets_name_all_files_and_the_check_of_their_scores():
    whole = planned(splitting={"datasets": [DATASET]}, final={"fit": True})
    targets = whole.targets
    assert {*whole.files, *whole.final.files, "results/report.html"} <= {*targets["study"].files}
    assert targets["study"].wanted == [*targets["study"].files, "results/scored/study.done"]
    assert "results/figures/label_deviations.png" in targets["splitting"].wanted
    assert "results/figures/label_deviations.png" not in targets["weak_labels"].files
    assert targets["final"].wanted == whole.final.files


def test_each_figure_is_drawn_by_one_job():
    whole = planned(splitting={"datasets": [DATASET]}, ecoc={"examples": ["linear"]})
    jobs = [whole.drawn_by(job) for job in (*DRAWN_APART, "overview")]
    assert sorted(name for job in jobs for name in job) == sorted(whole.figures)
    assert whole.drawn_by("splitting") and whole.drawn_by("ecoc") and not whole.drawn_by("win_percentage")


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_small_dataset_has_its_curves_in_the_same_job_if_the_splits_are_the_same(repeats):
    curves = {"datasets": ["emotions"], "models": ["kNN"]}
    whole = planned(folds={"n_repeats": repeats}, weak_labels={"datasets": ["emotions"], "sample_curves": curves})
    assert whole.weak_labels.small == ["emotions"]
    assert whole.sample_curves.of_small == (["kNN"] if repeats == 1 else [])


def test_a_small_dataset_shares_the_cores_with_the_trainings_of_others():
    stage = planned(weak_labels={"datasets": ["emotions", DATASET], "missing_rates": [0, 50]}).weak_labels
    assert stage.small == ["emotions"] and stage.n_jobs == 1 + 2


def test_a_users_own_data_have_no_published_numbers(tmp_path):
    (tmp_path / "mine.csv").write_text("a,l_x,l_y\n1,0,1\n")
    own = {"mine": {"path": str(tmp_path / "mine.csv"), "labels": {"prefix": "l_"}}}
    whole = planned(data={"own": own}, weak_labels={"datasets": ["mine"]})
    assert whole.published.files == [] and whole.data.own == whole.data.described == ["mine"]
    both = planned(data={"own": own}, weak_labels={"datasets": ["mine", DATASET]})
    assert both.published.files == ["results/tables/published.csv"]


def test_excluded_datasets_have_a_table():
    row = {"part": "splitting", "dataset": "yeast", "reason": "gone"}
    assert "results/tables/unavailable.csv" in planned([row]).data.description
    assert "results/tables/unavailable.csv" not in planned().files


def test_a_plan_is_the_same_each_time_and_cannot_change():
    whole = planned()
    assert planned() == whole
    with pytest.raises(dataclasses.FrozenInstanceError):
        whole.pages = []
