"""A model among 28 multilabel methods of a published comparison (Bogatinovski et al. 2022).

The comparison trained each method on one part of 60 % of each dataset, with all labels, and scored it by 18 metrics on
the rest. Its splits are not published. Here the model is trained and scored on five splits by iterative stratification.
Its mean score takes a rank among the published ones, and the standard error over splits shows how much a split matters.
The published numbers come from another split of each dataset, so a difference of a few standard errors proves nothing.

References
----------
Bogatinovski, Todorovski, Džeroski & Kocev (2022), Comprehensive comparative study of multi-label classification
methods, Expert Systems with Applications.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix
from fairfold.core.seeds import seed_for
from fairfold.core.usage import cpu_seconds
from fairfold.datasets import Dataset
from fairfold.evaluation.fold_scores import labels_for
from fairfold.metrics.registry import METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.splitting import IterativeStratification

PUBLISHED_NAMES = {
    "roc_auc": "AUCROC_MICRO",
    "average_precision": "AUPRC_MICRO",
    "ranking_loss": "LABEL_RANKING_LOSS",
    "label_ranking_average_precision": "LABEL_RANKING_AVERAGE_PRECISION",
    "one_error": "ONE_ERROR",
    "coverage_error": "COVERAGE",
    "hamming_loss": "HAMMING_LOSS_example_based",
    "subset_accuracy": "SUBSET_ACCURACY",
    "f1_micro": "MICRO_F1",
    "f1_macro": "MACRO_F1",
    "f1_samples": "F1_example_based",
    "accuracy_samples": "ACCURACY_example_based",
    "precision_micro": "MICRO_PRECISION",
    "precision_macro": "MACRO_PRECISION",
    "precision_samples": "PRECISION_example_based",
    "recall_micro": "MICRO_RECALL",
    "recall_macro": "MACRO_RECALL",
    "recall_samples": "RECALL_example_based",
}
"""Name of each metric in the published table."""

OBJECTIVES = {
    "hamming_loss": "hamming",
    "subset_accuracy": "subset",
    "accuracy_samples": "f1_samples",
    **{
        f"{key}_{average}": f"f1_{average}"
        for key in ("f1", "precision", "recall")
        for average in ("micro", "macro", "samples")
    },
}
"""Decisions that each metric scores. Precision and recall are those of the decisions for F1 with the same average."""

UNRANKED = ("one_error",)
"""Metrics without a rank: some published values are 0.0 for methods that predict label sets."""

IMPOSSIBLE = (("cal500", "subset_accuracy"),)
"""Datasets and metrics without a rank, because published values are impossible for samples that a model has not seen.

All 502 label sets of CAL500 differ. Label powersets (LP) can only predict label sets of training samples, so their
subset accuracy is 0 on other samples. The published value is .043, so about ten test samples were training samples.
"""

NOT_COMPARABLE = ("tmc2007_500", "ABPM")
"""Datasets whose published training files contain test rows."""

SUFFIX = "-all"
"""End of the ids of datasets with all labels. The rest is the published name."""

_DIGITS = 3  # Decimals of the published numbers.


def score_splits(
    data: Dataset,
    model: str,
    make_model: Callable[..., Any],
    settings: Mapping[str, Any],
    *,
    n_splits: int,
    test_size: float,
    seed: int,
    n_jobs: int,
) -> pd.DataFrame:
    """Train and score a model on several splits of a dataset.

    Parameters
    ----------
    data : Dataset
        Data with all labels. Its id is the published name and ``SUFFIX``.
    model : str
        Name of a model with calibrated probabilities.
    make_model : callable
        ``fairfold.models.make_model``. As an argument, it keeps other results of papers independent of models.
    settings : mapping of str to object
        Settings of the model.
    n_splits : int
        Number of splits by iterative stratification.
    test_size : float
        Share of the test samples.
    seed : int
        Seed of the study.
    n_jobs : int
        Number of threads. It does not affect results.

    Returns
    -------
    DataFrame
        Columns ``dataset, model, split, metric, objective, value, seconds``. Each metric of decisions is computed for
        the decisions of its objective. ``seconds`` is the CPU time of training.
    """
    name, tables = data.id.removesuffix(SUFFIX), []
    # The labels of the comparison are complete, so that nothing is corrected.
    of_data: dict[str, Any] = {"categories": data.category_columns}
    for split in range(n_splits):
        random_state = seed_for(seed, "mlc comparison", name, split)
        train, test = IterativeStratification(random_state=random_state).train_test(data.Y, test_size)
        start = cpu_seconds()
        fitted = make_model(model, **of_data, **settings, n_jobs=n_jobs, random_state=random_state)
        fitted.fit(data.X[train], labels_for(fitted, data.Y[train]))
        seconds = cpu_seconds() - start
        scores = list(decided_scores(fitted, data.Y[test], fitted.predict_proba(data.X[test])))
        table = pd.DataFrame(scores, columns=["metric", "objective", "value"])
        tables.append(table.assign(dataset=name, model=model, split=split, seconds=round(seconds, 2)))
    columns = ["dataset", "model", "split", "metric", "objective", "value", "seconds"]
    return pd.concat(tables, ignore_index=True)[columns]


def decided_scores(model: Any, Y: Matrix, P: Matrix) -> Iterator[tuple[str, str, float]]:
    """Compute all metrics of the comparison, each at the decisions of its objective.

    Parameters
    ----------
    model : object
        Fitted model with a method ``decide``.
    Y, P : {ndarray, csr_array} of shape (n_samples, n_labels)
        True labels, and probabilities of the model.

    Yields
    ------
    metric, objective : str
        Names. The objective is empty for metrics of probabilities.
    value : float
        Score.
    """
    for objective in ("", *dict.fromkeys(OBJECTIVES.values())):
        metrics = [metric for metric in PUBLISHED_NAMES if OBJECTIVES.get(metric, "") == objective]
        scored = model.decide(P, objective).astype(np.float64) if objective else P
        for metric, value in multilabel_scores(Y, scored, metrics=metrics).items():
            yield metric, objective, value


def rank_among(scores: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Rank the mean scores of a model among published ones.

    Parameters
    ----------
    scores : DataFrame
        Tables of :func:`score_splits`.
    published : DataFrame
        Columns ``dataset, metric, method, value``.

    Returns
    -------
    DataFrame
        One row per dataset and metric:

        - ``dataset``, ``model``, ``metric``, ``objective``, ``mean``
        - ``se`` : standard error over splits, without that of the published score
        - ``best``, ``best_method`` : best published score, and its method
        - ``rank``, ``n_methods`` : 1 plus the number of published methods with a better score, at three decimals. NaN
          for metrics that are not ranked, and for values in ``IMPOSSIBLE``.
        - ``is_comparable`` : False for the datasets of ``NOT_COMPARABLE``
        - ``n_splits``, ``seconds`` : number of splits, and mean CPU time of training
    """
    rows = []
    theirs = published.set_index(["dataset", "metric"]).sort_index()
    for (dataset, model, metric, objective), part in scores.groupby(
        ["dataset", "model", "metric", "objective"], sort=False
    ):
        others = theirs.loc[[(dataset, PUBLISHED_NAMES[metric])]].dropna(subset="value").set_index("method")["value"]
        direction, mean = METRICS[metric].direction, part["value"].mean()
        n_better = int((direction * others.round(_DIGITS) > direction * round(mean, _DIGITS)).sum())
        best = (direction * others).idxmax()
        rows.append(
            {
                "dataset": dataset,
                "model": model,
                "metric": metric,
                "objective": objective,
                "mean": mean,
                "se": part["value"].sem(),
                "best": others[best],
                "best_method": best,
                "rank": np.nan if metric in UNRANKED or (dataset, metric) in IMPOSSIBLE else 1 + n_better,
                "n_methods": len(others),
                "is_comparable": dataset not in NOT_COMPARABLE,
                "n_splits": len(part),
                "seconds": part["seconds"].mean(),
            }
        )
    return pd.DataFrame(rows)


def summarize_ranks(ranks: pd.DataFrame) -> pd.DataFrame:
    """Average ranks over the comparable datasets.

    Parameters
    ----------
    ranks : DataFrame
        Tables of :func:`rank_among`.

    Returns
    -------
    DataFrame
        One row per ranked metric: ``metric``, ``mean_rank``, ``worst_rank``, ``wins`` (datasets with rank 1), ``ahead``
        (datasets whose score is better than the best published one by more than two standard errors), ``behind`` (the
        same for worse), ``n_datasets``, and the names of the datasets with a rank above 1 as ``lost``.
    """
    rows = []
    for metric, part in ranks[ranks["is_comparable"]].dropna(subset="rank").groupby("metric", sort=False):
        gain = METRICS[str(metric)].direction * (part["mean"] - part["best"])
        lost = part[part["rank"] > 1].sort_values("rank", ascending=False)
        rows.append(
            {
                "metric": metric,
                "mean_rank": part["rank"].mean(),
                "worst_rank": int(part["rank"].max()),
                "wins": int((part["rank"] == 1).sum()),
                "ahead": int((gain > 2 * part["se"]).sum()),
                "behind": int((gain < -2 * part["se"]).sum()),
                "n_datasets": len(part),
                "lost": " ".join(f"{row.dataset} ({row.rank:.0f})" for row in lost.itertuples()),
            }
        )
    return pd.DataFrame(rows)


def compare_with_study(dataset: str, published: str, **options: Any) -> pd.DataFrame:
    """Score a model on several splits of a dataset, and rank it among the methods of the published comparison.

    Parameters
    ----------
    dataset : str
        File of the dataset.
    published : str
        Table of the published comparison.
    **options : object
        Parameters of :func:`score_splits`.

    Returns
    -------
    DataFrame
        Table of :func:`rank_among`.
    """
    return rank_among(score_splits(Dataset.load(dataset), **options), pd.read_csv(published))
