"""Similarity between folds and balance of labels on fingerprints of molecules; called by elsewhere.py."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from rdkit.rdBase import BlockLogs
from scipy import sparse

from fairfold.core.seeds import seed_for
from fairfold.features.molecules import N_FINGERPRINTS, RADIUS
from fairfold.splitting import IterativeStratification, SimilarityFolds
from fairfold.splitting.group_warnings import ignore_uneven_folds
from fairfold.splitting.measures import label_distribution, relative_label_distribution

PEER_SCRIPT = Path(__file__).with_name("_datasail_peer.py")
PEER_OPTIONS = {
    "DataSAIL": {},
    "DataSAIL, large clusters divided": {"overflow": "break"},
    "DataSAIL, stratified": {"stratified": True, "delta": 0.3, "epsilon": 0.2},
}
N_FOLDS, N_SIMULATED, N_LARGE, LONGEST = 5, 50_000, 10_000, 1800
MOST_COMPARED, BLOCK = 5000, 500  # rows
REPLACED = 0.2  # share of the ones of a simulated fingerprint
CHANGED_LABELS = 0.1

OURS = {
    "annealed": lambda seed: IterativeStratification(N_FOLDS, refine="anneal", random_state=seed),
    "SimilarityFolds": lambda seed: SimilarityFolds(N_FOLDS, metric="jaccard", random_state=seed),
    "SimilarityFolds, size=0.2": lambda seed: SimilarityFolds(N_FOLDS, metric="jaccard", size=0.2, random_state=seed),
    "SimilarityFolds, separation=10": lambda seed: SimilarityFolds(
        N_FOLDS, metric="jaccard", separation=10, random_state=seed
    ),
}


def molecules(path: Path) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the fingerprints and labels of a table. The numbers are labels, and unreadable molecules are left out."""
    table, generator = pd.read_csv(path), GetMorganGenerator(radius=RADIUS, fpSize=N_FINGERPRINTS)
    with BlockLogs():  # RDKit writes warnings to the standard error.
        found = [MolFromSmiles(text) for text in table["smiles"]]
    X = np.array([generator.GetFingerprintAsNumPy(each) for each in found if each is not None])
    Y = table.select_dtypes("number")[[each is not None for each in found]].to_numpy(float)
    return sparse.csr_array(X, dtype=np.float32), Y


def simulated(X: sparse.csr_array, Y: np.ndarray, n_rows: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw molecules with replacement, and replace a part of the ones and labels by those of other molecules."""
    rng = np.random.default_rng(seed_for(84, "simulated molecules", n_rows))
    rows, others = rng.integers(X.shape[0], size=(2, n_rows))
    kept, added = sparse.csr_array(X[rows]), sparse.csr_array(X[others])
    kept.data *= rng.random(kept.nnz) >= REPLACED
    added.data *= rng.random(added.nnz) < REPLACED
    is_other = rng.random((n_rows, Y.shape[1])) < CHANGED_LABELS
    return sparse.csr_array(kept.maximum(added)), np.where(is_other, Y[others], Y[rows])


def leakage(X: sparse.csr_array, fold_of: np.ndarray) -> dict:
    """Return the leakage L of DataSAIL, relative to random folds of the same sizes, and the nearest similarities.

    L is the share of the summed Tanimoto similarities of all pairs that samples of different folds have. At most 5,000
    samples, drawn at random, are compared with all.
    """
    drawn = np.random.default_rng(0).permutation(X.shape[0])[:MOST_COMPARED]
    n_ones, across, total, nearest = np.asarray(X.sum(axis=1)), 0.0, 0.0, []
    for rows in np.array_split(drawn, -(-len(drawn) // BLOCK)):
        shared = (X[rows] @ X.T).toarray()
        tanimoto = shared / np.maximum(n_ones[rows, np.newaxis] + n_ones - shared, 1)
        total += float(tanimoto.sum(dtype=float))
        tanimoto[fold_of[rows, np.newaxis] == fold_of] = 0
        across += float(tanimoto.sum(dtype=float))
        nearest.append(tanimoto.max(axis=1))
    shares = np.bincount(fold_of) / len(fold_of)
    found = {"leakage": across / total, "relative_leakage": across / total / (1 - (shares**2).sum())}
    return found | {"nearest_similarity": float(np.concatenate(nearest).mean()), "largest_fold": shares.max()}


def described(X: sparse.csr_array, Y: np.ndarray, fold_of: np.ndarray) -> dict:
    found = leakage(X, fold_of)
    found |= {"LD": label_distribution(fold_of, Y), "rLD": relative_label_distribution(fold_of, Y)}
    return found


def by_datasail(python: str, X: sparse.csr_array, Y: np.ndarray, options: dict) -> tuple[float, np.ndarray | str]:
    """Return the processor seconds and the folds of DataSAIL, or the reason why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/arrays.npz", f"{folder}/folds.npy"
        np.savez(source, X=X.toarray().astype(np.uint8), Y=np.nan_to_num(Y).astype(int))
        command = [python, str(PEER_SCRIPT), source, target, str(N_FOLDS), json.dumps(options)]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            return np.nan, f"stopped after {LONGEST} s"
        if run.returncode:
            is_infeasible = "cannot solve the problem" in run.stdout + run.stderr
            return np.nan, "no folds with these limits" if is_infeasible else run.stderr.strip().splitlines()[-1]
        return float(run.stdout.split()[-1]), np.load(target)


def leakage_of_table(path: Path, python: str | None) -> list[dict]:
    """Compare folds of a table of molecules, and of 50,000 simulated molecules."""
    X, Y = molecules(path)
    rows, name = [], path.name.split(".")[0]
    for make in OURS.values():
        with ignore_uneven_folds():
            make(0).assign(Y[:200], **_features(make, X[:200]))  # This loads compiled code.
    tables = {name: (X, Y), f"{name}, simulated": simulated(X, Y, N_SIMULATED)}
    for table, (X, Y) in tables.items():
        about = {"dataset": table, "n_samples": X.shape[0], "n_labels": Y.shape[1]}
        for method, make in OURS.items():
            start = time.process_time()
            with ignore_uneven_folds():
                fold_of = make(84).assign(Y, **_features(make, X))
            seconds = time.process_time() - start
            rows.append({**about, "method": method, **described(X, Y, fold_of), "seconds": seconds})
        for method, options in PEER_OPTIONS.items() if python and X.shape[0] < N_LARGE else ():
            seconds, found = by_datasail(python, X, Y, dict(options))
            results = {"note": found} if isinstance(found, str) else described(X, Y, found)
            rows.append({**about, "method": method, **results, "seconds": seconds})
    return [{**row, "rdkit": version("rdkit"), "datasail": "1.4.0"} for row in rows]


def _features(make: object, X: sparse.csr_array) -> dict:
    return {"X": X} if isinstance(make(0), SimilarityFolds) else {}
