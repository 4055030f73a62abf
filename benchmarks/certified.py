"""Measure how often certificates are wrong, and how many labels they certify.

    python benchmarks/certified.py simulate [--studies 1000] [--minutes 20]
    python benchmarks/certified.py real [--studies 50] [--minutes 20]
    python benchmarks/certified.py held-out [--studies 200] [--minutes 20]
    python benchmarks/certified.py cost
    python benchmarks/certified.py show

Each study has a seed of its own. `simulate`, `real` and `held-out` continue where an earlier run stopped, and add to
the table (``--table``, by default ``certified.csv``, and ``held_out.csv`` for `held-out`, in ``resources/measured``).
`cost` measures `certify` on 20,000 samples and 100 labels. `show` prints the summary.

- `simulate` draws 15 labels with a known probability given a score, hides positives, and fits logistic models with a
  quadratic term to the recorded labels of all folds but one. The true precision of decisions on new samples is
  computed exactly.
- `real` fits models to half of a complete dataset, with hidden positives. The other half is the population: a study
  draws its samples from it with replacement and hides positives of these, so that the precision on new draws is that
  of the whole population. No model has seen a sample of it.

- `held-out` certifies the final model in two ways: by the models of folds (``folds``), with a final model that is
  fitted to all samples, and by 20 % of the samples (``held out``), with one that is fitted to the rest. Studies are
  those of `simulate`, of two sizes, and of `real`. ``n_decisions`` is per 1,000 samples.

A label is wrong if the true precision of its decisions is below the target: of decisions of the models of all folds
(``n_wrong``), which the certificate is about, and of the final model, which is fitted to all samples
(``n_wrong_final``). ``final_gap`` is the sum of the differences of the two precisions.

Methods:

- ``certified``: :func:`~fairfold.evaluation.certify`, with checks that `cells_to_certify` chooses in rounds.
- ``uniform checks``: the same with cells drawn among all cells without a recorded positive.
- ``oracle``: the same on complete labels.
- ``MAPIE``: ``BinaryClassificationController`` of MAPIE for each label, on complete labels, if MAPIE is installed.
- ``one threshold``: the procedure of ``MultiLabelClassificationController`` of MAPIE on complete labels. The p-values
  of Hoeffding and Bentkus of all thresholds are adjusted by the method of Holm, and the lowest valid threshold holds
  for all labels together. Samples without a decision are left out; MAPIE counts them as wrong.
- ``naive``: the lowest threshold with a mean corrected probability of at least the target, without any test.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
from scipy import special, stats

from fairfold import __version__
from fairfold.core.seeds import seed_for
from fairfold.evaluation import cells_to_certify, certify
from fairfold.evaluation.certificates import certificate_of, curves_of

SEED, TARGET, N_LABELS, N_FOLDS, ROUND, AT_ONCE = 83, 0.9, 15, 3, 50, 10
HELD_OUT, SIZES = 0.2, (1000, 5000)
MECHANISMS = ("random", "hard", "easy", "group")
RATES = (0.0, 0.3, 0.5)
CHECKS = (100, 300, 600)
KEYS = ["data", "mechanism", "rate", "wrong_positives", "method", "checks"]
COUNTS = ["n_studies", "n_labels", "n_certified", "n_wrong", "n_wrong_final", "final_gap", "n_decisions", "n_checked"]
DATASETS = ("scene", "yeast", "birds", "enron", "bibtex", "delicious")
MAPIE = metadata.version("mapie") if importlib.util.find_spec("mapie") else ""
MAPIE_STUDIES = 100  # of the simulated ones, because MAPIE takes more time than all other methods together
_SCORES = np.linspace(-5, 5, 1001)
_DENSITY = stats.norm.pdf(_SCORES) / stats.norm.pdf(_SCORES).sum()
_BIN = np.arange(len(_SCORES)) // 5  # by which models are fitted


class Study(Protocol):
    """Complete and recorded labels, probabilities, and true precisions."""

    truth: np.ndarray
    Y: np.ndarray
    P: np.ndarray
    rng: np.random.Generator

    def precision(self, label: int, threshold: float) -> tuple[float, float]:
        """Return the true precisions of decisions of the fold models and of the final model."""

    def held_out(self) -> Study:
        """Return a study whose only model is fitted without the samples that it has."""


def kept_share(mechanism: str, rate: float, ranks: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the probability that each positive stays recorded. Ranks are those of positives, 1 for the easiest."""
    shares = {"hard": 2 * rate * (1 - ranks), "easy": 2 * rate * ranks, "group": 2 * rate * (groups % 2)}
    return 1 - shares.get(mechanism, np.full(ranks.shape, rate))


class Simulated:
    """Study with 15 labels of known probabilities."""

    def __init__(self, number: int, mechanism: str, rate: float, wrong: float, size: int | None = None) -> None:
        self.rng = rng = np.random.default_rng(seed_for(SEED, "study", number))
        n = int(rng.choice([500, 1000, 2500]))
        n = size or n
        location, spread = rng.normal(-2.2, 1, N_LABELS), 2.4 * np.exp(rng.normal(0, 0.4, N_LABELS))
        top, scores = 1 - rng.choice([0, 0.02, 0.05], N_LABELS), rng.normal(size=(n, N_LABELS))
        self.eta = top / (1 + np.exp(-location - spread * _SCORES[:, None]))
        place = np.searchsorted(_SCORES, scores).clip(0, len(_SCORES) - 1)
        self.truth = (rng.random(place.shape) < np.take_along_axis(self.eta, place, axis=0)).astype(np.int8)
        positives = self.eta * _DENSITY[:, None]
        ranks = np.take_along_axis(np.cumsum(positives, axis=0) / positives.sum(axis=0), place, axis=0)
        groups = np.broadcast_to(np.arange(n)[:, None] // 20, ranks.shape)
        Y = self.truth * (rng.random(ranks.shape) < kept_share(mechanism, rate, ranks, groups))
        if wrong:
            Y = np.where((self.truth == 0) & (rng.random(Y.shape) < wrong * self.truth.mean(axis=0)), 1, Y)
        self.Y, fold_of, self.place = Y.astype(np.int8), rng.permutation(n) % N_FOLDS, place
        self.grids = fitted(place, self.Y, fold_of)
        self.P = self.grids[fold_of[:, None], place, np.arange(N_LABELS)]

    def precision(self, label: int, threshold: float) -> tuple[float, float]:
        """Return the true precisions of decisions of the fold models and of the final model."""
        found = []
        for grids in (self.grids[:-1], self.grids[-1:]):
            weights = _DENSITY * (grids[:, :, label] > threshold)
            found.append(float((self.eta[:, label] * weights).sum() / weights.sum()) if weights.any() else np.nan)
        return found[0], found[1]

    def held_out(self) -> Simulated:
        """Return a study whose only model is fitted without the samples that it has."""
        aside, other = self.rng.permutation(len(self.Y)) < HELD_OUT * len(self.Y), copy.copy(self)
        other.grids = fitted(self.place[~aside], self.Y[~aside], np.zeros((~aside).sum()))[[-1, -1]]
        other.Y, other.truth, place = self.Y[aside], self.truth[aside], self.place[aside]
        other.P = other.grids[0][place, np.arange(N_LABELS)]
        return other


def fitted(place: np.ndarray, Y: np.ndarray, fold_of: np.ndarray) -> np.ndarray:
    """Return the probabilities of the fold models and the final model, of shape (n_models, n_scores, n_labels)."""
    n_labels, centers = Y.shape[1], np.bincount(_BIN, _SCORES) / np.bincount(_BIN)
    shape = n_labels, len(centers)
    index = np.arange(n_labels) * len(centers) + _BIN[place]
    counts = np.zeros((2, N_FOLDS + 1, *shape))  # of cells and of positives, among the training samples of each model
    for fold in range(N_FOLDS):
        own = fold_of == fold
        for count, values in zip(counts, (None, Y[own].ravel()), strict=True):
            count[np.arange(N_FOLDS + 1) != fold] += np.bincount(
                index[own].ravel(), values, n_labels * len(centers)
            ).reshape(shape)
    totals, rights = counts
    features, fine = (np.stack([np.ones_like(each), each, each**2], axis=1) for each in (centers, _SCORES))
    products = (features[:, :, None] * features[:, None]).reshape(-1, 9)
    beta = np.zeros((N_FOLDS + 1, n_labels, 3))
    beta[..., 0] = special.logit((rights.sum(axis=2) + 0.5) / (totals.sum(axis=2) + 1))
    for _ in range(12):  # Newton's method with a small penalty
        p = special.expit(beta @ features.T)
        slope = (rights - totals * p) @ features - 0.1 * beta
        curvature = ((totals * p * (1 - p)) @ products).reshape(*beta.shape, 3) + 0.1 * np.eye(3)
        beta += np.clip(np.linalg.solve(curvature, slope[..., None])[..., 0], -2, 2)
    return special.expit(beta @ fine.T).transpose(0, 2, 1)


class Population:
    """Half of a complete dataset, with probabilities of models that are fitted to the other half."""

    def __init__(self, dataset: str, chosen: Iterable[Setting]) -> None:
        from fairfold.core.arrays import to_dense
        from fairfold.datasets import prepare
        from fairfold.errors import DataError

        data = prepare(dataset)
        Y = np.asarray(to_dense(data.Y, dataset, DataError))
        labels = np.argsort(-(Y == 1).sum(axis=0), kind="stable")[:N_LABELS]
        rng = np.random.default_rng(seed_for(SEED, dataset, "population"))
        is_model = rng.permutation(len(Y)) % 2 == 0
        Y = Y[:, np.sort(labels)].astype(np.int8)
        self.truth, self.X = Y[~is_model], (data.X[is_model], data.X[~is_model])
        self.fold_of, reference = rng.permutation(int(is_model.sum())) % N_FOLDS, None
        self.P: dict[tuple[str, float], np.ndarray] = {}
        for mechanism, rate, wrong in chosen:
            if wrong:
                continue
            observed = Y[is_model]
            if rate:
                ranks = ranks_of_positives(reference, observed)
                kept = kept_share(mechanism, rate, ranks, np.broadcast_to(np.arange(len(ranks))[:, None], ranks.shape))
                observed = observed * (rng.random(ranks.shape) < kept)
            own, self.P[mechanism, rate] = self._probabilities(observed)
            reference = own if reference is None else reference
        self.ranks = ranks_of_positives(self.P["random", 0.0][N_FOLDS], self.truth)

    def _probabilities(self, observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return out-of-fold probabilities of the own half, and those of all models for the population."""
        from fairfold.core.arrays import to_dense
        from fairfold.errors import DataError
        from fairfold.models import make_model

        own, found = np.empty(observed.shape), []
        kept = np.random.default_rng(SEED).permutation(len(observed)) >= HELD_OUT * len(observed)
        for fold in range(N_FOLDS + 2):
            train = self.fold_of != fold if fold <= N_FOLDS else kept
            model = make_model("logistic", random_state=SEED).fit(self.X[0][train], observed[train])
            if fold < N_FOLDS:
                own[~train] = to_dense(model.predict_proba(self.X[0][~train]), "P", DataError)
            found.append(to_dense(model.predict_proba(self.X[1]), "P", DataError).clip(0, 1))
        return own, np.stack(found)


class Drawn:
    """Study with samples of a population."""

    def __init__(self, population: Population, dataset: str, number: int, mechanism: str, rate: float) -> None:
        self.rng = rng = np.random.default_rng(seed_for(SEED, dataset, number))
        n = len(population.truth)
        rows, fold_of = rng.integers(n, size=n), rng.integers(N_FOLDS, size=n)
        self.truth, self.ranks = population.truth[rows], population.ranks[rows]
        kept = kept_share(mechanism, rate, self.ranks, np.broadcast_to(rows[:, None], self.ranks.shape))
        self.Y = (self.truth * (rng.random(kept.shape) < kept)).astype(np.int8)
        *of_all, self.of_rest = population.P[mechanism, rate]
        self.of_all, self.population, self.rows = np.stack(of_all), population.truth, rows
        self.P = self.of_all[fold_of, rows]

    def precision(self, label: int, threshold: float) -> tuple[float, float]:
        """Return the true precisions of decisions of the fold models and of the final model."""
        found = []
        for P in (self.of_all[:-1], self.of_all[-1:]):
            decided = P[:, :, label] > threshold
            right = (decided & (self.population[:, label] == 1)).sum()
            found.append(float(right / decided.sum()) if decided.any() else np.nan)
        return found[0], found[1]

    def held_out(self) -> Drawn:
        """Return a study whose only model is fitted without the samples that it has."""
        aside, other = self.rng.permutation(len(self.Y)) < HELD_OUT * len(self.Y), copy.copy(self)
        other.of_all, other.P = np.stack([self.of_rest, self.of_rest]), self.of_rest[self.rows[aside]]
        other.Y, other.truth = self.Y[aside], self.truth[aside]
        return other


def ranks_of_positives(P: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the ranks of positives of each label by their probability, from 0 to 1."""
    return pd.DataFrame(np.where(Y == 1, P, np.nan)).rank(pct=True).fillna(0.5).to_numpy()


def checked_in_rounds(study: Study) -> Iterator[tuple[int, pd.DataFrame]]:
    """Check the cells that `cells_to_certify` chooses in rounds, and yield the sheet at each number of checks."""
    sheet = pd.DataFrame({"sample": [], "label_index": [], "label": []}).astype(int)
    is_open = True
    for n in range(ROUND, max(CHECKS) + 1, ROUND):
        if is_open:
            cells = cells_to_certify(study.Y, study.P, ROUND, precision=TARGET, checked=sheet)
            cells["label"] = study.truth[cells["sample"], cells["label_index"]]
            sheet, is_open = pd.concat([sheet, cells], ignore_index=True), len(cells) > 0
        if n in CHECKS:
            yield n, sheet


def uniform(study: Study, n: int) -> pd.DataFrame:
    """Check cells that are drawn among all cells without a recorded positive."""
    cells = np.flatnonzero(study.Y == 0)
    drawn = study.rng.choice(cells, min(n, len(cells)), replace=False)
    rows, columns = np.unravel_index(drawn, study.Y.shape)
    return pd.DataFrame({"sample": rows, "label_index": columns, "label": study.truth[rows, columns]})


def one_threshold(Y: np.ndarray, P: np.ndarray, alpha: float = 0.05) -> float:
    """Return the threshold of MAPIE's precision control for all labels, NaN without a valid one."""
    thresholds = np.arange(0, 1, 0.01)
    place = np.searchsorted(thresholds, P)  # Number of thresholds below the probability.
    index = np.arange(len(P))[:, None] * 101 + place
    of, right = (
        np.bincount(index.ravel(), weights, len(P) * 101).reshape(len(P), 101)[:, ::-1].cumsum(axis=1)[:, -2::-1]
        for weights in (None, (Y == 1).ravel())
    )
    used = of > 0
    n = np.maximum(used.sum(axis=0), 1)
    risk = np.where(used.any(axis=0), 1 - (right / np.maximum(of, 1)).sum(axis=0) / n, 1.0)
    limit, low = 1 - TARGET, np.minimum(risk, 1 - TARGET)
    kl = special.rel_entr(low, limit) + special.rel_entr(1 - low, 1 - limit)
    p_values = np.minimum(np.exp(-n * kl), np.e * stats.binom.cdf(np.ceil(n * risk), n, limit)).clip(max=1)
    order = np.argsort(p_values, kind="stable")
    passes = p_values[order] <= alpha / np.arange(len(order), 0, -1)
    valid = thresholds[order[: len(order) if passes.all() else int(passes.argmin())]]
    return float(valid.min()) if len(valid) else np.nan


def mapie_thresholds(Y: np.ndarray, P: np.ndarray) -> np.ndarray:
    """Return the threshold of MAPIE's precision control of each label alone, NaN without a valid one."""
    from mapie.risk_control import BinaryClassificationController

    found = []
    for y, p in zip(Y.T, P.T, strict=True):
        both = np.stack([1 - p, p], axis=1)
        made = BinaryClassificationController(lambda each: each, "precision", TARGET, confidence_level=0.95)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that no threshold is valid
            best = made.calibrate(both, y).best_predict_param
        found.append(np.nan if best is None else np.nextafter(best, -1))  # It decides from the threshold on.
    return np.array(found)


def naive(P: np.ndarray, kept: float) -> np.ndarray:
    """Return the lowest threshold of each label with a mean corrected probability of at least the target."""
    falling = -np.sort(-np.clip(P / kept, 0, 1), axis=0)
    enough = np.cumsum(falling, axis=0) / np.arange(1, len(P) + 1)[:, None] >= TARGET
    last = np.where(enough.any(axis=0), len(P) - 1 - enough[::-1].argmax(axis=0), -1)
    return np.where(last >= 0, falling[last, np.arange(P.shape[1])] * kept * (1 - 1e-12), np.nan)


def certified(Y: np.ndarray, P: np.ndarray, **options: float) -> np.ndarray:
    """Return the certified threshold of each label, NaN without one."""
    return np.array([certificate_of(curve, TARGET, 0.05, **options).threshold for curve in curves_of(Y, P)])


def thresholds_of(
    study: Study, rate: float, wrong: float, *, with_mapie: bool
) -> Iterator[tuple[str, int, np.ndarray, int]]:
    """Yield the method, the number of checks, the threshold of each label, and the number of cells that were used."""

    def thresholds(labels: np.ndarray, sheet: pd.DataFrame | None = None, **options: float) -> np.ndarray:
        if sheet is not None:
            labels = labels.copy()
            labels[sheet["sample"], sheet["label_index"]] = sheet["label"]
        return certified(labels, study.P, **options)

    found, n_used = thresholds(study.Y), 0
    yield "certified", 0, found, 0
    if wrong:
        yield "wrong positives stated", 0, thresholds(study.Y, wrong_positives=wrong), 0
        return
    for n, sheet in checked_in_rounds(study):
        if len(sheet) > n_used:
            found, n_used = thresholds(study.Y, sheet), len(sheet)
        yield "certified", n, found, n_used
    yield "uniform checks", 300, thresholds(study.Y, uniform(study, 300)), 300
    yield "oracle", 0, thresholds(study.truth), 0
    yield "one threshold", 0, np.full(study.P.shape[1], one_threshold(study.truth, study.P)), 0
    yield "naive", 0, naive(study.P, 1 - rate), 0
    if with_mapie:
        yield "MAPIE", 0, mapie_thresholds(study.truth, study.P), 0


Setting = tuple[str, float, float]
HELD_OUT_SETTINGS: tuple[Setting, ...] = (("random", 0.0, 0.0), ("hard", 0.3, 0.0))


def settings() -> Iterator[Setting]:
    """Yield mechanisms with rates, and shares of wrong recorded positives."""
    yield "random", 0.0, 0.0
    yield from ((mechanism, rate, 0.0) for rate in RATES[1:] for mechanism in MECHANISMS)
    yield from (("random", 0.0, wrong) for wrong in (0.01, 0.02, 0.05))


RowsOf = Callable[[str, int, Population | None], Iterator[dict[str, object]]]


def rows_of(data: str, number: int, population: Population | None) -> Iterator[dict[str, object]]:
    """Yield a row for each setting and method of one study."""
    for mechanism, rate, wrong in settings():
        start = time.process_time()
        if population is None:
            study: Study = Simulated(number, mechanism, rate, wrong)
        elif wrong:
            continue
        else:
            study = Drawn(population, data, number, mechanism, rate)
        with_mapie = bool(MAPIE) and (population is not None or number < MAPIE_STUDIES)
        for method, n, thresholds, used in thresholds_of(study, rate, wrong, with_mapie=with_mapie):
            counts = counts_of(study, thresholds) | {"n_checked": used, "seconds": time.process_time() - start}
            start = time.process_time()
            yield dict(zip(KEYS, [data, mechanism, rate, wrong, method, n], strict=True)) | counts


def counts_of(study: Study, thresholds: np.ndarray) -> dict[str, float]:
    """Count certified, wrong and decided labels of a study."""
    labels = [each for each in np.flatnonzero(np.isfinite(thresholds)) if (study.P.T[each] > thresholds[each]).any()]
    true, final = np.array([study.precision(label, thresholds[label]) for label in labels]).reshape(-1, 2).T
    return {
        "n_studies": 1,
        "n_labels": study.P.shape[1],
        "n_certified": len(labels),
        "n_wrong": int((true < TARGET).sum()),
        "n_wrong_final": int((final < TARGET).sum()),
        "final_gap": float(np.nansum(final - true)),
        "n_decisions": int((study.P[:, labels] > thresholds[labels]).sum()),
    }


def rows_of_held_out(data: str, number: int, population: Population | None) -> Iterator[dict[str, object]]:
    """Yield a row for each setting of one study, certified by folds and by held-out samples."""
    for mechanism, rate, wrong in HELD_OUT_SETTINGS:
        start = time.process_time()
        if population is None:
            whole: Study = Simulated(number, mechanism, rate, wrong, int(data.split()[1]))
        else:
            whole = Drawn(population, data, number, mechanism, rate)
        for method, study in (("folds", whole), ("held out", whole.held_out())):
            counts = counts_of(study, certified(study.Y, study.P))
            counts["n_decisions"] = round(1000 * counts["n_decisions"] / len(study.P))
            counts |= {"n_checked": 0, "seconds": time.process_time() - start}
            start = time.process_time()
            yield dict(zip(KEYS, [data, mechanism, rate, wrong, method, 0], strict=True)) | counts


def add(table: Path, pending: list[dict[str, object]], number: int) -> None:
    """Add the counts of studies up to a number to the table."""
    new = pd.DataFrame(pending).assign(version=__version__, mapie=MAPIE, seed=SEED, last=number)
    how = {
        **dict.fromkeys([*COUNTS, "seconds"], "sum"),
        "version": "last",
        "mapie": "last",
        "seed": "first",
        "last": "max",
    }
    joined = pd.concat([pd.read_csv(table, keep_default_na=False), new] if table.exists() else [new])
    joined = joined.groupby(KEYS, sort=False).agg(how).reset_index()
    joined.round({"seconds": 1, "final_gap": 4}).to_csv(table, index=False, lineterminator="\n")
    pending.clear()
    print(new["data"].iloc[0], f"{number + 1} studies, {time.process_time():.0f} s", flush=True)


def run(
    table: Path, data: str, n_studies: int, minutes: float, rows: RowsOf = rows_of, chosen: Iterable[Setting] = ()
) -> None:
    """Add studies to the table until their number or the processor time is reached."""
    own = pd.read_csv(table).query("data == @data") if table.exists() else pd.DataFrame()
    numbers = range(int(own["last"].max()) + 1 if len(own) else 0, n_studies)
    is_real = len(numbers) and data in DATASETS
    population = Population(data, chosen or settings()) if is_real else None
    pending: list[dict[str, object]] = []
    for number in numbers:
        pending += rows(data, number, population)
        is_over = time.process_time() > 60 * minutes
        if (number + 1) % AT_ONCE == 0 or number == numbers[-1] or is_over:
            add(table, pending, number)
        if is_over:
            break


def cost() -> None:
    """Print the processor seconds of `certify` on a large table."""
    rng = np.random.default_rng(SEED)
    P = rng.random((20_000, 100)) ** rng.uniform(1, 9, 100)
    Y = (rng.random(P.shape) < P).astype(np.int8)
    start = time.process_time()
    certify(Y, P)
    print(f"certify on 20,000 samples and 100 labels: {time.process_time() - start:.2f} s")


def show(table: Path) -> None:
    """Print the shares of certified and of wrong labels."""
    found = pd.read_csv(table)
    found["certified"] = found["n_certified"] / found["n_studies"]
    for name in ("n_wrong", "n_wrong_final", "final_gap"):
        found[name.replace("n_", "share_")] = found[name] / found["n_certified"]
    shares = ["certified", "share_wrong", "share_wrong_final", "final_gap"]
    print(found[[*KEYS, "n_studies", *shares]].round(3).to_string())


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["simulate", "real", "held-out", "cost", "show"])
    parser.add_argument("--studies", type=int)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    name = "held_out.csv" if options.command == "held-out" else "certified.csv"
    options.table = options.table or Path("resources", "measured", name)
    if options.command == "cost":
        cost()
    elif options.command == "show":
        show(options.table)
    elif options.command == "simulate":
        run(options.table, "simulated", options.studies or 1000, options.minutes)
    elif options.command == "held-out":
        for data in (*(f"simulated {size}" for size in SIZES), *DATASETS):
            run(options.table, data, options.studies or 200, options.minutes, rows_of_held_out, HELD_OUT_SETTINGS)
    else:
        for dataset in DATASETS:
            run(options.table, dataset, options.studies or 50, options.minutes)


if __name__ == "__main__":
    main()
