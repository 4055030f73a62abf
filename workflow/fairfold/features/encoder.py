"""Features of a table with columns of any types, fitted to training samples only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self, get_args

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fairfold.core.arrays import Matrix, with_sparsity
from fairfold.core.missing_values import MissingValueFiller
from fairfold.core.validation import check_whole_number
from fairfold.errors import DataError, ModelError, shortened
from fairfold.features.columns import TextColumnEncoder, encoder_for
from fairfold.features.roles import Declared, find_roles, is_day_first

TextFeatures = Literal["auto", "sparse", "dense", "both"]


@dataclass(eq=False, repr=False)
class TableEncoder(TransformerMixin, BaseEstimator):
    """Encoder of a table: numbers, booleans, categories, dates, names and texts become features.

    All that depends on the content of a column, such as the words of a text, is learned in ``fit``. Fitted in each
    training part, for example as the first step of a ``Pipeline``, the encoder uses nothing of the test samples.

    Parameters
    ----------
    roles : mapping of str to str or sequence, default=None
        Roles of columns that differ from those that :func:`find_roles` finds. A sequence declares a category with the
        order of its values.
    text : {"auto", "sparse", "dense", "both"}, default="auto"
        Features of texts and short texts. ``"sparse"`` gives TF-IDF frequencies of words and characters, which suit
        linear models. ``"dense"`` gives ``n_components`` components for each column, which suit trees. ``"both"`` gives
        components and frequencies. ``"auto"`` gives frequencies, in a dense array if all columns together have few
        features.
    n_components : int, default=100
        Number of components of each text with dense features, by truncated singular value decomposition. Texts with
        fewer terms keep them.
    max_terms : int, default=20000
        Maximum number of terms of each kind in a text: words and word pairs, and n-grams of characters.
    day_first : bool or tuple of str, default=False
        Whether 01/02/2021 is the first of February, or the columns in which it is.

    Attributes
    ----------
    roles_ : list of ColumnRole
        Role of each column.
    feature_names_in_ : ndarray of object of shape (n_columns,)
        Names of the columns.
    n_features_in_ : int
        Number of columns.
    feature_columns_ : ndarray of object of shape (n_features,)
        Column of each feature, for example to sum importances by column.
    are_terms_ : ndarray of bool of shape (n_features,)
        Whether each feature is the frequency of a term.

    Notes
    -----
    An array is sparse (CSR) if it contains frequencies of terms. It has no NaN, except for ``text="both"``: a column of
    numbers with missing cells becomes two, the number with the median for missing cells, and an indicator. Dense arrays
    keep NaN. A table of numbers only gives exactly the array of these numbers.

    Columns that ``fit`` did not have are ignored. Unknown categories and words are no error.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairfold.features import TableEncoder
    >>> frame = pd.DataFrame({"height": [1.5, None, 2.5], "color": ["red", "red", "blue"]})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.transform(frame)
    array([[1.5, 1. , 0. ],
           [nan, 1. , 0. ],
           [2.5, 0. , 1. ]])
    >>> encoder.get_feature_names_out()
    array(['height', 'color=red', 'color=rare'], dtype=object)
    """

    roles: Declared | None = None
    text: TextFeatures = "auto"
    n_components: int = 100
    max_terms: int = 20_000
    day_first: bool | tuple[str, ...] = False

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        """Find the role of each column, and fit its encoder.

        Parameters
        ----------
        X : {DataFrame, array-like} of shape (n_samples, n_columns)
            Training samples.
        y : object, default=None
            Ignored.

        Returns
        -------
        TableEncoder
            The fitted encoder.

        Raises
        ------
        DataError
            If a cell or a declared role cannot be used, or no column gives a feature.
        ModelError
            If a parameter is out of range.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: pd.DataFrame, y: object = None) -> Matrix:
        """Fit the encoder, and encode the training samples.

        Parameters
        ----------
        X : {DataFrame, array-like} of shape (n_samples, n_columns)
            Training samples.
        y : object, default=None
            Ignored.

        Returns
        -------
        {ndarray, sparse matrix} of float64 of shape (n_samples, n_features)
            Features.

        Raises
        ------
        DataError
            If a cell or a declared role cannot be used, or no column gives a feature.
        ModelError
            If a parameter is out of range.
        """
        return self._fit(X)

    def transform(self, X: pd.DataFrame) -> Matrix:
        """Encode samples.

        Parameters
        ----------
        X : {DataFrame, array-like} of shape (n_samples, n_columns)
            Samples with the columns of ``fit`` in any order.

        Returns
        -------
        {ndarray, sparse matrix} of float64 of shape (n_samples, n_features)
            Features.

        Raises
        ------
        DataError
            If a column is missing or a cell cannot be used.
        """
        check_is_fitted(self, "roles_")
        frame = _as_frame(X)
        if missing := [name for name in self.feature_names_in_ if name not in frame]:
            raise DataError(f"table: no column {shortened([repr(name) for name in missing])}. Add what training had.")
        return self._joined([encoder.transform(frame[name]) for name, encoder in self._encoders.items()])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Ignored, as the names of the columns are known.

        Returns
        -------
        ndarray of object of shape (n_features,)
            Names such as ``age``, ``color=red``, ``seen: month``, ``notes: green leaves`` and ``notes: 'eaf'``.
        """
        check_is_fitted(self, "roles_")
        return np.array([name for name, *_ in self._described_features()], dtype=object)

    @property
    def feature_columns_(self) -> np.ndarray:
        """Column of each feature."""
        return np.array([column for _, column, _ in self._described_features()], dtype=object)

    @property
    def are_terms_(self) -> np.ndarray:
        """Whether each feature is the frequency of a term."""
        return np.array([is_term for *_, is_term in self._described_features()], dtype=bool)

    def _fit(self, X: pd.DataFrame) -> Matrix:
        if self.text not in get_args(TextFeatures):
            raise ModelError(f"text is {self.text!r}. Use one of {', '.join(map(repr, get_args(TextFeatures)))}.")
        for name in ("n_components", "max_terms"):
            check_whole_number(name, getattr(self, name), 1)
        frame = _as_frame(X)
        self.roles_ = find_roles(frame, declared=self.roles, day_first=self.day_first)
        text = "sparse" if self.text == "auto" else self.text
        settings = partial(encoder_for, most=self.max_terms, text=text, n_components=self.n_components)
        found = {
            each.column: settings(each, day_first=is_day_first(self.day_first, each.column)) for each in self.roles_
        }
        self._encoders = {name: encoder for name, encoder in found.items() if encoder is not None}
        parts = [encoder.fit_transform(frame[name]) for name, encoder in self._encoders.items()]
        n_features = sum(part.shape[1] for part in parts)
        if not n_features:
            raise DataError("table: no column gives a feature. Declare the role of a column, or add a column.")
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        self.n_features_in_ = len(frame.columns)
        has_terms = any(map(sparse.issparse, parts))
        self.is_sparse_ = has_terms and (self.text != "auto" or n_features > self.n_components)
        self._fillers = {
            name: MissingValueFiller().fit(part)
            for name, part in zip(self._encoders, parts, strict=True)
            if self.is_sparse_ and self.text != "both" and not sparse.issparse(part)
        }
        return self._joined(parts)

    def _joined(self, parts: list[Matrix]) -> Matrix:
        if not self.is_sparse_:
            return np.hstack([with_sparsity(part, False) for part in parts])
        fillers = [self._fillers.get(name) for name in self._encoders]
        filled = [part if by is None else by.transform(part) for part, by in zip(parts, fillers, strict=True)]
        return sparse.hstack([sparse.csr_array(part) for part in filled], format="csr")

    def _described_features(self) -> Iterator[tuple[str, str, bool]]:
        """Yield the unique name of each feature, its column, and whether it is the frequency of a term."""
        used = set()
        for column, encoder in self._encoders.items():
            names = encoder.names(column)
            if column in self._fillers:
                names += [f"{names[feature]} is missing" for feature in self._fillers[column].gapped_]
            n_dense = len(names) - (encoder.n_terms if isinstance(encoder, TextColumnEncoder) else 0)
            for number, name in enumerate(names):
                while name in used:
                    name += "'"
                used.add(name)
                yield name, column, number >= n_dense


def _as_frame(X: Any) -> pd.DataFrame:
    """Convert features to a data frame whose column names are text."""
    if not isinstance(X, pd.DataFrame):
        X = np.asarray(X)
        if X.ndim != 2:
            raise DataError(f"table: expected rows and columns, found {X.ndim} dimensions. Pass a data frame.")
        X = pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
        X = X.infer_objects() if X.dtypes.eq(object).any() else X
    return X.set_axis([str(name) for name in X.columns], axis=1)
