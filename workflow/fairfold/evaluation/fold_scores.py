"""Scores on test folds, by cascade level, and out-of-fold predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any, NamedTuple, Protocol

import joblib
import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, finite_rows, quotient, to_dense, with_data
from fairfold.core.defaults import SCORE, THRESHOLD
from fairfold.core.files import read_arrays, write_arrays
from fairfold.core.folds import parts_of, share_tested
from fairfold.core.groups import SampleMetadata
from fairfold.core.usage import cpu_seconds
from fairfold.core.validation import check_weights
from fairfold.errors import DataError, ModelError, StudyError, check_name
from fairfold.metrics.decisions import is_decided
from fairfold.metrics.registry import BASIC_METRICS, FURTHER_METRICS
from fairfold.metrics.scores import multilabel_scores

MANY_SAMPLES = 20_000
"""Number of samples from which on out-of-fold predictions are stored in single precision, which halves their files."""

_PARTS = ("data", "indices", "indptr", "shape")
_Row = tuple[int, bool, str, float, float, str]  # level, is_final, metric, value, observed_value, reason


class FinalPredictions(NamedTuple):
    """Out-of-fold predictions of one model. Each sample is predicted by a model that was trained without its fold.

    For a cascade, each metric selects one level in each fold. Only the probabilities at selected levels are kept.

    Attributes
    ----------
    probabilities : ndarray of shape (n_kept, n_samples, n_labels) or csr_array of shape (n_kept · n_samples, n_labels)
        Probabilities, with NaN for samples without a prediction. A CSR array stacks the kept levels, and a row without
        a prediction stores one NaN, see :func:`~fairfold.core.arrays.finite_rows`.
    kept : ndarray of int of shape (n_metrics, n_folds)
        Index of the kept level that each metric selects in each fold. Metrics are in the order of ``BASIC_METRICS``. A
        further row belongs to the score of a study that is not one of them. It selects decisions of 0 and 1 instead of
        probabilities, if the model decides for that score.
    fold_of : ndarray of int of shape (n_samples,)
        Test fold of each sample, or -1 for a sample that is never tested.

    Notes
    -----
    For repeated cross-validation, ``fold_of`` has the shape (n_repeats, n_samples) and ``probabilities`` the shape
    (n_kept, n_repeats, n_samples, n_labels). ``kept`` contains the folds of all repeats, one repeat after the other.
    """

    probabilities: Matrix
    kept: np.ndarray
    fold_of: np.ndarray

    @classmethod
    def of_folds(
        cls,
        stages: Mapping[int, Mapping[int, Matrix]],
        best_levels: Mapping[int, Mapping[str, int]],
        fold_of: np.ndarray,
        n_labels: int,
        *,
        is_sparse: bool = False,
    ) -> FinalPredictions:
        """Collect the probabilities at the selected levels of all folds.

        Parameters
        ----------
        stages : mapping of int to mapping of int to matrix
            Probabilities of the test samples, by fold and level.
        best_levels : mapping of int to mapping of str to int
            Level that each metric selects, by fold and metric.
        fold_of : ndarray of int of shape (n_samples,) or (n_repeats, n_samples)
            Test fold of each sample.
        n_labels : int
            Number of labels.
        is_sparse : bool, default=False
            Whether a CSR array contains the missing predictions if there are no others, as for a model that fails.

        Returns
        -------
        FinalPredictions
            Out-of-fold predictions. Probabilities of ``MANY_SAMPLES`` and more samples are in single precision.
        """
        fold_of = fold_of[0] if fold_of.ndim == 2 and len(fold_of) == 1 else fold_of
        numbers = _numbers_of(fold_of)
        further = dict.fromkeys(metric for best in best_levels.values() for metric in best)
        metrics = list(dict.fromkeys([*BASIC_METRICS, *further]))
        kept = np.zeros((len(metrics), int(numbers.max(initial=-1)) + 1), dtype=np.int8)
        levels = {fold: sorted({best[metric] for metric in metrics}) for fold, best in best_levels.items()}
        for fold, of_fold in levels.items():
            kept[:, fold] = [of_fold.index(best_levels[fold][metric]) for metric in metrics]
        chosen = {fold: [stages[fold][level] for level in of_fold] for fold, of_fold in levels.items()}
        if any(chosen.values()):
            is_sparse = any(sparse.issparse(P) for of_fold in chosen.values() for P in of_fold)
        return cls((_stacked if is_sparse else _filled)(chosen, numbers, n_labels), kept, fold_of)

    def by(self, metric: str) -> Matrix:
        """Return the out-of-fold probabilities at the levels that a metric selects.

        For repeated cross-validation, the probabilities of a sample are averaged over the repeats. The mean depends
        less on the split, and all its models were trained without the sample. Do not use it to compute scores: an
        average of several models scores better than one model.

        Parameters
        ----------
        metric : str
            Name of a metric in ``BASIC_METRICS``.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_labels)
            Probabilities, with NaN for samples without a prediction.

        Raises
        ------
        DataError
            If the metric is unknown.
        """
        of_repeats = [self.of_repeat(number, metric) for number in range(len(np.atleast_2d(self.fold_of)))]
        return of_repeats[0] if len(of_repeats) == 1 else _mean_of_known(of_repeats)

    def of_repeat(self, number: int, metric: str) -> Matrix:
        """Return the out-of-fold probabilities of one cross-validation, at the levels that a metric selects.

        Parameters
        ----------
        number : int
            Number of the repeat, from 0.
        metric : str
            Name of a metric in ``BASIC_METRICS``, or the score of the study.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_labels)
            Probabilities, with NaN for samples without a prediction.
        """
        numbers = np.atleast_2d(_numbers_of(self.fold_of))
        places = np.arange(numbers.size).reshape(numbers.shape)
        return self._rows(self._kept_by(metric)[np.maximum(numbers[number], 0)], places[number])

    def in_fold(self, metric: str, fold: int) -> Matrix:
        """Return the probabilities of the test samples of a fold, at the level that a metric selects.

        Parameters
        ----------
        metric : str
            Name of a metric in ``BASIC_METRICS``.
        fold : int
            Number of the fold.

        Returns
        -------
        ndarray or csr_array of shape (n_tested, n_labels)
            Probabilities.

        Raises
        ------
        DataError
            If the metric is unknown.
        """
        return self._rows(self._kept_by(metric)[fold], np.flatnonzero(_numbers_of(self.fold_of) == fold))

    def _rows(self, kept: np.ndarray, places: np.ndarray) -> Matrix:
        """Return the probabilities of kept levels at positions among the samples of all repeats."""
        P = self.probabilities
        rows = P if sparse.issparse(P) else P.reshape(-1, P.shape[-1])
        return rows[kept.astype(np.int64) * self.fold_of.size + places]

    def _kept_by(self, metric: str) -> np.ndarray:
        names = list(BASIC_METRICS)
        if metric in FURTHER_METRICS and len(self.kept) > len(names):
            return self.kept[-1]
        check_name("metric", metric, BASIC_METRICS, DataError)
        return self.kept[names.index(metric)]

    def digest(self) -> str:
        """Compute a digest that is equal for identical predictions.

        Returns
        -------
        str
            Digest of the predictions.
        """
        return joblib.hash({name: np.ascontiguousarray(array) for name, array in self.to_arrays().items()})

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Convert the predictions to arrays that an ``.npz`` file can store.

        Returns
        -------
        dict of str to ndarray
            Arrays by name. A CSR array is split into four arrays.
        """
        arrays = self._asdict()
        if sparse.issparse(self.probabilities):
            P = arrays.pop("probabilities")
            arrays |= {f"probabilities_{part}": np.asarray(getattr(P, part)) for part in _PARTS}
        return arrays

    @classmethod
    def load(cls, path: str | PathLike, model: str) -> FinalPredictions:
        """Read the predictions of one model from a file that :func:`write_predictions` wrote.

        Parameters
        ----------
        path : str or path-like
            Path of the file.
        model : str
            Name of the model.

        Returns
        -------
        FinalPredictions
            Out-of-fold predictions of the model.

        Raises
        ------
        DataError
            If the file is missing.
        DamagedFileError
            If the file is damaged.
        KeyError
            If the file has no predictions of the model.
        """
        arrays = read_arrays(path, prefix=f"{model}/")
        P = arrays.get(f"{model}/probabilities")
        if P is None:
            *content, shape = (arrays[f"{model}/probabilities_{part}"] for part in _PARTS)
            P = sparse.csr_array(tuple(content), shape=tuple(shape))
        return cls(P, arrays[f"{model}/kept"], arrays[f"{model}/fold_of"])


def write_predictions(predictions: Mapping[str, FinalPredictions], path: str | PathLike, **arrays: np.ndarray) -> None:
    """Write the predictions of several models to an ``.npz`` file.

    Parameters
    ----------
    predictions : mapping of str to FinalPredictions
        Predictions by model.
    path : str or path-like
        Path of the file.
    **arrays : ndarray
        Further arrays to write.
    """
    for model, found in predictions.items():
        arrays |= {f"{model}/{name}": array for name, array in found.to_arrays().items()}
    write_arrays(path, models=np.array(list(predictions)), **arrays)


def read_predictions(paths: Iterable[str | PathLike]) -> Iterator[tuple[str, FinalPredictions]]:
    """Read files that :func:`write_predictions` wrote, one model at a time.

    Parameters
    ----------
    paths : iterable of str or path-like
        Paths of the files.

    Yields
    ------
    model : str
        Name of the model.
    predictions : FinalPredictions
        Its predictions.

    Raises
    ------
    DataError
        If a file is missing.
    DamagedFileError
        If a file is damaged.
    """
    for path in paths:
        for model in read_arrays(path, prefix="models")["models"].tolist():
            yield model, FinalPredictions.load(path, model)


def _filled(chosen: Mapping[int, list[np.ndarray]], numbers: np.ndarray, n_labels: int) -> np.ndarray:
    """Fill a dense array with the probabilities of tested samples, and NaN for other samples."""
    n_kept = max(map(len, chosen.values()), default=1)
    dtype = np.float64 if numbers.shape[-1] < MANY_SAMPLES else np.float32
    probabilities = np.full((n_kept, *numbers.shape, n_labels), np.nan, dtype=dtype)
    for fold, of_fold in chosen.items():
        probabilities[: len(of_fold), numbers == fold] = of_fold
    return probabilities


def _stacked(chosen: Mapping[int, list[Matrix]], numbers: np.ndarray, n_labels: int) -> sparse.csr_array:
    """Stack the probabilities as rows of a CSR array. A row without a prediction stores one NaN."""
    none = sparse.csr_array(([np.nan], ([0], [0])), shape=(1, n_labels))
    levels = []
    for number in range(max(map(len, chosen.values()), default=1)):
        parts = {fold: sparse.csr_array(of_fold[number]) for fold, of_fold in chosen.items() if number < len(of_fold)}
        rows = np.concatenate([np.empty(0, int), *(np.flatnonzero(numbers == fold) for fold in parts)])
        places = np.zeros(numbers.size, dtype=np.int64)
        places[rows] = 1 + np.arange(len(rows))
        level = sparse.vstack([none, *parts.values()], format="csr")[places]
        levels.append(level if numbers.shape[-1] < MANY_SAMPLES else level.astype(np.float32))
    return sparse.vstack(levels, format="csr")


def _mean_of_known(matrices: list[Matrix]) -> Matrix:
    """Average each row over the matrices that contain it, with NaN if no matrix does."""
    known = np.array([finite_rows(P) for P in matrices])
    n_known = known.sum(axis=0)
    if not sparse.issparse(matrices[0]):
        total = np.where(known[..., np.newaxis], matrices, 0).sum(axis=0)
        return quotient(total, n_known[:, np.newaxis])
    total = sum(with_data(P, np.nan_to_num(P.data)) for P in matrices)  # A row without probabilities stores one NaN.
    mean = sparse.diags_array(1 / np.maximum(n_known, 1)) @ total
    rows = np.flatnonzero(n_known == 0)
    none = sparse.csr_array((np.full(len(rows), np.nan), (rows, np.zeros_like(rows))), shape=mean.shape)
    return sparse.csr_array(mean + none)


def _numbers_of(fold_of: np.ndarray) -> np.ndarray:
    """Assign consecutive numbers to the folds of all repeats, as in :func:`~fairfold.core.folds.parts_of`."""
    if fold_of.ndim == 1:
        return fold_of
    first = (int(fold_of.max(initial=-1)) + 1) * np.arange(len(fold_of))[:, np.newaxis]
    return np.where(fold_of < 0, -1, fold_of + first)


class StagedEstimator(Protocol):
    """Interface that :func:`score_on_folds` requires of an estimator.

    Attributes
    ----------
    best_levels_ : mapping of str to int
        Level that each metric selects.
    """

    best_levels_: Mapping[str, int]

    def fit(self, X: Matrix, Y: Matrix, **options: Any) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Labels.
        **options : object
            Further arguments.

        Returns
        -------
        object
            The fitted estimator.
        """
        ...

    def staged_predict_proba(self, X: Matrix) -> Iterator[Matrix]:
        """Predict probabilities after each level.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Yields
        ------
        ndarray or csr_array of shape (n_samples, n_labels)
            Probabilities.
        """
        ...


class FoldTables(NamedTuple):
    """Tables and predictions returned by :func:`score_on_folds`. Each table has a column ``fold``.

    Attributes
    ----------
    scores : DataFrame
        Scores by fold, level and metric.
    seconds : DataFrame
        CPU time by fold and step, in seconds.
    findings : DataFrame
        Tables returned by `examine`.
    predictions : FinalPredictions
        Out-of-fold predictions of the final scores.
    """

    scores: pd.DataFrame
    seconds: pd.DataFrame
    findings: pd.DataFrame
    predictions: FinalPredictions


def score_on_folds(
    make_estimator: Callable[[int], StagedEstimator],
    X: Matrix,
    Y: Matrix,
    fold_of: np.ndarray,
    observed: Callable[[int], Matrix],
    *,
    observed_in_test: Callable[[int], Matrix] | None = None,
    threshold: float = THRESHOLD,
    score: str = SCORE,
    reported: Sequence[str] = (),
    fit_options: Callable[[int], Mapping[str, Any]] | None = None,
    adjust: Callable[[Any, Matrix], object] | None = None,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    examine: Callable[[Any, Matrix], pd.DataFrame] | None = None,
    run: Callable[[int, Callable[[], Any]], Any] = lambda fold, compute: compute(),
) -> FoldTables:
    """Cross-validate an estimator: train on observed labels, and score each cascade level on true labels.

    Parameters
    ----------
    make_estimator : callable
        Function that takes a fold number and returns an unfitted estimator.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1.
    fold_of : ndarray of int of shape (n_samples,) or (n_repeats, n_samples)
        Test fold of each sample, or -1 for a sample that is never tested. The folds of several splits are numbered
        consecutively.
    observed : callable
        Returns the labels, of shape (n_samples, n_labels), that training may use if a given fold is the test fold.
    observed_in_test : callable or None, default=None
        Function that takes the number of the test fold and returns observed labels, of shape (n_samples, n_labels).
        The predictions are scored a second time on these labels. None computes no such scores.
    threshold : float, default=0.5
        Threshold of predicted labels, see :func:`~fairfold.metrics.multilabel_scores`.
    score : str, default="average_precision"
        Metric that is scored at the final level in addition to ``BASIC_METRICS``, if it is not one of them. Labels are
        predicted for it, unless the estimator has no thresholds.
    reported : sequence of str, default=()
        Further metrics to score in the same way. Their predictions are not kept.
    fit_options : callable or None, default=None
        Function that takes a fold number and returns further arguments of ``fit``. Its run time counts as part of
        ``fit``.
    adjust : callable or None, default=None
        Function that takes the fitted estimator and the true labels of its training samples, and modifies the
        estimator.
    groups : ndarray of shape (n_samples,) or None, default=None
        Group of each sample. The groups of the training samples are passed to ``fit``.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Positive weight of each sample, used in scores and passed to ``fit``.
    examine : callable or None, default=None
        Function that takes the fitted estimator and the true labels of its training samples, and returns a table of
        findings.
    run : callable, default=call
        Function that takes a fold number and a function, and calls the function or returns its cached result.

    Returns
    -------
    FoldTables
        Three tables and the predictions:

        - ``scores``, with the columns ``fold, level, is_final, metric, value, observed_value, reason, share_tested``.
          ``is_final`` marks the level that the estimator selects by the metric. ``observed_value`` is the score on the
          labels of `observed_in_test` at this level, and NaN at other levels. The column is absent if
          `observed_in_test` is None. ``reason`` explains a missing value. ``share_tested`` is the number of test
          samples divided by the number of training and test samples (:func:`~fairfold.core.folds.share_tested`).
        - ``seconds``, with the columns ``fold, step, seconds``: CPU time of the steps ``fit`` and ``predict`` over all
          levels.
        - ``findings``, the concatenated tables of `examine`.
        - ``predictions``, the out-of-fold predictions that the final scores are computed from.

    Raises
    ------
    SplitError
        If `fold_of` is invalid, see :func:`~fairfold.core.folds.parts_of`.

    Notes
    -----
    If the estimator fails on a fold, its scores have no value, and the scores and one finding state the reason. The
    fold then has no run times. Other folds are not affected.
    """
    scores, seconds, findings, counting, best_levels = [], [], [], {}, {}
    metadata = SampleMetadata(groups, check_weights(sample_weight, X.shape[0], DataError))
    further = [name for name in dict.fromkeys([score, *reported]) if name in FURTHER_METRICS]

    def score_fold(fold: int, train: np.ndarray, test: np.ndarray) -> tuple:
        start = cpu_seconds()
        # Options are read outside of the try block: a damaged file is not a failure of the estimator.
        options = {} if fit_options is None else dict(fit_options(fold))
        try:
            options |= metadata.for_training(train).as_options()
            estimator = make_estimator(fold)
            estimator = estimator.fit(X[train], labels_for(estimator, observed(fold)[train]), **options)
            if adjust is not None:
                adjust(estimator, Y[train])
            fitted = cpu_seconds()
            stages = list(estimator.staged_predict_proba(X[test]))
            steps = {"fit": fitted - start, "predict": cpu_seconds() - fitted}
            seen = None if observed_in_test is None else observed_in_test(fold)[test]
            scoring = {"threshold": threshold, "sample_weight": metadata.of(test).weights}
            scored = _score_stages(estimator, stages, Y[test], seen, further, score, scoring)
            finding = pd.DataFrame() if examine is None else examine(estimator, Y[train])
        except StudyError as error:
            rows = [(0, True, metric, np.nan, np.nan, str(error)) for metric in (*BASIC_METRICS, *further)]
            return {}, pd.DataFrame({"reason": [str(error)]}), rows
        return steps, finding, *scored

    for fold, (train, test) in enumerate(parts_of(fold_of, X.shape[0])):
        steps, finding, rows, *kept = run(fold, partial(score_fold, fold, train, test))
        if kept:
            best_levels[fold], counting[fold] = kept
        scores += [(fold, *row, share_tested(train, test)) for row in rows]
        seconds += [(fold, *step) for step in steps.items()]
        findings.append(finding.assign(fold=fold)[["fold", *finding]])
    columns = ["fold", "level", "is_final", "metric", "value", "observed_value", "reason", "share_tested"]
    table = pd.DataFrame(scores, columns=columns)
    return FoldTables(
        table if observed_in_test is not None else table.drop(columns="observed_value"),
        pd.DataFrame(seconds, columns=["fold", "step", "seconds"]),
        pd.concat(findings, ignore_index=True),
        FinalPredictions.of_folds(counting, best_levels, np.asarray(fold_of), Y.shape[1], is_sparse=sparse.issparse(Y)),
    )


def _score_stages(
    estimator: StagedEstimator,
    stages: list[Matrix],
    Y: Matrix,
    seen: Matrix | None,
    further: Sequence[str],
    score: str,
    options: Mapping[str, Any],
) -> tuple[list[_Row], dict[str, int], dict[int, Matrix]]:
    """Return the rows of :func:`_score_levels` and of further metrics, the final levels and their predictions."""
    rows = _score_levels(Y, seen, stages, estimator.best_levels_, options)
    best_levels = {metric: estimator.best_levels_[metric] for metric in BASIC_METRICS}
    level = best_levels["average_precision"]
    for name in further:
        decided = _decided(estimator, stages[level], name)
        rows.append(_score_decisions(Y, seen, decided, level, name, options))
        if name == score:  # Only the decisions for the score of the study are kept.
            best_levels[name] = len(stages)
            stages = [*stages, decided]
    return rows, best_levels, {level: stages[level] for level in best_levels.values()}


def _decided(estimator: Any, P: Matrix, score: str) -> Matrix:
    """Return decisions of 0 and 1 for a score, or the probabilities if there are no such decisions."""
    if is_decided(score) and getattr(estimator, "has_thresholds", False):
        return estimator.decide(P, score).astype(np.float64)
    return P


def _score_decisions(
    Y: Matrix, seen: Matrix | None, P: Matrix, level: int, score: str, options: Mapping[str, Any]
) -> _Row:
    """Return the row of a further score; see :func:`_score_levels`."""
    value = multilabel_scores(Y, P, metrics=[score], **options)[score]
    observed = np.nan if seen is None else multilabel_scores(seen, P, metrics=[score], **options)[score]
    return level, True, score, value, observed, FURTHER_METRICS[score].undefined if np.isnan(value) else ""


def labels_for(estimator: Any, Y: Matrix) -> Matrix:
    """Convert labels to the format that an estimator accepts: sparse if it learns from sparse labels, else dense.

    Estimators without a method ``learns_sparse`` get the labels unchanged. Predictions are sparse if labels are. Sparse
    labels save time and memory only for data with many labels.

    Parameters
    ----------
    estimator : object
        Estimator.
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels.

    Returns
    -------
    ndarray or csr_array of shape (n_samples, n_labels)
        Labels.

    Raises
    ------
    ModelError
        If dense labels would need too much memory.

    Examples
    --------
    >>> import numpy as np
    >>> labels_for(object(), np.array([[1, 0]]))
    array([[1, 0]])
    """
    if not hasattr(estimator, "learns_sparse"):
        return Y
    return sparse.csr_array(Y) if estimator.learns_sparse(Y) else to_dense(Y, "Y", ModelError)


def _score_levels(
    Y: Matrix, seen: Matrix | None, stages: Sequence[Matrix], best_levels: Mapping[str, int], options: Mapping[str, Any]
) -> list[_Row]:
    """Return rows of ``level, is_final, metric, value, observed_value, reason``."""
    rows = []
    for level, P in enumerate(stages):
        if not finite_rows(P).all():
            raise ModelError(f"level {level} predicts probabilities that are not finite.")
        final = [metric for metric in BASIC_METRICS if best_levels[metric] == level and seen is not None]
        observed = multilabel_scores(seen, P, metrics=final, **options) if final else {}
        for metric, value in multilabel_scores(Y, P, **options).items():
            reason = BASIC_METRICS[metric].undefined if np.isnan(value) else ""
            rows.append((level, level == best_levels[metric], metric, value, observed.get(metric, np.nan), reason))
    return rows
