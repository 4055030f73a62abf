"""Does a simulation from one sample say which share of test data finds an effect most often in others?

    python benchmarks/test_shares.py [--samples 60] [--users 10] [--simulations 30] [--truth 200] [--write CSV]

The population is known: twenty Gaussian features, one of which differs by 1.2 standard deviations between two classes.
Power at n is measured on fresh samples. Then users have a sample of n each, and simulate from it in three ways: all
samples in other orders, as the study does; half of each class, without replacement; and a smoothed bootstrap (Silverman
& Young 1987), shrunk to keep the covariance of each class. Shown are the mean power over users, its root mean square
error, and what the share that looks best costs: its true power below that of the best share.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.svm import SVC

from fairfold.core.seeds import seed_sequence
from fairfold.cross_testing.candidates import make_candidates
from fairfold.cross_testing.shares import OWN, PERMUTED, ShareSetting, simulate_test_shares

CANDIDATES = make_candidates(SVC(gamma="auto"), [{"C": C} for C in (0.0001, 0.01, 1)])
SETTING = ShareSetting(test_fractions=(0.2, 0.35, 0.5, 0.65, 0.8), n_permutations=99)
N_FEATURES, SHIFT = 20, 1.2
UNIT = ["procedure", "test_fraction"]
Sample = tuple[np.ndarray, np.ndarray]


def draw(n: int, rng: np.random.Generator) -> Sample:
    y = np.arange(n) % 2
    X = rng.normal(size=(n, N_FEATURES))
    X[:, 0] += SHIFT * y
    return X, y


def half(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Sample:
    members = [np.flatnonzero(y == label) for label in (0, 1)]
    rows = np.concatenate([rng.choice(own, len(own) // 2, replace=False) for own in members])
    return X[rows], y[rows]


def smoothed(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Sample:
    made = np.empty_like(X)
    for label in (0, 1):
        own = X[y == label]
        n, d = own.shape
        h = (4 / (d + 2) / n) ** (1 / (d + 4))  # Silverman's rule for Gaussian classes
        noise = rng.multivariate_normal(np.zeros(d), np.cov(own.T), n)
        made[y == label] = own.mean(axis=0) + (rng.choice(own, n) - own.mean(axis=0) + h * noise) / np.sqrt(1 + h * h)
    return made, y


def simulate(samples: Iterator[Sample], name: str) -> pd.DataFrame:
    """Significant shares of one simulation of each sample."""
    tables = [
        simulate_test_shares(CANDIDATES, X, y, [number], SETTING, seed=1, name=name)
        for number, (X, y) in enumerate(samples)
    ]
    return significant_shares(pd.concat(tables, ignore_index=True))


def significant_shares(table: pd.DataFrame) -> pd.DataFrame:
    hits = table.assign(hit=table["p_exact"] <= SETTING.alpha, test_fraction=table["test_fraction"].fillna(0))
    hits = hits[table["p_exact"].notna()]
    return hits.groupby([*UNIT, "labels"])["hit"].mean().unstack("labels")[[OWN, PERMUTED]]


def by_orders(X: np.ndarray, y: np.ndarray, n: int, name: str) -> pd.DataFrame:
    return significant_shares(simulate_test_shares(CANDIDATES, X, y, range(n), SETTING, seed=1, name=name))


def by_draws(way: Callable[..., Sample], X: np.ndarray, y: np.ndarray, n: int, name: str) -> pd.DataFrame:
    rngs = (np.random.default_rng(seed_sequence(1, name, number)) for number in range(n))
    return simulate((way(X, y, rng) for rng in rngs), name)


def measure(n: int, n_users: int, n_simulations: int, n_truth: int) -> pd.DataFrame:
    """A row per way, procedure and share, the truth first."""
    rngs = (np.random.default_rng(seed_sequence(1, "truth", number)) for number in range(n_truth))
    truth = simulate((draw(n, rng) for rng in rngs), "truth")
    tables = [truth.assign(way="truth")]
    for way in ("orders", "half", "smoothed"):
        found = []
        for user in range(n_users):
            X, y = draw(n, np.random.default_rng(seed_sequence(1, "user", user)))
            name = f"{way} {user}"
            given = X, y, n_simulations, name
            found.append(by_orders(*given) if way == "orders" else by_draws(globals()[way], *given))
        powers = pd.concat([each[OWN] for each in found], axis=1).reindex(truth.index)
        mean = pd.concat([each[PERMUTED] for each in found], axis=1).mean(axis=1).reindex(truth.index)
        error = np.sqrt(powers.sub(truth[OWN], axis=0).pow(2).mean(axis=1))
        made = pd.DataFrame({OWN: powers.mean(axis=1), PERMUTED: mean, "error": error})
        for procedure, part in powers.groupby("procedure"):
            best = [truth.loc[key, OWN] for key in part.idxmax()]
            made.loc[procedure, "regret"] = truth.loc[procedure, OWN].max() - np.mean(best)
        tables.append(made.assign(way=way))
        print(tables[-1].round(3).to_string(), flush=True)
    table = pd.concat(tables).rename(columns={OWN: "power", PERMUTED: "level"}).round(3).reset_index()
    table["test_fraction"] = table["test_fraction"].where(table["test_fraction"] > 0)
    return table[["way", *UNIT, "power", "level", "error", "regret"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--simulations", type=int, default=30)
    parser.add_argument("--truth", type=int, default=200)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    table = measure(arguments.samples, arguments.users, arguments.simulations, arguments.truth)
    print(table.to_string(index=False))
    if arguments.write:
        table.to_csv(arguments.write, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
