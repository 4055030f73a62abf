"""Measure whether unlike samples are found, and whether scores elsewhere are predicted.

    python benchmarks/elsewhere.py [--datasets emotions birds ...] [--alarms 20] [--write CSV]
    python benchmarks/elsewhere.py score [--peers PYTHON] [--datasets ...] [--write CSV]
    python benchmarks/elsewhere.py coverage [--write CSV]
    python benchmarks/elsewhere.py prevalence [--peers PYTHON] [--datasets ...] [--write CSV]
    python benchmarks/elsewhere.py leakage --tables CSV ... [--peers PYTHON] [--write CSV]

*False alarms*: the rows of a dataset are divided at random into a training table of 70 % and a new table. The test of a
table should find a difference in at most 5 % of the draws, and about 1 % of the rows should be called unlike.

*Held-out clusters*: each fold of `SimilarityFolds` is once a new table, and the other folds are the training table, for
clusters of at most a quarter of a fold (`cluster`) and of at most a fold (`large`). A random forest learns on the
training table. Its average precision on the new table is compared with cross-validations of the training table: on
random balanced folds, on folds of clusters of a quarter of a fold, and on those that match the new table. The score is
the mean over labels that have positives in all parts, because pooled scores change with the frequency of labels. The
new table is also compared with the sketch of the training table, and rows called unlike are scored apart from the
others.

*Score*: half of the rows of a dataset, at most 1,500, train a model. New tables are thirds of the other rows, at most
2,000, drawn with probabilities that rise along a feature, a random direction or one of the first five principal
components. The logarithm of a row's weight has a standard deviation of `strength`. The estimates of the average
precision are compared with the true one:

- `study`: the score out of fold, without a correction;
- `expected`: that of `fairfold predict`, with its interval;
- `weighted`: the score out of fold with a weight for each training row, the share of new rows at its prototype of the
  sketch divided by the share of training rows, with one row more in each;
- `atc`: average thresholded confidence (Garg et al. 2022), adapted to this score. The confidence of a row is its mean
  of max(p, 1 - p) over labels. The share of training rows above the threshold is the score out of fold;
- `cbpe`: CBPE of NannyML for the cells of all labels as one binary problem, if --peers names an interpreter that has it
  (see requirements-elsewhere.txt).

An alarm is an interval without the score out of fold.

*Coverage*: simulated tables of 600 samples from 10, 20 or 40 sites. The mean of four features differs between sites,
and so does the part of three labels that features do not explain. A logistic regression is scored on folds of clusters
of at most a quarter of a fold and of a fold, with intervals as those of a study. The true score is that of the model of
all samples on 20,000 samples of 200 new sites.

*Prevalence*: half of the rows of a dataset, at most 1,500, train a model. For each of up to six labels with 20
positives and negatives in both halves, new tables of 100 rows are drawn with replacement from the other rows, such that
5, 25, 50, 75 or 95 of them have the label. The expected prevalence of `fairfold predict --prevalence` is compared with
that of ACC, PACC, EMQ, HDy and KDEy-ML, if --peers names an interpreter that has QuaPy (see requirements-quapy.txt).
The methods get the same out-of-fold probabilities. Tables for which `fairfold predict` gives no estimate are counted
and left out.

*Leakage*: tables with a column `smiles`, whose columns of numbers are labels, are divided into five folds, by Morgan
fingerprints. `leakage` is L of DataSAIL, the share of the summed Tanimoto similarities of all pairs that samples of
different folds have. `relative_leakage` divides it by its value for random folds of the same sizes.
`nearest_similarity` is the mean similarity of a test sample to the nearest training sample. 50,000 molecules are
simulated from each table: a fifth of the ones and a tenth of the labels come from another molecule. DataSAIL runs if
--peers names an interpreter that has it (see requirements-datasail.txt), and only on the original tables, because it
needs the similarities of all pairs in memory.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import tempfile
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import stdtrit
from sklearn.metrics import average_precision_score
from sklearn.model_selection import PredefinedSplit

from fairfold import __version__
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset, prepare
from fairfold.evaluation import cross_val_proba
from fairfold.evaluation.certified import curve_table
from fairfold.evaluation.corrected_t import correlation_of_folds, mean_and_error
from fairfold.final.expected_score import ExpectedScore, with_design_effect
from fairfold.final.prevalence import ExpectedPrevalence
from fairfold.final.unlike import TableComparison, TrainingSketch
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification, SimilarityFolds
from fairfold.splitting.group_warnings import ignore_uneven_folds
from fairfold.splitting.matching import SHARES, Match, best_match
from fairfold.splitting.similarity import nearest_distances

DATASETS = ["flags", "emotions", "birds", "CHD_49", "VirusGO"]
SIZES = {"cluster": None, "large": 1 / 5}
MODEL = {"name": "RandomForest", "n_trees": 50}
N_FOLDS = 5
LEAST_POSITIVES = 5
SCORED = ["flags", "emotions", "birds", "CHD_49", "foodtruck", "yeast", "scene", "enron", "medical", "CAL500"]
MODELS = {"RandomForest": MODEL, "logistic": {"name": "logistic"}}
N_SPLITS = 3
N_DRAWS = 2  # of each kind of direction
STRENGTHS = (0, 0.5, 1, 2)
MOST_TRAINING, MOST_NEW = 1500, 2000
PEER_SCRIPT, QUAPY_SCRIPT = (Path(__file__).with_name(f"_{name}_peer.py") for name in ("cbpe", "quapy"))
ESTIMATES = ("study", "expected", "weighted", "atc", "cbpe")
QUANTIFIERS = ("acc", "pacc", "emq", "hdy", "kdey")
PREVALENCES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_LABELS, LEAST_OF_LABEL, N_OF_TABLE, N_TABLES = 6, 20, 100, 2


def sketch_of(data: Dataset, train: np.ndarray, seed: int) -> TrainingSketch:
    part = replace(data, X=data.X[train], Y=data.Y[train], groups=None, weights=None, sample_ids=None)
    return TrainingSketch.of(part, seed=seed)


def compared(data: Dataset, train: np.ndarray, new: np.ndarray, seed: int) -> tuple[pd.DataFrame, TableComparison]:
    comparison = TableComparison(sketch_of(data, train, seed))
    return comparison.add(data.X[new]), comparison


def false_alarms(data: Dataset, n_draws: int) -> dict:
    p_values, n_unlike, n_new = [], 0, 0
    for draw in range(n_draws):
        order = np.random.default_rng(seed_for(84, data.id, draw)).permutation(data.shape[0])
        n_train = int(0.7 * len(order))
        _, comparison = compared(data, np.sort(order[:n_train]), np.sort(order[n_train:]), draw)
        p_values.append(comparison.p_value())
        n_unlike, n_new = n_unlike + comparison.n_unlike, n_new + comparison.n_rows
    alarms = np.mean(np.array(p_values) <= 0.05)
    return {"dataset": data.id, "kind": "random", "found": alarms, "unlike": n_unlike / n_new, "n_new": n_new}


def mean_score(Y: np.ndarray, P: np.ndarray) -> float:
    """Average the average precision of labels that have positives and negatives."""
    usable = [label for label in range(Y.shape[1]) if 0 < Y[:, label].sum() < len(Y)]
    return float(np.mean([average_precision_score(Y[:, label], P[:, label]) for label in usable])) if usable else np.nan


def matched_folds(X: np.ndarray, Y: np.ndarray, new: np.ndarray, random: np.ndarray, seed: int) -> tuple[Match, list]:
    """Return the folds of a training table that match a new table, and the folds among which they are chosen."""
    candidates = [random]
    for share in SHARES:
        splitter = SimilarityFolds(N_FOLDS, size=share / N_FOLDS, random_state=seed)
        with ignore_uneven_folds():
            candidates.append(splitter.assign(Y, X=X))
    return best_match(candidates, X, new), candidates


def held_out(data: Dataset, X: np.ndarray, Y: np.ndarray, kind: str, fold: int, fold_of: np.ndarray) -> dict:
    start, seed = time.process_time(), seed_for(84, data.id, fold)
    train, new = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
    kept = (Y[train].sum(axis=0) >= LEAST_POSITIVES) & (Y[new].sum(axis=0) >= LEAST_POSITIVES)
    Y, model = Y[:, kept], make_model(**MODEL, random_state=seed)
    random = IterativeStratification(N_FOLDS, random_state=seed)
    clusters = SimilarityFolds(N_FOLDS, random_state=seed)
    match, candidates = matched_folds(X[train], Y[train], X[new], random.assign(Y[train]), seed)
    matched = PredefinedSplit(candidates[match.number])
    P = np.asarray(model.fit(X[train], Y[train]).predict_proba(X[new]))
    folds = {"by_random": random, "by_clusters": clusters, "by_matched": matched}
    rows, comparison = compared(data, train, new, seed)
    unlike = (rows["unlike_training"] == "yes").to_numpy()
    found = {"dataset": data.id, "kind": kind, "found": float(comparison.p_value() <= 0.05)}
    found |= {"unlike": unlike.mean(), "n_new": len(new), "n_labels": int(kept.sum()), "true": mean_score(Y[new], P)}
    for name, cv in folds.items():
        found[name] = mean_score(Y[train], cross_val_proba(model, X[train], Y[train], cv=cv))
    random_distance = np.median(nearest_distances(X[train], candidates[0]))
    found |= {"match": match.kind, "distance": np.median(match.distances) / random_distance}
    found["new_distance"] = np.median(match.new_distances) / random_distance
    found |= {"of_unlike": mean_score(Y[new][unlike], P[unlike]), "of_others": mean_score(Y[new][~unlike], P[~unlike])}
    return found | {"seconds": time.process_time() - start}


def pooled(Y: np.ndarray, P: np.ndarray, weights: np.ndarray | None = None) -> float:
    of_cells = None if weights is None else np.repeat(weights, Y.shape[1])
    return float(average_precision_score(Y.ravel(), P.ravel(), sample_weight=of_cells))


def directions(X: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Return positions of rows along a feature, a random direction and a principal component, as ranks."""
    Z = np.nan_to_num((X - np.nanmean(X, axis=0)) / np.maximum(np.nanstd(X, axis=0), 1e-9)).clip(-3, 3)
    components = np.linalg.svd(Z, full_matrices=False)[2][:5]
    ways = np.eye(X.shape[1])[rng.integers(X.shape[1])], rng.normal(size=X.shape[1]), components[rng.integers(5)]
    tied = [Z @ way + 1e-9 * rng.normal(size=len(Z)) for way in ways]
    return [np.sqrt(12) * (each.argsort().argsort() / len(Z) - 0.5) for each in tied]


def thresholded_confidence(P: np.ndarray, new: np.ndarray, score: float) -> float:
    before, after = (np.maximum(each, 1 - each).mean(axis=1) for each in (P, new))
    return float((after > np.quantile(before, 1 - score)).mean())


def cbpe(python: str | None, problems: list[tuple]) -> list[np.ndarray]:
    """Estimate the scores of new tables, for the labels and probabilities of training rows and the new tables."""
    if python is None:
        return [np.full(len(tables), np.nan) for *_, tables in problems]
    with tempfile.TemporaryDirectory() as folder:
        source, target, arrays = f"{folder}/arrays.npz", f"{folder}/estimates.npz", {}
        for number, (Y, P, tables) in enumerate(problems):
            new = np.array([each.ravel() for each in tables])
            arrays |= {f"y{number}": Y.ravel(), f"p{number}": P.ravel(), f"new{number}": new}
        np.savez(source, **arrays)
        subprocess.run([python, str(PEER_SCRIPT), source, target], check=True, capture_output=True)
        found = np.load(target)
        return [found[f"new{number}"] for number in range(len(problems))]


def likeness(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the weight of each training row by the prototypes of training rows and new rows."""
    n_prototypes = max(before.max(), after.max()) + 1
    n_before, n_after = (np.bincount(each, minlength=n_prototypes) + 1 for each in (before, after))
    return (n_after / n_after.sum() / (n_before / n_before.sum()))[before]


def estimates(data: Dataset, model_name: str, split: int) -> tuple[pd.DataFrame, tuple]:
    """Return the true and the estimated score of each new table of one split of a dataset, and the input of CBPE."""
    name, X, Y = data.id, *(each.toarray() if sparse.issparse(each) else np.asarray(each) for each in (data.X, data.Y))
    rng, start = np.random.default_rng(seed_for(84, name, split)), time.process_time()
    order, n_train = rng.permutation(len(X)), min(len(X) // 2, MOST_TRAINING)
    train, others = order[:n_train], order[n_train : n_train + MOST_NEW]
    model, names = make_model(**MODELS[model_name], random_state=split), [str(label) for label in range(Y.shape[1])]
    folds = IterativeStratification(N_FOLDS, random_state=split)
    P = np.asarray(cross_val_proba(model, X[train], Y[train], cv=folds))
    predicted = np.asarray(model.fit(X[train], Y[train]).predict_proba(X[others]))
    curves = with_design_effect(curve_table(Y[train], P, names), Y[train], P)
    rows, tables, study = [], [], pooled(Y[train], P)
    sketch = sketch_of(data, train, split)
    before, after = (sketch.dissimilarity(sketch.encode(data.X[part]))[1] for part in (train, others))
    for strength in STRENGTHS:
        for way in [each for _ in range(N_DRAWS) for each in directions(X[others], rng)]:
            new = np.argsort(-strength * way - rng.gumbel(size=len(way)))[: len(way) // 3]
            tables.append(predicted[new])
            expected = ExpectedScore(curves)
            expected.add(pd.DataFrame(tables[-1], columns=names))
            found = expected.estimate()
            row = {"strength": strength, "true": pooled(Y[others[new]], tables[-1]), "study": study}
            row |= {"expected": found.score, "low": found.low, "high": found.high}
            row |= {"weighted": pooled(Y[train], P, likeness(before, after[new]))}
            rows.append(row | {"atc": thresholded_confidence(P, tables[-1], study)})
    seconds = (time.process_time() - start) / len(rows)
    found = pd.DataFrame(rows).assign(model=model_name, seconds=seconds)
    return found, (Y[train], P, tables)


def scores_of_dataset(name: str, python: str | None) -> list[dict]:
    """Return errors, coverage and alarms for each model and strength."""
    data, found = prepare(name), []
    results = [estimates(data, model, split) for model in MODELS for split in range(N_SPLITS)]
    by_peer = cbpe(python, [problem for _, problem in results])
    tables = pd.concat([table.assign(cbpe=peer) for (table, _), peer in zip(results, by_peer, strict=True)])
    for (model, strength), part in tables.groupby(["model", "strength"]):
        row = {"dataset": name, "model": model, "strength": strength, "n_tables": len(part)}
        row |= {f"error_{way}": (part[way] - part["true"]).abs().mean() for way in ESTIMATES}
        row |= {"coverage": part["true"].between(part["low"], part["high"]).mean()}
        row |= {"width": (part["high"] - part["low"]).mean()}
        row |= {"alarms": (~part["study"].between(part["low"], part["high"])).mean()}
        found.append(row | {"seconds": part["seconds"].sum()})
    return found


def summary_of_scores(table: pd.DataFrame) -> None:
    kinds = table.groupby("strength")[[*(f"error_{way}" for way in ESTIMATES), "coverage", "width", "alarms"]]
    print(kinds.mean().assign(n_tables=table.groupby("strength")["n_tables"].sum()).round(4).to_string())


def by_quapy(python: str | None, problems: list[tuple]) -> list[dict[str, np.ndarray]]:
    """Estimate prevalences, for the labels and probabilities of training rows and the probabilities of new tables."""
    if python is None:
        return [{} for _ in problems]
    with tempfile.TemporaryDirectory() as folder:
        source, target, arrays = f"{folder}/arrays.npz", f"{folder}/estimates.npz", {}
        for number, (y, p, tables) in enumerate(problems):
            arrays |= {f"y{number}": y, f"p{number}": p, f"new{number}": tables}
        np.savez(source, **arrays)
        subprocess.run([python, str(QUAPY_SCRIPT), source, target], check=True, capture_output=True)
        found = np.load(target)
        return [{method: found[f"{method}{number}"] for method in QUANTIFIERS} for number in range(len(problems))]


def prevalences(data: Dataset, model_name: str) -> tuple[list[pd.DataFrame], list[tuple]]:
    """Return the true and expected prevalence in new tables of each label, and the input of QuaPy."""
    X, Y = (each.toarray() if sparse.issparse(each) else np.asarray(each) for each in (data.X, data.Y))
    rng = np.random.default_rng(seed_for(84, data.id, model_name, "prevalence"))
    order, n_train = rng.permutation(len(X)), min(len(X) // 2, MOST_TRAINING)
    train, others = order[:n_train], order[n_train : n_train + MOST_NEW]
    model = make_model(**MODELS[model_name], random_state=0)
    folds = IterativeStratification(N_FOLDS, random_state=0)
    P = np.asarray(cross_val_proba(model, X[train], Y[train], cv=folds))
    predicted = np.asarray(model.fit(X[train], Y[train]).predict_proba(X[others]))
    counts = [np.minimum(each.sum(axis=0), len(each) - each.sum(axis=0)) for each in (Y[train], Y[others])]
    usable = np.flatnonzero(np.min(counts, axis=0) >= LEAST_OF_LABEL)
    tables, problems = [], []
    for label in rng.permutation(usable)[:MOST_LABELS]:
        y, has = Y[train, label], Y[others, label] == 1
        curves, wanted, drawn, found = curve_table(Y[train][:, [label]], P[:, [label]], ["label"]), [], [], []
        for prevalence in np.repeat(PREVALENCES, N_TABLES):
            n_with = round(prevalence * N_OF_TABLE)
            with_label, without = (predicted[has == is_with, label] for is_with in (True, False))
            new = np.concatenate([rng.choice(with_label, n_with), rng.choice(without, N_OF_TABLE - n_with)])
            expected = ExpectedPrevalence(curves)
            expected.add(pd.DataFrame({"label": new}))
            wanted.append(prevalence)
            drawn.append(new)
            found.append(expected.table().iloc[0])
        rows = pd.DataFrame(found)[["expected", "low", "high"]].astype(float).reset_index(drop=True)
        tables.append(rows.assign(true=wanted, training=y.mean()))
        problems.append((y.astype(int), P[:, label], np.array(drawn)))
    return tables, problems


def prevalences_of_dataset(name: str, python: str | None) -> list[dict]:
    """Return errors of each method by model."""
    data, rows = prepare(name), []
    for model_name in MODELS:
        tables, problems = prevalences(data, model_name)
        peers = by_quapy(python, problems)
        whole = pd.concat([table.assign(**peer) for table, peer in zip(tables, peers, strict=True)])
        known = whole.dropna(subset="expected")
        row = {"dataset": name, "model": model_name, "n_labels": len(tables), "n_tables": len(whole)}
        row["without_estimate"] = 1 - len(known) / len(whole)
        for method in ("training", "expected", *QUANTIFIERS):
            row[f"error_{method}"] = (known[method] - known["true"]).abs().mean() if method in known else np.nan
        rows.append(row | {"coverage": known["true"].between(known["low"], known["high"]).mean()})
    return rows


def summary_of_prevalences(table: pd.DataFrame) -> None:
    print(table.groupby("model").mean(numeric_only=True).round(4).to_string())


def table_of_sites(rng: np.random.Generator, n_samples: int, n_sites: int, effect: float) -> tuple:
    """Draw features and labels of samples from sites, for fixed coefficients."""
    site_of, X = rng.integers(n_sites, size=n_samples), rng.normal(size=(n_samples, 4))
    offsets, own = 2 * rng.normal(size=(n_sites, 4)), effect * rng.normal(size=(n_sites, 3))
    coefficients = np.random.default_rng(84).normal(size=(4, 3))
    Y = X @ coefficients + own[site_of] + rng.logistic(size=(n_samples, 3)) > 1
    return X + offsets[site_of], Y.astype(int)


def coverage_of_intervals(n_tables: int = 100) -> list[dict]:
    """Return how often intervals on folds of clusters contain the score on new sites."""
    rows = []
    for effect, n_sites, share in itertools.product((0, 1), (10, 20, 40), (0.25, 1.0)):
        found = []
        for number in range(n_tables):
            rng = np.random.default_rng(seed_for(84, "coverage", str(effect), n_sites, number))
            X, Y = table_of_sites(rng, 600, n_sites, effect)
            splitter = SimilarityFolds(N_FOLDS, size=share / N_FOLDS, random_state=number)
            with ignore_uneven_folds():
                fold_of = splitter.assign(Y, X=X)
            scores = []
            for test in (fold_of == fold for fold in range(N_FOLDS)):
                fitted = make_model("logistic").fit(X[~test], Y[~test])
                scores.append(pooled(Y[test], np.asarray(fitted.predict_proba(X[test]))))
            mean, error = mean_and_error(np.array([scores]), correlation_of_folds(N_FOLDS))
            half = stdtrit(N_FOLDS - 1, 0.975) * error[0]
            new_X, new_Y = table_of_sites(rng, 20_000, 200, effect)
            true = pooled(new_Y, np.asarray(make_model("logistic").fit(X, Y).predict_proba(new_X)))
            found.append({"true": true, "score": mean[0], "half": half, "holds": abs(mean[0] - true) <= half})
        table = pd.DataFrame(found)
        row = {"effect": effect, "n_sites": n_sites, "share": share, "n_tables": n_tables}
        row |= {"true": table["true"].mean(), "score": table["score"].mean(), "width": 2 * table["half"].mean()}
        rows.append(row | {"coverage": table["holds"].mean()})
    return rows


def on_dataset(name: str, n_draws: int) -> list[dict]:
    data = prepare(name)
    X = data.X.toarray() if sparse.issparse(data.X) else np.asarray(data.X)
    Y = data.Y.toarray() if sparse.issparse(data.Y) else np.asarray(data.Y)
    rows = [false_alarms(data, n_draws)]
    for kind, size in SIZES.items():
        with ignore_uneven_folds():
            fold_of = SimilarityFolds(N_FOLDS, size=size, random_state=seed_for(84, data.id)).assign(Y, X=X)
        rows += [held_out(data, X, Y, kind, fold, fold_of) for fold in range(N_FOLDS)]
    return rows


def summary(table: pd.DataFrame) -> None:
    alarms = table[table["kind"] == "random"]
    print(f"without shift: {alarms['found'].mean():.3f} of tables differ, {alarms['unlike'].mean():.4f} of rows unlike")
    for kind in SIZES:
        clusters = table[table["kind"] == kind]
        print(f"{kind}: {clusters['found'].mean():.3f} differ, {clusters['unlike'].mean():.3f} of rows unlike")
        for way in ("by_random", "by_clusters", "by_matched"):
            error = clusters[way] - clusters["true"]
            print(f"{way}: mean error {error.mean():+.3f}, mean absolute error {error.abs().mean():.3f}")
    clusters = table[table["kind"] != "random"]
    both = clusters.dropna(subset=["of_unlike", "of_others"])
    print(f"unlike rows score lower in {(both['of_unlike'] < both['of_others']).sum()} of {len(both)} new tables")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = ["unlike", "score", "coverage", "prevalence", "leakage"]
    parser.add_argument("what", nargs="?", choices=kinds, default="unlike")
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--tables", nargs="+", type=Path, help="tables of molecules, for leakage")
    parser.add_argument("--alarms", type=int, default=20)
    parser.add_argument("--peers", metavar="PYTHON", help="interpreter of the environment that has the peers")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    if arguments.what in ("coverage", "leakage"):
        if arguments.what == "coverage":
            found = coverage_of_intervals()
        else:
            from _leakage import leakage_of_table  # It needs RDKit.

            found = [row for path in arguments.tables for row in leakage_of_table(path, arguments.peers)]
        table = pd.DataFrame(found).assign(seed=84, fairfold=__version__)
        print(table.round(3).to_string(index=False))
        if arguments.write:
            table.round(5).to_csv(arguments.write, index=False, lineterminator="\n")
        return
    rows: list[dict] = []
    summarize = {"unlike": summary, "score": summary_of_scores, "prevalence": summary_of_prevalences}[arguments.what]
    for name in arguments.datasets or (DATASETS if arguments.what == "unlike" else SCORED):
        if arguments.what == "unlike":
            rows += on_dataset(name, arguments.alarms)
        else:
            measure = scores_of_dataset if arguments.what == "score" else prevalences_of_dataset
            rows += measure(name, arguments.peers)
        table = pd.DataFrame(rows).assign(seed=84, fairfold=__version__, scikit_learn=version("scikit-learn"))
        print(table[table["dataset"] == name].round(3).to_string(index=False), flush=True)
        if arguments.write:
            table.round(5).to_csv(arguments.write, index=False, lineterminator="\n")
    summarize(table)


if __name__ == "__main__":
    main()
