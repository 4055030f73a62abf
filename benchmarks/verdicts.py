"""Measure false claims and power of verdicts on models, beside other tests on the same predictions.

    python benchmarks/verdicts.py run [--repetitions 1000] [--cases logistic-300-3 ...] [--minutes 30]
    python benchmarks/verdicts.py others [--repetitions 100] [--cases logistic-300-3 ...] [--minutes 30]
    python benchmarks/verdicts.py truth [--repetitions 8] [--minutes 30]
    python benchmarks/verdicts.py summarize

`run` draws data sets in which models are equal by symmetry: each model sees its own block of features, and the
blocks are exchangeable. For power, the features of the other blocks are noisier. It stores the difference of two models
and its variance components in `results/verdicts/`, or for more models the claims, and continues where an earlier run
stopped. `others` runs slower tests on the first repetitions. `summarize` writes `resources/measured/verdicts.csv`: the
share of repetitions in which a model is declared worse, the number of repetitions, seed and versions. Without noise,
these are false claims. Repetitions start at `REPORTED`. The factors of the rule were fitted on those below. That
metrics with a threshold have no reduction for stable models was decided after the reported ones were seen.

`truth` draws small studies from large datasets and compares five learners. Their true scores are the means of models
that are trained on other samples of the size of a training part and scored on all remaining samples. `summarize` writes
`resources/measured/verdicts_truth.csv`: the share of `worse` verdicts on a model that is at least as good as the best
one, the share of models truly behind the best by more than .03 that are not declared worse, and the share of studies
whose simultaneous intervals all hold.

Methods:

- `verdict`: the rule of `fairfold.evaluation.compare_models`, with logistic regression declared stable
- `samples_only`: the same without the share for training
- `corrected_t`: corrected resampled t-test (Nadeau and Bengio 2003), adjusted for the number of models
- `bayes_t`: correlated Bayesian t-test (Corani and Benavoli 2015) without a region of practical equality; a model is
  worse if its posterior probability of being worse is at least .95
- `bootstrap`: a model is worse if the 95 % percentile interval of 200 draws of samples within folds excludes 0
- `5x2cv`: F-test of Alpaydin (1999)
- `nested_cv`: 95 % interval of the difference by nested cross-validation (Bates, Hastie and Tibshirani 2021) with
  five folds and `N_NESTED` random splits. It is defined for means of losses of samples only, here the Hamming loss.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import platform
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from fairfold.core.arrays import to_dense
from fairfold.core.folds import parts_of
from fairfold.core.groups import random_parts
from fairfold.core.seeds import seed_for
from fairfold.core.threads import one_thread_each
from fairfold.datasets import prepare
from fairfold.errors import DataError
from fairfold.evaluation import compare_models
from fairfold.evaluation.compare import WORSE, is_defined, joint_of, verdict_table
from fairfold.evaluation.influence import fold_scores
from fairfold.evaluation.intervals import STABLE, STABLE_DF, Joint, total_variance, uncertainty
from fairfold.metrics.registry import METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.missing_labels.corrected import corrected_draws, corrected_scores
from fairfold.recommendation.comparison import compare_with_best

FOLDER = Path("results", "verdicts")
KEPT = Path("resources", "measured", "verdicts.csv")
SEED, N_FOLDS, ALPHA = 78, 5, 0.05
REPORTED = 2000  # First repetition of the table. The factors of the rule were fitted on repetitions below.
METRIC = "average_precision"
MEASURED = (METRIC, "roc_auc", "f1_micro", "hamming_loss")
FREQUENCY = 0.5  # of observed labels, in cases with hidden positives
N_NESTED = 5


class Case(NamedTuple):
    """Learner, data and models of a simulated case."""

    learner: str
    n: int
    n_labels: int
    noise: float = 0.0  # of the features of all blocks but the first
    kind: str = "plain"  # plain, rare, hidden, groups
    n_models: int = 2
    n_repeats: int = 1
    metric: str = METRIC

    @property
    def name(self) -> str:
        return "-".join(map(str, self))


def cases() -> Iterator[Case]:
    null = [("logistic", 100, 1), ("logistic", 150, 2), ("logistic", 300, 3), ("logistic", 1000, 3)]
    null += [("logistic", 3000, 3), ("logistic", 300, 10), ("logistic", 300, 50), ("tree", 150, 2), ("tree", 300, 3)]
    null += [("tree", 1000, 3), ("tree", 300, 10), ("forest", 150, 2), ("forest", 300, 3), ("forest", 1000, 3)]
    null += [("boosting", 300, 3), ("boosting", 1000, 3), ("knn", 100, 1), ("knn", 300, 3), ("knn", 1000, 3)]
    for unit in null:
        yield Case(*unit)
    for learner in ("logistic", "tree", "forest"):
        for kind in ("rare", "hidden", "groups"):
            yield Case(learner, 300, 3, kind=kind)
    yield Case("logistic", 1000, 10, kind="rare")
    yield Case("tree", 300, 3, n_repeats=3)
    yield Case("logistic", 300, 3, n_repeats=3)
    for learner in ("logistic", "tree", "knn", "boosting", "forest"):
        yield Case(learner, 300, 3, n_models=5)
    for learner, n, n_labels, noises in (
        ("logistic", 150, 2, (0.5, 1.0)),
        ("logistic", 300, 3, (0.3, 0.7)),
        ("logistic", 1000, 3, (0.2, 0.4)),
        ("tree", 300, 3, (0.5, 1.0)),
        ("forest", 300, 3, (0.3, 0.7)),
        ("boosting", 300, 3, (0.3, 0.7)),
        ("knn", 300, 3, (0.3, 0.7)),
    ):
        for noise in noises:
            yield Case(learner, n, n_labels, noise=noise)
    for learner, noise in (("logistic", 1.0), ("tree", 2.0), ("boosting", 1.0)):
        yield Case(learner, 300, 3, noise=noise, n_models=5)


def drawn(case: Case, seed: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the features of each model, all labels, observed labels and groups."""
    rng = np.random.default_rng(seed_for(SEED, *case[:3], *case[4:6], seed))
    n_features, groups = 6, None
    X = rng.normal(size=(case.n, case.n_models, n_features))
    shared = np.zeros((case.n, 1))
    if case.kind == "groups":
        groups = np.arange(case.n) // 5
        of_groups = rng.normal(size=(groups.max() + 1, case.n_models, n_features))
        X = np.sqrt(0.5) * (X + of_groups[groups])
        shared = rng.normal(size=(groups.max() + 1, case.n_labels))[groups]
    slopes = rng.normal(size=(n_features, case.n_labels)) * np.linspace(1, 0.2, n_features)[:, None]
    logits = 2 * X.mean(axis=1) @ slopes + shared
    wanted = {"rare": rng.integers(5, 21, size=case.n_labels) / case.n}.get(kind := case.kind, 0.3)
    noisy = logits + rng.logistic(size=logits.shape)
    quantiles = np.quantile(logits + np.random.default_rng(1).logistic(size=logits.shape), 0.7, axis=0)
    Y = noisy > (
        quantiles if kind != "rare" else np.sort(noisy, axis=0)[-np.round(wanted * case.n).astype(int)].diagonal()
    )
    Y = Y.astype(np.int8)
    observed = Y * (rng.random(Y.shape) < FREQUENCY) if kind == "hidden" else Y
    X[:, 1:] += case.noise * rng.normal(size=X[:, 1:].shape)
    return [X[:, block] for block in range(case.n_models)], Y, observed, groups


def logistic(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray) -> np.ndarray:
    """Fit logistic regressions with an L2 penalty of 1 by Newton's method."""
    if X.shape[1] > len(X):  # The slopes are a combination of the training samples.
        basis = np.linalg.qr(X.T)[0]
        X, X_new = X @ basis, X_new @ basis
    A, B = (np.column_stack([np.ones(len(each)), each]) for each in (X, X_new))
    penalty = np.diag([1e-6, *np.ones(X.shape[1])])
    w = np.zeros((Y.shape[1], A.shape[1]))
    for _ in range(7):
        p = 1 / (1 + np.exp(-A @ w.T))
        gradient = (p - Y).T @ A + w @ penalty
        hessian = np.einsum("ni,nl,nj->lij", A, p * (1 - p), A, optimize=True) + penalty
        w -= np.linalg.solve(hessian, gradient[..., np.newaxis])[..., 0]
    return 1 / (1 + np.exp(-B @ w.T))


def forest(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray, seed: int) -> np.ndarray:
    """Fit ten extremely randomized trees, without the overhead of the class for forests."""
    from sklearn.tree import ExtraTreeRegressor

    X, Y, X_new = X.astype(np.float32), Y.astype(np.float64), X_new.astype(np.float32)
    trees = [ExtraTreeRegressor(min_samples_leaf=2, max_features=1.0, random_state=seed + i) for i in range(10)]
    return np.mean([each.fit(X, Y, check_input=False).predict(X_new) for each in trees], axis=0)


def boosting(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray) -> np.ndarray:
    """Fit 15 rounds of boosted trees for each label. The labels share binned features."""
    import lightgbm as lgb

    options = {"objective": "binary", "num_leaves": 8, "min_child_samples": 10, "num_threads": 1, "verbose": -1}
    data = lgb.Dataset(X, label=Y[:, 0], params=options, free_raw_data=False).construct()
    columns = []
    for y in Y.T:
        is_constant = y.min() == y.max()
        found = np.full(len(X_new), float(y[0])) if is_constant else lgb.train(options, data.set_label(y), 15)
        columns.append(found if is_constant else found.predict(X_new))
    return np.column_stack(columns)


def fitted(learner: str, X: np.ndarray, Y: np.ndarray, X_new: np.ndarray, seed: int) -> np.ndarray:
    """Return probabilities of new samples."""
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.tree import DecisionTreeRegressor

    if learner == "logistic":
        return logistic(X, Y, X_new)
    if learner == "boosting":
        return boosting(X, Y, X_new)
    if learner == "forest":
        return forest(X, Y, X_new, seed).reshape(len(X_new), -1)
    model = {"tree": DecisionTreeRegressor(max_depth=4, random_state=seed), "knn": KNeighborsRegressor(10)}[learner]
    return model.fit(X, Y).predict(X_new).reshape(len(X_new), -1)


def folds_of(case: Case, groups: np.ndarray | None, seed: int) -> np.ndarray:
    found = np.empty((case.n_repeats, case.n), dtype=int)
    for repeat, fold_of in enumerate(found):
        for fold, (_, test) in enumerate(random_parts(case.n, N_FOLDS, groups, seed_for(seed, "folds", repeat))):
            fold_of[test] = fold
    return found


def predicted(case: Case, X: np.ndarray, Y: np.ndarray, fold_of: np.ndarray, seed: int) -> np.ndarray:
    P = np.empty((*fold_of.shape, Y.shape[1]))
    for repeat, folds in enumerate(fold_of):
        for fold in range(folds.max() + 1):
            test = folds == fold
            P[repeat, test] = fitted(case.learner, X[~test], Y[~test], X[test], seed_for(seed, repeat, fold) % 2**31)
    return P


def with_predictions(case: Case, seed: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], np.ndarray]:
    """Return observed labels, groups, out-of-fold predictions of each model, and folds."""
    X, _, observed, groups = drawn(case, seed)
    fold_of = folds_of(case, groups, seed)
    P = [predicted(case, x, observed, fold_of, seed_for(seed, m)) for m, x in enumerate(X)]
    if case.kind == "hidden":
        P = [np.minimum(each / FREQUENCY, 1) for each in P]
    return observed, np.arange(case.n) if groups is None else groups, P, fold_of


def repetition(case: Case, seed: int) -> list[dict[str, Any]]:
    """Return by metric the difference of two models and its variance components, or claims on more models."""
    observed, units, P, fold_of = with_predictions(case, seed)
    given = {"units": units, "label_frequency": FREQUENCY if case.kind == "hidden" else None}
    parts, rows = parts_of(fold_of, case.n), []
    for metric in MEASURED:
        predictions = [lambda fold, p=p: p[fold // N_FOLDS][parts[fold][1]] for p in P]
        found = [fold_scores(observed, P_of, parts, metric, **given) for P_of in predictions]
        if not is_defined(found):
            continue
        is_stable = [case.learner == "logistic"] * len(P)
        joint = joint_of(found, parts, len(fold_of), units, metric=metric, is_stable=is_stable)
        row = components(joint) if len(P) == 2 else family_claims(joint, metric)
        rows.append({"case": case.name, "seed": seed, "metric": metric, **row, "n_free": joint.n_free, "k": N_FOLDS})
    return rows


def components(joint: Joint) -> dict[str, float]:
    u, scores = joint.influences[0] - joint.influences[1], joint.scores[0] - joint.scores[1]
    return {
        "D": joint.means[0] - joint.means[1],
        "V": (u.mean(axis=0) ** 2).sum(),
        "V1": (u**2).sum(axis=1).mean(),
        "B": np.nanvar(scores, axis=1, ddof=1).mean() / N_FOLDS,
        "df": uncertainty(joint).df[0, 1] - (N_FOLDS - 1),
    }


def family_claims(joint: Joint, metric: str) -> dict[str, float]:
    """Return for each method whether any of more than two models is declared worse than the best one.

    The difference is that of the first model from the mean of the others.
    """
    models = [str(m) for m in range(len(joint.scores))]
    samples_only = joint._replace(training=0 * joint.training, relief=0 * joint.relief)
    tables = {
        "verdict": verdict_table(models, joint, metric),
        "samples_only": verdict_table(models, samples_only, metric),
    }
    found = {name: int((table["verdict"] == WORSE).any()) for name, table in tables.items()}
    values = METRICS[metric].direction * joint.scores.reshape(len(models), -1)
    rows = [(m, fold, value) for m, own in zip(models, values, strict=True) for fold, value in enumerate(own)]
    by_folds = compare_with_best(pd.DataFrame(rows, columns=["model", "fold", "value"]), metric)
    ahead = joint.means[0] - joint.means[1:].mean()
    return found | {"corrected_t": int(not by_folds["is_top"].all()), "D": ahead}


def claims(rows: pd.DataFrame, metric: str, n_repeats: int, relief: float) -> dict[str, np.ndarray]:
    """Return for each method and repetition whether a model is declared worse."""
    if "verdict" in rows and rows["verdict"].notna().all():  # of more than two models
        return {name: rows[name].to_numpy(dtype=bool) for name in ("verdict", "samples_only", "corrected_t")}
    ratio, more = N_FOLDS / (N_FOLDS - 1), N_FOLDS - 1
    relief = 0.0 if METRICS[metric].jumps else relief
    given = [rows[name].to_numpy() for name in ("V", "V1", "B", "n_free")]
    found = {}
    training = (METRICS[metric].training - relief * rows["df"] / (rows["df"] + STABLE_DF)) * ratio
    for method, share in (("verdict", training), ("samples_only", 0 * training)):
        error = np.sqrt([total_variance(*each, more, own) for *each, own in zip(*given, share, strict=True)])
        found[method] = 2 * scipy.special.stdtr(rows["df"] + more, -rows["D"].abs() / error) <= ALPHA
    error = np.sqrt(rows["B"] * N_FOLDS * (1 / (N_FOLDS * n_repeats) + 1 / more))
    p_value = 2 * scipy.special.stdtr(N_FOLDS * n_repeats - 1, -rows["D"].abs() / error)
    # With a correlation of 1 / k, the posterior of the correlated Bayesian t-test is that of the corrected t-test.
    return found | {"corrected_t": p_value <= ALPHA, "bayes_t": p_value / 2 <= ALPHA}


def score_of(case: Case, Y: np.ndarray, P: np.ndarray) -> float:
    if case.kind == "hidden":
        return corrected_scores(Y, P, FREQUENCY, metrics=[case.metric])[case.metric]
    return multilabel_scores(Y, P, metrics=[case.metric])[case.metric]


def others(case: Case, seed: int) -> list[dict[str, Any]]:
    """Return the claims of slower tests."""
    found = {"bootstrap": bootstrap(case, seed), "5x2cv": five_by_two(case, seed)}
    if case.kind in ("plain", "rare") and case.learner not in ("forest", "boosting") and case.n <= 1000:
        found["nested_cv"] = nested_cross_validation(case, seed)
    return [{"repetition": seed, "method": name, "claim": int(claim)} for name, claim in found.items()]


def bootstrap(case: Case, seed: int) -> bool:
    observed, units, P, fold_of = with_predictions(case, seed)
    ahead = np.zeros(200)
    for fold in range(N_FOLDS):
        test = fold_of[0] == fold
        options = {"metrics": [case.metric], "n_draws": 200, "random_state": fold}
        options["groups"] = units[test] if case.kind == "groups" else None
        frequency = FREQUENCY if case.kind == "hidden" else 1.0
        draws = [corrected_draws(observed[test], each[0, test], frequency, **options)[case.metric] for each in P]
        ahead = ahead + np.nan_to_num(draws[0] - draws[1])
    low, high = np.quantile(ahead, [ALPHA / 2, 1 - ALPHA / 2])
    return bool(low > 0 or high < 0)


def five_by_two(case: Case, seed: int) -> bool:
    X, _, Y, groups = drawn(case, seed)
    units = np.arange(case.n) if groups is None else groups
    scale = FREQUENCY if case.kind == "hidden" else 1.0
    differences = np.empty((5, 2))
    for repeat, of_repeat in enumerate(differences):
        half = (np.random.default_rng(seed_for(seed, "halves", repeat)).permutation(units.max() + 1) % 2)[units]
        for part in (0, 1):
            train, test = half != part, half == part
            P = [np.minimum(fitted(case.learner, x[train], Y[train], x[test], part) / scale, 1) for x in X]
            of_repeat[part] = score_of(case, Y[test], P[0]) - score_of(case, Y[test], P[1])
    variances = differences.var(axis=1) * 2
    if np.isnan(differences).any() or variances.sum() == 0:
        return False
    f = (differences**2).sum() / (2 * variances.sum())
    return bool(scipy.special.fdtrc(10, 5, f) <= ALPHA)


def nested_cross_validation(case: Case, seed: int) -> bool:
    """Return whether the interval of Bates, Hastie and Tibshirani (2021) for the Hamming loss excludes 0."""
    X, Y, *_ = drawn(case, seed)
    inner, outer, squares, variances = [], [], [], []
    for split in range(N_NESTED):
        fold_of = np.random.default_rng(seed_for(seed, "nested", split)).permutation(case.n) % N_FOLDS
        ahead = {}  # Difference of the losses of two models in a fold, by the folds they are not trained on.
        for pair in itertools.combinations_with_replacement(range(N_FOLDS), 2):
            held = np.isin(fold_of, pair)
            losses = [(fitted(case.learner, x[~held], Y[~held], x[held], split) > 0.5) != Y[held] for x in X]
            of_samples = np.mean(losses[0], axis=1) - np.mean(losses[1], axis=1)
            ahead |= {(fold, sum(pair) - fold): of_samples[fold_of[held] == fold] for fold in pair}
        for fold in range(N_FOLDS):
            of_inner = np.concatenate([ahead[each, fold] for each in range(N_FOLDS) if each != fold])
            of_outer = ahead[fold, fold]
            squares.append((of_inner.mean() - of_outer.mean()) ** 2)
            variances.append(of_outer.var(ddof=1) / len(of_outer))
            inner.append(of_inner.mean())
            outer.append(of_outer)
    naive = np.concatenate(outer).std() / np.sqrt(case.n)
    estimate = np.sqrt(max(np.mean(squares) - np.mean(variances), 0) * (N_FOLDS - 1) / N_FOLDS)
    error = np.clip(estimate, naive, naive * np.sqrt(N_FOLDS))
    bias = (1 + (N_FOLDS - 2) / N_FOLDS) * (np.mean(inner) - np.mean(np.concatenate(outer)))
    return bool(abs(np.mean(inner) - bias) > -scipy.special.ndtri(ALPHA / 2) * error)


def run(case: Case, step: str, n_repetitions: int, deadline: float) -> None:
    path = FOLDER / (f"{case.name}.csv" if step == "run" else f"others-{case.name}.csv")
    of_one, column = (repetition, "seed") if step == "run" else (others, "repetition")
    done = set(pd.read_csv(path)[column]) if path.is_file() else set()
    for seed in range(REPORTED, REPORTED + n_repetitions):
        if time.process_time() > deadline:
            return
        if seed not in done:
            pd.DataFrame(of_one(case, seed)).to_csv(path, mode="a", header=not path.is_file(), index=False)


STUDIES = {
    "bibtex": 200,
    "corel5k": 500,
    "delicious": 500,
    "enron": 300,
    "scene": 200,
    "tmc2007_500": 500,
    "yeast": 300,
}
LEARNERS = ("logistic", "tree", "forest", "knn", "boosting")
N_TRUE, N_COMMON, MOST_SCORED = 20, 10, 5000  # models behind a true score, labels, and samples that each is scored on


@functools.cache
def loaded(dataset: str) -> tuple[np.ndarray, np.ndarray]:
    data = prepare(dataset)
    X, Y = to_dense(data.X, dataset, DataError), to_dense(data.Y, dataset, DataError)
    common = np.sort(np.argsort(-Y.sum(axis=0), kind="stable")[:N_COMMON])
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9), Y[:, common]


def part_of(dataset: str, *names: object, n: int) -> tuple[np.ndarray, ...]:
    """Return a random part of a dataset, and the remaining samples."""
    X, Y = loaded(dataset)
    order = np.random.default_rng(seed_for(SEED, dataset, *names)).permutation(len(Y))
    mine, new = order[:n], order[n : n + MOST_SCORED]
    return X[mine], Y[mine], X[new], Y[new]


def study(dataset: str, n: int, seed: int) -> pd.DataFrame:
    """Compare the learners on one part of a dataset, by verdicts and by the corrected t-test."""
    X, Y, *_ = part_of(dataset, "study", seed, n=n)
    case = Case("", n, Y.shape[1])
    fold_of = folds_of(case, None, seed)
    P = {name: predicted(case._replace(learner=name), X, Y, fold_of, seed) for name in LEARNERS}
    table = compare_models(Y, P, fold_of, stable=["logistic"])
    rows = []
    for name, each in P.items():
        tested = [each[0, fold_of[0] == fold] for fold in range(N_FOLDS)]
        rows += [(name, fold, score_of(case, Y[fold_of[0] == fold], own)) for fold, own in enumerate(tested)]
    by_folds = compare_with_best(pd.DataFrame(rows, columns=["model", "fold", "value"]), METRIC).set_index("model")
    return table.assign(is_worse_by_t=~by_folds.loc[table["model"], "is_top"].to_numpy(), dataset=dataset, study=seed)


def true_scores(dataset: str, n: int) -> pd.DataFrame:
    rows = []
    for number in range(N_TRUE):
        given = part_of(dataset, "truth", number, n=round(n * (1 - 1 / N_FOLDS)))
        for name in LEARNERS:
            P = fitted(name, *given[:3], number)
            rows.append((dataset, name, multilabel_scores(given[3], P, metrics=[METRIC])[METRIC]))
    table = pd.DataFrame(rows, columns=["dataset", "model", "truth"])
    return table.groupby(["dataset", "model"], as_index=False).mean()


def run_truth(n_studies: int, deadline: float) -> None:
    studies, truth = (FOLDER / name for name in ("studies.csv", "true_scores.csv"))
    for dataset, n in STUDIES.items():
        if time.process_time() > deadline:
            return
        if not truth.is_file() or dataset not in set(pd.read_csv(truth)["dataset"]):
            true_scores(dataset, n).to_csv(truth, mode="a", header=not truth.is_file(), index=False)
    for seed in range(n_studies):
        for dataset, n in STUDIES.items():
            done = (
                set(pd.read_csv(studies)[["dataset", "study"]].itertuples(index=False, name=None))
                if studies.is_file()
                else set()
            )
            if time.process_time() > deadline:
                return
            if (dataset, seed) not in done:
                study(dataset, n, seed).to_csv(studies, mode="a", header=not studies.is_file(), index=False)


def summarize_truth() -> pd.DataFrame:
    table = pd.read_csv(FOLDER / "studies.csv").merge(pd.read_csv(FOLDER / "true_scores.csv"))
    units = [table["dataset"], table["study"]]
    best = table["truth"].where(table["verdict"] == "best").groupby(units).transform("max")
    behind = best - table["truth"]
    is_far = table["truth"].groupby(units).transform("max") - table["truth"] > 0.03
    others = table["verdict"] != "best"
    rows = []
    for method, is_worse in (("verdict", table["verdict"] == "worse"), ("corrected_t", table["is_worse_by_t"])):
        found = table[["dataset", "study"]].assign(worse=is_worse, wrong=is_worse & (behind <= 0))
        found["far"] = is_far & others
        found["open"] = found["far"] & ~is_worse
        found["held"] = ~others | ((table["low"] <= behind) & (behind <= table["high"]))
        for dataset, own in [*found.groupby("dataset"), ("all", found)]:
            held = own.groupby(["dataset", "study"])["held"].all()
            rows.append({
                "dataset": dataset, "method": method, "studies": len(held), "worse": own["worse"].sum(),
                "wrong_of_worse": own["wrong"].sum() / max(own["worse"].sum(), 1),
                "undecided_beyond_.03": own["open"].sum() / max(own["far"].sum(), 1),
                "intervals_hold": held.mean() if method == "verdict" else np.nan,
            })  # fmt: skip
    return pd.DataFrame(rows)


def summarize() -> pd.DataFrame:
    """Return the stored table with the rows of all cases in `results/verdicts/`."""
    rows = []
    for case in cases():
        unit = {**case._asdict(), "true_difference": 0.0 if not case.noise else np.nan}
        if (path := FOLDER / f"{case.name}.csv").is_file():
            whole = pd.read_csv(path)
            whole = whole[whole["seed"] >= REPORTED]
            for metric, of_metric in whole.groupby("metric", sort=False):
                found = claims(of_metric, str(metric), case.n_repeats, STABLE if case.learner == "logistic" else 0.0)
                behind = of_metric["D"].mean() if case.noise else 0.0
                known = {**unit, "metric": metric, "true_difference": round(behind, 4)}
                rows += [known | row_of(name, each) for name, each in found.items()]
        if (path := FOLDER / f"others-{case.name}.csv").is_file():
            for name, each in pd.read_csv(path).groupby("method"):
                metric = "hamming_loss" if name == "nested_cv" else METRIC
                rows.append({**unit, "metric": metric} | row_of(name, each["claim"]))
    versions = " ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "lightgbm"))
    new = pd.DataFrame(rows).assign(seed=SEED, versions=f"Python {platform.python_version()} {versions}")
    unit = [*Case._fields]
    table = pd.concat([pd.read_csv(KEPT), new]).drop_duplicates([*unit, "method"], keep="last")
    table["true_difference"] = table["true_difference"].fillna(table.groupby(unit)["true_difference"].transform("max"))
    order = {name: place for place, name in enumerate(case.name for case in cases())}
    name = table[unit].assign(metric=METRIC).apply(lambda row: "-".join(map(str, row)), axis=1)
    return table.iloc[np.argsort(name.map(order), kind="stable")]


def row_of(method: object, claims: np.ndarray | pd.Series) -> dict[str, object]:
    return {"method": method, "claims": np.mean(claims), "repetitions": len(claims)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=["run", "others", "truth", "summarize"])
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--cases", nargs="+", help="prefixes of names")
    parser.add_argument("--minutes", type=float, default=60)
    options = parser.parse_args()
    if options.step in ("run", "others"):
        FOLDER.mkdir(parents=True, exist_ok=True)
        with one_thread_each():
            for case in cases():
                if options.step == "others" and (case.n_models > 2 or case.n_repeats > 1):
                    continue
                if not options.cases or case.name.startswith(tuple(options.cases)):
                    run(case, options.step, options.repetitions, 60 * options.minutes)
                    print(case.name, flush=True)
    elif options.step == "truth":
        FOLDER.mkdir(parents=True, exist_ok=True)
        with one_thread_each():
            run_truth(options.repetitions, 60 * options.minutes)
    else:
        table = summarize()
        table.round(4).to_csv(KEPT, index=False)
        if (FOLDER / "studies.csv").is_file():
            summarize_truth().round(4).to_csv(KEPT.with_stem("verdicts_truth"), index=False)
        names = ["learner", "n", "n_labels", "kind", "n_repeats", "true_difference", "metric"]
        print(table.pivot_table(index=names, columns="method", values="claims").round(3).to_string())


if __name__ == "__main__":
    main()
