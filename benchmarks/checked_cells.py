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

from fairfold.checked_cells.estimates import checked_scores, choose_cells, compare_checked
from fairfold.core.arrays import to_dense
from fairfold.core.seeds import seed_for
from fairfold.datasets import prepare
from fairfold.errors import DataError
from fairfold.metrics.scores import multilabel_scores
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives

FOLDER = Path("results", "checked_cells")
SEED, N_FOLDS, N_GROUPS = 61, 3, 20
DATASETS = ["emotions", "yeast", "scene", "birds", "flags", "CHD_49", "medical", "enron", "CAL500", "foodtruck"]
DATASETS += ["VirusGO", "GrampositivePseAAC", "VirusPseAAC", "genbase"]
CALIBRATION = DATASETS[::2]  # The settings of the intervals were chosen on these. Results are of the others.
LARGE = ["yeast", "scene", "enron", "CAL500", "medical"]
MECHANISMS = ["random", "difficulty", "rarity", "sample", "group", "wrong"]
REFERENCE = ("none", 0, "RF+ET")
SEVEN = ["RF+ET", "LightGBM", "Stack+", "gcForest+", "joint-GB", "logistic", "kernel-ridge"]  # models to choose from
CHOICES = ["emotions", "flags", "CHD_49", "foodtruck", "VirusGO", "GrampositivePseAAC", "VirusPseAAC", "birds"]


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
    yield from (
        Case(*each, 50, "Stack+") for each in every if each[0] in CHOICES or each[1] in ("random", "difficulty")
    )
    yield from (Case(*each, 50, model) for each in every if each[0] in CHOICES for model in SEVEN[3:])


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
        model = make_model(case.model, label_frequency="estimate", random_state=0).fit(data.X[train], observed[train])
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
COLUMNS = ["metric", "error", "bias", "error_observed", "coverage", "width"]
KEPT = Path("resources", "measured", "checked_cells.csv")
FIGURE = Path("docs", "_static", "checked-cells.png")


def settings_of(case: Case) -> Iterator[Setting]:
    """Yield designs with more draws of small datasets and of those that the intervals were not calibrated on."""
    draws = (1 if case.dataset in LARGE else 2) * (1 if case.dataset in CALIBRATION else 3)
    if case.model in SEVEN[:3]:
        yield from (Setting("optimal", n, draws) for n in NUMBERS)
    if case.model == "RF+ET":
        yield from (Setting("uniform", n, (draws + 1) // 2) for n in NUMBERS)


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
    return pd.DataFrame(rows, columns=COLUMNS).assign(**case._asdict(), design=setting.design, n=setting.n)


def measure_choice(dataset: str, mechanism: str, n: int, draws: int) -> pd.DataFrame:
    """Measure how often the best model by average precision, or one at most .01 worse, is chosen, and differences."""
    Y, observed = labels_of(dataset), observed_labels(dataset, mechanism, 50)
    paths = {model: Case(dataset, mechanism, 50, model).path for model in SEVEN}
    if not all(path.is_file() for path in paths.values()):
        return pd.DataFrame()
    models = {model: np.clip(np.load(path).astype(np.float64), 0, 1) for model, path in paths.items()}
    true, seen = (
        pd.Series({name: multilabel_scores(each, P)["average_precision"] for name, P in models.items()})
        for each in (Y, observed)
    )
    regret_observed = true.max() - true[seen.idxmax()]
    rows = []
    for draw in range(draws):
        cells = choose_cells(models, observed, n, random_state=draw)
        cells["label"] = Y[cells["sample"], cells["label_index"]]
        found = compare_checked(observed, models, cells, n_draws=60, random_state=draw).set_index("model")
        best, rest = found.index[0], found.index[1:]
        regret = true.max() - true[best]
        rows.append(("choice", regret, regret, regret_observed, regret <= 0.01, np.nan))
        behind, observed_behind = true[best] - true[rest], seen[best] - seen[rest]
        error, found = found.loc[rest, "behind"] - behind, found.loc[rest]
        holds = (found["behind_low"] <= behind) & (behind <= found["behind_high"])
        width = found["behind_high"] - found["behind_low"]
        off = (observed_behind - behind).abs()
        rows += zip(["difference"] * len(rest), error.abs(), error, off, holds, width, strict=True)
    return pd.DataFrame(rows, columns=COLUMNS).assign(
        dataset=dataset, mechanism=mechanism, rate=50, model="7", design="optimal", n=n
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
        f"choice-{dataset}-{mechanism}-{n}.csv": partial(measure_choice, dataset, mechanism, n, 4)
        for dataset in CHOICES
        for mechanism in MECHANISMS
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


def reported() -> pd.DataFrame:
    """Return the results of the datasets that the intervals were not calibrated on. Choices use all datasets."""
    table = pd.read_csv(KEPT)
    return table[~table["dataset"].isin(CALIBRATION) | table["metric"].isin(["choice", "difference"])]


def mean_of(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return means of datasets with equal weights. The cases of a dataset have equal weights."""
    columns = COLUMNS[1:]
    sums = table[columns].mul(table["cases"], axis=0).assign(cases=table["cases"])
    sums = sums.groupby([table[name] for name in [*by, "dataset"]]).sum(min_count=1)
    found = sums[columns].div(sums["cases"], axis=0).groupby(by).mean()
    found.insert(0, "cases", sums.groupby(by)["cases"].sum())
    return found


def summarize() -> None:
    """Print mean error, coverage and width by number of cells."""
    table = reported()
    for by in (["metric", "design", "n"], ["metric", "model", "n"], ["metric", "design", "mechanism"]):
        part = table[table["design"] == "optimal"] if "model" in by else table
        print(mean_of(part, by).round(4).to_string(), "\n")


def draw() -> None:
    """Draw error and coverage of average precision against the number of cells, a line per mechanism."""
    from fairfold.figures.saving import save_figure
    from fairfold.figures.style import add_legend, legend_line, new_figure, style_of

    table = reported()
    table = table[table["metric"] == "average_precision"]
    figure, panels = new_figure(6.5, 3, 1, 2)
    handles = []
    for position, name in enumerate([*MECHANISMS, "uniform"]):
        part = table[(table["design"] == "uniform") == (name == "uniform")]
        part = part if name == "uniform" else part[part["mechanism"] == name]
        look, means = style_of(position) | {"markersize": 4}, mean_of(part, ["n"])[["error", "coverage"]]
        for axes, column in zip(panels[0], means, strict=True):
            axes.plot(means.index, means[column], **look)
        label = {"wrong": "10 % wrong positives", "uniform": "all, uniform draws"}.get(name, name)
        handles.append(legend_line(label, **look))
    panels[0][1].axhline(0.95, color="grey", linewidth=0.8)
    for axes, label in zip(panels[0], ("mean absolute error of AP", "coverage of 95 % intervals"), strict=True):
        axes.set(xscale="log", xlabel="checked cells", ylabel=label, xticks=NUMBERS, xticklabels=NUMBERS)
        axes.minorticks_off()
    panels[0][1].set_ylim(0.85, 1.01)
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
