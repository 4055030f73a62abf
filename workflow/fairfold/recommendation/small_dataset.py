"""All steps of a study of a small dataset in one job, from files to files."""

from __future__ import annotations

from typing import Any

from fairfold.core.files import write_arrays
from fairfold.datasets.dataset import Dataset
from fairfold.datasets.similarity import comparable_features
from fairfold.models.registry import register_own
from fairfold.models.training import Unit
from fairfold.recommendation.steps import correct, score_by_samples, train
from fairfold.splitting.methods import study_folds

_TRAINED = ("scores", "imputation", "predictions", "seconds")


def compare(dataset: str, made: Any, params: Any, *, key: str, n_jobs: int = 1) -> None:
    """Run all steps on a small dataset: split it, train models, correct their scores, and draw learning curves.

    Parameters
    ----------
    dataset : str
        File of the dataset.
    made : mapping of str to str or sequence of str
        Files to write: ``folds``; for each rate at which models are trained the files of :func:`train`; for each rate
        those of :func:`correct`, with the prefix ``corrected_``; for each curve ``curve_scores`` and ``curves``.
    params : namespace
        Parameters of the rule.
    key : str
        Checksum of all input and code, by which an interrupted job finds its trainings in the cache.
    n_jobs : int, default=1
        Number of threads.
    """
    register_own(params.own)
    numbers = {**params.folds, "seed": params.seed, "compared": comparable_features}
    write_arrays(made["folds"], fold_of=study_folds(Dataset.load(dataset), **numbers))
    corrected = {name.removeprefix("corrected_"): made[name] for name in made.keys() if "corrected_" in name}  # noqa: SIM118
    for number, rate in enumerate(params.rates):
        unit = Unit.load(dataset, made["folds"], rate, **params.unit, seed=params.seed, own=params.own)
        predictions = []
        if rate in params.trained:
            files = {name: made[name][params.trained.index(rate)] for name in _TRAINED}
            train(unit, params.models, files, n_jobs)
            predictions = [files["predictions"]]
        files = {name: paths[number] for name, paths in corrected.items()}
        correct(unit, predictions, files, n_labels=params.n_labels, **params.correction, n_jobs=n_jobs)
    curves = zip(params.curves.items(), made["curve_scores"], made["curves"], strict=True)
    for (model, settings), scores, curve in curves:
        options = {"model": model, "missing_rate": params.curve_rate, "settings": settings, **params.curve}
        score_by_samples(dataset, made["folds"], {"scores": scores, "curve": curve}, **options, key=key)
