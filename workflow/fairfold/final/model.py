"""A fitted model with the names of its columns, in a folder of its own."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import ClassifierMixin

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.files import atomic_open, read_arrays, write_arrays
from fairfold.core.groups import OfSamples
from fairfold.core.seeds import seed_for
from fairfold.core.threads import set_n_jobs
from fairfold.datasets import Dataset
from fairfold.datasets.categories import Categories
from fairfold.datasets.decimals import Learned
from fairfold.datasets.formats import check_unique
from fairfold.datasets.names import composed
from fairfold.errors import DataError, ModelError, shortened
from fairfold.evaluation.fold_scores import labels_for
from fairfold.models import load_model, make_model

MODEL, COLUMNS, CARD, PROBE = "model.fairfold", "columns.json", "README.md", "probe.npz"
N_PROBES = 5
SAME = 1e-9  # apart from the rounding of another processor
FORMAT = 1
KINDS = ("probability", "posterior", "decision")


@dataclass(frozen=True, eq=False)
class FinalModel:
    """A fitted model and the names of its columns.

    Attributes
    ----------
    dataset, name : what it was fitted on, and its name among the models.
    model : fitted.
    features, labels : names, in the order of its columns.
    identifier : name of the column that tells samples apart, or None.
    categories : what columns of text became features, the last ones, or None.
    probe : (n_rows, n_features) made-up samples, within the range of each feature, and what the model says of them,
        (n_rows, n_labels); by these another machine sees whether it has the same model. None for no such test.
    missing_value : text that stands for a missing feature, besides the usual ones, or None.
    learned : how the numbers of the study's table were written, by which new tables are read, or None.
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

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns of numbers that the model needs, in the order of its features."""
        return self.features[: len(self.features) - len(self.categories.features)] if self.categories else self.features

    @property
    def text(self) -> tuple[str, ...]:
        """Columns of text that the model needs."""
        return tuple(self.categories.values) if self.categories else ()

    def save(self, folder: str | Path) -> None:
        """Write ``model.fairfold``, ``columns.json`` and, if there is one, ``probe.npz``.

        Parameters
        ----------
        folder : is made where it is not there.
        """
        self.model.save(Path(folder) / MODEL)
        if self.probe is not None:
            X, P = self.probe
            dense = X.toarray() if sparse.issparse(X) else X
            write_arrays(Path(folder) / PROBE, X=dense, P=P, is_sparse=np.array(sparse.issparse(X)))
        fields = ("dataset", "name", "features", "labels", "identifier", "categories", "missing_value")
        parts = {"format": FORMAT, **{name: getattr(self, name) for name in fields}, "numbers": self.learned}
        with atomic_open(Path(folder) / COLUMNS, "w", encoding="utf-8") as stream:
            json.dump(parts, stream, indent=1, ensure_ascii=False, default=asdict)

    def predict(
        self, table: pd.DataFrame | Matrix, *, objective: str | None = None, by: Literal["pooled", "label"] = "pooled"
    ) -> dict[str, pd.DataFrame]:
        """What the model says of new samples.

        Parameters
        ----------
        table : a frame with a column for each feature, by name, in any order and among others; or
            (n_samples, n_features) numbers in the order of ``features``.
        objective, by : what decisions are for; as of the models' ``predict``.

        Returns
        -------
        dict of frames (n_samples, n_labels)
            ``probability`` that a label would be observed in data as incomplete as those that the model learned from;
            ``posterior``, that it is positive; ``decision``, 0 or 1. The first two are the same for a model that is not
            corrected for missing labels.

        Raises
        ------
        DataError
            When a feature has no column, or a cell is infinite or no number; it may be missing.
        ModelError
            When there is an objective, and the model has no calibrated probabilities.
        """
        index = table.index if isinstance(table, pd.DataFrame) else None
        X = self._numbers(table) if isinstance(table, pd.DataFrame) else table
        posterior = _array(self.model.predict_proba(X))
        knows_observed = getattr(self.model, "predict_observed_proba", None)
        found = {
            "probability": posterior if knows_observed is None else _array(knows_observed(X)),
            "posterior": posterior,
            "decision": _array(self.model.predict(X, objective=objective, by=by)),
        }
        return {kind: pd.DataFrame(values, index=index, columns=list(self.labels)) for kind, values in found.items()}

    def check_columns(self, columns: Sequence[str], source: str) -> None:
        """Raise for features that have no column.

        Parameters
        ----------
        columns : names that a table has.
        source : what a message calls the table.

        Raises
        ------
        DataError
        """
        wanted, known = [*self.numeric, *self.text], set(map(composed, columns))
        missing = [name for name in wanted if name not in known]
        if missing:
            raise DataError(
                f"{source} lacks {len(missing)} of the {len(wanted)} columns that {self.name} was fitted on "
                f"({shortened(missing, 5)}); columns are matched by name: add or rename them."
            )

    def _numbers(self, table: pd.DataFrame) -> np.ndarray:
        table = table.set_axis([composed(str(name)) for name in table.columns], axis=1)
        check_unique([name for name in table.columns if name in {*self.numeric, *self.text}], "the table")
        self.check_columns(table.columns, "the table")
        try:
            X = table.loc[:, list(self.numeric)].to_numpy(dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"the table has features that are no numbers ({error}); encode them as numbers.") from None
        with contextlib.suppress(TypeError, ValueError):  # there is none, or it is no number
            X = np.where(float(self.missing_value) == X, np.nan, X)
        wrong = np.argwhere(np.isinf(X))
        if len(wrong):
            row, column = wrong[0]
            raise DataError(
                f"the table, row {row + 1}, column {self.numeric[column]!r}: found {X[row, column]}, but features "
                f"must be finite or missing ({len(wrong)} cells are neither); correct them or leave the rows out."
            )
        if self.categories is None:
            return X
        cells = table[list(self.text)].astype(object).fillna("").astype(str).apply(lambda cells: cells.str.strip())
        text = {name: cells[name].replace({self.missing_value: ""}).to_numpy() for name in self.text}
        return np.hstack([X, self.categories.encode(text, "the table")])


def fit_final(data: Dataset, name: str, settings: dict[str, Any], *, seed: int, n_jobs: int = 1) -> FinalModel:
    """The model of this name, fitted on all rows.

    Parameters
    ----------
    data : of several labels.
    name : of a model.
    settings : of :func:`~fairfold.models.registry.make_model`.
    seed : of the study.
    n_jobs : threads. The model says nothing of them, so that it is the same for any number; it predicts with one.
    """
    random_state = seed_for(seed, "final", data.id)
    model = make_for(data, name, settings, n_jobs=n_jobs, random_state=random_state)
    model.fit(data.X, labels_for(model, data.Y), **OfSamples(data.groups, data.weights).as_options())
    set_n_jobs(model, 1)
    identifier = next(iter(data.left_out.get("id", ())), None)
    made_up = _made_up(data.X, random_state)
    probe = made_up, _array(model.predict_proba(made_up))
    columns = data.feature_names, data.label_names, identifier, data.categories
    learned = Learned(data.decimal_mark, _whole_columns(data))
    return FinalModel(data.id, name, model, *columns, probe, data.missing_value, learned)


def make_for(data: Dataset, name: str, settings: Mapping[str, Any], **options: Any) -> ClassifierMixin:
    """Make an unfitted model with these settings and what the dataset says about its labels and features."""
    known = {"negatives": data.negatives, "categories": data.category_columns, "hierarchy": data.hierarchy}
    return make_model(name, **settings, **known, **options)


def _whole_columns(data: Dataset) -> tuple[str, ...]:
    """Return the features that hold whole numbers only."""
    X = sparse.csc_array(data.X)
    stored = np.split(X.data, X.indptr[1:-1])
    return tuple(name for name, values in zip(data.feature_names, stored, strict=False) if not (values % 1 > 0).any())


def _array(predictions: Matrix) -> np.ndarray:
    """Predictions with a column of each label, as tables have them."""
    return np.asarray(to_dense(predictions, "predictions", ModelError))


def _made_up(X: Matrix, seed: int) -> Matrix:
    """``N_PROBES`` samples, each feature between its least and its largest value."""
    if sparse.issparse(X):
        low, high = (bound.toarray().ravel() for bound in (X.min(axis=0), X.max(axis=0)))
    else:  # 0 where all are missing
        low, high = (np.nan_to_num(bound.reduce(X, axis=0)) for bound in (np.fmin, np.fmax))
    made_up = np.random.default_rng(seed).uniform(low, high, size=(N_PROBES, X.shape[1]))
    return sparse.csr_array(made_up) if sparse.issparse(X) else made_up


def load_final(folder: str | Path, *, n_jobs: int = 1) -> FinalModel:
    """A model to take home, as the study's target ``final`` made it.

    Parameters
    ----------
    folder : of the model, ``results/final/<dataset>``.
    n_jobs : threads that it predicts with, as of scikit-learn's estimators; any number gives the same.

    Returns
    -------
    FinalModel

    Raises
    ------
    ModelError
        When a file is missing or damaged, or was written by another version; or when the model predicts other numbers
        here than where it was fitted, as it may with other versions of the libraries that it is made of.
    """
    path = Path(folder) / COLUMNS
    try:
        parts = json.loads(path.read_text(encoding="utf-8"))
        if parts["format"] != FORMAT:
            raise ModelError(f"{path} has format {parts['format']!r}, not {FORMAT}; fit the model again.")
        features, labels = (tuple(composed(str(name)) for name in parts[key]) for key in ("features", "labels"))
        dataset, name, identifier = str(parts["dataset"]), str(parts["name"]), parts["identifier"]
        identifier = identifier and composed(identifier)
        categories, missing_value = _categories(parts["categories"]), parts.get("missing_value")
        learned = Learned(**numbers) if (numbers := parts.get("numbers")) else None
    except OSError as error:
        raise ModelError(
            f"{folder} is no model to take home ({COLUMNS}: {error.strerror}); `python -m fairfold study` with "
            "--final, or `snakemake final`, makes one under results/final/."
        ) from None
    except (ValueError, TypeError, KeyError) as error:
        raise ModelError(f"{path} is damaged ({error!r}); fit the model again.") from None
    model = load_model(Path(folder) / MODEL)
    set_n_jobs(model, n_jobs)
    if len(labels) != len(model.classes_):
        raise ModelError(f"{path} names {len(labels)} labels, but {MODEL} has {len(model.classes_)}; fit it again.")
    probe = _checked_probe(Path(folder), model, len(features))
    return FinalModel(dataset, name, model, features, labels, identifier, categories, probe, missing_value, learned)


def _checked_probe(folder: Path, model: ClassifierMixin, n_features: int) -> tuple[Matrix, np.ndarray] | None:
    if not (folder / PROBE).exists():
        return None
    try:
        arrays = read_arrays(folder / PROBE, "made by fairfold")
        X, P = arrays["X"], arrays["P"]
        if X.shape != (len(P), n_features) or P.shape != (len(P), len(model.classes_)):
            raise ValueError(f"shapes {X.shape} and {P.shape}")
        X = sparse.csr_array(X) if arrays["is_sparse"] else X
    except (DataError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ModelError(f"{folder / PROBE} is damaged ({error}); fit the model again.") from None
    difference = np.abs(_array(model.predict_proba(X)) - P).max(initial=0.0)
    if not difference <= SAME:
        raise ModelError(
            f"{folder / MODEL} predicts other numbers here than where it was fitted (by up to {difference:.2g}): use "
            "the versions of Python and of the libraries that its card names, or fit it again."
        )
    return X, P


def _categories(stored: dict[str, Any] | None) -> Categories | None:
    if stored is None:
        return None
    values = {composed(str(column)): tuple(map(str, values)) for column, values in stored["values"].items()}
    return Categories(stored["encoding"], values)
