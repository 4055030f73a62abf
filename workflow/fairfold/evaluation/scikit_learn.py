"""Scores and out-of-fold predictions in the form of scikit-learn, also with unmeasured labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassifierMixin, clone

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.groups import SampleMetadata, fit_arguments, group_codes
from fairfold.core.probabilities import label_probabilities
from fairfold.core.validation import check_label_matrix, with_nan
from fairfold.errors import DataError, ModelError, check_name
from fairfold.evaluation.fold_scores import labels_for
from fairfold.metrics.registry import METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.splitting.base import FoldSplitter
from fairfold.splitting.methods import make_splitter

Scorer = Callable[[ClassifierMixin, Matrix, Matrix], float]


def make_scorer(metric: str) -> Scorer:
    """Make a function that scores a fitted classifier, for scikit-learn's ``scoring``.

    Parameters
    ----------
    metric : str
        Name in ``METRICS``. Unmeasured labels, NaN, are ignored.

    Returns
    -------
    callable
        Function of a fitted classifier, features and labels. A higher number is better: losses are negative.

    Raises
    ------
    ModelError
        If the metric does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.evaluation import make_scorer
    >>> from fairfold.models import make_model
    >>> X = np.arange(20.0)[:, np.newaxis]
    >>> Y = np.column_stack([X[:, 0] >= 8, X[:, 0] < 5]).astype(float)
    >>> Y[0, 0] = np.nan  # unmeasured
    >>> model = make_model("RandomForest", n_trees=20, random_state=0).fit(X, Y)
    >>> make_scorer("average_precision")(model, X, Y), make_scorer("hamming_loss")(model, X, Y)
    (1.0, -0.0)
    """
    check_name("metric", metric, METRICS, ModelError)

    def score(estimator: ClassifierMixin, X: Matrix, y: Matrix) -> float:
        Y = with_nan(check_label_matrix(y, "y", DataError))
        P = label_probabilities(estimator, X, Y.shape[1])
        return METRICS[metric].direction * multilabel_scores(Y, P, metrics=[metric])[metric]

    return score


def cross_val_proba(
    model: ClassifierMixin,
    X: Matrix,
    Y: Matrix,
    *,
    cv: int | FoldSplitter | Iterable[tuple[np.ndarray, np.ndarray]] = 5,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Matrix:
    """Predict the probability of each label with models that were trained without the sample.

    Parameters
    ----------
    model : estimator object
        Classifier with ``predict_proba``, which is cloned for each fold.
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Features.
    Y : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_labels)
        Labels, 0 or 1. NaN marks an unmeasured label, if the model accepts it.
    cv : int, splitter or iterable of (train, test), default=5
        Number of folds that are balanced by labels, a splitter of ``fairfold.splitting`` or scikit-learn, or row
        numbers.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each sample. Groups stay in one fold, and reach models that hold out samples.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the samples in training.

    Returns
    -------
    {ndarray, csr_array} of shape (n_samples, n_labels)
        Probabilities, sparse if those of the model are. NaN for samples that are in no test part.

    Raises
    ------
    DataError
        If labels are invalid, there is no fold, or a sample is in several test parts.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.evaluation import cross_val_proba
    >>> from fairfold.models import make_model
    >>> X = np.arange(40.0)[:, np.newaxis]
    >>> Y = np.column_stack([X[:, 0] >= 20, X[:, 0] < 10]).astype(int)
    >>> P = cross_val_proba(make_model("RandomForest", n_trees=20, random_state=0), X, Y)
    >>> P.shape, bool(((P > 0.5) == Y).mean() > 0.9)
    ((40, 2), True)
    """
    Y = with_nan(check_label_matrix(Y, "Y", DataError))
    n_samples = Y.shape[0]
    codes = None if groups is None else group_codes(groups, n_samples)
    metadata = SampleMetadata(codes, None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64))
    splitter: Any = make_splitter("annealed", int(cv), random_state=0) if isinstance(cv, Integral) else cv
    parts = splitter.split(X, Y, groups) if hasattr(splitter, "split") else splitter
    predicted: list[tuple[np.ndarray, Matrix]] = []
    for train, test in parts:
        one = clone(model)
        part = metadata.for_training(train)
        one.fit(_rows(X, train), labels_for(one, Y[train]), **fit_arguments(one, part.groups, part.weights))
        predicted.append((test, label_probabilities(one, _rows(X, test), Y.shape[1])))
    if not predicted:
        raise DataError("cv: found no fold. Give at least one training part and test part.")
    rows = np.concatenate([test for test, _ in predicted])
    if len(np.unique(rows)) < len(rows):
        raise DataError("cv has samples in several test parts. Use folds in which each sample is tested once.")
    if all(sparse.issparse(P) for _, P in predicted) and len(rows) == n_samples:
        return sparse.csr_array(sparse.vstack([P for _, P in predicted], format="csr"))[np.argsort(rows)]
    found = np.full(Y.shape, np.nan)
    found[rows] = np.vstack([to_dense(P, "probabilities", ModelError) for _, P in predicted])
    return found


def _rows(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows] if isinstance(X, (list, tuple)) else X[rows]
