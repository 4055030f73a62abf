"""The engine for any scikit-learn classifier: clones, fits and scores, one order of the rows after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import get_scorer, get_scorer_names
from tqdm import tqdm

from fairfold.core.arrays import Matrix
from fairfold.core.groups import ALIKE, OfSamples, fit_arguments
from fairfold.core.threads import one_thread_each
from fairfold.core.ties import first_best
from fairfold.cross_testing.plans import TEST, TRAIN, Plan, Run
from fairfold.errors import ModelError, first_sentence, unknown_name

Scoring = str | Callable[[ClassifierMixin, Matrix, np.ndarray], float]


@contextmanager
def _reasons(estimator: ClassifierMixin, n_samples: int) -> Iterator[None]:
    """Turn what goes wrong inside a classifier into an error that names it."""
    try:
        yield
    except (ValueError, TypeError, AttributeError) as error:
        name = " ".join(str(estimator).split())
        reason = first_sentence(error)
        raise ModelError(f"candidate {name} fails when trained on {n_samples} samples: {reason}.") from error


def fit_clone(estimator: ClassifierMixin, X: Matrix, y: np.ndarray, of_samples: OfSamples = ALIKE) -> ClassifierMixin:
    """A fitted copy of ``estimator``; a :class:`ModelError` with its reason where it cannot be fitted."""
    with _reasons(estimator, len(y)):
        return clone(estimator).fit(X, y, **fit_arguments(estimator, *of_samples))


@dataclass(eq=False, repr=False)
class EstimatorEngine:
    """Runs plans (:class:`~fairfold.cross_testing.plans.Engine`) with any classifiers and any scorer.

    Parameters
    ----------
    estimators : unfitted classifiers, the preferred ones first. They are cloned, so that each fit starts from the
        ``random_state`` that it was given.
    X : (n_samples, n_features), dense or CSR.
    y : (n_samples,) labels; they keep their positions when rows are permuted.
    scoring : ``"accuracy"``, or another name of a scikit-learn scorer, or a callable (estimator, X, y) -> float of
        which more is better.
    n_jobs : processes that share the orders; joblib's meaning. Results do not depend on it.
    of_samples : groups and weights, which keep their positions, too; those of samples that are trained on are handed on
        to estimators that take them. Tests count weights in :class:`MultilabelEngine` only.

    Raises
    ------
    ModelError
        When no scorer has that name, a candidate cannot be fitted, or a score is not finite.
    """

    estimators: Sequence[ClassifierMixin]
    X: Matrix
    y: np.ndarray
    _: KW_ONLY
    scoring: Scoring = "accuracy"
    n_jobs: int | None = 1
    of_samples: OfSamples = ALIKE

    def __post_init__(self) -> None:
        if not callable(self.scoring) and self.scoring not in get_scorer_names():
            raise ModelError(unknown_name("scorer", self.scoring, get_scorer_names()))
        self.tested_labels, self.classes, self.unknown = self.y, np.unique(self.y), -1

    def run(self, plan: Plan, orders: np.ndarray) -> Run:
        """Choose and test in each order; see :class:`~fairfold.cross_testing.plans.Run`."""
        runs = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(self._run_order)(plan, order) for order in orders
        )
        shown = tqdm(runs, total=len(orders), desc="permutations", delay=5, disable=None)
        totals, chosen = zip(*shown, strict=True)
        return Run(np.array(totals, dtype=np.float64), np.array(chosen, dtype=np.int64))

    def predict(self, plan: Plan, order: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Prediction at each position in each test; see :class:`~fairfold.cross_testing.plans.Engine`."""
        predicted = np.full((*plan.role.shape, *np.shape(self.unknown)), self.unknown)
        with one_thread_each():
            for test, (choice, role) in enumerate(zip(plan.choice_of, plan.role, strict=True)):
                asked = role == TEST
                if asked.any():
                    model = self._fit(chosen[choice], role == TRAIN, order)
                    with _reasons(model, np.count_nonzero(role == TRAIN)):
                        predicted[test, asked] = self._predict(model, self.X[order[asked]])
        return predicted

    def _predict(self, model: ClassifierMixin, X: Matrix) -> np.ndarray:
        return np.searchsorted(self.classes, model.predict(X))

    def _run_order(self, plan: Plan, order: np.ndarray) -> tuple[list[float], list[int]]:
        """Total of each test, and candidate of each choice."""
        with one_thread_each():
            chosen = [self._choose(inner_fold, order) for inner_fold in plan.inner_fold]
            totals = [
                self._total(chosen[choice], role == TRAIN, role == TEST, order, self.tested_labels)
                for choice, role in zip(plan.choice_of, plan.role, strict=True)
            ]
        return totals, chosen

    def _choose(self, inner_fold: np.ndarray, order: np.ndarray) -> int:
        """The candidate with the highest total over the inner folds, the first of those on ties."""
        if len(self.estimators) == 1:
            return 0
        totals = np.zeros(len(self.estimators))
        for fold in range(inner_fold.max() + 1):
            train, test = (inner_fold >= 0) & (inner_fold != fold), inner_fold == fold
            totals += [self._total(candidate, train, test, order, self.y) for candidate in range(len(totals))]
        return int(first_best(totals))

    def _total(self, candidate: int, train: np.ndarray, test: np.ndarray, order: np.ndarray, y: np.ndarray) -> float:
        """What :meth:`_total_of` says of a candidate, 0 without samples; ``y`` are the labels that it is tested on."""
        if not test.any():
            return 0.0
        model, y = self._fit(candidate, train, order), y[test]
        with _reasons(model, np.count_nonzero(train)):
            total = self._total_of(model, self.X[order[test]], y, self.of_samples.of(test).weights)
        if not np.isfinite(total):
            raise ModelError(
                f"scoring {self.scoring!r} gives {total} on a fold of {len(y)} samples {self._kinds(y)}: "
                "use larger folds, or a score that is defined for them."
            )
        return total

    def _total_of(self, model: ClassifierMixin, X: Matrix, y: np.ndarray, _weights: np.ndarray | None) -> float:
        """Score times number of samples; for accuracy the number of correct predictions."""
        if self.scoring == "accuracy":
            return float(np.count_nonzero(model.predict(X) == y))
        return float(get_scorer(self.scoring)(model, X, y)) * len(y)

    def _kinds(self, y: np.ndarray) -> str:
        """What a score may lack in labels."""
        return f"of {len(np.unique(y))} classes"

    def _fit(self, candidate: int, train: np.ndarray, order: np.ndarray) -> ClassifierMixin:
        return fit_clone(
            self.estimators[candidate], self.X[order[train]], self.y[train], self.of_samples.for_training(train)
        )
