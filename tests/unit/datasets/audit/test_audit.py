"""Copies, leaks, groups, placeholders and bad input; the checks of row order and columns have their own tests."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.__main__ import main
from fairfold.datasets import Dataset
from fairfold.datasets.audit import audit_table, findings
from fairfold.datasets.audit.duplicates import drawn_rows
from fairfold.datasets.categories import Categories
from fairfold.errors import DataError

N = 200


def make(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 8))
    return rng, X, (X[:, :3] + rng.normal(size=(N, 3)) > 0.3).astype(float)


def kinds(*table, severity="warning", **options):
    found = audit_table(*table, **options)
    return set(found.loc[found["severity"] == severity, "check"])


def test_ordinary_tables_have_no_warning():
    for seed in range(3):
        _, X, Y = make(seed)
        assert not kinds(X, Y) and not kinds(X, Y, severity="error")


def test_near_copies():
    rng, X, Y = make()
    X[:10], Y[:10] = X[100:110] + 1e-3 * rng.normal(size=(10, 8)), Y[100:110]
    assert kinds(X, Y) == {"near duplicates"}


def test_near_copies_among_drawn_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    X[10_000:] = X[:10_000] + 1e-5 * rng.normal(size=(10_000, 3))
    table = audit_table(X, (X[:, :1] > 0).astype(float))
    (message,) = table.loc[table["check"] == "near duplicates", "message"]
    assert "of 10,000 drawn rows are near copies of another row" in message
    assert (np.diff(drawn_rows(20_000, rng)) > 0).all() and np.array_equal(drawn_rows(9, rng), np.arange(9))


def test_rows_without_values_are_no_copies():
    _, X, Y = make()
    X[5:8] = np.nan
    assert "duplicated rows" not in kinds(X, Y)
    X[20], Y[20] = X[21], 1 - Y[21]
    assert audit_table(X, Y)["message"].str.startswith("1 row has the features of an earlier row with other la").any()


def test_copies_within_a_group_do_not_count():
    _, X, Y = make()
    X[[1, 2, 3]] = X[0]
    groups = np.arange(N)
    groups[[1, 2]] = 0
    table = audit_table(X, Y, groups=groups)
    (message,) = table.loc[table["check"] == "duplicated rows", "message"]
    assert message.startswith("1 row has the features of an earlier row of another group")


def test_identical_halves_are_an_error():
    _, X, Y = make()
    assert kinds(np.vstack([X, X]), np.vstack([Y, Y]), severity="error") == {"duplicated rows"}
    groups = np.tile(np.arange(N), 2)  # Copies within a group are no finding.
    assert not kinds(np.vstack([X, X]), np.vstack([Y, Y]), severity="error", groups=groups)


def test_a_leak_with_noise():
    rng, X, Y = make()
    table = np.column_stack([X, np.where(rng.random(N) < 0.05, 1 - Y[:, 0], Y[:, 0])]), Y
    assert kinds(*table, severity="error") == {"determined by labels"} and not kinds(*table)


def test_group_effects():
    rng, X, Y = make()
    patient = np.repeat(np.arange(40), 5)
    order = rng.permutation(N)
    effects = 3 * rng.normal(size=(40, 8))[patient]
    assert "group effects" in kinds(np.column_stack([X + effects, patient])[order], Y[order])


def test_weak_group_effects_in_many_rows():
    rng = np.random.default_rng(0)
    group = rng.permutation(np.arange(2000) // 5)
    X = rng.normal(size=(2000, 6)) + 1.5 * rng.normal(size=(400, 6))[group]
    Y = (X[:, :2] > 0).astype(float)
    assert "group effects" in kinds(np.column_stack([X, group]), Y)
    assert "group effects" not in kinds(np.column_stack([X, rng.permutation(group)]), Y)


def test_placeholders_and_other_units():
    _, X, Y = make()
    X[::40, 2], X[:3, 4] = -999, 1000 * (5 + X[:3, 4])
    X[3:, 4] += 5
    assert kinds(X, Y) == {"placeholder", "other unit"}


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_placeholders_of_several_kinds(convert):
    _, X, Y = make()
    X[:, 0] = 100 * np.abs(X[:, 0])  # -99 lies within the range, but no other value is negative.
    X[::40, 0] = -99
    X[7, 1] = -9999  # a single cell
    X[::40, 2] = 99999999
    X[:, 3] = np.round(1000 * X[:, 3])
    X[::20, 3] = 999  # within the range, but frequent
    X[::40, 4] = 999.9
    X[::40, 5] = 9  # a measurement
    table = audit_table(convert(X), Y, names=("abcdefgh", "xyz"))
    (found,) = table[table["check"] == "placeholder"].itertuples()
    assert found.where == ", ".join(f"column '{name}'" for name in "abcde")
    assert found.message.startswith("column 'a' contains -99 in 5 rows, unlike its other values; leave the cells empty")


def test_labels_that_imply_another():
    _, X, Y = make()
    Y[:, 1] = np.maximum(Y[:, 0], Y[:, 1])
    assert "implied label" in kinds(X, Y, severity="note")


@pytest.mark.parametrize(
    ("X", "Y", "where"),
    [
        (np.eye(3), np.eye(3), {"rows", "labels"}),
        (np.zeros((50, 0)), np.arange(50)[:, np.newaxis] % 2, {"features"}),
        (np.ones((50, 4)), np.arange(50)[:, np.newaxis] % 2, {"features"}),
        (np.full((50, 4), np.nan), np.arange(50)[:, np.newaxis] % 2, {"features"}),
        (np.full((50, 4), np.nan), np.full((50, 2), np.nan), {"features", "labels"}),
        (np.arange(50.0)[:, np.newaxis] % 7, np.zeros((50, 2)), {"labels"}),
        (np.zeros((0, 2)), np.zeros((0, 1)), {"rows", "features", "labels"}),
    ],
)
def test_bad_input_is_a_sentence_each(X, Y, where):
    table = audit_table(X, Y)
    assert set(table.loc[table["severity"] == "error", "where"]) == where
    assert "unpredicted label" not in set(table["check"])


def test_one_feature():
    assert not kinds(np.random.default_rng(0).normal(size=(60, 1)), np.arange(60)[:, None] % 2, severity="error")


def test_wrong_arrays():
    with pytest.raises(DataError, match="X has 3 rows and Y has 2"):
        audit_table(np.eye(3), np.eye(2))
    with pytest.raises(DataError, match="expected 0, 1 or NaN"):
        audit_table(np.eye(3), np.eye(3) * 2)


def table_of(X, Y):
    table = pd.DataFrame(np.hstack([X, Y]).round(4))
    table.columns = [*"abcdefgh", *(f"label_{j}" for j in range(3))]
    return table.astype({f"label_{j}": int for j in range(3)})


def audit(folder, table, *options):
    table.to_csv(folder / "my.csv", index=False)
    return main(["audit", str(folder / "my.csv"), "--labels", "label_", *options])


def test_the_command(tmp_path, capsys):
    _, X, Y = make()
    assert audit(tmp_path, table_of(X, np.roll(Y, 1, axis=0)), "-o", str(tmp_path / "found.csv")) == 1
    text = capsys.readouterr().out
    assert text.startswith("error: features and labels are in different row orders: the labels are shifted by 1 row;")
    assert "1 error, " in text
    assert pd.read_csv(tmp_path / "found.csv")["check"][0] == "row_order"
    assert main(["audit", str(tmp_path / "none.csv"), "--labels", "label_"]) == 1


def test_findings_go_where_the_user_wants_them_but_never_over_a_table(tmp_path, capfd):
    _, X, Y = make()
    table = table_of(X, np.roll(Y, 1, axis=0))
    table.to_csv(tmp_path / "test.csv", index=False)
    (tmp_path / "link.csv").symlink_to("my.csv")
    for name in ("my.csv", "link.csv", "test.csv"):
        assert audit(tmp_path, table, "--test", str(tmp_path / "test.csv"), "-o", str(tmp_path / name)) == 1
        assert f"{name} is an input of this command" in capfd.readouterr().err
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "my.csv"), table)
    assert audit(tmp_path, table, "-o", str(tmp_path)) == 1
    assert "is a folder; name the file to write" in capfd.readouterr().err
    assert audit(tmp_path, table, "-o", "-") == 1
    output = capfd.readouterr()
    assert pd.read_csv(io.StringIO(output.out))["check"][0] == "row_order"
    assert output.err.startswith("error: features and labels are in different row orders")


def test_warnings_fail_only_with_strict(tmp_path, capsys):
    _, X, Y = make()
    table = table_of(X, Y)
    assert audit(tmp_path, table, "--strict") == 0
    table["b"] = np.where(np.arange(N) % 2, "yes", "Yes")
    assert audit(tmp_path, table) == 0
    assert "column 'b' mixes codings of yes and no" in capsys.readouterr().out
    assert audit(tmp_path, table, "--strict") == 1


def test_text_columns(tmp_path, capsys):
    _, X, Y = make()
    table = table_of(X, Y).assign(site=np.where(np.arange(N) % 3, "north", "south"))
    assert audit(tmp_path, table) == audit(tmp_path, table, "--text", "site") == 0
    assert audit(tmp_path, table, "--numeric", "site") == 1
    assert "column 'site': found 'south', which is not a number" in capsys.readouterr().err
    assert audit(tmp_path, table, "--categorical", "sit") == 1
    assert "unknown column 'sit': did you mean 'site'?" in capsys.readouterr().err
    assert audit(tmp_path, table, "--categorical", "one-hot") == 0


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_test_file_that_repeats_rows(convert):
    rng, X, Y = make()
    train, test = (convert(X[:150]), Y[:150]), (X[150:].copy(), Y[150:].copy())
    assert kinds(*train, test=test) == set() and "copies in the test file" in kinds(
        *train, severity="error", test=train
    )
    test[0][:9] = X[:9]
    assert kinds(*train, test=(convert(test[0]), test[1])) == {"copies in the test file"}
    test[0][:9] = X[:9] + 1e-3 * rng.normal(size=(9, 8))
    assert kinds(*train, test=(convert(test[0]), test[1])) == {"near copies in the test file"}
    with pytest.raises(DataError, match="test has 7 features and 3 labels, the table 8 and 3"):
        audit_table(X, Y, test=(X[:, 1:], Y))


def test_the_command_reads_a_test_file(tmp_path, capsys):
    _, X, Y = make()
    table, path = table_of(X, Y), str(tmp_path / "test.csv")
    table[table.columns[::-1]].to_csv(path, index=False)
    assert audit(tmp_path, table, "--test", path) == 1
    assert "all 200 rows of the test file are copies of training rows" in " ".join(capsys.readouterr().out.split())
    table.drop(columns="c").to_csv(path, index=False)
    assert audit(tmp_path, table, "--test", path) == 1
    assert "test.csv: only one file has the columns 'c'. Give both the same columns." in capsys.readouterr().err


def test_copies_in_the_folds_of_the_data():
    _, X, Y = make()
    X[:20] = X[20:40]
    table = audit_table(X, Y)
    assert (
        table.loc[table["check"] == "duplicated rows", "evidence"]
        .item()
        .endswith("16.0% of test rows have a copy in training")
    )
    data = Dataset("mine", "multilabel", X, Y, tuple("abcdefgh"), tuple("xyz"), fold_of=np.arange(N) // 40)
    (found,) = (each for name, each in findings(data) if name == "duplicates")
    assert found.evidence.endswith("0.0% of test rows have a copy in training")


def test_two_scales_in_a_column():
    rng, X, Y = make()
    X[:, 3] = rng.normal(1.7, 0.1, N)
    assert kinds(X, Y) == set()
    X[::3, 3] *= 100
    table = audit_table(X, Y)
    assert (
        table["message"][table["check"] == "mixed scales"]
        .item()
        .startswith("column 'feature_3' contains two scales, one 100 times the other")
    )


def test_spellings_of_categories():
    _, X, Y = make()
    values = {"sex": ("Female", "female ", "male"), "smokes": ("1", "yes"), "color": ("blue", "green")}
    names = (*"abcdefgh", *(f"{column}={value}" for column, each in values.items() for value in each))
    X = np.hstack([X, np.zeros((N, 7))])
    data = Dataset("mine", "multilabel", X, Y, names, tuple("xyz"), categories=Categories("one-hot", values))
    found = [each for name, each in findings(data) if name == "mixed codings"]
    assert [each.evidence for each in found] == ["'Female' = 'female '", "'1' = 'yes'"]


def test_many_columns_of_different_numbers_are_measurements():
    rng, X, Y = make()
    numbers = np.array([rng.permutation(N) for _ in range(4)]).T
    assert "whole numbers that all differ" in kinds(np.hstack([X, numbers[:, :3]]), Y)
    assert "whole numbers that all differ" not in kinds(np.hstack([X, numbers]), Y)


def test_changes_are_evidence_of_an_error():
    _, X, Y = make()
    X[120:] += 2
    table = audit_table(X, np.roll(Y, 5, axis=0))
    assert "features change before rows 121" in table.loc[table["check"] == "row_order", "evidence"].item()


def test_a_table_that_a_study_refuses_is_not_searched():
    """A row of a million columns took a minute."""
    names = [f"x{j}_id" for j in range(50)], ["a", "b"]
    X, Y = np.random.default_rng(0).normal(size=(25, 50)), np.arange(50).reshape(25, 2) % 3 == 0
    found = audit_table(X[1:], Y[1:], names=names)
    assert found["check"].tolist() == ["few rows"] and "the table has 24 rows; add rows" in found.loc[0, "message"]
    assert "named like an identifier" in audit_table(X, Y, names=names)["check"].tolist()
