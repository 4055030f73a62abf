"""Warnings about data: each kind is found, and ordinary data have no warnings."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.datasets import Dataset, audit, load_catalog, prepare
from fairfold.datasets.audit import COLUMNS, audit_dataset, columns, finding_lines, findings, leaks
from fairfold.datasets.columns import plain_name

N = 120


def make(task="multilabel", convert=np.asarray, Y=None, **features):
    """Return a dataset of three ordinary features, two labels and the given features."""
    rng = np.random.default_rng(0)
    X = {"height": rng.random(N), "lipid_weight_index": rng.random(N), "n_leaves": rng.integers(0, 50, N)}
    if Y is None:
        Y = (rng.random((N, 2)) + X["height"][:, np.newaxis] > [0.8, 1.2]).astype(np.int8)
    X |= {name: np.broadcast_to(values(Y) if callable(values) else values, N) for name, values in features.items()}
    values = np.column_stack(list(X.values())).astype(float)
    names = [f"label_{letter}" for letter in "abcdefgh"[: Y.shape[1]]] if Y.ndim == 2 else ["no", "yes", "maybe"]
    names = names[: Y.max() + 1] if Y.ndim == 1 else names
    Y = convert(Y) if Y.ndim == 2 else Y.astype(np.int64)
    return Dataset("mine", task, convert(values), Y, tuple(X), tuple(names))


OTHERS = {
    "unpredicted label",
    "order dependence",
    "near duplicates",
    "other unit",
    "implied label",
    "leak",
    "few rows",
    "no labels",
    "no features",
}


@pytest.fixture(autouse=True)
def without_row_order(monkeypatch):
    """Skip the search for a better order of the rows, which takes longest and whose findings are not tested here."""
    checks = audit.declared("fairfold.datasets.audit")
    monkeypatch.setattr(audit, "declared", lambda _: {name: checks[name] for name in checks if name != "row_order"})


def warned(data, n_splits=5, about_groups=()):
    """Return all warnings and leaks of columns, rows and labels, one each."""
    rows = []
    for name, finding in findings(data, n_splits, about_groups):
        kind, (column, label) = (
            finding.check or name,
            (re.findall(rf"{part} '([^']*)'", finding.where) for part in ("column", "(?:label|class)")),
        )
        if finding.severity != "note" and kind not in OTHERS:
            rows.append((kind, "".join(column[:1]), "".join(label[:1]), finding.message, finding.evidence))
    return pd.DataFrame(rows, columns=["kind", "column", "label", "sentence", "evidence"])


def found(data, n_splits=5):
    return warned(data, n_splits)[["kind", "column", "label"]].to_numpy().tolist()


def test_the_table_has_a_row_for_each_kind():
    table = audit_dataset(make(**{f"plant_{j}_id": np.arange(N) % 50 + j for j in range(5)}))
    assert tuple(table) == COLUMNS
    row = table.set_index("check").loc["named like an identifier"]
    assert row["severity"] == "warning" and row["where"].startswith("column 'plant_0_id', column 'plant_1_id'")
    assert row["message"].endswith("leave it out (ignore) (and 4 more)")


CASES = {
    "number": ({"nr": np.random.default_rng(1).permutation(N) + 7}, ["whole numbers that all differ", "nr", ""]),
    "negative": ({"nr": np.arange(N) - 60}, ["whole numbers that all differ", "nr", ""]),
    "identifier": ({"patient": np.arange(N) % 30}, ["named like an identifier", "patient", ""]),
    "identifier of several samples": (
        {"Patient ID": np.arange(N) % 30},
        ["named like an identifier", "Patient ID", ""],
    ),
    "numbered": ({"Sample ID": np.arange(N)}, ["named like an identifier", "Sample ID", ""]),
    "fold": ({"fold": np.arange(N) % 5}, ["named like a fold", "fold", ""]),
    "train or test": ({"split": np.arange(N) % 2}, ["named like a fold", "split", ""]),
    "weight": ({"sample_weight": np.arange(N) % 7 / 3}, ["named like a weight", "sample_weight", ""]),
    "label left out": ({"label_c": np.arange(N) % 3 == 1}, ["named like a label", "label_c", ""]),
    "equal": ({"shade": lambda Y: Y[:, 0]}, ["equal to a label", "shade", "label_a"]),
    "complement": ({"light": lambda Y: 1 - Y[:, 1]}, ["complement of a label", "light", "label_b"]),
    "above": ({"dose": lambda Y: Y[:, 0] * 2.5 + np.arange(N) / N}, ["predicts a label", "dose", "label_a"]),
    "below": ({"dose": lambda Y: Y[:, 0] * -3 + np.arange(N) / N}, ["predicts a label", "dose", "label_a"]),
    "times": ({"taken": 20240112130000 + np.arange(N) % 60}, ["single precision", "taken", ""]),
    "too large": ({"size": np.arange(N) % 60 * 1e38}, ["single precision", "size", ""]),
    "too small": ({"dose": np.arange(N) % 60 * 1e-50}, ["single precision", "dose", ""]),
    "two values": ({"code": lambda Y: Y[:, 0] + 1}, ["determined by labels", "code", ""]),
}


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("case", CASES)
def test_each_kind_is_found_alone(case, convert):
    features, expected = CASES[case]
    assert found(make(convert=convert, **features)) == [expected]


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_ordinary_data_have_none(convert):
    assert found(make(convert=convert)) == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(
            (name, "identifier")
            for name in ["id", "ID", "uuid", "index", "Unnamed: 0", "sample", "Patient ID", "SubjectID"]
        ),
        *((name, "identifier") for name in ["patientId", "plant_id", "sample-number", "row"]),
        *(
            (name, "fold")
            for name in ["Fold", "folds", "cv", "cv_fold", "k-fold", "split", "is_test", "in_training_set"]
        ),
        *((name, "weight") for name in ["weight", "Weights", "sampleWeight", "case_weight"]),
        *((name, None) for name in ["lipid", "acid", "identity", "body_mass_index", "fold_change", "manifold", "tid"]),
        *(
            (name, None)
            for name in ["leaf_weight", "weight_kg", "splitting", "samples_per_day", "patient_age", "idea", ""]
        ),
    ],
)
def test_names_count_as_a_whole(name, kind):
    assert columns.kind_of_name(plain_name(name)) == kind


def test_the_warning_states_how_many_values_are_left():
    table = warned(make(taken=20240112130000 + np.arange(N) % 60), 5)
    assert "column 'taken' has 60 values, but single precision keeps 1; subtract" in table["sentence"][0]


def test_values_that_chance_merges_are_no_warning():
    X = np.random.default_rng(0).random((n := 10_000, 2))
    assert len(np.unique(X.astype(np.float32))) < X.size
    assert found(Dataset("mine", "binary", X, np.arange(n) % 2, ("a", "b"), ("no", "yes"))) == []


def test_words_of_a_text_are_no_identifiers():
    """In word tables a column shows whether a text has the word. A 0/1 column is no identifier or weight."""
    words = {name: np.arange(N) % (3 + j) == 0 for j, name in enumerate(["patient", "weight", "index"])}
    assert found(make(**words)) == []


def test_embedded_datasets_have_none_that_matter():
    generated = [entry for entry in load_catalog().values() if entry.format == "generated"]
    generated = [entry for entry in generated if "Stand-in" not in entry.title and not entry.id.endswith("-large")]
    names = [entry.id for entry in generated if entry.generator["function"] != "expression_like"]
    kinds = {name: set(warned(prepare(name), 5)["kind"]) for name in names}
    assert kinds.pop("iris") == {"duplicated rows"}  # one flower is duplicated
    assert kinds.pop("go-like-small") == {"label with fewer positives than folds"}
    assert kinds.pop("gene-ontology-like") == {"label without negatives"}  # the root, the ancestor of all terms
    assert set().union(*kinds.values()) == set()


@pytest.mark.parametrize("n_positives", [1, 2])
def test_what_chance_gives_to_some_feature_is_no_warning(n_positives):
    """Of 400 features, some have their largest values at the few positives of a label by chance."""
    rng = np.random.default_rng(3)
    X = rng.random((20, 400))
    Y = np.zeros((20, 1), dtype=np.int8)
    Y[np.argsort(X[:, 0])[-n_positives:]] = 1
    data = Dataset("mine", "multilabel", X, Y, tuple(f"g{j}" for j in range(400)), ("label",))
    assert [kind for kind, *_ in found(data, 1)] == []
    assert [kind for kind, *_ in found(make(dose=lambda Y: Y[:, 0] + np.arange(N) / N))] == ["predicts a label"]


def test_blocks_of_columns_change_nothing(monkeypatch):
    features = {name: values for each, _ in CASES.values() for name, values in each.items()}
    whole = warned(make(**features), 5)
    monkeypatch.setattr(leaks, "_CELLS_AT_ONCE", 1)
    assert warned(make(**features), 5).equals(whole)
    assert len(whole) > 8


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_against_the_auroc(convert):
    """A feature predicts a label without error if its AUROC is 1 or 0, ties included.

    scikit-learn rounds its AUROC. One tie between a positive and a negative costs at least 1 / 7200.
    """
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(5)
    Y = (rng.random((N, 3)) < [0.5, 0.1, 0.9]).astype(np.int8)
    noisy = [
        Y[:, j] * rng.choice([-2, 2]) + rng.normal(0, sd, N).round(1) for j in range(3) for sd in [0.2, 0.4, 0.6] * 5
    ]
    data = Dataset(
        "mine", "multilabel", convert(np.column_stack(noisy)), convert(Y), tuple(map(str, range(45))), (*"abc",)
    )
    auroc = {(str(j), "abc"[k]): roc_auc_score(Y[:, k], x) for j, x in enumerate(noisy) for k in range(3)}
    expected = {pair for pair, value in auroc.items() if min(value, 1 - value) < 1e-6}
    assert {(column, label) for kind, column, label in found(data) if kind == "predicts a label"} == expected
    assert 5 < len(expected) < 40


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_duplicated_rows(convert):
    rng = np.random.default_rng(0)
    X, Y = rng.random((N, 3)).round(2), (rng.random((N, 2)) < 0.5).astype(np.int8)
    X[:, 0] = 0.0
    X[[10, 20, 30]], Y[[10, 20]], Y[30] = X[5], Y[5], 1 - Y[5]
    X[10, 0] = -0.0
    table = warned(Dataset("mine", "multilabel", convert(X), convert(Y), (*"abc",), (*"yz",)), 5)
    assert table["kind"].tolist() == ["duplicated rows"]
    assert table["evidence"].tolist() == [
        "2.5% of rows, the first is row 11; 3.3% of test rows have a copy in training"
    ]
    assert "3 rows have the features of an earlier row, 1 of them with other labels" in table["sentence"][0]


def test_labels_that_cannot_be_scored():
    Y = np.zeros((N, 5), dtype=np.int8)
    Y[:, 1], Y[:4, 2], Y[:5, 3], Y[: N // 2, 4] = 1, 1, 1, 1
    table = warned(make(Y=Y), 5)
    assert table[["kind", "label"]].to_numpy().tolist() == [
        ["label without positives", "label_a"],
        ["label without negatives", "label_b"],
        ["label with fewer positives than folds", "label_c"],
    ]
    assert (
        "has 4 positives, fewer than the 5 folds; drop it with label_filter (min_positives: 5)" in table["sentence"][2]
    )


def test_classes():
    y = np.arange(N) % 2
    expected = [["predicts a label", "dose", "yes"], ["equal to a label", "copy", "yes"]]
    assert found(make("binary", Y=y, dose=y + np.linspace(0, 0.5, N), copy=y)) == expected
    y = np.arange(N) % 3  # in real data, petals may well identify one species of three
    assert found(make("multiclass", Y=y, size=y + np.linspace(0, 0.5, N), copy=y == 2)) == [
        ["equal to a label", "copy", "maybe"]
    ]


def test_labels_alone_have_no_columns_to_warn_about():
    Y = sparse.csr_array((np.arange(N)[:, np.newaxis] % 3 == [0, 1]).astype(np.int8))
    assert found(Dataset("mine", "multilabel", sparse.csr_array((N, 0)), Y, (), (*"ab",))) == []


def test_columns_of_one_stem_are_not_taken_for_labels():
    rng = np.random.default_rng(0)
    names = tuple(f"column_{j}" for j in range(1, 9))
    Y = (rng.random((N, 2)) < 0.5).astype(np.int8)
    assert found(Dataset("mine", "multilabel", rng.random((N, 6)), Y, names[:6], names[6:])) == []
    kinds = found(Dataset("mine", "multilabel", rng.random((N, 2)), Y, ("height", "y3"), ("y1", "y2")))
    assert kinds == [["named like a label", "y3", ""]]


def test_lines_start_with_errors():
    table = pd.DataFrame({"severity": ["error", "warning", "note"], "message": ["a; b", "c; d", "e; f"]})
    assert list(finding_lines(table.assign(dataset="mine"))) == ["error: mine: a; b", "warning: mine: c; d"]


@pytest.mark.parametrize(
    ("column", "values", "advice"),
    [
        ("patient", np.arange(N) % 30, "; if it is one, set it as groups or leave it out (ignore)"),
        ("patient", np.arange(N) / 3, "; if it is one, set it as id or leave it out (ignore)"),
        ("fold", np.arange(N) % 5, "; if it is one, set it as folds or leave it out (ignore)"),
        ("weight", np.arange(N) / 3, "; if it is one, set it as weights or leave it out (ignore)"),
    ],
)
def test_the_advice_names_the_key_for_such_a_column(column, values, advice):
    found = warned(make(**{column: values}), 5).set_index("column")
    assert advice in found.loc[[column], "sentence"].iloc[0]


def test_empty_cells_of_labels_are_reported():
    Y = make().Y.astype(np.float32)
    Y[[3, 3, 7], [0, 1, 1]] = np.nan

    def note():
        table = audit_dataset(make(Y=Y)).set_index("check")
        return tuple(table.loc["unmeasured labels", ["severity", "message", "evidence"]])

    of_three = "3 label cells are empty and count as unmeasured; if somebody looked and found nothing, write 0"
    assert note() == ("note", of_three, "2 rows")  # The guide recommends empty cells.
    Y[3, :] = 0
    of_one = "1 label cell is empty and counts as unmeasured; if somebody looked and found nothing, write 0"
    assert note() == ("note", of_one, "1 row")


def sentences(data, n_splits=5):
    table = warned(data, n_splits)
    return {kind: part["sentence"].tolist() for kind, part in table.groupby("kind", sort=False)}


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_labels_that_are_alike(convert):
    Y = make().Y
    Y = np.column_stack([Y, Y[:, 0], 1 - Y[:, 1], Y[:, 0]])
    table = warned(make(convert=convert, Y=Y), 5)
    assert table[["kind", "label"]].to_numpy().tolist() == [
        ["identical labels", "label_c"],
        ["complementary labels", "label_d"],
        ["identical labels", "label_e"],
    ]
    assert table["sentence"].tolist() == [
        "label 'label_c' is identical to label 'label_a'; remove one of the two columns from the table",
        "label 'label_d' is 1 exactly where label 'label_b' is 0; remove one of the two columns from the table",
        "label 'label_e' is identical to label 'label_a'; remove one of the two columns from the table",
    ]


def test_labels_that_differ_in_what_is_measured_are_not_alike():
    Y = np.column_stack([make().Y[:, 0]] * 3).astype(np.float32)
    Y[[4, 5], [0, 0]], Y[[4, 5], [2, 2]] = np.nan, np.nan
    kinds = found(make(Y=Y))
    assert kinds == [["identical labels", "", "label_c"]]


def test_rare_labels_that_agree_by_chance_are_not_alike():
    Y = np.zeros((N, 3), dtype=np.int8)
    Y[0], Y[60:, 2] = 1, 1
    assert {kind for kind, *_ in found(make(Y=Y), 1)} == set()


@pytest.mark.parametrize("group", [False, True])
def test_columns_with_few_values(group):
    few, most, none = (np.where(np.arange(N) < n, np.arange(N) / 7, np.nan) for n in (4, 5, 0))
    data = make(few=few, most=most, none=none)
    if group:  # five rows in four groups
        data = dataclasses.replace(data, groups=np.minimum(np.arange(N) // 2 * 2, 40) // 2)
    messages = sentences(data)
    assert messages["empty column"] == [
        "column 'none' is empty in every row, so no model can use it; leave it out (ignore)",
    ]
    among = " of 2 groups" if group else ""
    assert messages["column with few values"][0] == (
        f"column 'few' has a value in 4 of 120 rows{among}, so the training part of a fold may have none; fill in more "
        "rows or leave it out (ignore)"
    )
    assert len(messages["column with few values"]) == 1 + group


def test_a_column_that_own_folds_leave_empty():
    values = np.where(np.arange(N) < 40, np.arange(N) / 7, np.nan)
    data = dataclasses.replace(
        make(late=values, spread=np.where(np.arange(N) % 60, np.nan, 1.5)), fold_of=np.arange(N) // 40
    )
    messages = sentences(data)["column with few values"]
    assert len(messages) == 1 and messages[0].startswith(
        "column 'late' has a value in 40 of 120 rows, so the training part of "
    )
    assert "fold 1 has none" in messages[0]


def test_labels_of_1_and_empty_cells():
    Y = np.column_stack([make().Y, np.ones(N), np.full(N, np.nan), np.ones(N)]).astype(np.float32)
    Y[30:, 2] = np.nan
    messages = sentences(make(Y=Y))
    assert messages["label of 1 and empty cells"] == [
        "label 'label_c' contains only 1 and empty cells, and empty cells are unmeasured; write 0 for its negatives"
    ]
    assert messages["label without values"] == [
        "label 'label_d' is empty in every row; remove its column from the table"
    ]
    assert messages["label without negatives"] == [
        "label 'label_e' has no negatives; drop it with label_filter (min_negatives: 1)"
    ]
    assert "label without positives" not in messages


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_unmeasured_cells_do_not_hide_what_gives_a_label_away(convert):
    """The threshold must separate the measured positives and negatives only."""
    truth = make().Y
    dose, Y = truth[:, 0] * 2.5 + np.arange(N) / N, truth.astype(np.float32)
    Y[::3, 0] = np.nan
    rows = found(make(Y=Y, dose=dose, light=1 - truth[:, 0]))
    assert rows == [["predicts a label", "dose", "label_a"], ["complement of a label", "light", "label_a"]]
    dose[::3] = 9.0 - truth[::3, 0] * 9  # in unmeasured rows only
    Y[::3, 0] = np.where(np.arange(0, N, 3) % 2, np.nan, truth[::3, 0])  # now some of them are measured
    assert "predicts a label" not in {kind for kind, *_ in found(make(Y=Y, dose=dose))}


def test_gaps_hide_no_identifier():
    values = np.where(np.arange(N) < 7, np.nan, np.arange(N) + 0.5)
    assert "set it as id" in sentences(make(patient=values))["named like an identifier"][0]
    words = np.where(np.arange(N) < 7, np.nan, np.arange(N) % 2)
    assert found(make(patient=words, weight=words)) == []


@pytest.mark.parametrize("n_samples", [1, 2, 3])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_tiny_tables(n_samples, convert):
    """With few rows and one feature, chance explains every pattern."""
    X, Y = np.arange(n_samples)[:, np.newaxis] * 1.0, np.eye(3, 2, dtype=np.int8)[:n_samples]
    data = Dataset("mine", "multilabel", convert(X), convert(Y), ("height",), ("a", "b"))
    assert {kind.partition(" ")[0] for kind, *_ in found(data)} <= {"label"}


def test_one_feature_of_two_values_must_repeat():
    data = make()
    X = (np.arange(N)[:, np.newaxis] % 2).astype(float)
    for convert in (np.asarray, sparse.csr_array):
        assert found(Dataset("mine", "multilabel", convert(X), data.Y, ("x",), data.label_names)) == []
    assert found(Dataset("mine", "multilabel", np.zeros((N, 2)), data.Y, ("x", "y"), data.label_names)) == []


@pytest.mark.parametrize("case", CASES)
def test_each_warning_is_one_sentence_with_advice(case):
    for sentence in warned(make(**CASES[case][0]), 5)["sentence"]:
        assert sentence.count("; ") == 1 and ". " not in sentence and len(sentence.split()) <= 35


def test_a_table_with_the_same_label_twice():
    path = Path(__file__).parents[3] / "cases" / "identical-labels.csv"
    stanza = {"path": str(path), "format": "csv", "labels": {"prefix": "label_"}}
    data = prepare(load_catalog().with_own({"mine": stanza})["mine"])
    assert sentences(data) == {
        "identical labels": [
            "label 'label_a.1' is identical to label 'label_a'; remove one of the two columns from the table"
        ]
    }


def test_warnings_about_groups_are_put_in_the_table():
    data = dataclasses.replace(make(), groups=np.arange(N) % 3, left_out={"groups": ("site",)})
    row = warned(data, 5, [("uneven groups", "folds are uneven; use fewer")]).set_index("kind")
    assert row.loc["uneven groups", ["column", "sentence"]].tolist() == ["site", "folds are uneven; use fewer"]
