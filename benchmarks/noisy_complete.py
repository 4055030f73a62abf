"""Measure scores, missing rates and rankings on complete and on incomplete labels that are hard to predict.

    python benchmarks/noisy_complete.py fit [--minutes 30] [--kinds scores]
    python benchmarks/noisy_complete.py measure

`fit` trains models in three folds and saves out-of-fold probabilities, and the scores of the models of the folds on new
samples with complete labels. `measure` writes one table of each kind to resources/measured. Both continue where an
earlier run stopped: delete the saved rows in results/noisy_complete to measure again.

- noisy_complete_scores.csv: scores of complete labels and their intervals, beside the scores on new samples. The
  printed share of intervals that hold allows for the sampling error of the new samples;
- noisy_complete_rates.csv: estimated missing rates of labels that are declared incomplete, and their bound;
- noisy_complete_rankings.csv: Kendall's tau of the ranking of models by observed or corrected scores with that by
  scores on new samples, for labels that were hidden at random.

Simulated families differ in the numbers of samples and labels, the percentage of positives, the standard deviation of
the signal relative to the noise, the kind of signal, the percentage of flipped labels and the largest probability.
Missing rates are those of all samples of catalog data. For other kinds, they are divided into samples for the study and
new samples. Flipped labels keep the number of positives: a share of them becomes negative, and as many negatives become
positive. Both parts have flipped labels, so these are complete, too.
Constants of the estimated missing rate were chosen on missing rates of the first seed, see the column `role`, and the
width of intervals of complete labels on the scores of seeds 0 to 3.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import logit
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from fairfold.core.arrays import to_dense
from fairfold.core.seeds import seed_for
from fairfold.datasets import prepare
from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.plain_scores import calibration_error
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.missing_labels import frequency_bound
from fairfold.missing_labels.plateau import FrequencyDistribution, frequency_distribution
from fairfold.models import make_model
from fairfold.recommendation.complete_scores import complete_scores, share_left
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives

FOLDER, KEPT = Path("results", "noisy_complete"), Path("resources", "measured")
N_FEATURES, MOST_NEW, N_FOLDS = 20, 4000, 3
RATES = (0, 30, 50, 70)
JOINT, SCORE = "joint-GB", "average_precision"
MODELS = {
    "scores": ["dummy", "logistic", "LightGBM", JOINT, "Stack+", "gcForest+"],
    "rates": [JOINT],
    "rankings": ["logistic", "kNN", "RF+ET", JOINT, "LightGBM"],
}
CATALOG = ["flags", "CHD_49", "emotions", "birds", "VirusGO", "Gram_positive", "genbase", "foodtruck", "yeast"]
CATALOG += ["medical", "scene", "enron", "CAL500-repaired", "bibtex", "corel5k"]
MOST_ROWS, MOST_LABELS = 500, 30  # of catalog data


class Family(NamedTuple):
    """Sizes and noise of simulated data, all labels complete."""

    rows: int
    labels: int
    percent: float
    signal: float
    kind: str = "linear"
    flipped: int = 0
    ceiling: float = 1.0

    @property
    def name(self) -> str:
        return "-".join(str(part) for part in self)


SIZES = [(200, 3, 30), (400, 4, 30), (1000, 6, 10), (1000, 20, 3), (2000, 1, 10)]
FAMILIES = [Family(*size, signal) for signal in (0.3, 0.7, 1.0, 3.0) for size in SIZES]
FAMILIES += [
    Family(*size, signal, "interactions") for signal in (0.7, 1.5, 3.0) for size in [(400, 6, 30), (1500, 10, 10)]
]
NOISY = [(400, 4, 30, 1.0), (1000, 6, 10, 3.0), (1000, 20, 5, 1.5), (2000, 10, 20, 3.0)]
FAMILIES += [Family(*size, flipped=percent) for percent in (5, 10) for size in NOISY]
FAMILIES += [Family(*size[:3], 3.0, ceiling=most) for most in (0.6, 0.8) for size in [NOISY[0], NOISY[1], NOISY[3]]]
FAMILIES += [Family(1000, 50, 5, 1.0), Family(1000, 50, 10, 3.0), Family(500, 50, 10, 0.5)]
FAMILIES += [Family(500, 30, 20, 2.0, "interactions"), Family(3000, 10, 20, 3.0, "interactions")]
FAMILIES += [Family(5000, 10, 50, 1.0), Family(5000, 3, 10, 0.7)]
BY_NAME = {family.name: family for family in FAMILIES}


class Case(NamedTuple):
    """Kind of measure, name of a family or of catalog data with the percentage of flipped labels, rate and seed."""

    kind: str
    data: str
    rate: int
    seed: int

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.kind}_{self.data}_{self.rate}_{self.seed}.npz"

    @property
    def row(self) -> Path:
        return self.path.with_suffix(".csv")

    @property
    def role(self) -> str:
        return "calibration" if self.kind == "rates" and self.seed == 0 else "reported"


def cases(kinds: list[str]) -> Iterator[Case]:
    """Yield all cases; small data and the first seed come first."""
    simulated = [family.name for family in sorted(FAMILIES, key=lambda family: family.rows * family.labels)]
    catalog = {"scores": [f"{name}:{flipped}" for flipped in (0, 5, 10) for name in CATALOG]}
    for seed in range(5):
        for kind in kinds:
            names = [*simulated, *([] if seed else catalog.get(kind, catalog["scores"][: len(CATALOG)]))]
            rates = {"scores": RATES[:1], "rankings": RATES[1:]}.get(kind, RATES)
            yield from (Case(kind, name, rate, seed) for name in names for rate in rates)


def flip(Y: np.ndarray, percent: float, random: np.random.Generator) -> np.ndarray:
    """Make some percent of each label's positives negative, and as many negatives positive, on average."""
    shares = Y.mean(axis=0)
    moved = np.where(Y == 1, 1.0, np.minimum(1, shares / np.maximum(1 - shares, 1e-9))) * percent / 100
    return np.where(random.random(Y.shape) < moved, 1 - Y, Y)


def simulate(family: Family, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return features and complete labels of a family, then those of new samples."""
    random = np.random.default_rng(seed_for(83, "simulated", family.name, seed))
    X = random.normal(size=(family.rows + MOST_NEW, N_FEATURES))
    if family.kind == "linear":
        weights = random.normal(size=(N_FEATURES, family.labels))
        signal = X @ (weights / np.linalg.norm(weights, axis=0))
    else:
        pairs = random.integers(N_FEATURES, size=(2, 3, family.labels))
        signal = np.sign(X[:, pairs[0]] * X[:, pairs[1]]).sum(axis=1) / np.sqrt(3)
    latent = family.signal * signal + random.normal(size=signal.shape)
    Y = latent > np.quantile(latent, 1 - family.percent / 100 / family.ceiling, axis=0)
    Y = (Y & (random.random(Y.shape) < family.ceiling)).astype(np.int8)
    Y = flip(Y, family.flipped, random)
    return X[: family.rows], Y[: family.rows], X[family.rows :], Y[family.rows :]


def samples_of(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return features and complete labels of the samples of a case, then those of new samples."""
    if case.data in BY_NAME:
        return simulate(BY_NAME[case.data], case.seed)
    name, flipped = case.data.split(":")
    data = prepare(name)
    random = np.random.default_rng(seed_for(83, "catalog", case.data, case.seed))
    X, Y = data.X, to_dense(data.Y, name, DataError)
    order, n = random.permutation(len(Y)), min(MOST_ROWS, len(Y) // 2)
    if case.kind == "rates":
        n = len(Y)
    common = np.sort(np.argsort(-Y[order[:n]].sum(axis=0), kind="stable")[:MOST_LABELS])
    Y = flip(Y[:, common], float(flipped), random)
    mine, new = order[:n], order[n : n + MOST_NEW]
    return X[mine], Y[mine], X[new], Y[new]


def measures(Y: np.ndarray, P: np.ndarray) -> dict[str, float]:
    """Score probabilities of new samples, and measure their calibration over all cells."""
    truth, p = Y.ravel(), np.clip(P.ravel().astype(float), 1e-6, 1 - 1e-6)
    slope = LogisticRegression(C=1e6).fit(logit(p)[:, np.newaxis], truth).coef_[0, 0] if np.ptp(p) > 1e-3 else np.nan
    found = {"log_loss": log_loss(truth, p), "ece": calibration_error(truth, p), "slope": float(slope)}
    return {SCORE: multilabel_scores(Y, P, metrics=[SCORE])[SCORE], **found}


def fit(case: Case) -> None:
    """Save labels, folds, out-of-fold probabilities, and measures on new samples."""
    start = time.process_time()
    X, Y, X_new, Y_new = samples_of(case)
    hidden = seed_for(83, "h", case.data, case.rate, case.seed)
    observed = mask_positives(Y, case.rate / 100, random_state=hidden) if case.rate else Y
    fold_of = IterativeStratification(N_FOLDS, random_state=case.seed).assign(observed)
    P, new = {name: np.empty(Y.shape, dtype=np.float32) for name in MODELS[case.kind]}, {}
    for name, found in P.items():
        of_folds = []
        for fold in range(N_FOLDS):
            train = fold_of != fold
            model = make_model(name, random_state=case.seed).fit(X[train], observed[train])
            found[~train] = to_dense(model.predict_proba(X[~train]), "P", DataError)
            if case.kind != "rates":
                of_folds.append(measures(Y_new, to_dense(model.predict_proba(X_new), "P", DataError)))
        new[name] = pd.DataFrame(of_folds).mean()
    table = pd.DataFrame(new).T
    arrays = {"Y": Y.astype(np.int8), "observed": observed.astype(np.int8), "fold_of": fold_of}
    arrays |= {f"of {name}": each for name, each in P.items()}
    seconds = time.process_time() - start
    np.savez_compressed(
        case.path, new=table.to_numpy(), measures=table.columns.to_numpy(str), seconds=seconds, **arrays
    )


def fit_all(minutes: float, kinds: list[str]) -> None:
    """Fit models until the processor time is used up."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for case in cases(kinds):
        if time.process_time() > 60 * minutes:
            print("stopped before", *case)
            return
        if not case.path.is_file():
            start = time.process_time()
            fit(case)
            print(*case, f"{time.process_time() - start:.1f} s", flush=True)


class Saved(NamedTuple):
    """Saved arrays of a case."""

    Y: np.ndarray
    observed: np.ndarray
    fold_of: np.ndarray
    P: dict[str, np.ndarray]
    new: pd.DataFrame
    seconds: float

    @classmethod
    def of(cls, case: Case) -> Saved:
        with np.load(case.path) as kept:
            P = {name: np.clip(kept[f"of {name}"], 0, 1).astype(float) for name in MODELS[case.kind]}
            new = pd.DataFrame(kept["new"], index=list(P), columns=kept["measures"])
            return cls(*(kept[name] for name in cls._fields[:3]), P, new, float(kept["seconds"]))

    def scores(self, frequency: FrequencyDistribution) -> pd.DataFrame:
        """Return the observed and corrected score of each model, with intervals."""
        levels = np.zeros((len(BASIC_METRICS), N_FOLDS), dtype=np.int8)
        predictions = {name: FinalPredictions(P[np.newaxis], levels, self.fold_of) for name, P in self.P.items()}
        known = share_left(self.Y, self.observed, self.fold_of)
        table = complete_scores(self.Y, self.observed, predictions, frequency, known)["scores"]
        return table[table["metric"] == SCORE].set_index("model")


def measure(case: Case) -> pd.DataFrame:
    """Return rows of the table of a case's kind."""
    saved = Saved.of(case)
    if case.kind == "scores":
        scores = saved.scores(FrequencyDistribution.certain(1.0))[["corrected", "low", "high"]]
        scores = scores.rename(columns={"corrected": "headline"}).join(saved.new.rename(columns={SCORE: "truth"}))
        return scores.assign(n_samples=len(saved.Y), n_new=len(samples_of(case)[3]))
    frequency = frequency_distribution(saved.observed, saved.P[JOINT])
    if case.kind == "rankings":
        truth = saved.new[SCORE]
        scores = saved.scores(frequency).loc[truth.index]
        taus = {f"tau_{by}": kendalltau(scores[by], truth).statistic for by in ("observed", "corrected")}
        return pd.DataFrame(taus, index=["all models"])
    (low, high), hidden = frequency.interval(), 1 - saved.observed.sum() / saved.Y.sum()
    found = {"hidden": hidden, "estimated": 1 - frequency.median, "low": 1 - high, "high": 1 - low}
    return pd.DataFrame({**found, "bound": 1 - frequency_bound(saved.observed, saved.P[JOINT])}, index=[JOINT])


def measured(case: Case) -> pd.DataFrame:
    """Read the rows of a case, or measure and save them."""
    if not case.row.is_file():
        with np.load(case.path) as kept:
            seconds = float(kept["seconds"])
        columns = {**case._asdict(), "role": case.role, "seconds": seconds}
        measure(case).reset_index(names="model").assign(**columns).to_csv(case.row, index=False)
    return pd.read_csv(case.row)


def summarize(kind: str, table: pd.DataFrame) -> None:
    """Print the shares that hold, and mean errors."""
    source = table["data"].isin(BY_NAME).map({True: "simulated", False: "catalog"}).rename("source")
    if kind == "rankings":
        print(table.groupby([source, "rate"])[["tau_observed", "tau_corrected"]].mean())
        return
    by = [source, "role", "rate"] if kind == "rates" else [source, "model"]
    estimate, truth = ("estimated", "hidden") if kind == "rates" else ("headline", "truth")
    table["error"], table["width"] = table[estimate] - table[truth], table["high"] - table["low"]
    table["absolute"] = table["error"].abs()
    # The score of few new samples is uncertain, too.
    wider = np.sqrt(1 + table["n_samples"] / table["n_new"]) if kind == "scores" else 1.0
    margin = (table[estimate] - table["low"]).where(table["error"] > 0, table["high"] - table[estimate])
    table["held"] = table["absolute"] <= margin * wider + 1e-9
    columns = ["held", "error", "absolute", "width"]
    if kind == "rates":
        table["bound_held"] = table["hidden"] <= table["bound"] + 1e-9
        columns += ["bound_held", "bound"]
    else:
        columns += ["log_loss", "ece", "slope"]
        losses = table.pivot_table(index=[source, "data", "seed"], columns="model", values="log_loss")
        for name in ("Stack+", "gcForest+"):
            beyond = losses[name] - losses[["logistic", "LightGBM"]].min(axis=1)
            above = losses[name] - losses["dummy"]
            print(f"{name}: log-loss minus the better of logistic and LightGBM, and minus that of the prevalence")
            print(pd.DataFrame({"best": beyond, "dummy": above}).groupby("source").agg(["mean", "max"]))
    print(table.groupby(by)[columns].mean().assign(n=table.groupby(by).size()).round(4).to_string())


def measure_all(kinds: list[str]) -> None:
    """Write the tables of all saved cases."""
    versions = " ".join(f"{name} {version(name)}" for name in ("fairfold", "scikit-learn", "lightgbm", "numpy"))
    for kind in kinds:
        if found := [measured(case) for case in cases([kind]) if case.path.is_file() or case.row.is_file()]:
            table = pd.concat(found, ignore_index=True).drop(columns="kind").assign(versions=versions)
            table.to_csv(KEPT / f"noisy_complete_{kind}.csv", index=False, float_format="%.4g")
            summarize(kind, table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["fit", "measure"])
    parser.add_argument("--minutes", type=float, default=30, help="processor minutes after which `fit` stops")
    parser.add_argument("--kinds", nargs="+", choices=list(MODELS), default=list(MODELS))
    options = parser.parse_args()
    if options.step == "fit":
        fit_all(options.minutes, options.kinds)
    else:
        measure_all(options.kinds)


if __name__ == "__main__":
    main()
