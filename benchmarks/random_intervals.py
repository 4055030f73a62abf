"""Measure how often intervals without checked cells hold, on complete labels that were hidden at random.

    python benchmarks/random_intervals.py fit [--minutes 30]
    python benchmarks/random_intervals.py measure

`fit` hides labels in many ways, trains `joint-GB` and `RF+ET` in three folds, and saves out-of-fold probabilities. It
continues where an earlier run stopped. `measure` estimates the missing rate from `joint-GB` and corrects scores by it,
as a study does, and writes `resources/measured/random_intervals.csv`. The scores are those of `RF+ET+`: probabilities
of `RF+ET`, divided by the estimated label frequency.

Intervals of scores are for new samples of the same population. A case of a large or simulated dataset therefore draws a
small part of the samples. The truth is the mean score of the models of the folds on other samples, with complete
labels. Small datasets have no other samples, so the truth is the score of the same samples.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.seeds import seed_for
from fairfold.datasets import generate, prepare
from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.missing_labels.plateau import frequency_distribution
from fairfold.models import make_model
from fairfold.recommendation.complete_scores import complete_scores, share_left
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives, posterior

FOLDER = Path("results", "random_intervals")
KEPT = Path("resources", "measured", "random_intervals.csv")
SMALL = ["VirusGO", "flags", "CHD_49", "emotions", "foodtruck"]
SMALL += ["VirusPseAAC-repaired", "GrampositivePseAAC-repaired", "Gram_positive", "birds", "genbase", "digits-segments"]
LARGE = ["medical", "scene", "yeast", "enron", "CAL500-repaired"]
SIMULATED = ["simulated", "simulated-hard"]
# Numbers of samples that are drawn of larger datasets: at most an eighth.
DRAWN = {**dict.fromkeys(SIMULATED, 400), "scene": 300, "yeast": 300}
DRAWN |= {"digits-segments": 220, "enron": 210, "corel16k001": 215, "tmc2007_500": 500, "bibtex": 500, "corel5k": 500}
DRAWN |= dict.fromkeys(["delicious", "bibtex-rarer", "delicious-rarer"], 500)
DRAWN |= {"corel16k001-rarer": 215, **dict.fromkeys(["corel5k-rarer", "bibtex-rarest", "delicious-rarest"], 500)}
RAREST = ["corel5k-rarest", "bibtex-rare91", "delicious-rare91", "delicious-rare121"]
DRAWN |= dict.fromkeys(RAREST, 500)
# These were added last.
ADDED = ["bibtex-rare121", "delicious-rare151", "delicious-rare301", "corel5k-rare91"]
DRAWN |= dict.fromkeys(ADDED, 500)
MOST_NEW = 4000
# The 30 most common labels, or later ones in datasets whose names end like this.
N_LABELS, FIRST = 30, {"rarer": 30, "rarest": 60, "rare91": 90, "rare121": 120}
FIRST |= {"rare151": 150, "rare301": 300}
# The constants of the estimated missing rate were chosen on these. Results are of the others.
CALIBRATION = [*SMALL[:5], *LARGE[:3], *SIMULATED]
RATES, N_FOLDS = (30, 50, 70), 3
SEEDS = {("same", name): range(n) for names, n in ((SMALL, 16), (LARGE, 5)) for name in names}
SEEDS |= {("new", name): range(8 if name in [*CALIBRATION, *RAREST] else 24) for name in DRAWN if name not in ADDED}
# The factors of the estimated optimism were chosen on the first 16 seeds.
SEEDS |= {("independent", name): range(8 if name in ADDED else 0, 24) for name in DRAWN if name not in CALIBRATION}
MODELS = ("joint-GB", "RF+ET")


class Case(NamedTuple):
    """Kind, dataset, missing rate and seed.

    The score is compared on the same samples or on new ones. The same share of each label's positives is hidden, or, in
    cases of the kind "independent", each positive is hidden independently.
    """

    kind: str
    dataset: str
    rate: int
    seed: int

    @property
    def path(self) -> Path:
        prefix = "" if self.kind == "same" else f"{self.kind}-"
        return FOLDER / f"{prefix}{self.dataset}-{self.rate}-{self.seed}.npz"

    @property
    def role(self) -> str:
        chose = self.dataset in CALIBRATION or (self.kind == "independent" and self.seed < 16)
        return "calibration" if chose else "reported"


def cases() -> Iterator[Case]:
    """Yield all cases; those of all datasets with the first seed come first."""
    for seed in range(max(seeds.stop for seeds in SEEDS.values())):
        yield from (Case(*unit, rate, seed) for unit, seeds in SEEDS.items() for rate in RATES if seed in seeds)


def simulated(
    n: int, *, interactions: bool, seed: int = 0, n_features: int = 40, n_labels: int = 10
) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal features, and labels with frequencies of .05 to .3.

    The log-odds are sums of functions of single features, with a part that all labels share. `interactions` adds
    products of features that no other label has.
    """
    rng = np.random.default_rng(seed)
    n_shared = 6
    centers, slopes = rng.normal(size=(2, n_shared, n_features))
    uses = rng.random((n_shared, n_features)) < 0.3
    mix, own = rng.normal(size=(n_shared, n_labels)), rng.normal(size=(n_features, n_labels)) * 0.3
    pairs = rng.integers(n_features, size=(n_labels, 4, 2))
    X = rng.normal(size=(n, n_features))
    shared = np.stack([np.tanh(3 * (X - c) * s) @ u for c, s, u in zip(centers, slopes, uses * 1.0, strict=True)], 1)
    z = shared @ mix * 0.5 + np.abs(X) @ own
    if interactions:
        z = 0.3 * z + 1.5 * np.stack([np.sign(X[:, a] * X[:, b]).sum(1) for a, b in pairs.swapaxes(1, 2)], 1)
    z += rng.logistic(size=z.shape) * 1.5
    rates = np.linspace(0.05, 0.3, n_labels)
    return X, (z > np.diagonal(np.quantile(z, 1 - rates, axis=0))).astype(np.int8)


def samples_of(case: Case) -> tuple[Matrix, np.ndarray, Matrix, np.ndarray]:
    """Return features and labels of the samples of a case, and of new samples."""
    if case.dataset == SIMULATED[0]:
        X, Y = generate.simulated_multilabel(DRAWN[case.dataset] + MOST_NEW, random_state=case.seed)[:2]
    elif case.dataset == SIMULATED[1]:
        X, Y = simulated(DRAWN[case.dataset] + MOST_NEW, interactions=True, seed=case.seed)
    else:
        data = prepare(case.dataset.split("-rare")[0])
        X, Y = data.X, to_dense(data.Y, case.dataset, DataError)
    if case.kind == "same":
        return X, Y, X[:0], Y[:0]
    n = DRAWN[case.dataset]
    draw = (case.dataset, case.seed) if case.kind == "new" else (case.kind, case.dataset, case.seed)
    order = np.random.default_rng(seed_for(61, "drawn", *draw)).permutation(len(Y))
    first = FIRST.get(case.dataset.split("-")[-1], 0)
    common = np.sort(np.argsort(-Y.sum(axis=0), kind="stable")[first : first + N_LABELS])
    mine, new = order[:n], order[n : n + MOST_NEW]
    return X[mine], Y[mine][:, common], X[new], Y[new][:, common]


def fit(case: Case) -> None:
    """Save labels hidden in one way, folds, out-of-fold probabilities and those of new samples."""
    X, Y, X_new, Y_new = samples_of(case)
    seed = seed_for(61, "hidden", *case[1:]) if case.kind == "same" else seed_for(61, "hidden", *case)
    if case.kind == "independent":
        observed = Y * (np.random.default_rng(seed).random(Y.shape) >= case.rate / 100)
    else:
        observed = mask_positives(Y, case.rate / 100, random_state=seed)
    fold_of = IterativeStratification(N_FOLDS, random_state=case.seed).assign(observed)
    P = {name: np.empty(Y.shape, dtype=np.float32) for name in MODELS}
    of_new = np.empty((N_FOLDS, *Y_new.shape), dtype=np.float32)
    for name, found in P.items():
        for fold in range(N_FOLDS):
            train = fold_of != fold
            model = make_model(name, random_state=case.seed).fit(X[train], observed[train])
            found[~train] = to_dense(model.predict_proba(X[~train]), "P", DataError)
            if name == MODELS[1] and len(Y_new):
                of_new[fold] = to_dense(model.predict_proba(X_new), "P", DataError)
    labels = {"Y": Y, "observed": observed, "Y_new": Y_new}
    labels = {name: each.astype(np.int8) for name, each in labels.items()}
    np.savez_compressed(case.path, fold_of=fold_of, P_new=of_new, **labels, **P)


def fit_all(minutes: float) -> None:
    """Fit models until the processor time is used up."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for case in cases():
        if time.process_time() > 60 * minutes:
            print("stopped before", *case)
            return
        if not case.path.is_file():
            start = time.process_time()
            fit(case)
            print(*case, f"{time.process_time() - start:.1f} s", flush=True)


def measure(case: Case) -> pd.DataFrame:
    """Compare intervals with the values on complete labels."""
    with np.load(case.path) as kept:
        Y, observed, fold_of, joint, scored = (kept[name] for name in ("Y", "observed", "fold_of", *MODELS))
        Y_new, of_new = (kept["Y_new"], kept["P_new"]) if case.kind != "same" else (Y[:0], ())
    frequency, known = frequency_distribution(observed, np.clip(joint, 0, 1)), share_left(Y, observed, fold_of)
    kept_levels = np.zeros((len(BASIC_METRICS), N_FOLDS), dtype=np.int8)
    scored, *of_new = (posterior(P.astype(float), frequency.median) for P in (scored, *of_new))
    predictions = {"RF+ET+": FinalPredictions(scored[np.newaxis], kept_levels, fold_of)}
    scores = complete_scores(Y, observed, predictions, frequency, known)["scores"]
    table = scores[["metric", "complete", "corrected", "low", "high"]]
    if case.kind != "same":
        of_folds = pd.DataFrame([multilabel_scores(Y_new, P, metrics=table["metric"]) for P in of_new])
        table["complete"] = table["metric"].map(of_folds.mean())
    low, high = frequency.interval()
    table.loc[len(table)] = ["missing_rate", 1 - known, 1 - frequency.median, 1 - high, 1 - low]
    return table.assign(kind=case.kind, role=case.role, dataset=case.dataset, rate=case.rate)


def summarize(every: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Count cases and intervals that hold, and average widths and errors."""
    error = every["corrected"] - every["complete"]
    every = every.assign(
        held=every["low"].le(every["complete"]) & every["complete"].le(every["high"]),
        width=every["high"] - every["low"],
        error=error,
        absolute_error=error.abs(),
    )
    means = {name: (name, "mean") for name in ("width", "error", "absolute_error")}
    return every.groupby(by, sort=False).agg(cases=("held", "size"), held=("held", "sum"), **means)


def measure_all() -> None:
    """Write the table of all cases, and print the shares that hold with Wilson intervals."""
    from scipy.stats import binomtest

    every = pd.concat(Parallel(n_jobs=-1)(delayed(measure)(case) for case in cases() if case.path.is_file()))
    units = ["kind", "role", "metric", "dataset", "rate"]
    summarize(every, units).sort_values(units).reset_index().to_csv(KEPT, index=False, float_format="%.4g")
    whole = every.assign(rate="all")
    for each, part in pd.concat([every, whole]).groupby(["kind", "role"]):
        found = summarize(part, ["metric", "rate"])
        ends = [binomtest(int(row.held), int(row.cases)).proportion_ci(method="wilson") for row in found.itertuples()]
        found.insert(2, "share", found["held"] / found["cases"])
        found["low"], found["high"] = [each.low for each in ends], [each.high for each in ends]
        print(f"{each}\n{found.round(3).to_string()}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["fit", "measure"])
    parser.add_argument("--minutes", type=float, default=30, help="processor minutes after which `fit` stops")
    options = parser.parse_args()
    if options.step == "fit":
        fit_all(options.minutes)
    else:
        measure_all()


if __name__ == "__main__":
    main()
