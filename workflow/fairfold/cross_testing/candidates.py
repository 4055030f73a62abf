"""Candidates: the named classifiers among which a procedure chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_regressor

from fairfold.errors import ModelError


class Candidate(NamedTuple):
    """Classifier that a procedure may choose.

    Attributes
    ----------
    parameters : object
        Parameters or name of the classifier, which identify it in the outcome of a procedure.
    estimator : ClassifierMixin
        Unfitted scikit-learn classifier, or pipeline that ends in one.
    """

    parameters: Any
    estimator: ClassifierMixin


Candidates = Mapping[str, ClassifierMixin] | Sequence[ClassifierMixin | tuple[Any, ClassifierMixin]]


def make_candidates(estimator: ClassifierMixin, parameter_sets: Iterable[Mapping[str, Any]]) -> list[Candidate]:
    """Create one candidate per parameter set.

    Parameters
    ----------
    estimator : ClassifierMixin
        Scikit-learn classifier or pipeline. It is not changed.
    parameter_sets : iterable of mapping of str to object
        Arguments of ``set_params``, such as ``[{"C": 0.01}, {"C": 1}]`` or scikit-learn's ``ParameterGrid``. Earlier
        sets win ties, so put preferred sets first.

    Returns
    -------
    list of Candidate
        Pairs of a parameter set and an unfitted classifier, as the procedures accept them.

    Raises
    ------
    ModelError
        If the estimator lacks a parameter, a set occurs twice, or there are no sets.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from fairfold.cross_testing.candidates import make_candidates
    >>> candidates = make_candidates(SVC(), [{"C": 0.01}, {"C": 1}])
    >>> candidates[0].parameters, candidates[0].estimator
    ({'C': 0.01}, SVC(C=0.01))
    """
    candidates = []
    for parameters in parameter_sets:
        if not isinstance(parameters, Mapping):
            raise ModelError(f"parameter_sets: found {parameters!r}. Give a dict of parameter names and values.")
        try:
            # Clones keep sets that share an object independent.
            made = clone(estimator).set_params(**clone(dict(parameters), safe=False))
        except ValueError as error:
            reason = " ".join(str(error).split())
            raise ModelError(f"parameter_sets: {dict(parameters)!r} is not valid: {reason}") from None
        candidates.append(Candidate(dict(parameters), made))
    return check_candidates(candidates)


def check_candidates(candidates: Candidates) -> list[Candidate]:
    """Check candidates and convert them to a list.

    Parameters
    ----------
    candidates : mapping of str to ClassifierMixin, or sequence of ClassifierMixin or (object, ClassifierMixin)
        Classifiers with or without names. The default name of a classifier is its parameters, ``get_params()``.

    Returns
    -------
    list of Candidate
        Names and classifiers.

    Raises
    ------
    ModelError
        If there are no candidates, one is neither a scikit-learn classifier nor a regressor, both kinds occur, or two
        have the same name or the same class and parameters.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> [candidate.parameters for candidate in check_candidates({"soft": SVC(C=0.01), "hard": SVC(C=100)})]
    ['soft', 'hard']
    """
    if isinstance(candidates, BaseEstimator | str) or not isinstance(candidates, Iterable):
        raise ModelError(f"candidates: found {candidates!r}. Give a list, even for a single classifier.")
    pairs = candidates.items() if isinstance(candidates, Mapping) else candidates
    checked: list[Candidate] = []
    known = set()
    for pair in pairs:
        parameters, estimator = pair if isinstance(pair, tuple) and len(pair) == 2 else (None, pair)
        if not isinstance(estimator, BaseEstimator) or not (is_classifier(estimator) or is_regressor(estimator)):
            found = f"candidate {len(checked)}: found {estimator!r}"
            raise ModelError(f"{found}. Give an unfitted classifier or regressor.")
        parameters = estimator.get_params() if parameters is None else parameters
        # Values such as arrays are not hashable or comparable, so the key is text.
        key = repr(parameters)
        if isinstance(parameters, Mapping):  # Parameters identify a candidate only together with its class.
            key = f"{type(estimator).__qualname__}: {sorted(parameters.items())}"
        if key in known:
            raise ModelError(f"candidate {len(checked)}: {parameters!r} is repeated. Give each candidate once.")
        known.add(key)
        checked.append(Candidate(parameters, estimator))
    if not checked:
        raise ModelError("candidates: the list is empty. Give at least one classifier.")
    if len({is_regressor(candidate.estimator) for candidate in checked}) > 1:
        raise ModelError("candidates: found classifiers and regressors. Give candidates of one kind.")
    return checked
