"""Features that are functions of the labels are errors, and features that merely depend on labels are not."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.datasets import Dataset
from fairfold.datasets.audit import audit_table, findings, sort_findings
from fairfold.datasets.audit.determined import determined
from fairfold.datasets.audit.spec import Audited
from fairfold.datasets.categories import Categories

N, WEIGHTS = 300, np.array([0.3, -1.2, 0.8, 2.1, 0.5, -0.7])


def make(n_labels=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 8))
    return rng, X, (X[:, :n_labels] + rng.normal(size=(N, n_labels)) > 0.6).astype(float)


def found(X, Y, convert=np.asarray):
    names = tuple(f"x{j}" for j in range(X.shape[1])), tuple(f"y{j}" for j in range(Y.shape[1]))
    return determined(Audited(Dataset("mine", "multilabel", convert(X), Y, *names)))


def entropy(Y):
    share = np.clip(Y.mean(axis=1), 1e-9, 1 - 1e-9)
    return -share * np.log(share) - (1 - share) * np.log(1 - share)


FUNCTIONS = {
    "count": lambda Y: Y.sum(axis=1),
    "weighted sum": lambda Y: Y @ WEIGHTS,
    "weighted mean": lambda Y: Y @ WEIGHTS / np.maximum(Y.sum(axis=1), 1),
    "any": lambda Y: Y.any(axis=1),
    "none": lambda Y: ~Y.any(axis=1),
    "any of two": lambda Y: Y[:, :2].any(axis=1),
    "entropy": entropy,
    "diversity": lambda Y: np.log1p(Y.sum(axis=1)),
    "copy": lambda Y: 5 - 2 * Y[:, 3],
    "first": lambda Y: np.where(Y.any(axis=1), Y.argmax(axis=1), 9),
}


@pytest.mark.parametrize("noise", [0, 0.05])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_of_labels(function, noise):
    rng, X, Y = make()
    values = FUNCTIONS[function](Y).astype(float)
    rows = rng.permutation(N)[: int(noise * N)]
    values[rows] = rng.permutation(values)[rows]
    (result,) = found(np.column_stack([X, values]), Y)
    assert (result.column, result.is_error) == ("x8", True) and result.share > 0.93 - noise / 2


def test_sums_of_many_labels_and_gaps():
    """Every row has its own labels, and some cells are unmeasured."""
    rng = np.random.default_rng(1)
    Y = (rng.random((N, 30)) < 0.3).astype(float)
    X = np.column_stack([rng.normal(size=(N, 3)), Y @ rng.normal(size=30), rng.random(N) + Y[:, 0]])
    X[::9, 3] = np.nan
    assert [(each.column, each.by) for each in found(X, Y)] == [("x3", "a weighted sum of labels")]
    Y[rng.random(Y.shape) < 0.1] = np.nan
    X[:, 3] = np.nanmean(Y, axis=1)
    assert [(each.column, each.by) for each in found(X, Y)] == [("x3", "the share of positive labels")]


def test_sums_that_most_rows_share():
    """More than half of the rows have no positive label, and the others have labels of their own."""
    rng = np.random.default_rng(3)
    Y = (rng.random((N, 12)) < 0.4) & (rng.random((N, 1)) < 0.45)
    values = Y @ rng.normal(size=12)
    rows = rng.permutation(N)[: N // 20]
    values[rows] = rng.permutation(values)[rows]
    X = np.column_stack([rng.normal(size=(N, 3)), values])
    assert [(each.column, each.by, each.is_error) for each in found(X, Y)] == [("x3", "a weighted sum of labels", True)]


@pytest.mark.parametrize("seed", range(4))
def test_strong_features_are_no_functions(seed):
    """Features with a distribution that depends on labels, labels that are steps of a feature, and a good marker."""
    rng, X, Y = make(seed=seed)
    shifted = Y.sum(axis=1) + 0.5 * rng.normal(size=N)
    steps = (X[:, [7]] > [-1, -0.3, 0.3, 1]).astype(float)
    marker = np.where(rng.random(N) < 0.15, 1 - Y[:, 2], Y[:, 2])
    assert not found(np.column_stack([X, shifted, marker]), np.hstack([Y, steps]))


def test_small_tables_and_single_labels():
    rng, X, Y = make(seed=2)
    for n in (1, 5, 25, 40):
        assert not found(X[:n], Y[:n]) and not found(X[:n], Y[:n, :1]) and not found(X[:n], 0 * Y[:n])
    assert not found(np.round(rng.random((25, 2000))), Y[:25])  # Chance gives a label to some of many columns.


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_copy_among_words_must_stand_out(convert):
    rng, _, Y = make()
    words = (rng.random((N, 150)) < 0.2).astype(float)
    alike = np.column_stack([np.where(rng.random(N) < 0.02, 1 - Y[:, j], Y[:, j]) for j in range(3)])
    assert not found(words, Y, convert) and not found(np.hstack([words, alike]), Y, convert)
    assert [each.by for each in found(np.hstack([words, Y[:, :1]]), Y, convert)] == ["label 'y0'"]
    for n_copies, severity in ((1, "error"), (2, "warning")):
        table = audit_table(convert(np.hstack([words, Y[:, :n_copies]])), Y).set_index("check")
        assert table.loc["equal to a label", "severity"] == severity
    flag = Y.any(axis=1, keepdims=True).astype(float)  # A word may stand for a label, but not for their number.
    (result,) = found(np.hstack([words, alike, flag]), Y, convert)
    assert (result.column, result.by, result.is_error) == ("x153", "the number of positive labels", True)


@pytest.mark.parametrize("encoding", ["one-hot", "ordinal"])
def test_a_copy_in_words_is_named_by_its_column(encoding):
    rng, X, Y = make()
    texts = {"shade": np.where(Y[:, 0] > 0, "shady", "sunny"), "soil": rng.choice(["clay", "sand", "silt"], N)}
    categories = Categories.of(encoding, texts, "mine.csv")
    names = (*"abcdefgh", *categories.features)
    values = np.hstack([X, categories.encode(texts, "mine.csv")])
    data = Dataset("mine", "multilabel", values, Y, names, tuple("uvwxyz"), categories=categories)
    errors = [(each.where, each.check) for _, each in findings(data) if each.severity == "error"]
    kind = "determined by labels" if encoding == "one-hot" else "complement of a label"
    assert [(where.partition(",")[0], check) for where, check in errors] == [("column 'shade'", kind)]


def test_a_partition_found_from_labels():
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(0)
    site, X = rng.normal(size=(120, 2)), rng.normal(size=(120, 5))
    Y = (site @ rng.normal(size=(2, 40)) + rng.normal(size=(120, 40)) > 0.5).astype(float)
    partition = KMeans(4, n_init=5, random_state=0).fit_predict(Y)
    (result,) = found(np.column_stack([X, site, partition]), Y)
    assert result.column == "x7" and result.is_error


def test_rows_with_exactly_one_label():
    _, X, _ = make()
    Y = np.eye(3)[X[:, :3].argmax(axis=1)]
    messages = audit_table(X, Y).set_index("check")["message"]
    assert messages["one label in each row"].startswith("every row has exactly one label, so this is a multiclass prob")
    Y[0] = 0
    assert "one label in each row" not in set(audit_table(X, Y)["check"])


def test_labels_with_few_negatives():
    _, X, Y = make()
    Y[:, 0] = np.arange(N) > 0
    (message,) = audit_table(X, Y).query("check == 'label with fewer negatives than folds'")["message"]
    assert message == (
        "label 'label_0' has 1 negative, fewer than the 5 folds; drop it with label_filter (min_negatives: 5)"
    )


def test_tables_that_a_study_refuses_are_errors():
    _, X, Y = make()
    assert audit_table(X[:24], Y[:24]).loc[0, ["check", "severity"]].tolist() == ["few rows", "error"]
    assert audit_table(X[:25], Y[:25]).query("severity == 'error'").empty
    Y[:, 0], rare = 0, Y[:, :1].copy()
    rare[7] = 1
    assert audit_table(X, 0 * rare + (np.arange(N)[:, None] == 7)).loc[0, "check"] == "no labels"


def test_the_most_important_findings_come_first():
    checks = ["mixed codings", "note", "order dependence", "determined by labels", "new kind", "duplicated rows"]
    severities = ["warning", "note", "warning", "error", "warning", "warning"]
    table = pd.DataFrame({"dataset": "mine", "check": checks, "severity": severities})
    order = ["determined by labels", "duplicated rows", "order dependence", "mixed codings", "new kind", "note"]
    assert sort_findings(table)["check"].tolist() == order
    assert sort_findings(table[:0]).empty
