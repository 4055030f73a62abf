"""``fairfold.study`` on arrays and data frames."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import fairfold
from fairfold.commands import in_python
from fairfold.commands import study as command
from fairfold.console.options import stanza_of
from fairfold.errors import DataError, StudyError
from fairfold.tables import read
from fairfold.tables.table import label_columns


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    has = rng.random((60, 2)) < 0.5
    notes = [f"seen {'by the river' if each[0] else 'on a dry hill'}, plot {row}" for row, each in enumerate(has)]
    X = pd.DataFrame({"notes": notes, "height": rng.normal(size=60), "is wild": has[:, 1]})
    X.loc[3, "height"] = np.nan
    Y = pd.DataFrame({"a": has[:, 0], "b": has[:, 1] ^ (rng.random(60) < 0.1)})
    return X, Y


def test_an_answer_of_a_data_frame(data, capsys):
    X, Y = data
    answer = fairfold.study(
        X, Y, models=["logistic", "dummy"], missing_rates=[0], groups=np.arange(60) // 2, n_splits=3
    )
    assert answer.model == "logistic" and answer.verdict.startswith("Use logistic.")
    assert answer.size["n_features"] == 3 and answer.size["n_labels"] == 2
    board = answer.leaderboard.set_index("model")
    assert board.loc["logistic", "score"] > 0.9 and {"logistic", "dummy"} <= {*board.index}
    assert answer.verdict in str(answer) and answer.verdict in answer._repr_html_()
    assert answer.errors[0].startswith("Error in the data: column 'notes: a' is determined by label 'a'")
    assert not capsys.readouterr().out


def fails(*_, **__):
    raise StudyError("Step score failed.\nLog of the study: /tmp/x/logs/study.log\nRun the same command again.")


def test_what_does_not_fit_is_one_sentence(data, tmp_path, monkeypatch):
    X, Y = data
    with pytest.raises(DataError, match=r"same number of rows in all arrays, found \[59, 60\]"):
        fairfold.study(X, Y[1:])
    with pytest.raises(DataError, match="two columns of X and Y have the name 'a'"):
        fairfold.study(X.rename(columns={"height": "a"}), Y)
    with pytest.raises(DataError, match=r"index of Y has the rows of X in another order\. Sort it, as by Y\.loc"):
        fairfold.study(X, Y[::-1])
    with pytest.raises(DataError, match="X is sparse"):
        fairfold.study(sparse.csr_array((60, 2)), Y)
    with pytest.raises(DataError, match="must end with a letter or a digit"):
        fairfold.study(X, Y[["a"]].set_axis(["is_"], axis=1))
    with pytest.raises(DataError, match="X has 3 dimensions"):
        fairfold.study(np.zeros((60, 2, 2)), Y)
    with pytest.raises(DataError, match="coordinates have 3 columns"):
        fairfold.study(X, Y, coordinates=np.zeros((60, 3)))
    with pytest.raises(DataError, match="the new samples have no coordinates, but the others do"):
        fairfold.study(X, Y, predict_on=X, coordinates=np.zeros((60, 2)))
    with pytest.raises(DataError, match="predict_on has 60 samples and 5 coordinates"):
        fairfold.study(X, Y, predict_on=(X, np.zeros((5, 2))), coordinates=np.zeros((60, 2)))
    with pytest.raises(DataError, match="hold_out certifies the final model, which needs a folder"):
        fairfold.study(X, Y, hold_out=0.2)
    with pytest.raises(DataError, match=r"groups has 2 columns\. Give one value per sample"):
        fairfold.study(X, Y, groups=Y)
    with pytest.raises(DataError, match=r"columns of X have 2 levels\. Join their names"):
        fairfold.study(pd.concat({"site": X}, axis=1), Y)
    with pytest.raises(DataError, match="n_jobs is -2"):
        fairfold.study(X, Y, n_jobs=-2)
    monkeypatch.setattr(command, "run_study", fails)
    with pytest.raises(StudyError, match=r"^Step score failed\.\nGive directory to keep the logs, and to continue"):
        fairfold.study(X, Y)
    with pytest.raises(StudyError, match="'forest'"):
        fairfold.study(X, Y, models=["forest"], directory=tmp_path)


def test_names_of_labels_may_start_with_each_other(data):
    X, Y = data
    table, options = in_python._table(X, Y.set_axis(["C+", "C++"], axis=1), None, None, None)
    assert options["labels"] == ["C[+]", "C++"] and label_columns(options["labels"], [*table], "t") == ["C+", "C++"]


def test_columns_keep_their_types(data, tmp_path, monkeypatch):
    """The table that the study reads has the values of the data frame."""
    X, Y = data
    chosen = []
    add_to = command.add_to

    def without_run(commands):
        add_to(commands)
        commands.choices["study"].set_defaults(run=chosen.append)

    monkeypatch.setattr(command, "add_to", without_run)
    X = X.assign(code=["007", "010"] * 30, size=[1, 2] * 30, word=["NA", "none"] * 30, land=["NA", "EU", ""] * 20)
    X["soil"], X["waited"] = pd.Categorical([1, 2] * 30), pd.to_timedelta(np.arange(60), unit="D")
    of_samples = {"groups": pd.DataFrame({"site": np.arange(60) // 2}), "sample_weight": np.ones((60, 1))}
    X["dose"] = pd.Categorical(["low", "high"] * 30, ["low", "high", "severe"], ordered=True)
    of_samples["coordinates"] = np.zeros((60, 2))
    with pytest.raises(FileNotFoundError):  # no study ran
        fairfold.study(X, Y, **of_samples, n_jobs=-1, hold_out=0.2, elsewhere=True, directory=tmp_path)
    assert (chosen[0].groups, chosen[0].weights) == ("group of each sample", "weight of each sample")
    assert chosen[0].hold_out == 0.2 and chosen[0].elsewhere
    assert chosen[0].coordinates == ["coordinate of each sample 0", "coordinate of each sample 1"]
    assert chosen[0].categorical == ["code", "word", "soil"] and chosen[0].cores == "all"
    assert stanza_of(chosen[0], "table")["features"]["dose"] == ["low", "high", "severe"]
    with pytest.raises(FileNotFoundError):
        fairfold.study(X, Y, predict_on=X[:5], directory=tmp_path)
    assert chosen[1].predict_on == str(tmp_path / "new.parquet") and len(read(tmp_path / "new.parquet").values) == 5
    with pytest.raises(FileNotFoundError):
        places = of_samples["coordinates"]
        fairfold.study(X, Y, predict_on=(X[:3], places[:3]), coordinates=places, directory=tmp_path)
    columns = read(tmp_path / "new.parquet").columns
    assert chosen[2].predict_on == chosen[1].predict_on and set(chosen[2].coordinates) < {*columns}
    table = read(tmp_path / "table.parquet", labels=lambda columns: ["a", "b"], categorical={"word": True})
    assert table.text["land"].tolist() == X["land"].tolist() and table.text["word"].tolist() == X["word"].tolist()
    np.testing.assert_array_equal(table.values[:, table.columns.index("height")], X["height"])
    np.testing.assert_array_equal(table.values[:, table.columns.index("waited")], np.arange(60))


def test_public_names_load_when_they_are_used():
    code = "import sys, fairfold; print('numpy' in sys.modules, *dir(fairfold)); fairfold.make_model('kNN')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "compare_models", "estimate_label_frequency", "make_model", "study"]
