"""Engine for any scikit-learn classifier or regressor, which clones, fits and scores candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassifierMixin, clone, is_regressor
from sklearn.metrics import get_scorer, get_scorer_names
from tqdm import tqdm

from fairfold.core.arrays import Matrix
from fairfold.core.groups import NO_METADATA, SampleMetadata, fit_arguments
from fairfold.core.rounding import first_best
from fairfold.core.threads import one_thread_each
from fairfold.cross_testing.plans import TEST, TRAIN, Plan, Run
from fairfold.errors import ModelError, first_sentence, unknown_name

Scoring = str | Callable[[ClassifierMixin, Matrix, np.ndarray], float]


@contextmanager
def _reasons(estimator: ClassifierMixin, n_samples: int) -> Iterator[None]:
    """Convert an error inside a classifier to an error that names the classifier."""
    try:
        yield
    except (ValueError, TypeError, AttributeError) as error:
        name = " ".join(str(estimator).split())
        reason = first_sentence(error)
        raise ModelError(f"candidate {name} cannot be trained on {n_samples} samples: {reason}.") from error


def fit_clone(
    estimator: ClassifierMixin, X: Matrix, y: np.ndarray, metadata: SampleMetadata = NO_METADATA
) -> ClassifierMixin:
    """Fit a clone of a classifier.

    Parameters
    ----------
    estimator : ClassifierMixin
        Classifier to clone.
    X : {array, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,) or (n_samples, n_labels)
        Classes or labels.
    metadata : SampleMetadata, default=NO_METADATA
        Groups and weights of the samples. They are passed to ``fit`` if it takes them.

    Returns
    -------
    ClassifierMixin
        The fitted clone.

    Raises
    ------
    ModelError
        If the classifier cannot be fitted. The message contains the reason.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> model = fit_clone(SVC(), np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1]))
    >>> model.predict([[0.5], [2.5]])
    array([0, 1])
    """
    with _reasons(estimator, len(y)):
        return clone(estimator).fit(X, y, **fit_arguments(estimator, *metadata))


@dataclass(eq=False, repr=False)
class EstimatorEngine:
    """Engine that runs plans with any classifiers or regressors and any scorer.

    It implements the protocol :class:`~fairfold.cross_testing.plans.Engine`.

    Parameters
    ----------
    estimators : sequence of ClassifierMixin
        Unfitted classifiers, in order of preference. Each fit uses a clone and therefore starts from the same
        ``random_state``.
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Classes, or numbers for regressors. They keep their positions in permutations of the rows.
    scoring : str or callable, default="accuracy"
        ``"accuracy"``, the name of another scikit-learn scorer, or a callable ``(estimator, X, y) -> float``. Larger
        scores are better.
    n_jobs : int or None, default=1
        Number of processes, as in joblib. They share the orders of the rows. The results do not depend on it.
    metadata : SampleMetadata, default=NO_METADATA
        Groups and weights, which also keep their positions. Those of the training samples are passed to estimators that
        take them. Only :class:`~fairfold.cross_testing.multilabel_engine.MultilabelEngine` uses weights in tests.

    Raises
    ------
    ModelError
        If the scorer is unknown, a candidate cannot be fitted, or a score is not finite.
    """

    estimators: Sequence[ClassifierMixin]
    X: Matrix
    y: np.ndarray
    _: KW_ONLY
    scoring: Scoring = "accuracy"
    n_jobs: int | None = 1
    metadata: SampleMetadata = NO_METADATA

    def __post_init__(self) -> None:
        if not callable(self.scoring) and self.scoring not in get_scorer_names():
            raise ModelError(unknown_name("scorer", self.scoring, get_scorer_names()))
        self.tested_labels, self.classes = self.y, np.unique(self.y)
        self.unknown: np.ndarray = np.array(np.nan if is_regressor(self.estimators[0]) else -1)

    def run(self, plan: Plan, orders: np.ndarray) -> Run:
        """Choose and test candidates once for each order of the rows.

        Parameters
        ----------
        plan : Plan
            Folds and roles of the positions.
        orders : ndarray of int64 of shape (n_orders, n_samples)
            Orders of the rows: the row at each position.

        Returns
        -------
        Run
            Totals of the tests and chosen candidates.
        """
        calls = (delayed(self._run_order)(plan, order) for order in orders)
        runs = Parallel(n_jobs=self.n_jobs, return_as="generator")(calls)
        shown = tqdm(runs, total=len(orders), desc="permutations", delay=5, disable=None)
        totals, chosen = zip(*shown, strict=True)
        return Run(np.array(totals, dtype=np.float64), np.array(chosen, dtype=np.int64))

    def predict(self, plan: Plan, order: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Predict the test samples of each test.

        Parameters
        ----------
        plan : Plan
            Folds and roles of the positions.
        order : ndarray of int64 of shape (n_samples,)
            Row at each position.
        chosen : ndarray of int64 of shape (n_choices,)
            Index of the candidate of each choice.

        Returns
        -------
        ndarray of shape (n_tests, n_samples) or (n_tests, n_samples, n_labels)
            Class codes, -1 outside the test. For multiple labels, probabilities, NaN outside the test.

        Raises
        ------
        ModelError
            If a candidate cannot be fitted, or its predictions are invalid.
        """
        predicted = np.full((*plan.role.shape, *self.unknown.shape), self.unknown)
        with one_thread_each():
            for test, (choice, role) in enumerate(zip(plan.choice_of, plan.role, strict=True)):
                asked = role == TEST
                if asked.any():
                    model = self._fit(chosen[choice], role == TRAIN, order)
                    with _reasons(model, int(np.sum(role == TRAIN))):
                        predicted[test, asked] = self._predict(model, self.X[order[asked]])
        return predicted

    def _predict(self, model: ClassifierMixin, X: Matrix) -> np.ndarray:
        predicted = model.predict(X)
        return predicted if is_regressor(model) else np.searchsorted(self.classes, predicted)

    def _run_order(self, plan: Plan, order: np.ndarray) -> tuple[list[float], list[int]]:
        """Return the total of each test and the candidate of each choice."""
        with one_thread_each():
            chosen = [self._choose(inner_fold, order) for inner_fold in plan.inner_fold]
            totals = [
                self._total(chosen[choice], role == TRAIN, role == TEST, order, self.tested_labels)
                for choice, role in zip(plan.choice_of, plan.role, strict=True)
            ]
        return totals, chosen

    def _choose(self, inner_fold: np.ndarray, order: np.ndarray) -> int:
        """Return the candidate with the highest total over the inner folds, the first one for ties."""
        if len(self.estimators) == 1:
            return 0
        totals = np.zeros(len(self.estimators))
        for fold in range(inner_fold.max() + 1):
            train, test = (inner_fold >= 0) & (inner_fold != fold), inner_fold == fold
            totals += [self._total(candidate, train, test, order, self.y) for candidate in range(len(totals))]
        return int(first_best(totals))

    def _total(self, candidate: int, train: np.ndarray, test: np.ndarray, order: np.ndarray, y: np.ndarray) -> float:
        """Return the total of a candidate in a test on the labels ``y``, 0 without test samples."""
        if not test.any():
            return 0.0
        model, y = self._fit(candidate, train, order), y[test]
        with _reasons(model, int(train.sum())):
            total = self._total_of(model, self.X[order[test]], y, self.metadata.of(test).weights)
        if not np.isfinite(total):
            found = f"{self.scoring!r} is {total} in a fold of {len(y)} samples {self._kinds(y)}"
            raise ModelError(f"scoring: {found}. Use larger folds or another score.")
        return total

    def _total_of(self, model: ClassifierMixin, X: Matrix, y: np.ndarray, _weights: np.ndarray | None) -> float:
        """Return the score times the number of samples; for accuracy, the number of correct predictions."""
        if self.scoring == "accuracy":
            return float(np.count_nonzero(model.predict(X) == y))
        return float(get_scorer(self.scoring)(model, X, y)) * len(y)

    def _kinds(self, y: np.ndarray) -> str:
        """Describe the labels of a fold for the message about an undefined score."""
        return f"with {len(np.unique(y))} different values of y"

    def _fit(self, candidate: int, train: np.ndarray, order: np.ndarray) -> ClassifierMixin:
        metadata = self.metadata.for_training(train)
        return fit_clone(self.estimators[candidate], self.X[order[train]], self.y[train], metadata)
