"""Measure the error and the coverage of scores that a few checked cells correct, on data with complete labels.

    python benchmarks/checked_cells.py fit [--minutes 40]
    python benchmarks/checked_cells.py measure [--draws 4] [--write CSV]

`fit` trains models on labels that were hidden on purpose, and saves out-of-fold probabilities. It continues where an
earlier run stopped. `measure` draws cells repeatedly, takes their true labels as the answer of the reader, and
compares the estimates with the scores on complete labels.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairfold.core.arrays import to_dense
from fairfold.core.seeds import seed_for
from fairfold.datasets import prepare
from fairfold.errors import DataError
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives

FOLDER = Path("results", "checked_cells")
SEED, N_FOLDS, N_GROUPS = 61, 3, 20
DATASETS = ["emotions", "yeast", "scene", "birds", "flags", "CHD_49", "medical", "enron", "CAL500", "foodtruck"]
DATASETS += ["VirusGO", "GrampositivePseAAC", "VirusPseAAC", "genbase"]
MECHANISMS = ["random", "difficulty", "rarity", "sample", "group", "wrong"]
RATES = [30, 50, 70]
REFERENCE = ("none", 0, "RF+ET")
SEVEN = ["RF+ET", "LightGBM", "Stack+", "logistic", "kNN", "kernel-ridge", "joint-GB"]


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
    yield from (Case(*each, 50, "LightGBM") for each in every)
    for model in SEVEN[3:]:
        yield from (Case(*each, 50, model) for each in every if each[1] in ("random", "difficulty"))
    yield from (Case(*each, 50, "Stack+") for each in every if each[1] in ("random", "difficulty"))


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["fit", "measure"])
    parser.add_argument("--minutes", type=float, default=40)
    options = parser.parse_args()
    fit_all(options.minutes)


if __name__ == "__main__":
    main()
