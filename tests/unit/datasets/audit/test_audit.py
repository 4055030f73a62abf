"""Copies, leaks, groups, placeholders and bad input; the checks of row order and columns have their own tests."""

import numpy as np
import pandas as pd
import pytest

from fairfold.__main__ import main
from fairfold.datasets.audit import audit_table
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


def test_identical_halves_are_an_error():
    _, X, Y = make()
    assert kinds(np.vstack([X, X]), np.vstack([Y, Y]), severity="error") == {"duplicated rows"}
    groups = np.tile(np.arange(N), 2)
    assert not kinds(np.vstack([X, X]), np.vstack([Y, Y]), severity="error", groups=groups)


def test_a_leak_with_noise():
    rng, X, Y = make()
    assert kinds(np.column_stack([X, np.where(rng.random(N) < 0.05, 1 - Y[:, 0], Y[:, 0])]), Y) == {"leak"}


def test_group_effects():
    rng, X, Y = make()
    patient = np.repeat(np.arange(40), 5)
    order = rng.permutation(N)
    effects = 3 * rng.normal(size=(40, 8))[patient]
    assert "group effects" in kinds(np.column_stack([X + effects, patient])[order], Y[order])


def test_placeholders_and_other_units():
    _, X, Y = make()
    X[::40, 2], X[:3, 4] = -999, 1000 * (5 + X[:3, 4])
    X[3:, 4] += 5
    assert kinds(X, Y) == {"placeholder", "other unit"}


def test_labels_that_imply_another():
    _, X, Y = make()
    Y[:, 1] = np.maximum(Y[:, 0], Y[:, 1])
    assert "implied label" in kinds(X, Y, severity="note")


@pytest.mark.parametrize(
    ("X", "Y", "where"),
    [
        (np.eye(3), np.eye(3), {"rows"}),
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


def test_one_feature():
    assert not kinds(np.random.default_rng(0).normal(size=(60, 1)), np.arange(60)[:, None] % 2, severity="error")


def test_wrong_arrays():
    with pytest.raises(DataError, match="X has 3 rows and Y has 2"):
        audit_table(np.eye(3), np.eye(2))
    with pytest.raises(DataError, match="expected 0, 1 or NaN"):
        audit_table(np.eye(3), np.eye(3) * 2)


def test_the_command(tmp_path, capsys):
    _, X, Y = make()
    table = pd.DataFrame(np.hstack([X, np.roll(Y, 1, axis=0)]).round(4))
    table.columns = [*"abcdefgh", *(f"label_{j}" for j in range(3))]
    table = table.astype({f"label_{j}": int for j in range(3)})
    table.to_csv(tmp_path / "my.csv", index=False)
    arguments = ["audit", str(tmp_path / "my.csv"), "--labels", "label_", "-o", str(tmp_path / "found.csv")]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert text.startswith("error: features and labels are in different row orders: the labels are shifted by 1 row;")
    assert "1 error, " in text
    assert pd.read_csv(tmp_path / "found.csv")["check"][0] == "row_order"
    assert main([*arguments, "--strict"]) == 1
    assert "the audit found 1 error" in capsys.readouterr().err
    assert main(["audit", str(tmp_path / "none.csv"), "--labels", "label_"]) == 1
