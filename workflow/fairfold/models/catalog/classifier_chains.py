"""Ensemble of ten classifier chains of logistic regressions on standardized features.

Ten chains with random orders are the setting of Read, Pfahringer, Holmes & Frank (2011).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairfold.models.spec import SCALED, ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def make() -> BaseEstimator:
    """Create an unfitted ensemble of classifier chains.

    Returns
    -------
    estimator object
        Classifier of several labels.
    """
    from sklearn.linear_model import LogisticRegression

    from fairfold.models.binary import ChainEnsemble, prepared

    return prepared(ChainEnsemble(LogisticRegression(max_iter=1000)), scale=True)


_PHRASE = "ten classifier chains of logistic regressions on standardized features [@read2011]"

SPECS = with_correction(ModelSpec("chains", make=f"{__name__}:make", phrase=_PHRASE, traits=("linear", *SCALED)))
