"""Measure false claims and power of verdicts on models, beside other tests on the same predictions.

    python benchmarks/verdicts.py run [--repetitions 200] [--cases logistic-300-3 ...] [--minutes 30]
    python benchmarks/verdicts.py others [--repetitions 40] [--cases logistic-300-3 ...] [--minutes 30]
    python benchmarks/verdicts.py truth [--repetitions 20] [--minutes 30]
    python benchmarks/verdicts.py summarize

`run` draws data sets in which two models are equal by symmetry: each model sees its own block of features, and the
blocks are exchangeable. For power, the features of the second block are noisier. It stores the difference and its
variance components of each repetition in `results/verdicts/` and continues where an earlier run stopped. `others` runs
slower tests on the first repetitions. `summarize` writes `resources/measured/verdicts.csv`: the share of repetitions in
which a model is declared worse, the number of repetitions, seed and versions. Without noise, these are false claims.

`truth` draws small studies from large datasets and compares five learners. Their true scores are the means of models
that are trained on other samples of the size of a training part and scored on new samples. `summarize` writes
`resources/measured/verdicts_truth.csv`: the share of `worse` verdicts on a model that is at least as good as the best
one, the share of models truly behind the best by more than .03 that are not declared worse, and the share of studies
whose simultaneous intervals all hold.

Methods: `verdict` is the rule of `fairfold.evaluation.compare_models` with logistic regression declared stable,
`samples_only` the same without the variance
from training, `corrected_t` the corrected resampled t-test. `bootstrap` draws 200 samples within folds and declares a
model worse if the percentile interval of the difference excludes 0. `5x2cv` is the F-test of Alpaydin (1999).
"""

from __future__ import annotations

import argparse
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
from fairfold.evaluation.corrected import corrected_draws, corrected_scores
from fairfold.evaluation.metrics import METRICS
from fairfold.evaluation.scores import multilabel_scores
from fairfold.evaluation.verdicts.compare import is_defined, joint_of
from fairfold.evaluation.verdicts.influence import fold_scores
from fairfold.evaluation.verdicts.intervals import STABLE, total_variance, uncertainty
from fairfold.recommendation.comparison import compare_with_best

FOLDER = Path("results", "verdicts")
KEPT = Path("resources", "measured", "verdicts.csv")
SEED, N_FOLDS, ALPHA = 78, 5, 0.05
METRIC = "average_precision"
MEASURED = (METRIC, "roc_auc", "f1_micro", "hamming_loss")


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
    observed = Y * (rng.random(Y.shape) < 0.5) if kind == "hidden" else Y
    X[:, 1:] += case.noise * rng.normal(size=X[:, 1:].shape)
    return [X[:, block] for block in range(case.n_models)], Y, observed, groups


def logistic(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray) -> np.ndarray:
    """Fit logistic regressions with an L2 penalty of 1 by Newton's method."""
    A, B = (np.column_stack([np.ones(len(each)), each]) for each in (X, X_new))
    penalty = np.diag([1e-6, *np.ones(X.shape[1])])
    w = np.zeros((Y.shape[1], A.shape[1]))
    for _ in range(7):
        p = 1 / (1 + np.exp(-A @ w.T))
        gradient = (p - Y).T @ A + w @ penalty
        hessian = np.einsum("ni,nl,nj->lij", A, p * (1 - p), A, optimize=True) + penalty
        w -= np.linalg.solve(hessian, gradient[..., np.newaxis])[..., 0]
    return 1 / (1 + np.exp(-B @ w.T))


def fitted(learner: str, X: np.ndarray, Y: np.ndarray, X_new: np.ndarray, seed: int) -> np.ndarray:
    """Return probabilities of new samples."""
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.tree import DecisionTreeRegressor

    if learner == "logistic":
        return logistic(X, Y, X_new)
    if learner == "boosting":
        columns = []
        for y in Y.T:
            if y.min() == y.max():
                columns.append(np.full(len(X_new), float(y[0])))
                continue
            model = LGBMClassifier(n_estimators=15, num_leaves=8, min_child_samples=10, n_jobs=1, verbose=-1)
            columns.append(model.fit(X, y).predict_proba(X_new)[:, 1])
        return np.column_stack(columns)
    model = {
        "tree": DecisionTreeRegressor(max_depth=4, random_state=seed),
        "forest": ExtraTreesRegressor(10, min_samples_leaf=2, random_state=seed),
        "knn": KNeighborsRegressor(10),
    }[learner]
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


def repetition(case: Case, seed: int) -> list[dict[str, Any]]:
    """Return the difference of two models and its variance components, by metric."""
    X, _, observed, groups = drawn(case, seed)
    fold_of = folds_of(case, groups, seed)
    P = [predicted(case, x, observed, fold_of, seed_for(seed, m)) for m, x in enumerate(X)]
    given: dict[str, Any] = {"units": np.arange(case.n) if groups is None else groups}
    if case.kind == "hidden":
        P, given["label_frequency"] = [np.minimum(each / 0.5, 1) for each in P], 0.5
    parts, rows = parts_of(fold_of, case.n), []
    for metric in MEASURED:
        predictions = [lambda fold, p=p: p[fold // N_FOLDS][parts[fold][1]] for p in P]
        found = [fold_scores(observed, P_of, parts, metric, **given) for P_of in predictions]
        if not is_defined(found):
            continue
        joint = joint_of(found, parts, len(fold_of), given["units"], metric=metric)
        u, scores = joint.influences[0] - joint.influences[1], joint.scores[0] - joint.scores[1]
        certain = uncertainty(joint)
        row = {"D": joint.means[0] - joint.means[1], "V": (u.mean(axis=0) ** 2).sum(), "V1": (u**2).sum(axis=1).mean()}
        row |= {"B": np.nanvar(scores, axis=1, ddof=1).mean() / N_FOLDS, "df": certain.df[0, 1] - (N_FOLDS - 1)}
        rows.append({"case": case.name, "seed": seed, "metric": metric, **row, "n_free": joint.n_free, "k": N_FOLDS})
    return rows


def claims(rows: pd.DataFrame, metric: str, n_repeats: int, relief: float) -> dict[str, np.ndarray]:
    """Return for each method and repetition whether a model is declared worse."""
    ratio, more = N_FOLDS / (N_FOLDS - 1), N_FOLDS - 1
    given = [rows[name].to_numpy() for name in ("V", "V1", "B", "n_free")]
    found = {}
    for method, training in (("verdict", (METRICS[metric].training - relief) * ratio), ("samples_only", 0.0)):
        error = np.sqrt([total_variance(*each, more, training) for each in zip(*given, strict=True)])
        found[method] = 2 * scipy.special.stdtr(rows["df"] + more, -rows["D"].abs() / error) <= ALPHA
    error = np.sqrt(rows["B"] * N_FOLDS * (1 / (N_FOLDS * n_repeats) + 1 / more))
    found["corrected_t"] = 2 * scipy.special.stdtr(N_FOLDS * n_repeats - 1, -rows["D"].abs() / error) <= ALPHA
    return found


def others(case: Case, seed: int) -> list[dict[str, Any]]:
    """Return the claims of slower tests."""
    X, Y, observed, groups = drawn(case, seed)
    fold_of = folds_of(case, groups, seed)
    P = {str(m): predicted(case, x, observed, fold_of, seed_for(seed, m)) for m, x in enumerate(X)}
    found = {"bootstrap": bootstrap(case, observed, P, fold_of, groups, None), "5x2cv": five_by_two(case, X, Y, seed)}
    return [{"repetition": seed, "method": name, "claim": int(claim)} for name, claim in found.items()]


def fold_table(case: Case, Y: np.ndarray, P: dict, fold_of: np.ndarray, frequency: float | None) -> pd.DataFrame:
    rows = []
    for name, each in P.items():
        for repeat, folds in enumerate(fold_of):
            for fold in range(N_FOLDS):
                test = folds == fold
                if frequency is None:
                    value = multilabel_scores(Y[test], each[repeat, test], metrics=[case.metric])
                else:
                    value = corrected_scores(Y[test], each[repeat, test], frequency, metrics=[case.metric])
                rows.append((name, repeat * N_FOLDS + fold, value[case.metric]))
    return pd.DataFrame(rows, columns=["model", "fold", "value"])


def bootstrap(
    case: Case, Y: np.ndarray, P: dict, fold_of: np.ndarray, groups: np.ndarray | None, frequency: float | None
) -> bool:
    ahead = np.zeros(200)
    for fold in range(N_FOLDS):
        test = fold_of[0] == fold
        options = {"metrics": [case.metric], "groups": None if groups is None else groups[test], "n_draws": 200}
        draws = [
            corrected_draws(Y[test], each[0, test], frequency or 1.0, random_state=fold, **options)[case.metric]
            for each in P.values()
        ]
        ahead = ahead + np.nan_to_num(draws[0] - draws[1])
    low, high = np.quantile(ahead, [ALPHA / 2, 1 - ALPHA / 2])
    return bool(low > 0 or high < 0)


def five_by_two(case: Case, X: list[np.ndarray], Y: np.ndarray, seed: int) -> bool:
    differences = np.empty((5, 2))
    for repeat, of_repeat in enumerate(differences):
        half = np.random.default_rng(seed_for(seed, "halves", repeat)).permutation(case.n) % 2
        for part in (0, 1):
            train, test = half != part, half == part
            scores = [
                multilabel_scores(
                    Y[test], fitted(case.learner, x[train], Y[train], x[test], part), metrics=[case.metric]
                )[case.metric]
                for x in X
            ]
            of_repeat[part] = scores[0] - scores[1]
    variances = differences.var(axis=1) * 2
    if np.isnan(differences).any() or variances.sum() == 0:
        return False
    f = (differences**2).sum() / (2 * variances.sum())
    return bool(scipy.special.fdtrc(10, 5, f) <= ALPHA)


def run(case: Case, step: str, n_repetitions: int, deadline: float) -> None:
    path = FOLDER / (f"{case.name}.csv" if step == "run" else f"others-{case.name}.csv")
    of_one, column = (repetition, "seed") if step == "run" else (others, "repetition")
    done = set(pd.read_csv(path)[column]) if path.is_file() else set()
    for seed in range(n_repetitions):
        if time.process_time() > deadline:
            return
        if seed not in done:
            pd.DataFrame(of_one(case, seed)).to_csv(path, mode="a", header=not path.is_file(), index=False)


STUDIES = {"scene": 300, "yeast": 300, "emotions": 150, "enron": 300}
LEARNERS = ("logistic", "tree", "forest", "knn", "boosting")
N_TRUE, MOST_NEW, N_COMMON = 10, 1000, 10  # models behind a true score, new samples, and labels


def part_of(dataset: str, *names: object, n: int) -> tuple[np.ndarray, ...]:
    """Return a random part of a dataset, and new samples."""
    data = prepare(dataset)
    X, Y = to_dense(data.X, dataset, DataError), to_dense(data.Y, dataset, DataError)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    common = np.sort(np.argsort(-Y.sum(axis=0), kind="stable")[:N_COMMON])
    order = np.random.default_rng(seed_for(SEED, dataset, *names)).permutation(len(Y))
    mine, new = order[:n], order[n : n + MOST_NEW]
    return X[mine], Y[mine][:, common], X[new], Y[new][:, common]


def study(dataset: str, n: int, seed: int) -> pd.DataFrame:
    """Compare the learners on one part of a dataset, by verdicts and by the corrected t-test."""
    X, Y, *_ = part_of(dataset, "study", seed, n=n)
    case = Case("", n, Y.shape[1])
    fold_of = folds_of(case, None, seed)
    P = {name: predicted(case._replace(learner=name), X, Y, fold_of, seed) for name in LEARNERS}
    table = compare_models(Y, P, fold_of, stable=["logistic"])
    by_folds = compare_with_best(fold_table(case, Y, P, fold_of, None), METRIC).set_index("model")
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
    rows = []
    for case in cases():
        if not (path := FOLDER / f"{case.name}.csv").is_file():
            continue
        whole = pd.read_csv(path)
        for metric, of_metric in whole.groupby("metric", sort=False):
            found = claims(of_metric, str(metric), case.n_repeats, STABLE if case.learner == "logistic" else 0.0)
            other = FOLDER / f"others-{case.name}.csv"
            if metric == METRIC and other.is_file():
                found |= {name: each["claim"].to_numpy() for name, each in pd.read_csv(other).groupby("method")}
            behind = of_metric["D"].mean() if case.noise else 0.0
            unit = {**case._asdict(), "metric": metric, "true_difference": round(behind, 4)}
            rows += [
                {**unit, "method": name, "claims": np.mean(each), "repetitions": len(each)}
                for name, each in found.items()
            ]
    versions = " ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "lightgbm"))
    return pd.DataFrame(rows).assign(seed=SEED, versions=f"Python {platform.python_version()} {versions}")


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
