"""Compiled engine for support vector machines with a Gaussian kernel, alone or after principal components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from fairfold.cross_testing.plans import Plan, Run
from fairfold.cross_testing.svm_kernels import TOLERANCE, Problem, decision_values, run_plan


@dataclass(eq=False, repr=False)
class SVMEngine:
    """Compiled engine that runs plans for ``SVC(kernel="rbf")`` and ``Pipeline([PCA, SVC])`` on two classes.

    It implements the protocol :class:`~fairfold.cross_testing.plans.Engine` without a Python call per fit.

    Parameters
    ----------
    problem : Problem
        Data and candidates, see :class:`~fairfold.cross_testing.svm_kernels.Problem`.
    n_jobs : int or None, default=None
        Number of threads. They share the orders of the rows. The results do not depend on it.

    Notes
    -----
    Predictions equal those of scikit-learn (LIBSVM), except for samples with a decision value within LIBSVM's
    tolerance, 0.001, of zero. Memory is O(n_samples²). For the run time see
    :func:`~fairfold.cross_testing.svm_kernels.run_plan`.
    """

    problem: Problem
    n_jobs: int | None = None

    @classmethod
    def for_candidates(
        cls, candidates: Sequence[BaseEstimator], X: Any, y: np.ndarray, *, n_jobs: int | None = None
    ) -> SVMEngine | None:
        """Create an engine for these candidates and data, if possible.

        Parameters
        ----------
        candidates : sequence of BaseEstimator
            Unfitted estimators.
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : ndarray of int of shape (n_samples,)
            Class code at each position.
        n_jobs : int or None, default=None
            Number of threads.

        Returns
        -------
        SVMEngine or None
            ``None`` if the engine does not support the candidates or the data.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.svm import SVC
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
        >>> SVMEngine.for_candidates([LogisticRegression()], X, y) is None
        True
        >>> SVMEngine.for_candidates([SVC(gamma="auto")], X, y) is None
        False
        """
        machines = [machine for candidate in candidates if (machine := _machine(candidate))]
        if sparse.issparse(X) or set(np.unique(y)) != {0, 1} or len(machines) < len(candidates):
            return None
        gammas = {gamma for _, share, gamma in machines if not share}
        reductions = {(share, gamma) for _, share, gamma in machines if share}
        if max(len(gammas), len(reductions)) > 1:
            return None  # The kernels keep one matrix without preprocessing and one with it.
        X = np.ascontiguousarray(X, dtype=np.float64)
        K = rbf_kernel(X, gamma=max(gammas, default=0) or 1 / X.shape[1])
        # LIBSVM's positive class is the first one.
        signs = np.where(y == 0, 1.0, -1.0)
        C, is_reduced = np.array([C for C, *_ in machines]), np.array([share > 0 for _, share, _ in machines])
        rows = np.ascontiguousarray(_compact(X)) if reductions else None
        kept_variance, gamma = max(reductions, default=(0.0, 0.0))
        return cls(Problem(K, rows, signs, C, is_reduced, kept_variance, gamma), n_jobs)

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
        parts = np.array_split(orders, min(len(orders), effective_n_jobs(self.n_jobs)))
        own = (self.problem, plan.inner_fold, plan.choice_of, plan.role)
        runs = Parallel(self.n_jobs, prefer="threads")(delayed(run_plan)(*own, part) for part in parts)
        return Run(*map(np.concatenate, zip(*runs, strict=True)))

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
        ndarray of int64 of shape (n_tests, n_samples)
            Class codes, -1 outside the test.
        """
        tests = zip(chosen[plan.choice_of], plan.role, strict=True)
        values = np.stack([decision_values(self.problem, candidate, role, order) for candidate, role in tests])
        return np.where(np.isnan(values), -1, np.where(values > 0, 0, 1))


def _machine(candidate: BaseEstimator) -> tuple[float, float, float] | None:
    """Return C, the kept share of variance (0 without PCA) and gamma (0 for 1 / features), or None if unsupported."""
    steps = [candidate] if not isinstance(candidate, Pipeline) else [step for _, step in candidate.steps]
    steps = [step for step in steps if step not in ("passthrough", None)]
    if not steps or type(steps[-1]) is not SVC or len(steps) > 2:
        return None
    svc = steps[-1]
    usual = SVC(C=svc.C, gamma=svc.gamma, tol=TOLERANCE).get_params()
    ignored = {"shrinking", "cache_size", "random_state", "verbose", "decision_function_shape", "break_ties"}
    if any(value != usual[name] for name, value in svc.get_params().items() if name not in ignored):
        return None
    if svc.gamma != "auto" and not isinstance(svc.gamma, (int, float)):
        return None
    gamma = 0.0 if svc.gamma == "auto" else float(svc.gamma)
    if len(steps) == 1:
        return float(svc.C), 0.0, gamma
    exact = ("auto", "full", "covariance_eigh")
    share = steps[0].n_components if type(steps[0]) is PCA else None
    if not isinstance(share, float) or not 0 < share < 1 or steps[0].whiten or steps[0].svd_solver not in exact:
        return None
    return float(svc.C), share, gamma


def _compact(X: np.ndarray) -> np.ndarray:
    """Center the rows and limit their dimensions to the number of rows, with the same distances."""
    X = X - X.mean(axis=0)
    if X.shape[1] <= len(X):
        return X
    U, scale, _ = np.linalg.svd(X, full_matrices=False)
    return U * scale
