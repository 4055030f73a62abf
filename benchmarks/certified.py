"""Measure how often certificates are wrong, and how many labels they certify.

    python benchmarks/certified.py simulate [--studies 1000] [--minutes 5]
    python benchmarks/certified.py real [--repeats 5] [--minutes 5]
    python benchmarks/certified.py show

`simulate` draws studies with known probabilities, hides positives, and compares each certified threshold with the true
precision above it. `real` hides positives of half of the samples of complete datasets, trains models on this half, and
applies the certified thresholds of the out-of-fold predictions to the predictions of the other half. Both continue
where an earlier run stopped, and add to `resources/measured/certified.csv`. `show` prints its summary.

Methods:

- ``certified``: :func:`~fairfold.evaluation.certify`, with checks that `cells_to_certify` chooses in rounds.
- ``uniform checks``: the same with cells drawn among all cells without a recorded positive.
- ``oracle``: the same on complete labels.
- ``one threshold``: the procedure of MAPIE's precision control (``MultiLabelClassificationController``) on complete
  labels. The p-values of Hoeffding and Bentkus of all thresholds are adjusted by the method of Holm, and the lowest
  valid threshold holds for all labels together. Samples without a decision are left out; MAPIE counts them as wrong.
- ``naive``: the lowest threshold with a mean corrected probability of at least the target, without any test.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from fairfold import __version__
from fairfold.core.seeds import seed_for
from fairfold.evaluation import cells_to_certify, certify

KEPT = Path("resources", "measured", "certified.csv")
SEED, TARGET, N_LABELS, ROUND, AT_ONCE = 83, 0.9, 15, 50, 10
MECHANISMS = ("random", "hard", "easy", "group")
RATES = (0.0, 0.3, 0.5)
CHECKS = (100, 300, 600)
KEYS = ["data", "mechanism", "rate", "wrong_positives", "method", "checks"]
COUNTS = ["n_studies", "n_labels", "n_certified", "n_wrong", "n_decisions", "n_checked", "seconds"]
DATASETS = ("scene", "yeast", "birds", "enron", "bibtex", "delicious")
_SCORES = np.linspace(-5, 5, 2001)
_DENSITY = stats.norm.pdf(_SCORES) / stats.norm.pdf(_SCORES).sum()


def kept_share(mechanism: str, rate: float, ranks: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the probability that each positive stays recorded. Ranks are those of positives, 1 for the easiest."""
    shares = {"hard": 2 * rate * (1 - ranks), "easy": 2 * rate * ranks, "group": 2 * rate * (groups % 2)}
    return 1 - shares.get(mechanism, np.full(ranks.shape, rate))


class Simulated:
    """Study with 15 labels of known probabilities, and a model whose probabilities are off."""

    def __init__(self, number: int) -> None:
        rng = np.random.default_rng(seed_for(SEED, "study", number))
        n = int(rng.choice([500, 1500, 4000]))
        location, spread = rng.normal(-2.2, 1, N_LABELS), 2.4 * np.exp(rng.normal(0, 0.4, N_LABELS))
        top, self.slope = 1 - rng.choice([0, 0.02, 0.05], N_LABELS), rng.choice([0.7, 1.0, 1.4])
        scores, self.groups = rng.normal(size=(n, N_LABELS)), np.arange(n) // 20
        self.eta = top / (1 + np.exp(-location - spread * _SCORES[:, None]))
        self.place = np.searchsorted(_SCORES, scores).clip(0, len(_SCORES) - 1)
        self.Y = (rng.random(scores.shape) < np.take_along_axis(self.eta, self.place, axis=0)).astype(np.int8)
        positives = self.eta * _DENSITY[:, None]
        self.ranks, self.rng = np.cumsum(positives, axis=0) / positives.sum(axis=0), rng

    def recorded(self, mechanism: str, rate: float, wrong: float) -> tuple[np.ndarray, np.ndarray]:
        """Return recorded labels and the model's probabilities on the grid of scores."""
        ranks = np.take_along_axis(self.ranks, self.place, axis=0)
        kept = kept_share(mechanism, rate, ranks, np.broadcast_to(self.groups[:, None], ranks.shape))
        Y = self.Y * (self.rng.random(ranks.shape) < kept)
        if wrong:
            Y = np.where((Y == 0) & (self.Y == 0) & (self.rng.random(Y.shape) < wrong * Y.mean(axis=0)), 1, Y)
        grid = self.eta * kept_share(mechanism, rate, self.ranks, np.full(self.ranks.shape, 0.5))
        return Y.astype(np.int8), 1 / (1 + ((1 - grid) / np.maximum(grid, 1e-12)) ** self.slope)

    def precision(self, grid: np.ndarray, label: int, threshold: float) -> float:
        """Return the true precision of decisions on new samples."""
        weights = _DENSITY * (grid[:, label] > threshold)
        return float((self.eta[:, label] * weights).sum() / weights.sum()) if weights.any() else np.nan


def checked_in_rounds(Y: np.ndarray, truth: np.ndarray, P: np.ndarray) -> Iterator[tuple[int, pd.DataFrame]]:
    """Check the cells that `cells_to_certify` chooses in rounds, and yield the sheet at each number of checks."""
    sheet = pd.DataFrame({"sample": [], "label_index": [], "label": []}).astype(int)
    for n in range(ROUND, max(CHECKS) + 1, ROUND):
        cells = cells_to_certify(Y, P, ROUND, precision=TARGET, checked=sheet)
        cells["label"] = truth[cells["sample"], cells["label_index"]]
        sheet = pd.concat([sheet, cells], ignore_index=True)
        if n in CHECKS:
            yield n, sheet


def uniform(Y: np.ndarray, truth: np.ndarray, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Check cells that are drawn among all cells without a recorded positive."""
    rows, columns = np.nonzero(Y == 0)
    drawn = rng.choice(len(rows), min(n, len(rows)), replace=False)
    sheet = pd.DataFrame({"sample": rows[drawn], "label_index": columns[drawn]})
    return sheet.assign(label=truth[sheet["sample"], sheet["label_index"]])


def one_threshold(Y: np.ndarray, P: np.ndarray, alpha: float = 0.05) -> float:
    """Return the threshold of MAPIE's precision control for all labels, NaN without a valid one."""
    thresholds = np.arange(0, 1, 0.01)
    p_values = []
    for low in thresholds:
        decided = low < P
        used = decided.any(axis=1)
        n = max(int(used.sum()), 1)
        risk = 1 - ((decided & (Y == 1)).sum(axis=1)[used] / decided.sum(axis=1)[used]).mean() if used.any() else 1.0
        limit, low_risk = 1 - TARGET, min(risk, 1 - TARGET)
        kl = stats.entropy([low_risk, 1 - low_risk], [limit, 1 - limit])
        p_values.append(min(np.exp(-n * kl), np.e * stats.binom.cdf(np.ceil(n * risk), n, limit), 1.0))
    order = np.argsort(p_values, kind="stable")
    passes = np.array(p_values)[order] <= alpha / np.arange(len(order), 0, -1)
    valid = np.zeros(len(order), dtype=bool)
    valid[order[: len(order) if passes.all() else int(passes.argmin())]] = True
    return float(thresholds[valid].min()) if valid.any() else np.nan


def naive(P: np.ndarray, kept: float) -> np.ndarray:
    """Return the lowest threshold of each label with a mean corrected probability of at least the target."""
    falling = -np.sort(-np.clip(P / kept, 0, 1), axis=0)
    enough = np.cumsum(falling, axis=0) / np.arange(1, len(P) + 1)[:, None] >= TARGET
    last = np.where(enough.any(axis=0), len(P) - 1 - enough[::-1].argmax(axis=0), -1)
    return np.where(last >= 0, falling[last, np.arange(P.shape[1])] * kept * (1 - 1e-12), np.nan)


def thresholds_of(
    Y: np.ndarray, truth: np.ndarray, P: np.ndarray, rate: float, wrong: float, rng: np.random.Generator
) -> Iterator[tuple[str, int, np.ndarray, int]]:
    """Yield the method, the number of checks, the threshold of each label, and the number of cells that were used."""
    if wrong:
        yield "certified", 0, certify(Y, P, precision=TARGET)["threshold"].to_numpy(), 0
        stated = certify(Y, P, precision=TARGET, wrong_positives=wrong)
        yield "wrong positives stated", 0, stated["threshold"].to_numpy(), 0
        return

    def thresholds(labels: np.ndarray, sheet: pd.DataFrame | None = None) -> np.ndarray:
        return certify(labels, P, precision=TARGET, checked=sheet)["threshold"].to_numpy()

    yield "certified", 0, thresholds(Y), 0
    for n, sheet in checked_in_rounds(Y, truth, P):
        yield "certified", n, thresholds(Y, sheet), len(sheet)
    yield "uniform checks", 300, thresholds(Y, uniform(Y, truth, 300, rng)), 300
    yield "oracle", 0, thresholds(truth), 0
    yield "one threshold", 0, np.full(P.shape[1], one_threshold(truth, P)), 0
    yield "naive", 0, naive(P, 1 - rate), 0


def settings() -> Iterator[tuple[str, float, float]]:
    """Yield mechanisms with rates, and shares of wrong recorded positives."""
    yield "random", 0.0, 0.0
    yield from ((mechanism, rate, 0.0) for rate in RATES[1:] for mechanism in MECHANISMS)
    yield from (("random", 0.0, wrong) for wrong in (0.01, 0.02, 0.05))


def simulated_rows(number: int) -> Iterator[dict[str, object]]:
    """Yield a row for each setting and method of one simulated study."""
    for mechanism, rate, wrong in settings():
        study = Simulated(number)
        Y, grid = study.recorded(mechanism, rate, wrong)
        P, start = np.take_along_axis(grid, study.place, axis=0), time.process_time()
        for method, n, thresholds, used in thresholds_of(Y, study.Y, P, rate, wrong, study.rng):
            labels = [
                label for label in np.flatnonzero(np.isfinite(thresholds)) if (P[:, label] > thresholds[label]).any()
            ]
            is_wrong = [study.precision(grid, label, thresholds[label]) < TARGET for label in labels]
            decided = (P[:, labels] > thresholds[labels]).sum()
            counts = 1, N_LABELS, len(labels), sum(is_wrong), int(decided), used, time.process_time() - start
            start = time.process_time()
            yield dict(zip([*KEYS, *COUNTS], ["simulated", mechanism, rate, wrong, method, n, *counts], strict=True))


def add(pending: list[pd.DataFrame], number: int) -> None:
    """Add the counts of studies up to a number to the table."""
    new = pd.concat(pending).assign(version=__version__, seed=SEED, last=number)
    how = {**dict.fromkeys(COUNTS, "sum"), "version": "last", "seed": "first", "last": "max"}
    joined = pd.concat([pd.read_csv(KEPT), new] if KEPT.exists() else [new])
    joined = joined.groupby(KEYS, sort=False).agg(how).reset_index()
    joined.round({"seconds": 1}).to_csv(KEPT, index=False, lineterminator="\n")
    pending.clear()
    print(new["data"].iloc[0], f"{number + 1} studies, {time.process_time():.0f} s", flush=True)


def done(data: str) -> int:
    """Return the number of the next study."""
    if not KEPT.exists():
        return 0
    own = pd.read_csv(KEPT).query("data == @data")
    return int(own["last"].max()) + 1 if len(own) else 0


def run(data: str, n_studies: int, minutes: float) -> None:
    """Add studies to the table until their number or the processor time is reached."""
    pending: list[pd.DataFrame] = []
    for number in range(done(data), n_studies):
        if time.process_time() > 60 * minutes:
            break
        rows = [*simulated_rows(number)] if data == "simulated" else [*real_rows(data, number)]
        pending.append(pd.DataFrame(rows))
        if len(pending) == AT_ONCE or data != "simulated":
            add(pending, number)
    if pending:
        add(pending, number)


def real_rows(dataset: str, number: int) -> Iterator[dict[str, object]]:
    """Yield a row for each setting and method of one half of a dataset."""
    from fairfold.core.arrays import to_dense
    from fairfold.datasets import prepare
    from fairfold.errors import DataError
    from fairfold.models import make_model
    from fairfold.splitting import IterativeStratification

    data = prepare(dataset)
    rng = np.random.default_rng(seed_for(SEED, dataset, number))
    half = rng.permutation(data.Y.shape[0]) % 2 == 0
    Y = to_dense(data.Y, dataset, DataError)
    often = np.flatnonzero((Y == 1).sum(axis=0) >= 60)[:40]
    Y, X = np.asarray(Y)[:, often].astype(np.int8), data.X
    fold_of = IterativeStratification(3, random_state=number).assign(Y[half])

    def fit(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return make_model("logistic", random_state=number).fit(X[rows], labels).predict_proba

    rows, reference = np.flatnonzero(half), None
    for mechanism, rate, wrong in [each for each in settings() if each[1] in (0.0, 0.5) and each[0] != "group"]:
        observed, start = Y[half].copy(), time.process_time()
        if rate:
            ranks = (np.argsort(np.argsort(reference, axis=0), axis=0) + 0.5) / len(rows)
            positives = np.where(observed == 1, ranks, np.nan)
            ranks = pd.DataFrame(positives).rank(pct=True).fillna(0.5).to_numpy()
            observed *= rng.random(observed.shape) < kept_share(mechanism, rate, ranks, ranks)
        if wrong:
            observed[(observed == 0) & (rng.random(observed.shape) < wrong * observed.mean(axis=0))] = 1
        P = np.empty(observed.shape)
        for fold in range(3):
            test = fold_of == fold
            P[test] = to_dense(fit(rows[~test], observed[~test])(X[rows[test]]), "P", DataError)
        new, truth = to_dense(fit(rows, observed)(X[~half]), "P", DataError), Y[~half]
        reference = P if reference is None else reference
        for method, n, thresholds, used in thresholds_of(observed, Y[half], P.clip(0, 1), rate, wrong, rng):
            labels = [
                label for label in np.flatnonzero(np.isfinite(thresholds)) if (P[:, label] > thresholds[label]).any()
            ]
            decided = new[:, labels] > thresholds[labels]
            right, of = (decided & (truth[:, labels] == 1)).sum(axis=0), decided.sum(axis=0)
            # A label is wrong if the exact 95 % upper limit of its precision on new samples is below the target.
            is_wrong = stats.binom.cdf(right, of, TARGET) < 0.05
            counts = 1, len(often), len(labels), int(is_wrong.sum()), int(of.sum()), used, time.process_time() - start
            start = time.process_time()
            yield dict(zip([*KEYS, *COUNTS], [dataset, mechanism, rate, wrong, method, n, *counts], strict=True))


def show() -> None:
    """Print the shares of certified and of wrong labels."""
    table = pd.read_csv(KEPT)
    table["certified"] = table["n_certified"] / table["n_studies"]
    table["wrong_share"] = table["n_wrong"] / table["n_certified"]
    print(table[[*KEYS, "n_studies", "certified", "wrong_share"]].round(3).to_string())


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["simulate", "real", "show"])
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=5)
    options = parser.parse_args()
    if options.command == "show":
        show()
    elif options.command == "simulate":
        run("simulated", options.studies, options.minutes)
    else:
        for dataset in DATASETS:
            run(dataset, options.repeats, options.minutes)


if __name__ == "__main__":
    main()
