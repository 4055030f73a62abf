"""Measure the error and the coverage of scores that a few checked cells correct, on data with complete labels.

    python benchmarks/checked_cells.py fit [--minutes 40]
    python benchmarks/checked_cells.py measure [--minutes 40]
    python benchmarks/checked_cells.py summarize
    python benchmarks/checked_cells.py draw

`fit` trains models on labels that were hidden on purpose, and saves out-of-fold probabilities. `measure` draws cells
repeatedly, takes their true labels as the answer of the reader, compares the estimates with the scores on complete
labels, and writes `resources/measured/checked_cells.csv`. Both continue where an earlier run stopped. `draw` writes
the figure of the guide.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairfold.core.arrays import to_dense
from fairfold.core.seeds import seed_for
from fairfold.datasets import prepare
from fairfold.errors import DataError
from fairfold.evaluation.checked_cells import checked_scores, choose_cells, compare_checked
from fairfold.evaluation.scores import multilabel_scores
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives

FOLDER = Path("results", "checked_cells")
SEED, N_FOLDS, N_GROUPS = 61, 3, 20
DATASETS = ["emotions", "yeast", "scene", "birds", "flags", "CHD_49", "medical", "enron", "CAL500", "foodtruck"]
DATASETS += ["VirusGO", "GrampositivePseAAC", "VirusPseAAC", "genbase"]
LARGE = ["yeast", "scene", "enron", "CAL500"]
MECHANISMS = ["random", "difficulty", "rarity", "sample", "group", "wrong"]
SEVEN_AT = ("random", "difficulty")
REFERENCE = ("none", 0, "RF+ET")
SMALL = ["flags", "VirusGO", "emotions", "CHD_49"]  # datasets with Stack+
SEVEN = [REFERENCE, *(("random", rate, "RF+ET") for rate in (30, 50, 70)), ("difficulty", 50, "RF+ET")]
SEVEN += [("random", 50, "LightGBM"), ("difficulty", 50, "LightGBM")]  # predictions to choose from


class Case(NamedTuple):
    """Dataset with labels hidden in one way, and a model."""

    dataset: str
    mechanism: str
    rate: int
    model: str

    @property
    def path(self) -> Path:
        return FOLDER / self.dataset / f"{self.mechanism}-{self.rate}-{self.model}.npy"


def cases() -> Iterator[Case]:
    """Yield all cases, the most important ones first."""
    every = [(dataset, mechanism) for dataset in DATASETS for mechanism in MECHANISMS]
    yield from (Case(dataset, *REFERENCE) for dataset in DATASETS)
    for rate in (50, 30, 70):
        yield from (Case(*each, rate, "RF+ET") for each in every)
    yield from (Case(*each, 50, "LightGBM") for each in every if each[0] != "CAL500")  # which takes long
    yield from (Case(*each, 50, "Stack+") for each in every if each[0] in SMALL and each[1] in SEVEN_AT)


@cache
def labels_of(dataset: str) -> np.ndarray:
    return to_dense(prepare(dataset).Y, dataset, DataError)


@cache
def observed_labels(dataset: str, mechanism: str, rate: int) -> np.ndarray:
    """Hide labels of a dataset."""
    Y = labels_of(dataset)
    if mechanism == "none":
        return Y
    by = {"mechanism": "random" if mechanism == "wrong" else mechanism}
    if mechanism == "wrong":
        by["wrong_positives"] = 0.1
    if mechanism == "difficulty":
        by["reference"] = np.clip(np.load(Case(dataset, *REFERENCE).path), 0, 1)
    if mechanism == "group":
        by["groups"] = groups_of(dataset)
    return mask_positives(Y, rate / 100, random_state=seed_for(SEED, dataset, mechanism, rate), **by)


@cache
def groups_of(dataset: str) -> np.ndarray:
    """Group similar samples."""
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import scale

    X = to_dense(prepare(dataset).X, dataset, DataError)
    return KMeans(N_GROUPS, random_state=0).fit_predict(scale(np.nan_to_num(X)))


def fit(case: Case) -> None:
    """Save out-of-fold probabilities of a model that is trained on observed labels."""
    data = prepare(case.dataset)
    observed = observed_labels(case.dataset, case.mechanism, case.rate)
    fold_of = IterativeStratification(N_FOLDS, random_state=0).assign(observed)
    P = np.empty(observed.shape, dtype=np.float32)
    for fold in range(N_FOLDS):
        train = fold_of != fold
        model = make_model(case.model, random_state=0).fit(data.X[train], observed[train])
        P[~train] = to_dense(model.predict_proba(data.X[~train]), "P", DataError)
    case.path.parent.mkdir(parents=True, exist_ok=True)
    np.save(case.path, P)


def fit_all(minutes: float) -> None:
    """Fit models until the processor time is used up."""
    for case in cases():
        if case.path.is_file():
            continue
        if time.process_time() > 60 * minutes:
            print(f"stopped before {case}")
            return
        start = time.process_time()
        try:
            fit(case)
        except Exception as error:
            print(*case, repr(error)[:300], flush=True)
            continue
        print(*case, f"{time.process_time() - start:.1f} s", flush=True)


class Setting(NamedTuple):
    """How the cells of a case are drawn."""

    design: str
    n: int
    draws: int


NUMBERS = (100, 300, 1000)
METRICS = ("average_precision", "mcc", "f1_micro")
KEPT = Path("resources", "measured", "checked_cells.csv")
FIGURE = Path("docs", "_static", "checked-cells.png")


def settings_of(case: Case) -> Iterator[Setting]:
    for n in NUMBERS:
        draws = 1 if case.dataset in LARGE else 4
        yield Setting("optimal", n, draws)
        if case.model == "RF+ET" and case.rate == 50:
            yield Setting("uniform", n, draws)


def measure(case: Case, setting: Setting) -> pd.DataFrame:
    """Compare estimates from repeated draws with the scores on complete labels."""
    Y, observed = labels_of(case.dataset), observed_labels(case.dataset, case.mechanism, case.rate)
    P = np.clip(np.load(case.path).astype(np.float64), 0, 1)
    threshold = float(np.quantile(P, 1 - observed.mean()))  # as many predicted as observed labels
    scores, seen = (multilabel_scores(each, P, threshold, metrics=METRICS) for each in (Y, observed))
    truth = {**scores, "missing_rate": 1 - observed[Y == 1].mean(), "wrong_positives": 1 - Y[observed == 1].mean()}
    rows = []
    for draw in range(setting.draws):
        cells = choose_cells(P, observed, setting.n, design=setting.design, threshold=threshold, random_state=draw)
        cells["label"] = Y[cells["sample"], cells["label_index"]]
        given = {"metrics": METRICS, "n_draws": 60, "random_state": draw}
        for metric, found in checked_scores(observed, P, cells, threshold, **given).items():
            error, true = found.estimate - truth[metric], truth[metric]
            holds = found.low - 1e-12 <= true <= found.high + 1e-12
            rows.append(
                (metric, abs(error), error, abs(seen.get(metric, np.nan) - true), holds, found.high - found.low)
            )
    columns = ["metric", "error", "bias", "error_observed", "coverage", "width"]
    return pd.DataFrame(rows, columns=columns).assign(**case._asdict(), design=setting.design, n=setting.n)


def measure_choice(dataset: str, mechanism: str, n: int, draws: int) -> pd.DataFrame:
    """Measure how often the best model, or one that is at most .01 worse, is chosen, by average precision."""
    Y, observed = labels_of(dataset), observed_labels(dataset, mechanism, 50)
    paths = {"-".join(map(str, each)): Case(dataset, *each).path for each in SEVEN}
    models = {model: np.clip(np.load(path).astype(np.float64), 0, 1) for model, path in paths.items() if path.is_file()}
    if len(models) < len(SEVEN):
        return pd.DataFrame()
    true = {name: multilabel_scores(Y, P)["average_precision"] for name, P in models.items()}
    seen = {name: multilabel_scores(observed, P)["average_precision"] for name, P in models.items()}
    rows = []
    for draw in range(draws):
        cells = choose_cells(models, observed, n, random_state=draw)
        cells["label"] = Y[cells["sample"], cells["label_index"]]
        found = compare_checked(observed, models, cells, n_draws=20, random_state=draw)
        regret = max(true.values()) - true[found["model"].iloc[0]]
        rows.append((regret, max(true.values()) - true[max(seen, key=seen.get)], regret <= 0.01))
    table = pd.DataFrame(rows, columns=["error", "error_observed", "coverage"])
    return table.assign(
        metric="choice", dataset=dataset, mechanism=mechanism, rate=50, model="7", design="optimal", n=n
    )


def measure_all(minutes: float) -> None:
    """Measure all cases that have predictions and no results, and write the table."""
    folder = FOLDER / "measured"
    folder.mkdir(exist_ok=True)
    jobs = {
        f"{'-'.join(map(str, (*case, *setting)))}.csv": partial(measure, case, setting)
        for case in cases()
        if case.mechanism != "none"
        for setting in settings_of(case)
        if case.path.is_file()
    }
    jobs |= {
        f"choice-{dataset}-{mechanism}-{n}.csv": partial(measure_choice, dataset, mechanism, n, 5)
        for dataset in DATASETS
        for mechanism in SEVEN_AT
        for n in NUMBERS[:2]
    }
    names = np.random.default_rng(SEED).permutation(list(jobs))  # so that an interrupted run covers all mechanisms
    for name, job in zip(names, map(jobs.get, names), strict=True):
        if not (folder / name).is_file() and time.process_time() < 60 * minutes and len(found := job()):
            found.to_csv(folder / name, index=False)
    every = pd.concat(map(pd.read_csv, sorted(folder.glob("*.csv"))))
    by = ["metric", "design", "model", "dataset", "mechanism", "n"]
    table = every.groupby(by)[["error", "bias", "error_observed", "coverage", "width"]].mean()
    table.insert(0, "cases", every.groupby(by).size())
    table.round(4).reset_index().to_csv(KEPT, index=False, float_format="%.4g")


def summarize() -> None:
    """Print mean error, coverage and width by number of cells. Datasets have equal weights."""
    table = pd.read_csv(KEPT)
    for by in (["metric", "design", "n"], ["metric", "model", "n"], ["metric", "mechanism", "n"]):
        part = table if "design" in by else table[table["design"] == "optimal"]
        found = part.groupby(by)[["error", "bias", "error_observed", "coverage", "width"]].mean()
        found.insert(0, "cases", part.groupby(by)["cases"].sum())
        print(found.round(4).to_string(), "\n")


def draw() -> None:
    """Draw error and coverage of average precision against the number of cells, a line per mechanism."""
    from fairfold.figures.saving import save_figure
    from fairfold.figures.style import add_legend, legend_line, new_figure, style_of

    table = pd.read_csv(KEPT)
    table = table[table["metric"] == "average_precision"]
    figure, panels = new_figure(6.5, 3, 1, 2)
    handles = []
    for position, name in enumerate([*MECHANISMS, "uniform"]):
        part = table[(table["design"] == "uniform") == (name == "uniform")]
        part = part if name == "uniform" else part[part["mechanism"] == name]
        look, means = style_of(position) | {"markersize": 4}, part.groupby("n")[["error", "coverage"]].mean()
        for axes, column in zip(panels[0], means, strict=True):
            axes.plot(means.index, means[column], **look)
        label = {"wrong": "10 % wrong positives", "uniform": "all, uniform draws"}.get(name, name)
        handles.append(legend_line(label, **look))
    panels[0][1].axhline(0.95, color="grey", linewidth=0.8)
    for axes, label in zip(panels[0], ("mean absolute error of AP", "coverage of 95 % intervals"), strict=True):
        axes.set(xscale="log", xlabel="checked cells", ylabel=label, xticks=NUMBERS, xticklabels=NUMBERS)
        axes.minorticks_off()
    panels[0][1].set_ylim(0.7, 1.02)
    add_legend(figure, handles, 4)
    save_figure(figure, [FIGURE])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["fit", "measure", "summarize", "draw"])
    parser.add_argument("--minutes", type=float, default=40, help="processor minutes after which the step stops")
    options = parser.parse_args()
    steps = {"fit": fit_all, "measure": measure_all, "summarize": lambda _: summarize(), "draw": lambda _: draw()}
    steps[options.step](options.minutes)


if __name__ == "__main__":
    main()
