"""Features by which new rows are compared with samples."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.datasets import Dataset
from fairfold.datasets.categories import Categories
from fairfold.datasets.similarity import comparable_features, comparable_new_rows
from fairfold.datasets.typed import TypedColumns
from fairfold.errors import DataError

N = 40
RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(RANDOM.normal(size=(N, 2)).round(3), columns=["height", "width"])
TEXT = {
    "soil": RANDOM.choice(["wet", "dry", "sand"], N),
    "notes": [
        f"plot {RANDOM.integers(50)} by the {word} with {word} trees" for word in RANDOM.choice(["hill", "sea"], N)
    ],
}
LABELS = ("a", "b")
PLAIN = Dataset("plants", "multilabel", FRAME.to_numpy(), RANDOM.integers(0, 2, (N, 2)), tuple(FRAME), LABELS)


def typed():
    columns = TypedColumns.find(TEXT, source="plants.csv")
    X = np.hstack([PLAIN.X, columns.positions(TEXT)])
    return replace(PLAIN, X=X, feature_names=(*FRAME, *columns.names), typed=columns)


def categorical():
    categories = Categories.of("one-hot", {"soil": TEXT["soil"]}, "plants.csv")
    X = np.hstack([PLAIN.X, categories.encode({"soil": TEXT["soil"]}, "plants.csv")])
    return replace(PLAIN, X=X, feature_names=(*FRAME, *categories.features), categories=categories)


def with_places():
    left_out = {"latitude": ("lat",), "longitude": ("width",)}
    places = np.column_stack([np.arange(N), FRAME["width"]])
    return replace(PLAIN, coordinates=places, left_out=left_out)


def with_dates():
    """Return a typed dataset with a category and a date, but no text."""
    text = {"soil": TEXT["soil"], "day": [f"2024-0{month}-11" for month in RANDOM.integers(1, 9, N)]}
    columns = TypedColumns.find(text, source="plants.csv")
    X = np.hstack([PLAIN.X, columns.positions(text)])
    TEXT.update(day=text["day"])
    return replace(PLAIN, X=X, feature_names=(*FRAME, *columns.names), typed=columns)


KINDS = {
    "numbers": lambda: PLAIN,
    "sparse": lambda: replace(PLAIN, X=sparse.csr_array(PLAIN.X)),
    "text": typed,
    "categories": categorical,
    "dates": with_dates,
    "places": with_places,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_rows_have_the_same_features(kind, tmp_path):
    data = KINDS[kind]()
    table = FRAME[["width", "height"]].assign(lat=np.arange(N), **TEXT, a="no label")
    table.to_csv(tmp_path / "new.csv", index=False)
    (X, metric), new = comparable_features(data), comparable_new_rows(data, tmp_path / "new.csv")
    if kind in ("categories", "dates"):
        assert metric == "gower" and X["soil"].tolist() == TEXT["soil"].tolist()
        assert (X[["height", "width"]] == FRAME).all(axis=None)
        pd.testing.assert_frame_equal(X, new, check_dtype=False)
        return
    assert sparse.issparse(X) == sparse.issparse(new)
    np.testing.assert_allclose(*(each.toarray() if sparse.issparse(each) else each for each in (new, X)), atol=1e-9)


def test_unknown_categories_are_missing_and_absent_columns_are_named(tmp_path):
    FRAME.assign(soil="ice").to_csv(tmp_path / "new.csv", index=False)
    assert (comparable_new_rows(categorical(), tmp_path / "new.csv")["soil"] == "").all()
    with pytest.raises(DataError, match=r"lacks 1 of the 3 columns that the study uses \(lat\)"):
        comparable_new_rows(with_places(), tmp_path / "new.csv")
    (tmp_path / "new.csv").write_text("height,width\n")
    with pytest.raises(DataError, match="row"):
        comparable_new_rows(PLAIN, tmp_path / "new.csv")
