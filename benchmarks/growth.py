"""Measure how models grow with samples, features and labels: CPU seconds, peak memory and average precision.

    python benchmarks/growth.py [--models Stack+ LightGBM] [--data dense]
    python benchmarks/growth.py --figure docs/_static/growth.png

Each combination of data, sizes and model runs in its own process with one thread. Rows are appended to
resources/measured/growth.csv one by one, and combinations in this file are skipped. So are models whose package is not
installed. All labels are complete and taken as given. `seconds` and `predict_seconds` exclude the time to load and
compile code. `mib` is the peak memory of the process, including the data. Scores are on 10,000 new samples. `stored` is
the mean number of features of a sample that are not 0 in sparse data.

`dense`: correlated normal features. The log-odds of labels are sums of products of two to four features, which several
labels share, and of single features. `sparse`: counts of words of documents with several topics, scaled as TF-IDF. The
log-odds depend on topics, on words and on pairs of words. In both, the labels share a part that no feature explains.

XGBoost and CatBoost are fitted to each label, as LightGBM is: XGBoost with LightGBM's rounds, leaves and learning rate,
CatBoost with 500 rounds. The linear SVM has one Platt scaling per label.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

FILE = Path(__file__).resolve().parents[1] / "resources/measured/growth.csv"
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
PACKAGES = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost"}
LINEAR = ("logistic", "linear SVM")
MODELS = ("Stack+", "gcForest+", "joint-GB", *PACKAGES, *LINEAR)
N_TEST = 10_000
FEATURES, LABELS, ROWS = 60, 20, 10_000


class Case(NamedTuple):
    """Kind of data, number of training samples, features and labels, and model."""

    data: str
    rows: int
    features: int
    labels: int
    model: str


def cases() -> Iterator[Case]:
    """Yield all cases. Two models have all sizes of dense data, the others those that they need little time for."""
    both, ours = ("Stack+", "LightGBM"), ("gcForest+", "joint-GB", "XGBoost")
    base, few, many = (ROWS, FEATURES, LABELS), (ROWS, FEATURES, 5), (ROWS, FEATURES, 80)
    narrow, wide = (ROWS, 20, LABELS), (ROWS, 100, LABELS)
    tall, tallest = (40_000, FEATURES, LABELS), (200_000, 20, 5)
    yield from (Case("dense", *size, name) for size in (base, few, many, narrow, wide, tall, tallest) for name in both)
    yield from (Case("sparse", ROWS, 5_000, 50, name) for name in (*LINEAR, "joint-GB", "Stack+"))
    yield from (Case("dense", *size, name) for size in (base, few) for name in (*ours, "CatBoost"))
    yield from (Case("sparse", 40_000, 20_000, 50, name) for name in (*LINEAR, "joint-GB", "Stack+"))
    yield from (Case("dense", *tall, name) for name in (*ours, "CatBoost"))


def dense(n: int, n_features: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw features with common factors, and labels with shared interactions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, n_features)) * 0.3 + rng.normal(size=(n, n_features))
    products = np.ones((n, 30))
    for number in range(products.shape[1]):
        used = rng.choice(n_features, 2 + number % 3, replace=False)
        products[:, number] = np.tanh(2 * (X[:, used] - rng.normal(size=len(used)))).prod(axis=1)
    products = (products - products.mean(axis=0)) / products.std(axis=0)
    shares = rng.normal(size=(30, n_labels)) * (rng.random((30, n_labels)) < 0.3)
    single = rng.normal(size=(n_features, n_labels)) * (rng.random((n_features, n_labels)) < 5 / n_features)
    return X, _labels(products @ shares + 0.4 * X @ single, rng)


def words(n: int, n_features: int, n_labels: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw documents of about 60 words, and labels that depend on topics, words and pairs of words."""
    rng = np.random.default_rng(0)
    n_topics = 40
    common = 1 / np.arange(1, n_features + 1)
    chances = common * rng.gamma(0.3, size=(n_topics, n_features))
    cumulated = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)
    topics = rng.gamma(0.1, size=(n, n_topics)) + 1e-9
    topics /= topics.sum(axis=1, keepdims=True)
    counts = rng.multinomial(rng.poisson(60, n) + 1, topics)
    parts = []
    for topic in range(n_topics):
        drawn = np.searchsorted(cumulated[topic], rng.random(counts[:, topic].sum()))
        cells = np.repeat(np.arange(n), counts[:, topic]), np.minimum(drawn, n_features - 1)
        parts.append(sparse.csr_array((np.ones(len(drawn)), cells), shape=(n, n_features)))
    X = sum(parts[1:], parts[0])
    frequency = np.bincount(X.indices, minlength=n_features)
    X = (X.log1p() @ sparse.diags_array(np.log((1 + n) / (1 + frequency)))).tocsr()
    X = sparse.csr_array(sparse.diags_array(1 / np.sqrt(X.power(2).sum(axis=1))) @ X)
    frequent = np.argsort(-frequency, kind="stable")[: n_features // 2]
    own = rng.choice(frequent, (n_labels, 200))
    z = topics @ rng.normal(size=(n_topics, n_labels))
    for label, used in enumerate(own):
        single = X[:, used].toarray() / X.data.mean()
        pairs = (single[:, :100] > 0) & (single[:, 100:] > 0)
        z[:, label] += np.hstack([single, pairs]) @ rng.normal(size=300)
    return X, _labels(z, rng)


def _labels(z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Add noise, part of it shared by all labels, and cut at frequencies of .02 to .3."""
    z = z / z.std(axis=0) * 2 + rng.normal(size=(len(z), 1)) * 0.7 + rng.logistic(size=z.shape) * 0.7
    rates = np.geomspace(0.02, 0.3, z.shape[1])
    return (z > np.diagonal(np.quantile(z, 1 - rates, axis=0))).astype(np.int8)


def make(name: str) -> Any:
    from fairfold.models import make_model
    from fairfold.models.binary import as_csr_matrix, one_per_label
    from fairfold.models.one_level import OneLevelModel

    if name == "linear SVM":
        from sklearn.svm import LinearSVC

        return OneLevelModel(one_per_label(LinearSVC())).set_params(random_state=0)
    if name == "XGBoost":
        from xgboost import XGBClassifier

        as_lightgbm = {"n_estimators": 200, "max_leaves": 15, "max_depth": 0, "learning_rate": 0.05}
        boosting = XGBClassifier(**as_lightgbm, grow_policy="lossguide", tree_method="hist", n_jobs=1)
    elif name == "CatBoost":
        from catboost import CatBoostClassifier

        boosting = CatBoostClassifier(iterations=500, thread_count=1, verbose=False, allow_writing_files=False)
    else:
        return make_model(name, random_state=0)
    return OneLevelModel(one_per_label(boosting, convert=as_csr_matrix)).set_params(random_state=0)


def measure(case: Case) -> dict:
    from fairfold.core.usage import max_rss
    from fairfold.metrics.scores import multilabel_scores

    X, Y = (dense if case.data == "dense" else words)(case.rows + N_TEST, case.features, case.labels)
    (X, X_test), (Y, Y_test) = ((each[: case.rows], each[case.rows :]) for each in (X, Y))
    shown = (slice(500), slice(1)) if case.model in (*PACKAGES, *LINEAR) else (slice(5000), slice(5))
    make(case.model).fit(X[shown[0]], Y[shown]).predict_proba(X_test[:10])  # load and compile before timing
    start = time.process_time()
    fitted = make(case.model).fit(X, Y)
    between = time.process_time()
    P = fitted.predict_proba(X_test)
    end = time.process_time()
    found = {"seconds": between - start, "predict_seconds": end - between, "mib": round(max_rss())}
    names = ["average_precision", "average_precision_macro"]
    stored = round(X.nnz / case.rows) if sparse.issparse(X) else case.features
    return {**case._asdict(), **found, **multilabel_scores(Y_test, P, metrics=names), "stored": stored}


def draw_figure(table: pd.DataFrame, path: Path) -> None:
    """Draw run time and average precision by samples, features and labels."""
    import matplotlib.pyplot as plt

    from fairfold.figures.style import STYLE, style_of

    scores = {
        "average_precision": "average precision\n(micro)",
        "average_precision_macro": "average precision\n(macro)",
    }
    columns = {"seconds": "processor seconds\nper fit", **scores}
    base = {"rows": ROWS, "features": FEATURES, "labels": LABELS}
    named = table[table["data"] == "dense"]
    panels = [("rows", "training samples"), ("features", "features"), ("labels", "labels")]
    parts = []
    for size, _ in panels:
        fixed = [name for name in base if name != size]
        parts.append(named[(named[fixed] == [base[name] for name in fixed]).all(axis=1)].sort_values(size))
    sparse_part = table[table["data"] == "sparse"].sort_values("rows")
    parts.append(sparse_part)
    panels.append(("rows", "training samples (sparse)"))
    plt.rcParams.update(STYLE)
    figure, axes = plt.subplots(len(columns), len(panels), sharex="col", sharey="row", figsize=(7.6, 6))
    for row, (column, label) in zip(axes, columns.items(), strict=True):
        for ax, part, (size, _) in zip(row, parts, panels, strict=True):
            for number, model in enumerate(MODELS):
                line = part[part["model"] == model]
                if len(line):
                    ax.plot(line[size], line[column], **style_of(number), markersize=4, linewidth=1.2, label=model)
            ax.set(xscale="log", yscale="log" if column == "seconds" else "linear")
            ticks = sorted(part[size].unique())
            ax.set_xticks(ticks, [f"{each // 1000}k" if each >= 1000 else str(each) for each in ticks])
            ax.minorticks_off()
        row[0].set_ylabel(label)
    for bottom, (_, name) in zip(axes[-1], panels, strict=True):
        bottom.set_xlabel(name)
    handles = {name: handle for ax in axes[0] for handle, name in zip(*ax.get_legend_handles_labels(), strict=True)}
    names = [model for model in MODELS if model in handles]
    figure.legend([handles[name] for name in names], names, frameon=False, ncols=4, loc="lower center")
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--data", nargs="+", choices=["dense", "sparse"], default=["dense", "sparse"])
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--figure", type=Path, help="draw the results of the file instead")
    parser.add_argument("--case", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        data, *sizes, model = options.case
        sys.stdout.write(json.dumps(measure(Case(data, *map(int, sizes), model))))
        return
    if options.figure:
        draw_figure(pd.read_csv(options.file), options.figure)
        return
    known = pd.read_csv(options.file) if options.file.exists() else pd.DataFrame(columns=Case._fields)
    done = set(known[list(Case._fields)].itertuples(index=False, name=None))
    for case in cases():
        is_missing = case.model in PACKAGES and importlib.util.find_spec(PACKAGES[case.model]) is None
        if case in done or is_missing or case.model not in options.models or case.data not in options.data:
            continue
        line = pd.DataFrame([run(case)]).round({"seconds": 2, "predict_seconds": 2}).round(4)
        line.to_csv(options.file, mode="a", header=not options.file.exists(), index=False)
        sys.stdout.write(line.to_string(index=False, header=False) + "\n")
        sys.stdout.flush()


def run(case: Case) -> dict:
    command = [sys.executable, __file__, "--case", *map(str, case)]
    environment = {**os.environ, **ONE_THREAD}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
