"""Names of features and labels in data frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from fairfold.errors import ModelError, shortened

_SHOWN = 5


def column_names(X: Any) -> np.ndarray | None:
    """Return the column names of a data frame with features.

    Parameters
    ----------
    X : Any
        Data frame or array.

    Returns
    -------
    ndarray of object of shape (n_columns,) or None
        Column names. None if X has no column names or none of them is a string.

    Raises
    ------
    ModelError
        If only some of the names are strings or several columns have the same name.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairfold.forests.names import column_names
    >>> column_names(pd.DataFrame({"age": [30], "dose": [2]}))
    array(['age', 'dose'], dtype=object)
    """
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        twice = X.columns[X.columns.duplicated()][0]
        raise ModelError(f"X has several columns named {twice!r}. Give each column a unique name.")
    if not hasattr(X, "columns"):
        return None
    reader = BaseEstimator()
    try:
        validate_data(reader, X, skip_check_array=True)
    except TypeError:
        raise ModelError(
            "X has column names that are text and others that are not. Convert all names to text, for example with "
            "X.columns = X.columns.astype(str)."
        ) from None
    return getattr(reader, "feature_names_in_", None)


def check_same_names(names: np.ndarray | None, fitted: np.ndarray | None) -> None:
    """Check that the column names equal those of ``fit``.

    Parameters
    ----------
    names : ndarray of object of shape (n_columns,) or None
        Column names, as returned by :func:`column_names`.
    fitted : ndarray of object of shape (n_columns,) or None
        Column names in ``fit``. The check is skipped if either argument is None.

    Raises
    ------
    ModelError
        If columns are missing, unknown or in another order. The message names them.
    """
    if names is None or fitted is None or np.array_equal(names, fitted):
        return
    present, expected = set(names), set(fitted)
    missing, surplus = (
        [name for name in fitted if name not in present],
        [name for name in names if name not in expected],
    )
    differences = [
        f"{verb} {shortened([*map(repr, found)], _SHOWN)}"
        for verb, found in (("lacks", missing), ("adds", surplus))
        if found
    ]
    if not differences:
        column = np.flatnonzero(names != fitted)[0]
        differences = [f"has {names[column]!r} in place of {fitted[column]!r}, so its columns are in another order"]
    raise ModelError(
        f"X {' and '.join(differences)}, but the feature names should match those that were passed during fit. "
        "Use the columns in feature_names_in_, in the same order."
    )
