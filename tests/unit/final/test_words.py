"""Words that go with a label."""

import numpy as np
import pytest

from fairfold.datasets import Dataset
from fairfold.datasets.typed import TypedColumns
from fairfold.final.words import COLUMNS, strongest_words

N = 200


def dataset(notes, Y, **columns):
    text = {"notes": notes, **columns}
    typed = TypedColumns.find(text, source="plants.csv")
    names = tuple(f"label_{number}" for number in range(Y.shape[1]))
    return Dataset("plants", "multilabel", typed.positions(text), Y, typed.names, names, typed=typed)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    Y = (rng.random((N, 3)) < [0.3, 0.5, 0.5]).astype(float)
    common = np.array(["the", "of", "near", "tall", "grey"])
    notes = [
        " ".join(
            [*rng.permutation(common)[:4], *["oak"] * int(y[0]), *["river", "bank"] * int(y[1] and rng.random() < 0.5)]
        )
        for y in Y
    ]
    notes[0] += " zyzzyva"  # a word of one sample
    return dataset(notes, Y)


def test_words_of_a_label_come_first_and_words_of_all_samples_never(data):
    found = strongest_words(data, np.array([0, 1, 2]))
    assert list(found) == COLUMNS
    assert found.set_index("label")["words"].to_dict() == {"label_0": "oak", "label_1": "bank, river"}
    assert set(found["column"]) == {"notes"}


def test_order_is_that_of_the_log_odds_ratio_in_standard_errors():
    Y = np.repeat([[1.0], [0.0]], 100, axis=0)
    notes = [f"plot {row}: {'often' if row % 10 < 9 else 'once'} always so it was" for row in range(100)]
    notes += [f"plot {row}: {'often' if row % 10 < 2 else 'never'} so it was" for row in range(100, 200)]
    found = strongest_words(dataset(notes, Y), np.array([0]))["words"].item()
    assert found == "always, often"  # odds of 100:0 against 0:100, and of 90:10 against 20:80


def test_unmeasured_samples_do_not_count(data):
    Y = data.Y.copy()
    Y[:, 0] = np.where(Y[:, 0] == 1, np.nan, 0)
    Y[:2, 0] = 1
    unmeasured = Dataset("plants", "multilabel", data.X, Y, data.feature_names, data.label_names, typed=data.typed)
    assert "label_0" not in set(strongest_words(unmeasured, np.array([0]))["label"])


def test_tables_without_text_have_none():
    X, Y = np.zeros((4, 1)), np.array([[1.0], [0.0], [1.0], [0.0]])
    assert strongest_words(Dataset("plants", "multilabel", X, Y, ("x",), ("y",)), np.array([0])).empty
    colors = dataset(["red", "blue"] * 20, np.repeat([[1.0], [0.0]], 20, axis=0))
    assert strongest_words(colors, np.array([0])).empty
