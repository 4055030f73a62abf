"""Data of the procedures: one class per sample, or multiple labels that may be partly hidden."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import assert_all_finite, check_array, column_or_1d

from fairfold.core.arrays import Matrix
from fairfold.core.folds import MakeFolds, check_folds, fold_of_parts, parts_by, stratified_folds, unstratified_folds
from fairfold.core.groups import Exchange, SampleMetadata, group_codes
from fairfold.core.seeds import seed_sequence
from fairfold.core.validation import check_dense_binary, check_weights, has_unmeasured, with_nan
from fairfold.cross_testing.estimator_engine import EstimatorEngine, Scoring
from fairfold.cross_testing.multilabel_engine import LabelScore, LabelScoring, MultilabelEngine, subset_accuracy
from fairfold.cross_testing.plans import TEST, Engine, Plan
from fairfold.cross_testing.svm_engine import SVMEngine
from fairfold.datasets.typed import TypedSamples
from fairfold.errors import DataError, ModelError, SplitError, first_sentence
from fairfold.metrics.scores import multilabel_scores

_ONE_CLASS = "Give one class per sample, or one column of 0/1 per label (see scikit-learn's MultiLabelBinarizer)."
Splitter = Any
"""Object with ``assign(Y)``, such as a splitter of :mod:`fairfold.splitting`, or with ``split(X, y)``, or a callable
``(Y, seed)``."""

TestPart = Literal["last", "drawn"]
MAX_SPLITS = np.iinfo(np.int8).max  # The folds of a plan are int8.


@dataclass(frozen=True)
class Settings:
    """Settings that the three procedures share; see :func:`~fairfold.cross_testing.nested_cross_validate`."""

    n_splits: int = 5
    n_permutations: int = 0
    scoring: Scoring | LabelScoring = "accuracy"
    n_jobs: int | None = 1
    random_state: int | None = None
    splitter: Splitter | None = None
    Y_true: Matrix | ArrayLike | None = None
    groups: ArrayLike | None = None
    exchange: Exchange = "groups"
    sample_weight: ArrayLike | None = None
    n_inner_splits: int | None = None

    def __post_init__(self) -> None:
        for name, n_splits in (("n_splits", self.n_splits), ("n_inner_splits", self.n_inner)):
            if not _is_whole(n_splits) or not 2 <= n_splits <= MAX_SPLITS:
                raise SplitError(f"{name}: found {n_splits!r}. Give a whole number from 2 to {MAX_SPLITS}.")
        if not _is_whole(self.n_permutations) or self.n_permutations < 0:
            raise ModelError(f"n_permutations: found {self.n_permutations!r}. Give a whole number, 0 for no test.")
        if self.n_jobs is not None and (not _is_whole(self.n_jobs) or self.n_jobs == 0):
            raise ModelError(f"n_jobs: found {self.n_jobs!r}. Give a number of processes, or -1 for one per core.")
        if self.random_state is not None and not _is_whole(self.random_state):
            raise ModelError(f"random_state: found {self.random_state!r}. Give a whole number, or None for a new seed.")

    @property
    def n_inner(self) -> int:
        """Number of folds by which a candidate is chosen."""
        return self.n_splits if self.n_inner_splits is None else self.n_inner_splits

    def rngs(self) -> dict[str, np.random.Generator]:
        """Create a separate stream of random numbers for each purpose.

        The number of values drawn from one stream therefore does not affect the others.

        Returns
        -------
        dict of str to numpy.random.Generator
            Streams ``folds``, ``permutations``, ``draw`` and ``test part``.

        Examples
        --------
        >>> sorted(Settings(random_state=0).rngs())
        ['draw', 'folds', 'permutations', 'test part']
        """
        seed = secrets.randbits(32) if self.random_state is None else self.random_state
        uses = ("folds", "permutations", "draw", "test part")
        return {use: np.random.default_rng(seed_sequence(seed, use)) for use in uses}


@dataclass(frozen=True)
class HoldoutSettings(Settings):
    """Settings of procedures with a test part; see :func:`~fairfold.cross_testing.cross_validate_and_test`."""

    test_fraction: float = 0.5
    test_part: TestPart = "last"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.test_part not in get_args(TestPart):
            raise SplitError(f"test_part: found {self.test_part!r}. Give 'last' or 'drawn'.")
        fraction = self.test_fraction
        if isinstance(fraction, bool) or not isinstance(fraction, Real) or not 0 < fraction < 1:
            raise SplitError(f"test_fraction: found {fraction!r}. Give the share of the rows, between 0 and 1.")


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


class ClassProblem:
    """Data with one class per sample.

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Class of each sample.
    settings : Settings
        Settings of the procedures.

    Raises
    ------
    DataError
        If features are constant or not finite, or if ``y`` has another length, fewer than two classes or values that
        are not classes.
    """

    sign, groups, weights = 1, None, None

    def __init__(self, X: Matrix | ArrayLike, y: np.ndarray, settings: Settings) -> None:
        try:
            kind = type_of_target(y) if len(y) else "no"
        except (ValueError, TypeError) as error:
            raise DataError(f"y: {first_sentence(error)}. {_ONE_CLASS}") from None
        self.X = _check_features(X, len(y))
        if kind not in ("binary", "multiclass"):
            raise DataError(f"y: found {kind} values. {_ONE_CLASS}")
        if len(np.unique(y)) < 2:
            raise DataError(f"y: found only class {y[0]}. Give samples of two or more classes.")
        low, high = min_max_axis(self.X, axis=0) if sparse.issparse(self.X) else (np.min(self.X, 0), np.max(self.X, 0))
        if len(constant := np.flatnonzero(low == high)):
            found = f"{len(constant)} of {len(low)} features are constant (value {low[constant[0]] + 0.0:g})"
            raise DataError(f"X, column {constant[0]}: {found}. Remove constant columns.")
        self.y = self.units = y
        self.settings = settings
        self.make_folds: MakeFolds = stratified_folds

    def check_folds(self, plan: Plan) -> None:
        """Check that each class has enough samples for all folds.

        Parameters
        ----------
        plan : Plan
            Plan to check.

        Raises
        ------
        SplitError
            If a class has fewer samples than there are folds.
        """
        for purpose, fold_of, n_splits in _dealt(plan, self.settings):
            for label in np.unique(self.y):
                size = np.count_nonzero(self.y[fold_of >= 0] == label)
                if size < n_splits:
                    raise SplitError(
                        f"y: class {label} has {size} of the rows {purpose}, fewer than the {n_splits} folds. Add "
                        "rows, use fewer folds, or, with a test part, draw it or change test_fraction."
                    )

    def engine(self, estimators: list[ClassifierMixin]) -> Engine:
        """Return the fastest engine that supports these classifiers.

        Parameters
        ----------
        estimators : list of ClassifierMixin
            Unfitted classifiers.

        Returns
        -------
        Engine
            Compiled engine for support vector machines if possible, or the engine for any classifier.
        """
        codes, n_jobs = np.unique(self.y, return_inverse=True)[1], self.settings.n_jobs
        if self.settings.scoring == "accuracy":
            compiled = SVMEngine.for_candidates(estimators, self.X, codes, n_jobs=n_jobs)
            if compiled is not None:
                return compiled
        return EstimatorEngine(estimators, self.X, self.y, scoring=self.settings.scoring, n_jobs=n_jobs)

    def scores_of_tests(self, tested: np.ndarray, fold: np.ndarray, codes: np.ndarray) -> dict[str, Any]:
        """Compute the predictions and the accuracy of an outcome.

        Parameters
        ----------
        tested : ndarray of int64 of shape (n_tested,)
            Tested rows.
        fold : ndarray of int64 of shape (n_tested,)
            Test of each prediction. Ignored.
        codes : ndarray of int of shape (n_tested,)
            Predicted class codes.

        Returns
        -------
        dict of str to object
            ``predictions`` and ``accuracy``.
        """
        predictions = np.unique(self.y)[codes]
        return {"predictions": predictions, "accuracy": float(np.mean(predictions == self.y[tested]))}


class _FilledFolds:
    """Problem whose folds need samples of no particular class."""

    settings: Settings

    def check_folds(self, plan: Plan) -> None:
        """Check that no fold is empty.

        Parameters
        ----------
        plan : Plan
            Folds and roles of the rows.

        Raises
        ------
        SplitError
            If a fold is empty.
        """
        for purpose, fold_of, n_splits in _dealt(plan, self.settings):
            sizes = np.bincount(fold_of[fold_of >= 0], minlength=n_splits)
            if not sizes.all():
                found = f"fold {sizes.argmin()} of the {sizes.sum()} rows {purpose} is empty"
                raise SplitError(f"n_splits: {found}. Give more rows, use fewer folds or change test_fraction.")


class LabelProblem(_FilledFolds):
    """Data with multiple labels per sample: observed labels, and true labels for the tests.

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        Features, NaN if missing.
    Y : {array-like, CSR matrix} of shape (n_samples, n_labels)
        Observed labels, 0 or 1, or NaN if unmeasured.
    settings : Settings
        Settings of the procedures, with the true labels ``Y_true``.

    Attributes
    ----------
    units : ndarray
        Input for the functions that make folds. Without groups, these are the labels of each sample. With groups, these
        are the numbers of the groups in the order of their first samples.
    groups : ndarray of shape (n_samples,) or None
        Number of the group of each sample.
    weights : ndarray of shape (n_samples,) or None
        Weight of each sample, with a mean of 1.

    Raises
    ------
    DataError
        If features are infinite, labels are not 0 or 1, or true labels have another shape or lack an observed label.
    SplitError
        If the splitter is invalid.
    ModelError
        If the score is unknown, or groups or weights are invalid.
    """

    def __init__(self, X: Matrix | ArrayLike, Y: Matrix | ArrayLike, settings: Settings) -> None:
        self.settings, self.y = settings, _check_labels("Y", Y)
        self.truth = self.y if settings.Y_true is None else _check_labels("Y_true", settings.Y_true)
        if self.truth.shape != self.y.shape:
            raise DataError(f"Y_true: found shape {self.truth.shape}, but Y has {self.y.shape}. Give equal shapes.")
        row, label = np.nonzero((self.y == 1) & (self.truth != 1))
        if len(row):
            raise DataError(
                f"Y_true, row {row[0]}, column {label[0]}: the label is positive in Y only ({len(row)} such labels). "
                "Positive labels of Y must be positive in Y_true."
            )
        self.X = _check_features(X, len(self.y), gaps=True)
        self.score = LabelScore(settings.scoring)
        self.sign = self.score.sign
        self.groups = None if settings.groups is None else _in_order(group_codes(settings.groups, len(self.y)))
        self.weights = check_weights(settings.sample_weight, len(self.y), ModelError)
        self.units = self.y if self.groups is None else np.arange(self.groups.max() + 1)
        self.make_folds: MakeFolds = unstratified_folds
        if settings.splitter is not None:
            self.make_folds = _folds_by(settings.splitter, self.y, self.groups)

    def engine(self, estimators: list[ClassifierMixin]) -> Engine:
        """Return the engine that trains and tests these classifiers.

        Parameters
        ----------
        estimators : list of ClassifierMixin
            Unfitted classifiers.

        Returns
        -------
        MultilabelEngine
            Engine for these classifiers and this data.

        Raises
        ------
        ModelError
            If labels are unmeasured and a classifier does not accept this.
        """
        ready = [getattr(estimator, "accepts_unmeasured", False) for estimator in estimators]
        if has_unmeasured(self.y) and not all(ready):
            name = type(estimators[ready.index(False)]).__name__
            raise ModelError(
                f"Y: candidate {name} does not accept unmeasured labels. Wrap it in OneLevelModel of "
                "fairfold.models.one_level, which fits each label to the samples where it is measured."
            )
        data, metadata = (estimators, self.X, self.y, self.truth), SampleMetadata(self.groups, self.weights)
        scoring, n_jobs = self.settings.scoring, self.settings.n_jobs
        return MultilabelEngine(*data, metadata=metadata, scoring=scoring, n_jobs=n_jobs)

    def scores_of_tests(self, tested: np.ndarray, fold: np.ndarray, P: np.ndarray) -> dict[str, Any]:
        """Compute the predictions and scores of an outcome.

        Parameters
        ----------
        tested : ndarray of int64 of shape (n_tested,)
            Tested rows.
        fold : ndarray of int64 of shape (n_tested,)
            Test of each prediction.
        P : ndarray of shape (n_tested, n_labels)
            Predicted probabilities.

        Returns
        -------
        dict of str to object
            ``predictions``, ``accuracy``, ``observed_score`` and ``scores``.
        """
        truth, observed = self.truth[tested], self.y[tested]
        weights = None if self.weights is None else self.weights[tested]
        of_folds = [
            self.score(observed[rows], P[rows], None if weights is None else weights[rows])
            for rows in (fold == test for test in range(fold.max() + 1))
        ]
        return {
            "predictions": P,
            "accuracy": subset_accuracy(truth, P, weights),
            "observed_score": float(np.average(of_folds, weights=np.bincount(fold, weights))),
            "scores": multilabel_scores(truth, P, sample_weight=weights),
        }


class NumberProblem(_FilledFolds):
    """Data with one number per sample, for regressors.

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Number of each sample.
    settings : Settings
        Settings of the procedures.

    Raises
    ------
    StudyError
        ``DataError`` if features or numbers are not finite, ``ModelError`` without a score for regressors.
    """

    sign, groups, weights = 1, None, None
    make_folds: MakeFolds = staticmethod(unstratified_folds)

    def __init__(self, X: Matrix | ArrayLike, y: ArrayLike, settings: Settings) -> None:
        if settings.scoring == "accuracy":
            raise ModelError("scoring: regressors have no accuracy. Give a score such as 'r2' or a callable.")
        try:
            self.y = self.units = column_or_1d(y, dtype=np.float64)
            assert_all_finite(self.y)
        except (ValueError, TypeError) as error:
            raise DataError(f"y: {first_sentence(error)}. Give one finite number per sample.") from None
        self.X, self.settings = _check_features(X, len(self.y)), settings

    def engine(self, estimators: list[ClassifierMixin]) -> Engine:
        """Return the engine that trains and tests these regressors."""
        return EstimatorEngine(estimators, self.X, self.y, scoring=self.settings.scoring, n_jobs=self.settings.n_jobs)

    def scores_of_tests(self, tested: np.ndarray, fold: np.ndarray, predictions: np.ndarray) -> dict[str, Any]:
        """Return the predictions of an outcome; regressors have no accuracy."""
        return {"predictions": predictions, "accuracy": np.nan}


AnyProblem = ClassProblem | LabelProblem | NumberProblem


def as_problem(
    X: Matrix | ArrayLike, y: Matrix | ArrayLike, settings: Settings, *, for_regressors: bool = False
) -> AnyProblem:
    """Check the data and create the problem that matches ``y``: single classes, numbers or multiple labels.

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,), or {array-like, CSR matrix} of shape (n_samples, n_labels)
        Classes, or labels.
    settings : Settings
        Settings of the procedures.
    for_regressors : bool, default=False
        Whether the candidates are regressors.

    Returns
    -------
    ClassProblem, NumberProblem or LabelProblem
        Checked data.

    Raises
    ------
    StudyError
        ``DataError``, ``SplitError`` or ``ModelError`` for invalid data or settings.

    Examples
    --------
    >>> type(as_problem([[0.0], [1.0]], ["no", "yes"], Settings())).__name__
    'ClassProblem'
    >>> type(as_problem([[0.0], [1.0]], [[0, 1], [1, 1]], Settings())).__name__
    'LabelProblem'
    """
    if sparse.issparse(y) and not for_regressors:
        return LabelProblem(X, y, settings)
    try:
        values = np.asarray(y)
    except ValueError:
        return LabelProblem(X, y, settings)  # LabelProblem raises the error about rows of unequal length.
    if values.ndim != 1 and not for_regressors:
        return LabelProblem(X, y, settings)
    if np.ma.is_masked(y):
        raise DataError("y: some samples have no class, as they are masked. Leave these samples out.")
    of_labels = settings.Y_true, settings.splitter, settings.groups, settings.sample_weight
    if any(option is not None for option in of_labels):
        found = "Y_true, splitter, groups and sample_weight need several labels"
        raise DataError(f"y: {found}, but y has one class per sample. Give one column of 0/1 per label.")
    return NumberProblem(X, values, settings) if for_regressors else ClassProblem(X, values, settings)


def _check_features(X: Matrix | ArrayLike, n_labeled: int, *, gaps: bool = False) -> Matrix:
    """Return features as floats, with NaN for missing values if ``gaps`` is true, or typed samples as they are."""
    if isinstance(X, TypedSamples) and gaps and len(X) == n_labeled:
        return X
    finite = "allow-nan" if gaps else True
    try:
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=finite)
    except (ValueError, TypeError) as error:
        raise DataError(f"X: {first_sentence(error)}. Give a row of finite numbers per sample.") from None
    if X.shape[0] != n_labeled:
        raise DataError(f"X: found {X.shape[0]} rows, but y has {n_labeled}. Give one row per sample.")
    return X


def _check_labels(name: str, Y: Matrix | ArrayLike) -> np.ndarray:
    """Return the labels as a dense matrix: int8, or float32 with NaN for unmeasured labels."""
    Y = check_dense_binary(Y, name, DataError, unmeasured=True)
    if Y.ndim != 2 or Y.size == 0:
        raise DataError(f"{name}: found shape {Y.shape}. Give one row per sample and one column of 0/1 per label.")
    return with_nan(Y.astype(np.int8))


def _in_order(groups: np.ndarray) -> np.ndarray:
    """Renumber groups in the order of their first samples."""
    first = np.unique(groups, return_index=True)[1]
    return np.argsort(np.argsort(first))[groups]


def _folds_by(splitter: Splitter, y: np.ndarray, groups: np.ndarray | None) -> MakeFolds:
    """Convert a splitter to a function like ``stratified_folds``, for samples or for groups."""
    is_splitter = hasattr(splitter, "assign") or hasattr(splitter, "split") or callable(splitter)
    if isinstance(splitter, type | str) or not is_splitter:
        raise SplitError(
            f"splitter: found {splitter!r}. Give an object (not a class) with assign(Y) or scikit-learn's split(X, y), "
            "or a callable (Y, seed)."
        )

    def fold_of(Y: np.ndarray, seed: int, of_groups: tuple[np.ndarray, ...]) -> ArrayLike:
        if hasattr(splitter, "assign"):
            return splitter.assign(Y, *of_groups)
        if hasattr(splitter, "split"):
            return fold_of_parts(parts_by(splitter, np.zeros((len(Y), 1)), Y, *of_groups), len(Y))
        return splitter(Y, seed, *of_groups)

    def make(units: np.ndarray, n_splits: int, rng: np.random.Generator) -> np.ndarray:
        seed, Y = int(rng.integers(2**32)), units
        of_groups: tuple[np.ndarray, ...] = ()
        if groups is not None:
            is_in = np.isin(groups, units)
            Y, of_groups = y[is_in], (groups[is_in],)
        try:
            folds = check_folds(fold_of(Y, seed, of_groups), len(Y), n_splits)[0]
            return _folds_of_groups(folds, of_groups[0]) if of_groups else folds
        except SplitError as error:
            name = getattr(splitter, "__name__", splitter)  # The name of a function, not its address.
            raise SplitError(f"splitter {name} of {len(Y)} rows into n_splits={n_splits}: {error}") from error

    return make


def _folds_of_groups(fold_of: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the fold of each group, by number, from the folds of the samples."""
    first, codes = np.unique(groups, return_index=True, return_inverse=True)[1:]
    if (apart := fold_of[first][codes] != fold_of).any():
        raise SplitError(f"row {apart.argmax()} is in another fold than its group. Keep each group in one fold.")
    return fold_of[first]


def _dealt(plan: Plan, settings: Settings) -> Iterator[tuple[str, np.ndarray, int]]:
    """Generate the purpose of each split, the fold of each row, -1 for rows without one, and the number of folds."""
    for inner_fold in plan.inner_fold:
        yield "to choose by", inner_fold, settings.n_inner
    if len(plan.role) > 1:
        is_test = plan.role == TEST
        yield "to test", np.where(is_test.any(axis=0), is_test.argmax(axis=0), -1), settings.n_splits
