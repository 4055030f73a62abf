"""A change of code reruns the affected jobs and no others."""

import re
import shutil

import pytest


@pytest.fixture
def rerun(finished, study_class, copy_of_project, tmp_path):
    """Return a function that edits files of a project copy and counts the jobs of a dry run by rule."""
    done = study_class(tmp_path / "study", copy_of_project)
    shutil.copytree(finished[0].folder, done.folder, dirs_exist_ok=True)

    def edit_and_plan(*edits):
        originals = {}
        for name, old, new in edits:
            path = copy_of_project / "workflow" / name
            text = originals.setdefault(path, path.read_text())
            assert old in text, f"{old!r} is not in {name}"
            path.write_text(path.read_text().replace(old, new, 1))
        code, output = done.run("--dry-run")
        assert code == 0, output
        for path, text in originals.items():
            path.write_text(text)
        return {rule: int(n) for rule, n in re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE) if rule != "total"}

    return edit_and_plan


ENDS = {"render_report", "check_scores", "study"}
FURTHER = {"score_mechanism", "correct_scores", "recommend_models"}
TRAININGS = {"train_and_score", "repeat_weak_labels", "cross_test_models", "evaluate_feature_sets"}


def test_documentation_runs_nothing_and_code_runs_what_imports_it(rerun):
    documentation = [
        ("fairfold/forests/growth.py", '"""', '"""The '),
        ("fairfold/evaluation/ranking.py", "import numpy as np\n", "import numpy as np  # of course\n\n"),
        ("scripts/train_and_score.py", "    options = ", "    # by folds\n    options = "),
        ("scripts/adapter.py", '"""', '"""The '),
        ("rules/weak_labels.smk", "# Hide labels", "# Hide some labels"),
    ]
    moved = set(rerun())  # the published tables of the copy are inputs
    assert moved <= ENDS | {
        *("tabulate_splitting", "tabulate_cross_testing", "compare_published", "draw_figures"),
    }
    assert set(rerun(*documentation)) == moved

    caption = ("report/models.rst", "Components of the deep forests", "Components of deep forests")
    assert set(rerun(caption)) == moved | ENDS

    kernel = ("fairfold/forests/growth.py", "import numpy as np\n", "import numpy as np\n\nEPOCH = 2\n")
    posterior = ("fairfold/ecoc/posterior.py", "import numpy as np\n", "import numpy as np\n\nEPOCH = 2\n")
    wanted = rerun(kernel)
    assert wanted.keys() >= TRAININGS
    assert wanted["train_and_score"] == 2  # at two missing rates
    assert not wanted.keys() & {"split_dataset", "evaluate_pairs", "predict_ecoc", "repeat_procedures"}
    found = set(rerun(posterior))
    assert found >= {"predict_ecoc", "compare_published"}
    assert not found & {*TRAININGS, *FURTHER, "split_dataset", "repeat_procedures", "evaluate_pairs"}

    check = ("fairfold/datasets/audit/leaks.py", "import numpy as np\n", "import numpy as np\n\nEPOCH = 2\n")
    found = set(rerun(check))
    assert "describe_study" in found
    assert not found & {*TRAININGS, *FURTHER, "prepare_dataset", "split_dataset"}

    another = ("fairfold/models/catalog/logistic_regression.py", "max_iter=1000", "max_iter=1001")
    assert set(rerun(another)) == moved  # The study does not train it.
    reference = ("fairfold/forests/boosting.py", "import numpy as np\n", "import numpy as np\n\nEPOCH = 2\n")
    found = set(rerun(reference))
    assert found >= {"score_mechanism", "correct_scores", "recommend_models"}
    assert not found & {*TRAININGS, "split_dataset"}
