"""What a procedure chooses from: classifiers, each with the name or the parameters that the outcome reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier

from fairfold.errors import ModelError


class Candidate(NamedTuple):
    """One of the classifiers that a procedure chooses from.

    parameters : a parameter set, or any name.
    estimator : unfitted scikit-learn classifier, or pipeline that ends in one.
    """

    parameters: Any
    estimator: ClassifierMixin


Candidates = Mapping[str, ClassifierMixin] | Sequence[ClassifierMixin | tuple[Any, ClassifierMixin]]


def make_candidates(estimator: ClassifierMixin, parameter_sets: Iterable[Mapping[str, Any]]) -> list[Candidate]:
    """One candidate per parameter set; ``estimator`` itself is not changed.

    Parameters
    ----------
    estimator : scikit-learn classifier or pipeline.
    parameter_sets : what ``set_params`` takes, for example ``[{"C": 0.01}, {"C": 1}]`` or scikit-learn's
        ``ParameterGrid``. Earlier ones win ties: put those that you would rather have first.

    Returns
    -------
    list of pairs of the parameter set and the unfitted classifier, as the procedures take them.

    Raises
    ------
    ModelError
        For a parameter that the estimator does not have, a set given twice, or no set at all.
    """
    candidates = []
    for parameters in parameter_sets:
        if not isinstance(parameters, Mapping):
            raise ModelError(f"parameter set {parameters!r} is no mapping: give each as a dict from name to value.")
        try:
            # cloned, so that sets which share an object cannot change it for each other
            made = clone(estimator).set_params(**clone(dict(parameters), safe=False))
        except ValueError as error:
            raise ModelError(
                f"parameter set {dict(parameters)!r} does not fit: {' '.join(str(error).split())}"
            ) from None
        candidates.append(Candidate(dict(parameters), made))
    return check_candidates(candidates)


def check_candidates(candidates: Candidates) -> list[Candidate]:
    """Candidates in one form, whichever way they were given.

    Parameters
    ----------
    candidates : mapping from name to classifier, or sequence of classifiers or of (name, classifier) pairs. A
        classifier without a name goes by ``get_params()``.

    Raises
    ------
    ModelError
        When there is none, one is no scikit-learn classifier, or two have the same name or class and parameters.
    """
    if isinstance(candidates, BaseEstimator | str) or not isinstance(candidates, Iterable):
        raise ModelError(f"candidates is {candidates!r}: give a list, even of a single classifier.")
    pairs = candidates.items() if isinstance(candidates, Mapping) else candidates
    checked: list[Candidate] = []
    known = set()
    for pair in pairs:
        parameters, estimator = pair if isinstance(pair, tuple) and len(pair) == 2 else (None, pair)
        if not isinstance(estimator, BaseEstimator) or not is_classifier(estimator):
            raise ModelError(f"candidate {len(checked)} is {estimator!r}: give an unfitted scikit-learn classifier.")
        parameters = estimator.get_params() if parameters is None else parameters
        # as text, since values need not be hashable, nor comparable by one ==, as arrays are not
        key = repr(parameters)
        if isinstance(parameters, Mapping):  # a name stands alone, parameters belong to a class
            key = f"{type(estimator).__qualname__}: {sorted(parameters.items())}"
        if key in known:
            raise ModelError(f"candidate {len(checked)} repeats {parameters!r}: give each candidate once.")
        known.add(key)
        checked.append(Candidate(parameters, estimator))
    if not checked:
        raise ModelError("there are no candidates: give at least one classifier.")
    return checked
