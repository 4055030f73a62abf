"""Score models on left-out folds, level by level, and keep their out-of-fold predictions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, Protocol

import joblib
import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, finite_rows, to_dense, with_data
from fairfold.core.files import read_arrays, write_arrays
from fairfold.core.folds import parts_of, share_tested
from fairfold.core.groups import OfSamples
from fairfold.core.usage import cpu_seconds
from fairfold.core.validation import check_weights
from fairfold.errors import DataError, ModelError, StudyError, unknown_name
from fairfold.evaluation.metrics import BASIC_METRICS
from fairfold.evaluation.scores import multilabel_scores

_PARTS = ("data", "indices", "indptr", "shape")


class FinalPredictions(NamedTuple):
    """Out-of-fold probabilities, each sample's from the model that was trained without its fold.

    Levels of a cascade differ, and the one that counts may differ by metric and fold; those that count are kept.

    Attributes
    ----------
    probabilities : (n_kept, n_samples, n_labels); NaN where there is none. Of a model whose probabilities are sparse,
        CSR of (n_kept · n_samples, n_labels), the rows of what is kept below each other; a row where there is none
        stores one NaN, see :func:`~fairfold.core.arrays.finite_rows`.
    kept : (n_metrics, n_folds) which of them counts, in the order of ``BASIC_METRICS``.
    fold_of : (n_samples,) fold in which a sample was left out, -1 for none.

    Where cross-validation was repeated, ``fold_of`` is (n_repeats, n_samples), of each split by itself, probabilities
    are (n_kept, n_repeats, n_samples, n_labels), and the folds of all splits follow each other in ``kept``.
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
    ) -> FinalPredictions:
        """From fold -> level -> probabilities of the fold's samples, and fold -> metric -> level that counts."""
        fold_of = fold_of[0] if fold_of.ndim == 2 and len(fold_of) == 1 else fold_of
        numbers = _numbers_of(fold_of)
        kept = np.zeros((len(BASIC_METRICS), int(numbers.max(initial=-1)) + 1), dtype=np.int8)
        levels = {fold: sorted({best[metric] for metric in BASIC_METRICS}) for fold, best in best_levels.items()}
        for fold, of_fold in levels.items():
            kept[:, fold] = [of_fold.index(best_levels[fold][metric]) for metric in BASIC_METRICS]
        chosen = {fold: [stages[fold][level] for level in of_fold] for fold, of_fold in levels.items()}
        is_sparse = any(sparse.issparse(P) for of_fold in chosen.values() for P in of_fold)
        return cls((_stacked if is_sparse else _filled)(chosen, numbers, n_labels), kept, fold_of)

    def by(self, metric: str) -> Matrix:
        """(n_samples, n_labels) probabilities that the metric scores; NaN where there is none.

        Of repeated cross-validations the mean over those that have some: no model behind it has seen the sample, and it
        depends less on the split. It is of no use for scores, as several models together are better than one.

        Raises
        ------
        DataError
            When there is no such metric.
        """
        numbers = np.atleast_2d(_numbers_of(self.fold_of))
        counts = self._kept_by(metric)[np.maximum(numbers, 0)]
        places = np.arange(numbers.size).reshape(numbers.shape)
        of_repeats = [self._rows(kept, at) for kept, at in zip(counts, places, strict=True)]
        return of_repeats[0] if len(of_repeats) == 1 else _mean_of_known(of_repeats)

    def in_fold(self, metric: str, fold: int) -> Matrix:
        """(n_tested, n_labels) probabilities of a fold's samples that the metric scores there.

        Raises
        ------
        DataError
            When there is no such metric.
        """
        return self._rows(self._kept_by(metric)[fold], np.flatnonzero(_numbers_of(self.fold_of) == fold))

    def _rows(self, kept: np.ndarray, places: np.ndarray) -> Matrix:
        """Probabilities of what is kept, at places among all samples of all splits."""
        P = self.probabilities
        rows = P if sparse.issparse(P) else P.reshape(-1, P.shape[-1])
        return rows[kept.astype(np.int64) * self.fold_of.size + places]

    def _kept_by(self, metric: str) -> np.ndarray:
        if metric not in BASIC_METRICS:
            raise DataError(unknown_name("metric", metric, BASIC_METRICS))
        return self.kept[list(BASIC_METRICS).index(metric)]

    def digest(self) -> str:
        """Compute a digest that two models share if their predictions are equal to the last bit."""
        return joblib.hash({name: np.ascontiguousarray(array) for name, array in self.to_arrays().items()})

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return plain arrays by name."""
        arrays = self._asdict()
        if sparse.issparse(self.probabilities):
            P = arrays.pop("probabilities")
            arrays |= {f"probabilities_{part}": np.asarray(getattr(P, part)) for part in _PARTS}
        return arrays

    @classmethod
    def load(cls, path: str | PathLike, model: str) -> FinalPredictions:
        """Read the predictions of a model from a file that :func:`write_predictions` wrote."""
        arrays = read_arrays(path, prefix=f"{model}/")
        P = arrays.get(f"{model}/probabilities")
        if P is None:
            *content, shape = (arrays[f"{model}/probabilities_{part}"] for part in _PARTS)
            P = sparse.csr_array(tuple(content), shape=tuple(shape))
        return cls(P, arrays[f"{model}/kept"], arrays[f"{model}/fold_of"])


def write_predictions(predictions: Mapping[str, FinalPredictions], path: str | PathLike, **arrays: np.ndarray) -> None:
    """Write the predictions of several models, and other arrays, to an ``.npz`` file."""
    for model, found in predictions.items():
        arrays |= {f"{model}/{name}": array for name, array in found.to_arrays().items()}
    write_arrays(path, models=np.array(list(predictions)), **arrays)


def read_predictions(paths: Iterable[str | PathLike]) -> Iterator[tuple[str, FinalPredictions]]:
    """Read files that :func:`write_predictions` wrote, one model after the other.

    Yields
    ------
    model : str
        Name of the model.
    predictions : FinalPredictions
        Its predictions.
    """
    for path in paths:
        for model in read_arrays(path, prefix="models")["models"].tolist():
            yield model, FinalPredictions.load(path, model)


def _filled(chosen: Mapping[int, list[np.ndarray]], numbers: np.ndarray, n_labels: int) -> np.ndarray:
    """Probabilities of samples where the numbers say that they were tested."""
    n_kept = max(map(len, chosen.values()), default=1)
    probabilities = np.full((n_kept, *numbers.shape, n_labels), np.nan)
    for fold, of_fold in chosen.items():
        probabilities[: len(of_fold), numbers == fold] = of_fold
    return probabilities


def _stacked(chosen: Mapping[int, list[Matrix]], numbers: np.ndarray, n_labels: int) -> sparse.csr_array:
    """The same as rows of CSR, which store one NaN where there is none."""
    none = sparse.csr_array(([np.nan], ([0], [0])), shape=(1, n_labels))
    levels = []
    for number in range(max(map(len, chosen.values()))):
        parts, places, n_stacked = [none], np.zeros(numbers.size, dtype=np.int64), 1
        for fold, of_fold in chosen.items():
            if number < len(of_fold):
                rows = np.flatnonzero(numbers == fold)
                places[rows] = n_stacked + np.arange(len(rows))
                parts.append(sparse.csr_array(of_fold[number]))
                n_stacked += len(rows)
        levels.append(sparse.vstack(parts, format="csr")[places])
    return sparse.vstack(levels, format="csr")


def _mean_of_known(matrices: list[Matrix]) -> Matrix:
    """Mean of each row over the matrices that have it; NaN where none does."""
    known = np.array([finite_rows(P) for P in matrices])
    n_known = known.sum(axis=0)
    if not sparse.issparse(matrices[0]):
        total = np.where(known[..., np.newaxis], matrices, 0).sum(axis=0)
        return np.divide(total, n_known[:, np.newaxis], out=np.full(total.shape, np.nan), where=n_known[:, None] > 0)
    total = sum(with_data(P, np.nan_to_num(P.data)) for P in matrices)  # a row without probabilities stores one NaN
    mean = sparse.diags_array(1 / np.maximum(n_known, 1)) @ total
    rows = np.flatnonzero(n_known == 0)
    none = sparse.csr_array((np.full(len(rows), np.nan), (rows, np.zeros_like(rows))), shape=mean.shape)
    return sparse.csr_array(mean + none)


def _numbers_of(fold_of: np.ndarray) -> np.ndarray:
    """Folds of several splits, numbered one after the other as in :func:`~fairfold.core.folds.parts_of`."""
    if fold_of.ndim == 1:
        return fold_of
    first = (int(fold_of.max(initial=-1)) + 1) * np.arange(len(fold_of))[:, np.newaxis]
    return np.where(fold_of < 0, -1, fold_of + first)


class StagedEstimator(Protocol):
    """What :func:`score_on_folds` needs: scikit-learn's ``fit``, and probabilities after each level."""

    best_levels_: Mapping[str, int]

    def fit(self, X: Matrix, Y: Matrix, **options: Any) -> Any: ...

    def staged_predict_proba(self, X: Matrix) -> Iterator[Matrix]: ...


class FoldTables(NamedTuple):
    """What :func:`score_on_folds` returns: tidy tables with a column ``fold`` each, and predictions."""

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
    folds: Collection[int] | None = None,
    observed_in_test: Callable[[int], Matrix] | None = None,
    threshold: float = 0.5,
    fit_options: Callable[[int], Mapping[str, Any]] | None = None,
    adjust: Callable[[Any, Matrix], object] | None = None,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    examine: Callable[[Any, Matrix], pd.DataFrame] | None = None,
) -> FoldTables:
    """Train on observed labels, score on the true labels of the left-out fold, level by level.

    Parameters
    ----------
    make_estimator : fold -> unfitted estimator.
    X : (n_samples, n_features).
    Y : (n_samples, n_labels) of 0/1, the truth.
    fold_of : (n_samples,) test fold of each sample, -1 for one that is never tested; or (n_repeats, n_samples) of
        several splits, whose folds follow each other.
    observed : fold -> (n_samples, n_labels) labels that may be seen in training when that fold is left out.
    folds : numbers of those that are left out, each in turn; None for all.
    observed_in_test : fold -> (n_samples, n_labels) labels by which the same predictions are scored once more, as who
        knows no others would score them; None for no such scores.
    threshold : see :func:`~fairfold.evaluation.scores.multilabel_scores`.
    fit_options : fold -> further arguments of ``fit``; making them counts as its time.
    adjust : what is done to an estimator when it is fitted: (estimator, true labels of its training samples) -> None.
    groups : (n_samples,) of samples that belong together; those of the training samples are handed on to ``fit``.
    sample_weight : (n_samples,) above 0, handed on to ``fit``, too; in scores samples count as much.
    examine : (fitted estimator, true labels of its training samples) -> table of whatever is to be known about it.

    Returns
    -------
    FoldTables
        ``scores``, columns ``fold, level, is_final, metric, value, observed_value, reason, share_tested``, where
        ``is_final`` marks the level that the estimator chose by that metric, ``observed_value`` is the score by
        ``observed_in_test``, of that level alone and NaN of others, a column only if there are such labels, and
        ``share_tested`` is of the fold's samples (:func:`~fairfold.core.folds.share_tested`); ``seconds``, columns
        ``fold, step, seconds``, CPU time of the steps ``fit`` and ``predict``, all levels together; ``findings``,
        the tables of ``examine`` below each other; and ``predictions``, what the final scores are of. A fold on which
        the estimator cannot run gives scores without value and one finding that say why in ``reason``, and no times; it
        never stops the others. A metric that is undefined on a fold has no value there; its ``reason`` says what it
        needs.

    Raises
    ------
    SplitError
        As :func:`~fairfold.core.folds.parts_of`.
    """
    scores, seconds, findings, counting, best_levels = [], [], [], {}, {}
    of_samples = OfSamples(groups, check_weights(sample_weight, X.shape[0], DataError))
    for fold, (train, test) in enumerate(parts_of(fold_of, X.shape[0])):
        if folds is not None and fold not in folds:
            continue
        start = cpu_seconds()
        # Outside the block below: a damaged file of options is no failure of the estimator.
        options = {} if fit_options is None else dict(fit_options(fold))
        try:
            options |= of_samples.for_training(train).as_options()
            estimator = make_estimator(fold)
            estimator = estimator.fit(X[train], labels_for(estimator, observed(fold)[train]), **options)
            if adjust is not None:
                adjust(estimator, Y[train])
            fitted = cpu_seconds()
            stages = list(estimator.staged_predict_proba(X[test]))
            steps = {"fit": fitted - start, "predict": cpu_seconds() - fitted}
            seen = None if observed_in_test is None else observed_in_test(fold)[test]
            given = {"threshold": threshold, "sample_weight": of_samples.of(test).weights}
            rows = _score_levels(Y[test], seen, stages, estimator.best_levels_, given)
            found = pd.DataFrame() if examine is None else examine(estimator, Y[train])
            best_levels[fold] = dict(estimator.best_levels_)
            counting[fold] = {level: stages[level] for level in best_levels[fold].values()}
        except StudyError as error:
            rows = [(0, True, metric, np.nan, np.nan, str(error)) for metric in BASIC_METRICS]
            steps, found = {}, pd.DataFrame({"reason": [str(error)]})
        scores += [(fold, *row, share_tested(train, test)) for row in rows]
        seconds += [(fold, *step) for step in steps.items()]
        findings.append(found.assign(fold=fold)[["fold", *found]])
    columns = ["fold", "level", "is_final", "metric", "value", "observed_value", "reason", "share_tested"]
    table = pd.DataFrame(scores, columns=columns)
    return FoldTables(
        table if observed_in_test is not None else table.drop(columns="observed_value"),
        pd.DataFrame(seconds, columns=["fold", "step", "seconds"]),
        pd.concat(findings, ignore_index=True),
        FinalPredictions.of_folds(counting, best_levels, np.asarray(fold_of), Y.shape[1]),
    )


def labels_for(estimator: Any, Y: Matrix) -> Matrix:
    """Return labels as a study hands them to an estimator: sparse where it learns from sparse labels, dense elsewhere.

    Predictions are sparse where labels are. Sparse ones save time and memory only where labels are many.

    Raises
    ------
    ModelError
        When sparse labels are too many to be made dense.
    """
    if not hasattr(estimator, "learns_sparse"):
        return Y
    return sparse.csr_array(Y) if estimator.learns_sparse(Y) else to_dense(Y, "Y", ModelError)


def _score_levels(
    Y: Matrix, seen: Matrix | None, stages: Sequence[Matrix], best_levels: Mapping[str, int], given: Mapping[str, Any]
) -> list[tuple[int, bool, str, float, float, str]]:
    """Rows ``level, is_final, metric, value, observed_value, reason``."""
    rows = []
    for level, P in enumerate(stages):
        if not finite_rows(P).all():
            raise ModelError(f"level {level} predicts probabilities that are not finite.")
        final = [metric for metric in BASIC_METRICS if best_levels[metric] == level and seen is not None]
        observed = multilabel_scores(seen, P, metrics=final, **given) if final else {}
        for metric, value in multilabel_scores(Y, P, **given).items():
            reason = BASIC_METRICS[metric].undefined if np.isnan(value) else ""
            rows.append((level, level == best_levels[metric], metric, value, observed.get(metric, np.nan), reason))
    return rows
