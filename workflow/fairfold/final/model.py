"""Final models: a fitted model with its column names, stored in a folder."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import ClassifierMixin

from fairfold.checked_cells.estimates import MISSING_RATE
from fairfold.core.arrays import Matrix, to_dense, with_sparsity
from fairfold.core.files import read_arrays, read_table, write_arrays, write_json
from fairfold.core.groups import SampleMetadata
from fairfold.core.seeds import seed_for
from fairfold.core.threads import set_n_jobs
from fairfold.core.trainings import begin
from fairfold.core.validation import is_corrected
from fairfold.datasets import Dataset
from fairfold.datasets.categories import Categories
from fairfold.datasets.new_rows import TrainingColumns, learned_from
from fairfold.errors import (
    MOST_NAMES,
    DataError,
    ModelError,
    check_name,
    count,
    first_sentence,
    quoted,
    same_for,
    shortened,
)
from fairfold.evaluation.certified import COLUMNS as OF_CURVES
from fairfold.evaluation.certified import Certified
from fairfold.evaluation.fold_scores import labels_for
from fairfold.final.expected_score import Expected, ExpectedScore
from fairfold.final.unlike import TableComparison, TrainingSketch
from fairfold.metrics.decisions import Objective
from fairfold.models import load_model, make_model
from fairfold.tables.decimals import Learned
from fairfold.tables.names import check_unique, composed
from fairfold.tables.table import Table

Threshold = float | Mapping[str, float] | None
"""Threshold of all labels, those of some labels by their names, or None."""
MODEL, COLUMNS, CARD, PROBE = "model.fairfold", "columns.json", "README.md", "probe.npz"
CURVES = "certificates.csv"
N_PROBES = 5
SAME = 1e-9  # Maximum difference of predictions, which allows for rounding on other processors.
FORMAT = 4  # Format 3 had no texts.
_MOST_TRIES = 5  # to load a model while a study replaces its four files one by one
_LEAST_FREQUENCY = 0.01
_WORDS = ("one", "a small tree", "", "the north of the river", "three")  # one for each probe


@dataclass(frozen=True, eq=False)
class FinalModel(TrainingColumns):
    """Fitted model with the names of its columns.

    Attributes
    ----------
    dataset : str
        Identifier of the dataset.
    name : str
        Name of the model.
    model : estimator object
        Fitted model.
    features : tuple of str
        Names of the features in the order of the columns.
    labels : tuple of str
        Names of the labels in the order of the columns.
    identifier : str or None
        Name of the column that identifies samples.
    categories : Categories or None
        Encoding of text columns. Their features come last.
    probe : tuple of (ndarray or sparse matrix, ndarray) or None
        Random samples within the range of each feature, and their predicted posteriors. Loading compares them with new
        predictions, which detects a model that behaves differently on another machine.
    missing_value : str or None
        Additional text that marks a missing feature.
    learned : Learned or None
        Number format of the training table, which determines how new tables are read.
    incomplete : tuple of str or None
        Columns with missing cells in the training table. None if they are unknown.
    typed : mapping of str to str
        Roles of the columns of text, categories and dates, from which the model makes features. They are the last of
        ``features``.
    curves : DataFrame or None
        Counts of ``fairfold.evaluation.certified.curve_table``, from which decisions are certified.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairfold.final import FinalModel
    >>> from fairfold.models import make_model
    >>> X = np.array([[9.0, 0.8], [8.0, 0.7], [1.0, 0.1], [2.0, 0.2]])
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> model = make_model("RandomForest", n_trees=20, random_state=0).fit(X, Y)
    >>> final = FinalModel("plants", "RandomForest", model, features=("height", "width"), labels=("tree", "shrub"))
    >>> final.predict(pd.DataFrame({"width": [0.9], "note": ["?"], "height": [9.5]}))["decision"]
       tree  shrub
    0     1      0
    """

    dataset: str
    name: str
    model: ClassifierMixin
    features: tuple[str, ...]
    labels: tuple[str, ...]
    identifier: str | None = None
    categories: Categories | None = None
    probe: tuple[Matrix, np.ndarray] | None = None
    missing_value: str | None = None
    learned: Learned | None = None
    incomplete: tuple[str, ...] | None = None
    typed: Mapping[str, str] = field(default_factory=dict)
    curves: pd.DataFrame | None = None
    advice: ClassVar[str] = "add or rename them, or treat missing columns as empty (--allow-missing)"

    @property
    def corrects(self) -> bool:
        """Whether predictions are corrected for missing labels."""
        settings = self.model.get_params()
        frequency = settings.get("label_frequency", settings.get("estimator__label_frequency", 1.0))
        return is_corrected(frequency)

    @property
    def sketch(self) -> TrainingSketch | None:
        """Sketch of the training data, if the model was stored with one. It is part of the file of the model."""
        return getattr(self.model, "training_sketch_", None)

    def comparison(self) -> TableComparison | None:
        """Begin the comparison of a new table with the training data.

        Returns
        -------
        TableComparison or None
            Comparison without rows. None if the model has no sketch of the training data.
        """
        return None if self.sketch is None else TableComparison(self.sketch)

    def compare(
        self,
        table: pd.DataFrame | Matrix,
        *,
        allow_missing: bool = False,
        unknown: Literal["error", "missing"] = "error",
    ) -> tuple[pd.DataFrame, list[str]]:
        """Compare new samples with the training data.

        Parameters
        ----------
        table, allow_missing, unknown
            As in :meth:`predict`.

        Returns
        -------
        rows : DataFrame of shape (n_samples, 2)
            Columns ``dissimilarity``, which is above 1 for unlike samples, and ``unlike_training``, ``"yes"`` or
            ``"no"``.
        sentences : list of str
            Description of the comparison, with a test of the whole table.

        Raises
        ------
        ModelError
            If the model has no sketch of the training data.
        DataError
            As in :meth:`predict`.
        """
        if (comparison := self.comparison()) is None:
            raise ModelError(
                "the model was stored without a sketch of its training data: with --private, or with too few rows."
            )
        rows = comparison.add(self._samples(table, allow_missing=allow_missing, unknown=unknown))
        return rows.set_axis(table.index) if isinstance(table, pd.DataFrame) else rows, comparison.sentences()

    def expected_score(
        self,
        table: pd.DataFrame | Matrix,
        *,
        allow_missing: bool = False,
        unknown: Literal["error", "missing"] = "error",
    ) -> Expected:
        """Estimate the average precision on new samples without their labels.

        Parameters
        ----------
        table, allow_missing, unknown
            As in :meth:`predict`.

        Returns
        -------
        Expected
            The estimate with its interval, or the reason why there is none.

        Raises
        ------
        ModelError
            If the model was stored by an earlier version, or without certificates.
        DataError
            As in :meth:`predict`.

        Notes
        -----
        The estimate assumes that labels depend on features as in training. See
        ``fairfold.final.expected_score``.
        """
        expected = ExpectedScore(self.certified_curves())
        X = self._samples(table, allow_missing=allow_missing, unknown=unknown)
        expected.add(pd.DataFrame(self.likely(X), columns=list(self.labels)))
        return expected.estimate()

    @property
    def users(self) -> str:
        """What uses the columns, for messages."""
        return f"{self.name} was fitted on"

    def save(self, folder: str | Path) -> None:
        """Write ``model.fairfold``, ``columns.json`` and, if there is a probe, ``probe.npz``.

        Parameters
        ----------
        folder : str or Path
            Folder of the model, which is created if necessary.
        """
        fields = (
            "dataset",
            "name",
            "features",
            "labels",
            "identifier",
            "categories",
            "missing_value",
            "incomplete",
            "typed",
        )
        parts = {"format": FORMAT, **{name: getattr(self, name) for name in fields}, "numbers": self.learned}
        self.model.columns_checksum_ = _checksum(parts)
        self.model.save(Path(folder) / MODEL)
        if self.probe is not None:
            X, P = self.probe
            write_arrays(Path(folder) / PROBE, X=with_sparsity(X, False), P=P, is_sparse=np.array(sparse.issparse(X)))
        write_json(parts, Path(folder) / COLUMNS, default=asdict)

    def predict(
        self,
        table: pd.DataFrame | Matrix,
        *,
        objective: Objective | Certified | None = None,
        by: Literal["pooled", "label"] | None = None,
        threshold: Threshold = None,
        allow_missing: bool = False,
        unknown: Literal["error", "missing"] = "error",
    ) -> dict[str, pd.DataFrame]:
        """Predict the labels of new samples.

        Parameters
        ----------
        table : DataFrame or {ndarray, sparse matrix} of shape (n_samples, n_features)
            DataFrame with a column for each feature, matched by name, in any order. Other columns are ignored. An array
            must have the order of ``features``.
        objective : str, array-like of shape (n_labels,) or (n_labels, 2), Certified or None, default=None
            Metric that decisions maximize, or costs of wrong decisions; see
            :func:`~fairfold.metrics.decisions.decide`. :class:`~fairfold.evaluation.Certified` leaves cells undecided.
            None uses the model's default threshold.
        by : {"pooled", "label"} or None, default=None
            Whether decisions use one threshold for all labels, or one for each label. None shares it unless the metric
            is a mean over labels.
        threshold : float, mapping of str to float, or None, default=None
            A label is predicted if its probability, or its posterior, exceeds this threshold. A mapping has thresholds
            of some labels by their names. Without one, decisions follow `objective`.
        allow_missing : bool, default=False
            Whether missing columns, and empty ones that were complete in the training table, count as empty.
        unknown : {"error", "missing"}, default="error"
            Whether categories that the training table lacks are an error or count as empty cells.

        Returns
        -------
        dict of str -> DataFrame
            Tables of shape (n_samples, n_labels):

            - ``"probability"``: probability of each label as given in the training data.
            - ``"posterior"``: probability corrected for missing labels. Absent without a correction.
            - ``"decision"``: 0 or 1; ``"unsure"`` where a certified precision leaves it open.

        Raises
        ------
        DataError
            If there is no row, a feature has no column, a cell is infinite or not numeric, or a column of the DataFrame
            is empty throughout that had no empty cell in the training table. Other missing cells are allowed.
        ModelError
            If an objective is given, but the model has no calibrated probabilities.
        """
        X = self._samples(table, allow_missing=allow_missing, unknown=unknown)
        found = self.predicted(X, objective=objective, by=by, threshold=threshold)
        if not isinstance(table, pd.DataFrame):
            return found
        return {kind: values.set_axis(table.index) for kind, values in found.items()}

    def predicted(
        self,
        X: Any,
        *,
        objective: Objective | Certified | None = None,
        by: Literal["pooled", "label"] | None = None,
        threshold: Threshold = None,
    ) -> dict[str, pd.DataFrame]:
        """Predict the labels of samples of ``with_text``.

        Parameters
        ----------
        X : {ndarray, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Samples.
        objective, by, threshold
            As in :meth:`predict`.

        Returns
        -------
        dict of str -> DataFrame
            As of :meth:`predict`.
        """
        found = {"probability": self.likely(X)}
        if self.corrects:
            found["posterior"] = found["probability"]
            if hasattr(self.model, "predict_observed_proba"):
                found["probability"] = _array(self.model.predict_observed_proba(X))
        if isinstance(objective, Certified):
            if by is not None or threshold is not None:
                raise ModelError("objective: Certified sets the threshold of each label. Leave out by and threshold.")
            likely = pd.DataFrame(found.get("posterior", found["probability"]), columns=list(self.labels))
            found["decision"] = objective.decide(likely, self.certified_curves()).to_numpy()
            return self._tables(found)
        found["decision"] = _array(self.model.predict(X, objective=objective, by=by))
        if threshold is not None:
            limits, usual = self.thresholds(threshold), found["decision"]
            is_above = found.get("posterior", found["probability"]) > limits
            found["decision"] = np.where(np.isnan(limits), usual, is_above).astype(usual.dtype)
        return self._tables(found)

    def likely(self, X: Any) -> np.ndarray:
        """Return the probabilities by which labels are decided.

        Parameters
        ----------
        X : {ndarray, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Samples of ``with_text``.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Posteriors if the model corrects for missing labels, and probabilities otherwise.
        """
        return _array(self.model.predict_proba(X))

    def explain(
        self,
        table: pd.DataFrame,
        samples: Sequence[Any] | None = None,
        *,
        background: pd.DataFrame | None = None,
        allow_missing: bool = False,
        unknown: Literal["error", "missing"] = "error",
    ) -> pd.DataFrame:
        """Explain the most probable labels of samples by the values of their columns.

        Contributions are Shapley values. They need the package shap, the extra ``explain``.

        Parameters
        ----------
        table : DataFrame
            Samples with a column for each feature, as in :meth:`predict`.
        samples : sequence or None, default=None
            Labels of the index of the rows to explain. None explains the first ten.
        background : DataFrame or None, default=None
            Typical rows to compare them with, at least ten, such as the training table. None compares with the other
            rows of `table`. At most 50 evenly spaced ones are used, and fewer with 200 or more columns.
        allow_missing, unknown
            As in :meth:`predict`.

        Returns
        -------
        DataFrame
            Rows for each sample in the order of the table, for its three most probable labels, the most probable first,
            and for each column, the largest contribution first:

            - ``sample``, ``label``, ``column``, ``value`` : names, and the value of the sample in this column
            - ``contribution`` : change of the probability by this value
            - ``base`` : mean probability of the background rows
            - ``probability``, or ``posterior`` with a correction: ``base`` and all contributions add up to it

        Raises
        ------
        DataError
            If shap is not installed, a sample is unknown, there are too few background rows or more than 999 columns,
            or as in :meth:`predict`.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from fairfold.final import FinalModel
        >>> from fairfold.models import make_model
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> model = make_model("logistic").fit(X, (X[:, :1] > 0.5).astype(int))
        >>> final = FinalModel("plants", "logistic", model, features=("height", "width"), labels=("tree",))
        >>> found = final.explain(pd.DataFrame(X, columns=["height", "width"]), [0])
        >>> found["column"].tolist(), (found["contribution"].abs() > 0.1).tolist()
        (['height', 'width'], [True, False])
        >>> bool(np.isclose(found["base"][0] + found["contribution"].sum(), found["probability"][0]))
        True
        """
        from fairfold.final.explanation import Rows, explain, find_samples

        how: dict[str, Any] = {"allow_missing": allow_missing}
        rows = Rows(self._cells(table, **how), np.asarray(table.index))
        others = rows.background()
        if background is not None:
            others = Rows(self._cells(background, **how), np.full(len(background), None)).background()
        (chosen,) = find_samples([rows], samples)
        return explain(self, chosen, others, unknown=unknown)

    def _tables(self, found: Mapping[str, np.ndarray]) -> dict[str, pd.DataFrame]:
        return {kind: pd.DataFrame(values, columns=list(self.labels)) for kind, values in found.items()}

    def certified_curves(self) -> pd.DataFrame:
        """Return the counts from which decisions are certified.

        Returns
        -------
        DataFrame
            Table of ``fairfold.evaluation.certified.curve_table``.

        Raises
        ------
        ModelError
            If the model has none.
        """
        if self.curves is None:
            raise ModelError(f"the model was stored without {CURVES}. Refit it with `fairfold study`.")
        return self.curves

    def thresholds(self, threshold: float | Mapping[str, float]) -> np.ndarray:
        """Return the threshold of each label.

        Parameters
        ----------
        threshold : float or mapping of str to float
            Threshold of all labels, or those of some labels by their names.

        Returns
        -------
        ndarray of shape (n_labels,)
            Thresholds, NaN for labels without one.

        Raises
        ------
        DataError
            If a label is unknown, or a threshold is not between 0 and 1.
        """
        by_label = threshold if isinstance(threshold, Mapping) else dict.fromkeys(self.labels, threshold)
        for name, value in by_label.items():
            check_name("label", name, self.labels, DataError, "threshold")
            if not 0 <= value <= 1:
                raise DataError(f"threshold: found {value:g}. Choose a number from 0 to 1.")
        return np.array([by_label.get(name, np.nan) for name in self.labels])

    def empty_columns(self, numbers: np.ndarray, text: Mapping[str, np.ndarray]) -> set[str]:
        """Return the columns without any value.

        Parameters
        ----------
        numbers : ndarray of shape (n_samples, n_numeric)
            Values of the numerical columns, NaN where missing.
        text : mapping of str to ndarray of shape (n_samples,)
            Cells of the text columns, ``""`` where missing.

        Returns
        -------
        set of str
            Names of the columns.
        """
        is_empty = np.isnan(numbers).all(axis=0)
        return {*itertools.compress(self.numeric, is_empty)} | {name for name in self.text if (text[name] == "").all()}

    def check_filled(self, empty: Sequence[str], source: str) -> None:
        """Check that no column is empty that was complete in the training table.

        Parameters
        ----------
        empty : sequence of str
            Columns that are empty in all rows of a table.
        source : str
            Name of the table in error messages.

        Raises
        ------
        DataError
            If there is such a column.
        """
        wrong = [name for name in empty if self.incomplete is not None and name not in self.incomplete]
        if wrong:
            are, them = ("is", "it") if len(wrong) == 1 else ("are", "them")
            raise DataError(
                f"{source}: {count(len(wrong), 'column')} {are} empty in all rows ({shortened(wrong, 5)}), but had no "
                f"empty cell in the training table. Fill {them} in, or accept empty columns (--allow-missing)."
            )

    def _samples(
        self, table: pd.DataFrame | Matrix, *, allow_missing: bool, unknown: Literal["error", "missing"]
    ) -> Any:
        """Return samples as the model takes them. The columns of a matrix are the features in their order."""
        if not isinstance(table, pd.DataFrame):
            return table
        cells = self._cells(table, allow_missing=allow_missing)
        return self.with_text(cells.values, cells.text, cells.source, unknown=unknown)

    def _cells(self, table: pd.DataFrame, *, allow_missing: bool) -> Table:
        """Return the cells of the columns of the model."""
        if not len(table):
            raise DataError("the table has a header but no data row.")
        table = table.set_axis([composed(str(name)) for name in table.columns], axis=1)
        check_unique([name for name in table.columns if name in {*self.numeric, *self.text}], "the table")
        missing = self.check_columns(table.columns, "the table", allow_missing=allow_missing)
        table = table.assign(**dict.fromkeys(missing, np.nan))
        X = self.with_gaps(_numbers(table[list(self.numeric)]))
        cells = table[list(self.text)].astype(object).fillna("").astype(str).apply(lambda cells: cells.str.strip())
        text = {name: cells[name].replace({self.missing_value: ""}).to_numpy() for name in self.text}
        empty = set() if allow_missing else self.empty_columns(X, text)
        self.check_filled([name for name in (*self.numeric, *self.text) if name in empty], "the table")
        return Table(self.numeric, X, "the table", text)


def _numbers(table: pd.DataFrame) -> np.ndarray:
    """Return columns as numbers. Cells that are not finite and not missing are refused."""
    try:
        X = table.to_numpy(dtype=np.float64)
        is_wrong = np.isinf(X)
    except (TypeError, ValueError):
        X = table.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
        is_wrong = np.isinf(X) | (np.isnan(X) & table.notna().to_numpy())
    wrong = np.argwhere(is_wrong)[: MOST_NAMES + 1]
    places = [f"row {row + 1}, column {table.columns[column]!r}" for row, column in wrong]
    if places:
        found = quoted(str(table.iat[*wrong[0]]))
        raise DataError(
            f"the table, {places[0]}: found {found}, but features must be finite numbers or missing. Correct the "
            f"cell, or leave it empty.{same_for(places[1:])}"
        )
    return X


def fit_final(
    data: Dataset, name: str, settings: dict[str, Any], *, seed: int, sketch: bool = True, n_jobs: int = 1
) -> FinalModel:
    """Fit a model on all samples of a dataset.

    Parameters
    ----------
    data : Dataset
        Data with several labels.
    name : str
        Name of the model.
    settings : dict
        Settings for :func:`~fairfold.models.registry.make_model`.
    seed : int
        Seed of the study.
    sketch : bool, default=True
        Whether the model contains a sketch of the training data, by which unlike rows of new tables are found.
    n_jobs : int, default=1
        Number of threads for fitting. The fitted model predicts with one thread. The number does not affect the model.

    Returns
    -------
    FinalModel
        Fitted model with its columns and a probe.
    """
    random_state = seed_for(seed, "final", data.id)
    begin(f"final model: {name} on all samples")
    model = make_for(data, name, settings, n_jobs=n_jobs, random_state=random_state)
    model.fit(data.samples, labels_for(model, data.Y), **SampleMetadata(data.groups, data.weights).as_options())
    set_n_jobs(model, 1)
    if sketch:
        model.training_sketch_ = TrainingSketch.of(data, seed=seed)
    identifier = next(iter(data.left_out.get("id", ())), None)
    made_up = _made_up(data.X[:, : len(data.numbers)], random_state)
    columns = data.feature_names, data.label_names, identifier, data.categories
    learned = learned_from(data)
    typed = {} if data.typed is None else {role.column: role.role for role in data.typed.roles}
    final = FinalModel(data.id, name, model, *columns, None, data.missing_value, learned, _incomplete(data), typed)
    return replace(final, probe=(made_up, _array(model.predict_proba(_probed(final, made_up)))))


def _probed(final: FinalModel, numbers: Matrix) -> Any:
    """Return made-up samples as the model takes them, with words for texts."""
    if not final.typed:
        return numbers
    words, gaps = np.array(_WORDS, dtype=object), np.full(len(_WORDS), "", dtype=object)
    cells = {name: words if role in ("text", "short text") else gaps for name, role in final.typed.items()}
    return final.with_text(numbers, cells, "the probe")


def with_checked_labels(data: Dataset, cells: pd.DataFrame | None) -> tuple[Dataset, tuple[int, int]]:
    """Replace observed labels by checked ones, to train a model on them.

    Parameters
    ----------
    data : Dataset
        Dataset with several labels.
    cells : DataFrame or None
        Cells of :func:`~fairfold.recommendation.checked.cells_of_sheet`, or None.

    Returns
    -------
    data : Dataset
        Dataset with the checked labels. A hierarchy of labels is left as it is, because it relates labels to each
        other.
    numbers : tuple of int
        Number of checked labels, and of those that differ from the observed label.
    """
    if cells is None or data.hierarchy is not None:
        return data, (0, 0)
    known = cells.dropna(subset="label")
    positions = known["sample"].to_numpy(int), known["label_index"].to_numpy(int)
    labels = pd.to_numeric(known["label"]).to_numpy()  # Tables of results have text in this column.
    Y = sparse.lil_array(data.Y) if sparse.issparse(data.Y) else data.Y.copy()
    before = np.ravel(with_sparsity(Y[positions], False))
    Y[positions] = labels.astype(Y.dtype)
    replaced = replace(data, Y=sparse.csr_array(Y) if sparse.issparse(Y) else Y)
    return replaced, (len(known), int(np.count_nonzero(before != labels)))


def with_checked_frequency(settings: Mapping[str, Any], checked: pd.DataFrame | None) -> dict[str, Any]:
    """Set the label frequency from checked cells, which win over every declaration.

    Parameters
    ----------
    settings : mapping of str -> object
        Settings of the model.
    checked : DataFrame or None
        Table of :func:`~fairfold.recommendation.checked.checked_table`, or None.

    Returns
    -------
    dict
        Settings of the model.
    """
    if checked is None:
        return dict(settings)
    rate = float(checked.loc[checked["metric"] == MISSING_RATE, "estimate"].iloc[0])
    return {**settings, "label_frequency": round(max(1 - rate, _LEAST_FREQUENCY), 4)}


def make_for(data: Dataset, name: str, settings: Mapping[str, Any], **options: Any) -> ClassifierMixin:
    """Make an unfitted model for the labels and features of a dataset.

    Parameters
    ----------
    data : Dataset
        Data that determine ``label_frequency``, unless it is a setting, ``categories`` and ``hierarchy``.
    name : str
        Name of the model.
    settings : mapping of str -> object
        Settings of the model.
    **options : object
        Further arguments of :func:`~fairfold.models.registry.make_model`.

    Returns
    -------
    estimator object
        Unfitted model.
    """
    options |= {"categories": data.category_columns, "hierarchy": data.hierarchy, "features": data.features}
    return make_model(name, **{"label_frequency": data.label_frequency(), **settings}, **options)


def _incomplete(data: Dataset) -> tuple[str, ...]:
    """Return the columns of the table with missing cells."""
    if sparse.issparse(data.X):
        return ()
    gaps = {name for name, is_gap in zip(data.feature_names, np.isnan(data.X).any(axis=0), strict=True) if is_gap}
    if data.categories is not None:
        for column, values in data.categories.values.items():
            features = replace(data.categories, values={column: values}).features
            gaps |= {column} if "" in values or not gaps.isdisjoint(features) else set()
        gaps -= {*data.categories.features} - {*data.categories.values}
    return tuple(sorted(gaps))


def _array(predictions: Matrix) -> np.ndarray:
    """Convert predictions to a dense array."""
    return np.asarray(to_dense(predictions, "predictions", ModelError))


def _made_up(X: Matrix, seed: int) -> Matrix:
    """Draw ``N_PROBES`` random samples within the range of each feature."""
    if sparse.issparse(X):
        low, high = (bound.toarray().ravel() for bound in (X.min(axis=0), X.max(axis=0)))
    else:  # Features without any value become 0.
        low, high = (np.nan_to_num(bound.reduce(X, axis=0)) for bound in (np.fmin, np.fmax))
    made_up = np.random.default_rng(seed).uniform(low, high, size=(N_PROBES, X.shape[1]))
    return sparse.csr_array(made_up) if sparse.issparse(X) else made_up


def load_final(folder: str | Path, *, n_jobs: int = 1) -> FinalModel:
    """Load a final model that the target ``final`` of a study made.

    Parameters
    ----------
    folder : str or Path
        Folder of the model, ``results/final/<dataset>``.
    n_jobs : int, default=1
        Number of threads for predictions. It does not affect results.

    Returns
    -------
    FinalModel
        Fitted model.

    Raises
    ------
    ModelError
        If a file is missing, damaged or from another version, or the names or their order differ from those that the
        model was fitted to. Also if the model returns other predictions than after fitting, which may happen with other
        versions of its libraries.
    """
    for _ in range(_MOST_TRIES):
        before = _state(Path(folder))
        try:
            final = _load(Path(folder), n_jobs)
        except ModelError:
            if before == _state(Path(folder)):
                raise
            continue
        if before == _state(Path(folder)):
            return final
    raise ModelError(f"{folder}: a study replaces this model. Run the same command again when the study has ended.")


def _state(folder: Path) -> list[tuple[int, int] | None]:
    """Return what changes if a file of a final model is replaced."""
    paths = [folder / name for name in (MODEL, COLUMNS, PROBE, CURVES)]
    return [(path.stat().st_ino, path.stat().st_mtime_ns) if path.is_file() else None for path in paths]


def _checksum(parts: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the content of ``columns.json``."""
    text = json.dumps(parts, default=asdict, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(composed(text).encode("utf-8", "surrogatepass")).hexdigest()


def _load(folder: Path, n_jobs: int) -> FinalModel:
    """Load a final model whose files do not change."""
    path = folder / COLUMNS
    try:
        parts = json.loads(path.read_text(encoding="utf-8"))
        if parts["format"] != FORMAT:
            raise ModelError(f"{path} has format {parts['format']!r}, not {FORMAT}; refit the model.")
        checksum = _checksum(parts)
        features, labels = (tuple(composed(str(name)) for name in parts[key]) for key in ("features", "labels"))
        dataset, name, identifier = str(parts["dataset"]), str(parts["name"]), parts["identifier"]
        identifier = identifier and composed(identifier)
        categories, missing_value = _categories(parts["categories"]), parts["missing_value"]
        learned = Learned(**numbers) if (numbers := parts["numbers"]) else None
        incomplete = None if (gaps := parts["incomplete"]) is None else tuple(composed(str(name)) for name in gaps)
        typed = {composed(str(name)): str(role) for name, role in parts["typed"].items()}
    except OSError as error:
        raise ModelError(
            f"{folder} is not a final model ({COLUMNS}: {error.strerror}). The study of a table, "
            "`fairfold study --final` and `snakemake final` write one under results/final/."
        ) from None
    except ModelError:
        raise
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ModelError(f"{path} is damaged ({error!r}); refit the model.") from None
    model = load_model(folder / MODEL)
    if getattr(model, "columns_checksum_", None) != checksum:
        raise ModelError(
            f"{path}: the names, their order or the number format differ from those that {MODEL} was fitted to. "
            "Restore the file, or refit the model."
        )
    set_n_jobs(model, n_jobs)
    more = missing_value, learned, incomplete, typed
    final = FinalModel(dataset, name, model, features, labels, identifier, categories, None, *more)
    return replace(final, probe=_checked_probe(folder, final), curves=_curves(folder, final))


def _checked_probe(folder: Path, final: FinalModel) -> tuple[Matrix, np.ndarray] | None:
    if not (folder / PROBE).exists():
        return None
    try:
        arrays = read_arrays(folder / PROBE, "made by fairfold")
        X, P = arrays["X"], arrays["P"]
        n_columns = len(final.features) - len(final.typed)
        if X.shape != (len(P), n_columns) or P.shape != (len(P), len(final.model.classes_)):
            raise ValueError(f"shapes {X.shape} and {P.shape}")
        X = sparse.csr_array(X) if arrays["is_sparse"] else X
    except (AttributeError, DataError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ModelError(f"{folder / PROBE} is damaged ({error}); refit the model.") from None
    try:
        difference = np.abs(_array(final.model.predict_proba(_probed(final, X))) - P).max(initial=0.0)
    except Exception as error:  # A damaged model can raise any exception.
        raise ModelError(f"{folder / MODEL} is damaged ({first_sentence(error)}); refit the model.") from None
    if not difference <= SAME:
        raise ModelError(
            f"{folder / MODEL} predicts other numbers here than where it was fitted (by up to {difference:.2g}): use "
            "the versions of Python and of the libraries that its card names, or refit it."
        )
    return X, P


def _curves(folder: Path, final: FinalModel) -> pd.DataFrame | None:
    if not (folder / CURVES).exists():
        return None
    table = read_table(folder / CURVES, "label")
    if {*OF_CURVES} - {*table} or {*map(composed, table["label"])} - {*final.labels}:
        raise ModelError(f"{folder / CURVES} does not fit the model; restore the file, or refit the model.")
    return table.assign(label=table["label"].map(composed))


def _categories(stored: dict[str, Any] | None) -> Categories | None:
    if stored is None:
        return None
    values = {composed(str(column)): tuple(map(str, values)) for column, values in stored["values"].items()}
    return Categories(stored["encoding"], values)
