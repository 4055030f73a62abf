"""Test which labels the report names as the reference of scores."""

import pytest

from fairfold.core.config import setting
from fairfold.planning.check import check_config
from fairfold.report.contents import load_contents
from fairfold.report.labels import labels_sentences
from fairfold.report.templates import plain_text, text_html

AS_GIVEN = "taken as they are: nothing is declared about missing positives."
INCOMPLETE = "declared incomplete: some zeros are missing positives."


def configured(own, *datasets):
    """Return a configuration, with defaults, that scores models on these datasets."""
    entry = {"path": "mine.csv", "format": "csv", "labels": {"last": 2}}
    parts = {
        "cross_testing": {"models": {"datasets": ["scene"]}},
        "win_percentage": {"models": {"datasets": ["yeast"]}},
    }
    config = {
        "seed": 1,
        "data": {"own": {dataset: {**entry, **expected} for dataset, expected in own.items()}},
        "folds": {},
        "weak_labels": {"datasets": list(datasets)},
        **parts,
    }
    return check_config(config)


MIXED = {"plants": {"missing_rate": 0.3}, "moss": {"labels_are": "incomplete"}, "ferns": {"labels_are": "complete"}}


@pytest.mark.parametrize(
    ("own", "datasets", "expected"),
    [
        ({}, ["flags"], f"The labels of flags are {AS_GIVEN}"),
        ({"plants": {}}, ["flags", "plants"], f"The labels of flags and plants are {AS_GIVEN}"),
        ({}, list("abcde"), f"The labels of all 5 datasets are {AS_GIVEN}"),
        (MIXED, ["plants", "moss"], f"The labels of plants and moss are {INCOMPLETE}"),
        (MIXED, ["ferns"], "The labels of ferns are declared complete."),
        (
            MIXED,
            ["flags", "plants", "ferns"],
            "The labels of ferns are declared complete. "
            f"The labels of plants are {INCOMPLETE} The labels of flags are {AS_GIVEN}",
        ),
        (
            MIXED,
            ["plants", *"abcde"],
            f"The labels of plants are {INCOMPLETE} The labels of the other 5 datasets are {AS_GIVEN}",
        ),
    ],
)
def test_datasets_are_reported_by_what_their_labels_are(own, datasets, expected):
    assert labels_sentences(datasets, configured(own, *datasets)) == expected


def test_the_state_of_a_catalog_is_declared_once():
    config = configured(MIXED, *"abcde")
    config.data.labels_are = "incomplete"
    assert labels_sentences("abcde", config) == f"The labels of all 5 datasets are {INCOMPLETE}"


def test_a_text_ends_with_them():
    config = configured(MIXED, "plants")
    assert plain_text("Scores.", config) == "Scores."
    expected = f"Scores. The labels of plants are {INCOMPLETE}"
    assert plain_text("Scores.", config, "weak_labels.datasets") == expected
    assert str(text_html("Scores.", config, "weak_labels.datasets")).strip() == f"<p>{expected}</p>"


TEXTS = [
    text
    for section in load_contents()
    for text in (
        (section.intro, section.labels_of),
        *((item.caption, item.labels_of) for item in section.items),
    )
]


@pytest.mark.parametrize("own", [{}, {"plants": {}}])
@pytest.mark.parametrize(("text", "labels_of"), [*TEXTS, ("workflow.rst", None)])
def test_no_text_calls_labels_true(own, text, labels_of):
    """User-provided labels may be wrong. Each text about scores states the reference labels, by dataset."""
    config = configured(own, *(own or ["flags"]))
    written = plain_text(text, config, labels_of)
    assert "true label" not in " ".join(written.split()).lower()
    if labels_of is not None:
        assert setting(labels_of, config)
        assert written.endswith(labels_sentences(setting(labels_of, config), config))


def test_texts_about_scores_state_it():
    expected = {text for text, labels_of in TEXTS if labels_of == "weak_labels.datasets"}
    assert {"overview.rst", "datasets.rst", "weak_label_scores.rst", "imputation.rst", "recommendation.rst"} <= expected
    parts = {"cross_testing_models.rst": "cross_testing.models", "win_percentage_models.rst": "win_percentage.models"}
    assert all((text, f"{part}.datasets") in TEXTS for text, part in parts.items())
