"""Steps of the paper on win percentages, from files to files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from fairfold.core.files import concat_tables, read_arrays, write_arrays, write_tables
from fairfold.datasets.dataset import Dataset
from fairfold.papers.win_percentage_illustration import illustration_tables
from fairfold.papers.win_percentage_pairs import Setting, evaluate_pairs, evaluate_permuted, search_pairs
from fairfold.papers.win_percentage_sampling import sampling_errors, sampling_example, sampling_laws, synthetic_rmse
from fairfold.papers.win_percentage_tables import classifier_table, dataset_row, density_table, draws_table
from fairfold.papers.win_percentage_top_pairs import asterisk_table, decision_maps, pairs_to_show, reevaluate_pairs
from fairfold.win_percentage.feature_sets import gaussian_features
from fairfold.win_percentage.multilabel_tables import multilabel_win_tables
from fairfold.win_percentage.names import GAUSSIAN_CLASSIFIERS
from fairfold.win_percentage.pair_evaluation import PairEvaluation, histograms_from_arrays, histograms_to_arrays
from fairfold.win_percentage.tables import random_label_table, win_table
from fairfold.win_percentage.win import PerformanceHistogram, draws_grid

_OF_MODELS = {"wins": "models", "sets": "model_sets", "permutations": "model_permutations"}


def evaluate_dataset(dataset: str, made: Mapping[str, str], params: Any, n_jobs: int = 1) -> None:
    """Evaluate all feature pairs of a dataset, cross-validate the best ones again, map decisions, and search pairs.

    Parameters
    ----------
    dataset : str
        File of the dataset.
    made : mapping of str to str
        Files ``pairs, table, printed, maps, points, search`` to write.
    params : namespace
        ``setting`` (see :class:`~fairfold.papers.win_percentage_pairs.Setting`), ``n_parts``, ``reevaluation``,
        ``alpha``, ``search``, ``seed`` and ``code``.
    n_jobs : int, default=1
        Number of threads.
    """
    data, seed, setting = Dataset.load(dataset), params.seed, Setting(**params.setting)
    known = {"seed": seed, "name": data.id, "code": params.code, "n_jobs": n_jobs}
    pairs = evaluate_pairs(data.X, data.Y, params.n_parts, setting, **known)
    write_arrays(made["pairs"], **pairs.to_arrays())
    options = {**params.reevaluation, "alpha": params.alpha, "dataset": data.id, "random_state": seed}
    table = reevaluate_pairs(data.X, data.Y, pairs.best_pairs, **options)
    classes = np.array(data.label_names)[data.Y]
    resamples = {name: params.reevaluation[name] for name in ("n_splits", "n_repeats")}
    maps, points = decision_maps(data.X, classes, pairs_to_show(table), **resamples, random_state=seed)
    names = dict(enumerate(data.feature_names))
    table, maps, points = (each.replace({"feature_1": names, "feature_2": names}) for each in (table, maps, points))
    printed, search = asterisk_table(table, alpha=params.alpha), search_pairs(data, setting, params.search, seed=seed)
    write_tables({"table": table, "printed": printed, "maps": maps, "points": points, "search": search}, made)


def permuted_histograms(
    dataset: str, permutations: Sequence[int], setting: Mapping[str, Any], *, seed: int
) -> dict[str, np.ndarray]:
    """Evaluate the classifiers on all pairs of a dataset's features with permuted class labels.

    Parameters
    ----------
    dataset : str
        File of the dataset.
    permutations : sequence of int
        First permutation, and the one after the last.
    setting : mapping
        Parameters of :class:`~fairfold.papers.win_percentage_pairs.Setting`.
    seed : int
        Seed of the study.

    Returns
    -------
    dict of str to ndarray
        Arrays of :func:`~fairfold.win_percentage.pair_evaluation.histograms_to_arrays`.
    """
    data, numbers = Dataset.load(dataset), tqdm(range(*permutations))
    return histograms_to_arrays(evaluate_permuted(data.X, data.Y, numbers, Setting(**setting), seed=seed, name=data.id))


def tabulate_wins(files: Any, made: Mapping[str, str], params: Any) -> None:
    """Tabulate the win percentages of classifiers on feature pairs, and of models on feature sets.

    Parameters
    ----------
    files : namespace of sequence of str
        Files of all datasets with pairs: ``data, pairs, permuted, best_pairs, searches``. Files of ``models``.
    made : mapping of str to str
        Files of the tables to write.
    params : namespace
        Parameters of the rule.
    """
    if files.data:
        _tabulate_pairs(files, made, params)
    if files.models:
        tables = multilabel_win_tables(concat_tables(files.models), alpha=params.alpha)
        write_tables({_OF_MODELS[name]: table for name, table in tables.items()}, made)


def _tabulate_pairs(files: Any, made: Mapping[str, str], params: Any) -> None:
    """Tabulate the datasets with feature pairs, the best pairs, win percentages, samples of pairs, and the example."""
    tables: dict[str, list[pd.DataFrame]] = {name: [] for name in ("datasets", "win_percentages", "random_labels")}
    histograms: dict[str, PerformanceHistogram] = {}
    for path, title, pairs in zip(files.data, params.titles, files.pairs, strict=True):
        data, histogram = Dataset.load(path), PairEvaluation.from_arrays(read_arrays(pairs)).histogram
        permuted = [
            each
            for path in files.permuted
            if f"/{data.id}/" in path
            for each in histograms_from_arrays(read_arrays(path))
        ]
        histograms[data.id] = histogram
        for name, table in _of_dataset(data, title, histogram, permuted, params).items():
            tables[name].append(table)
    found = {name: pd.concat(parts) for name, parts in tables.items() if parts}
    joined = {"best_pairs": concat_tables(files.best_pairs), "searches": concat_tables(files.searches)}
    fixed = {"draws_needed": draws_table(), "classifiers": classifier_table()}
    densities = [density_table(each, GAUSSIAN_CLASSIFIERS, dataset=name) for name, each in histograms.items()]
    write_tables({**found, **joined, **fixed, "performance_densities": pd.concat(densities)}, made)
    write_tables(_sampling_tables(histograms, params.sampling, params.seed), made)
    write_tables(illustration_tables(random_state=params.seed), made)


def _of_dataset(
    data: Dataset, title: str, histogram: PerformanceHistogram, permuted: list[PerformanceHistogram], params: Any
) -> dict[str, pd.DataFrame]:
    """Return the size of a dataset, its win percentages, and those of permuted labels if there are enough."""
    kept = gaussian_features(data.X, params.kurtosis_multiple).tolist()
    draws = draws_grid(params.most_draws).tolist()
    options = {"dataset": data.id, "alpha": params.alpha}
    n_independent = len(kept) if params.independent == "features" else None
    known = {**options, "n_independent": n_independent, "permuted": permuted}
    tables = {
        "datasets": dataset_row(data.id, title, data.X, data.Y, kept),
        "win_percentages": win_table(histogram, GAUSSIAN_CLASSIFIERS, draws, **known),
    }
    if len(permuted) > 1:
        tables["random_labels"] = random_label_table(permuted, draws, n_features=len(kept), **options)
    return tables


def _sampling_tables(
    histograms: Mapping[str, PerformanceHistogram], sampling: Mapping[str, Any], seed: int
) -> dict[str, pd.DataFrame]:
    """Return the tables of win percentages that are estimated from samples of pairs."""
    options = {**sampling, "random_state": seed}
    of_example = {**options.pop("example"), "n_trials": options["n_trials"], "random_state": seed}
    errors = [synthetic_rmse(**options)]
    del options["n_distributions"]
    errors += [sampling_errors(each, name, **options) for name, each in tqdm(histograms.items())]
    table = pd.concat(errors)
    return {
        "sampling_example": sampling_example(histograms, GAUSSIAN_CLASSIFIERS, **of_example),
        "sampling_errors": table,
        "sampling_law": sampling_laws(table, {name: each.n_sets for name, each in histograms.items()}),
    }
