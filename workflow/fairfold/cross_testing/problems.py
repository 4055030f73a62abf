"""The data that procedures take: one class per sample, or several labels, of which some may be hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import check_array

from fairfold.arrays import Matrix
from fairfold.cross_testing.engines import Engine
from fairfold.cross_testing.estimator_engine import EstimatorEngine, Scoring
from fairfold.cross_testing.multilabel_engine import LabelScore, LabelScoring, MultilabelEngine
from fairfold.cross_testing.plans import TEST, Plan
from fairfold.cross_testing.svm_engine import SVMEngine
from fairfold.errors import DataError, SplitError, first_sentence
from fairfold.evaluation.scores import multilabel_scores
from fairfold.folds import MakeFolds, check_folds, fold_of_parts, parts_by, stratified_folds, unstratified_folds
from fairfold.validation import check_dense_binary


class HasAssign(Protocol):
    """A splitter, such as those of :mod:`fairfold.splitting`."""

    def assign(self, Y: Any) -> np.ndarray:
        """Fold of each sample."""


class HasSplit(Protocol):
    """A splitter, such as those of scikit-learn."""

    def split(self, X: Any, y: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Training and test samples of each fold."""


_ONE_CLASS = (
    "give the class of each sample, as whole numbers or as text; several labels are one column of 0/1 each, as "
    "scikit-learn's MultiLabelBinarizer makes of lists"
)
Splitter = HasAssign | HasSplit | Callable[[np.ndarray, int], np.ndarray]


class ClassProblem:
    """One class per sample.

    Parameters
    ----------
    X, y, scoring : see :func:`~fairfold.cross_testing.procedures.nested_cross_validate`.

    Raises
    ------
    DataError
        For features that are not finite or constant, or classes that are no classes, too few, or of other length.
    """

    sign = 1

    def __init__(self, X: Matrix | ArrayLike, y: np.ndarray, scoring: Scoring) -> None:
        try:
            kind = type_of_target(y) if len(y) else "no"
        except (ValueError, TypeError) as error:
            raise DataError(f"{first_sentence(error)} in y: {_ONE_CLASS}.") from None
        self.X = _check_features(X, len(y))
        if kind not in ("binary", "multiclass"):
            raise DataError(f"y holds {kind} values: {_ONE_CLASS}.")
        if len(np.unique(y)) < 2:
            raise DataError(f"y holds the class {y[0]} only: give samples of two classes or more.")
        _check_variation(self.X)
        self.y = y
        self.scoring = scoring
        self.make_folds: MakeFolds = stratified_folds

    def check_folds(self, plan: Plan, n_splits: int) -> None:
        """Raise a :class:`SplitError` where a class has too few samples to be in every fold."""
        for purpose, fold_of in _dealt(plan):
            for label in np.unique(self.y):
                size = np.count_nonzero(self.y[fold_of >= 0] == label)
                if size < n_splits:
                    raise SplitError(
                        f"class {label} has {size} of the rows {purpose}, fewer than their {n_splits} folds: give more "
                        "of them, lower n_splits, or, where there is a test part, shuffle the rows or change "
                        "test_fraction."
                    )

    def engine(self, estimators: list[ClassifierMixin], n_jobs: int | None) -> Engine:
        """The fastest engine that gives these classifiers' results."""
        codes = np.unique(self.y, return_inverse=True)[1]
        if self.scoring == "accuracy" and (
            compiled := SVMEngine.for_candidates(estimators, self.X, codes, n_jobs=n_jobs)
        ):
            return compiled
        return EstimatorEngine(estimators, self.X, self.y, scoring=self.scoring, n_jobs=n_jobs)

    def scores_of_tests(self, tested: np.ndarray, fold: np.ndarray, codes: np.ndarray) -> dict[str, Any]:
        """What an outcome says of the predicted class codes of the tested rows."""
        predictions = np.unique(self.y)[codes]
        return {"predictions": predictions, "accuracy": float(np.mean(predictions == self.y[tested]))}


class LabelProblem:
    """Several labels per sample: those observed, which may lack true ones, and the true ones, to test on.

    Parameters
    ----------
    X, Y, Y_true, scoring, splitter : see :func:`~fairfold.cross_testing.procedures.nested_cross_validate`.

    Raises
    ------
    DataError
        For features that are not finite, labels that are not 0/1, or true labels of another shape or without an
        observed one.
    SplitError
        When the splitter is none.
    ModelError
        When there is no such score.
    """

    def __init__(
        self,
        X: Matrix | ArrayLike,
        Y: Matrix | ArrayLike,
        Y_true: Matrix | ArrayLike | None,
        scoring: LabelScoring,
        splitter: Splitter | None,
    ) -> None:
        self.y = _check_labels("Y", Y)
        self.truth = self.y if Y_true is None else _check_labels("Y_true", Y_true)
        if self.truth.shape != self.y.shape:
            raise DataError(f"Y has shape {self.y.shape} and Y_true {self.truth.shape}: give the same rows and labels.")
        row, label = np.nonzero(self.y > self.truth)
        if len(row):
            raise DataError(
                f"Y_true lacks {len(row)} labels that Y has, the first in row {row[0]}, column {label[0]}: labels may "
                "be hidden from Y, but not added to it."
            )
        self.X = _check_features(X, len(self.y))
        self.score = LabelScore(scoring)
        self.sign = self.score.sign
        self.make_folds: MakeFolds = unstratified_folds if splitter is None else _folds_by(splitter)

    def check_folds(self, plan: Plan, n_splits: int) -> None:
        """Raise a :class:`SplitError` where there are fewer rows than folds."""
        for purpose, fold_of in _dealt(plan):
            sizes = np.bincount(fold_of[fold_of >= 0], minlength=n_splits)
            if not sizes.all():
                raise SplitError(
                    f"fold {sizes.argmin()} of the {sizes.sum()} rows {purpose} is empty: give more rows, lower "
                    f"n_splits, which is {n_splits}, or change test_fraction."
                )

    def engine(self, estimators: list[ClassifierMixin], n_jobs: int | None) -> Engine:
        """What trains and tests these classifiers."""
        return MultilabelEngine(estimators, self.X, self.y, self.truth, scoring=self.score.scoring, n_jobs=n_jobs)

    def scores_of_tests(self, tested: np.ndarray, fold: np.ndarray, P: np.ndarray) -> dict[str, Any]:
        """What an outcome says of the predicted probabilities of the tested rows."""
        truth, observed = self.truth[tested], self.y[tested]
        of_folds = [self.score(observed[fold == test], P[fold == test]) for test in range(fold.max() + 1)]
        return {
            "predictions": P,
            "accuracy": float(np.mean(((P > 0.5) == truth).all(axis=1))),
            "observed_score": float(np.average(of_folds, weights=np.bincount(fold))),
            "scores": multilabel_scores(truth, P),
        }


def as_problem(
    X: Matrix | ArrayLike,
    y: Matrix | ArrayLike,
    Y_true: Matrix | ArrayLike | None,
    scoring: Scoring | LabelScoring,
    splitter: Splitter | None,
) -> ClassProblem | LabelProblem:
    """The kind of data that ``y`` makes it, checked."""
    if not sparse.issparse(y):
        try:
            y = np.asarray(y)
        except ValueError:
            return LabelProblem(X, y, Y_true, scoring, splitter)  # it says what is wrong with rows of unequal length
        if y.ndim not in (1, 2):
            raise DataError(f"y has shape {y.shape}: give one class per sample, or one column of 0/1 per label.")
        if y.ndim == 1:
            if Y_true is not None or splitter is not None:
                raise DataError(
                    "y has one class per sample: Y_true and splitter are for several labels, one column of 0/1 each."
                )
            return ClassProblem(X, y, scoring)
    return LabelProblem(X, y, Y_true, scoring, splitter)


def _check_features(X: Matrix | ArrayLike, n_labelled: int) -> Matrix:
    """Features as floats, or a :class:`DataError` that says what is wrong with them."""
    try:
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    except (ValueError, TypeError) as error:
        raise DataError(f"{first_sentence(error)} in X: give a row of finite numbers per sample.") from None
    if X.shape[0] != n_labelled:
        raise DataError(f"X has {X.shape[0]} rows and y {n_labelled} labels: give one label per row.")
    return X


def _check_variation(X: Matrix) -> None:
    low, high = min_max_axis(X, axis=0) if sparse.issparse(X) else (X.min(axis=0), X.max(axis=0))
    constant = np.flatnonzero(low == high)
    if len(constant):
        raise DataError(
            f"{len(constant)} of {len(low)} features are constant, the first is column {constant[0]}, "
            f"{low[constant[0]] + 0.0:g} in every row: remove such columns."
        )


def _check_labels(name: str, Y: Matrix | ArrayLike) -> np.ndarray:
    """Labels as a dense matrix of int8."""
    Y = check_dense_binary(Y, name, DataError)
    if Y.ndim != 2 or Y.size == 0:
        raise DataError(f"{name} has shape {Y.shape}: give one row per sample and one column of 0/1 per label.")
    return Y.astype(np.int8)


def _folds_by(splitter: Splitter) -> MakeFolds:
    """A splitter in the place of :func:`~fairfold.folds.stratified_folds`."""
    is_splitter = hasattr(splitter, "assign") or hasattr(splitter, "split") or callable(splitter)
    if isinstance(splitter, type | str) or not is_splitter:
        raise SplitError(
            f"splitter is {splitter!r}: give an object (not a class) with assign(Y) or scikit-learn's split(X, y), or "
            "a callable (Y, seed)."
        )

    def fold_of(Y: np.ndarray, seed: int) -> ArrayLike:
        if hasattr(splitter, "assign"):
            return splitter.assign(Y)
        if hasattr(splitter, "split"):
            return fold_of_parts(parts_by(splitter, np.zeros((len(Y), 1)), Y), len(Y))
        return splitter(Y, seed)

    def make(Y: np.ndarray, n_splits: int, rng: np.random.Generator) -> np.ndarray:
        seed = int(rng.integers(2**32))
        try:
            return check_folds(fold_of(Y, seed), len(Y), n_splits)[0]
        except SplitError as error:
            raise SplitError(f"splitter {splitter!r} of {len(Y)} rows into n_splits={n_splits}: {error}") from error

    return make


def _dealt(plan: Plan) -> Iterator[tuple[str, np.ndarray]]:
    """What rows were split into folds for, and the fold of each, -1 where there is none."""
    for inner_fold in plan.inner_fold:
        yield "to choose by", inner_fold
    if len(plan.role) > 1:
        is_test = plan.role == TEST
        yield "to test", np.where(is_test.any(axis=0), is_test.argmax(axis=0), -1)
