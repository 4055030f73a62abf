"""Compare models on a table with text, molecules or categories, with complete labels and half of the positives hidden.

    python benchmarks/text.py TABLE.csv.gz --labels PREFIX [--rows N] [--models NAME ...] [--rates 0 50]
    python benchmarks/text.py TABLE.csv.gz --labels PREFIX --molecules COLUMN [--rates 0 50]
    python benchmarks/text.py TABLE.csv --labels PREFIX --categories COLUMN ... [--ignore COLUMN ...] [--repeats 5]

The models of fairfold encode the table in each training part (`features="auto"`). So do the baselines: logistic
regression and a linear SVM with Platt scaling for each label, on the frequencies of `TableEncoder` and of words by
scikit-learn's `TfidfVectorizer`. Components of text are compared with those of skrub (`pip install skrub`) by logistic
regression, and the run time of `Stack+` with that on 300 components. Folds and hidden positives are the same for all
models. Positives are hidden in training parts only. With `--molecules`, models of fairfold are compared with CatBoost
for each label on features of this column; unmeasured labels are left out in training and scores, and molecules that
RDKit cannot read are missing. With `--categories`, models of fairfold are compared with CatBoost on the same columns as
native categories. CatBoost has its default settings (`make baselines`).

Scores and seconds are means over `--repeats` splits. Rows are added to resources/measured/text.csv, instead of rows of
the same table, size, rate and model.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io.arff import loadarff
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from fairfold.core.probabilities import label_probabilities
from fairfold.features import TableEncoder, find_roles
from fairfold.features.cells import as_texts
from fairfold.metrics import multilabel_scores
from fairfold.models import make_model
from fairfold.models.binary import one_per_label
from fairfold.models.measured import MeasuredRows
from fairfold.models.one_level import OneLevelModel
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives

KEPT = Path("resources", "measured", "text.csv")
KEYS = ["data", "rows", "rate", "model"]
N_FOLDS, LEAST_POSITIVES, SEED = 3, 10, 0
OURS = ("Stack+", "logistic", "logistic+", "kernel-ridge", "joint-GB", "kNN")
ON_MOLECULES = ("Stack+", "gcForest+", "LightGBM", "RandomForest", "logistic", "RBF-SVM")
ON_CATEGORIES = ("Stack+", "gcForest+", "LightGBM", "logistic+")
CATBOOST = {"random_state": SEED, "thread_count": 1, "verbose": False, "allow_writing_files": False}
SCORES = {"micro": "average_precision", "macro": "average_precision_macro"}


def regression(C: float = 1.0) -> BaseEstimator:
    """Return one-versus-rest logistic regression."""
    return OneVsRestClassifier(LogisticRegression(C=C, max_iter=1000))


def baselines(frame: pd.DataFrame) -> dict[str, Callable[[], BaseEstimator]]:
    """Return functions that make the baselines for a table."""
    texts = [role.column for role in find_roles(frame) if role.role in {"text", "short text"}]
    words = [(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), column) for column in texts]
    svm = one_per_label(LinearSVC())
    found: dict[str, Callable[[], BaseEstimator]] = {
        "logistic regression": lambda: make_pipeline(TableEncoder(text="sparse"), regression()),
        "logistic regression, C = 10": lambda: make_pipeline(TableEncoder(text="sparse"), regression(10)),
        "linear SVM": lambda: Pipeline([("table", TableEncoder(text="sparse")), ("svm", clone(svm))]),
        "logistic regression on 100 components": lambda: make_pipeline(
            TableEncoder(text="dense"), StandardScaler(), regression()
        ),
    }
    if words:
        of_words = make_column_transformer(*words)
        found["logistic regression on TfidfVectorizer"] = lambda: make_pipeline(clone(of_words), regression())
        found["linear SVM on TfidfVectorizer"] = lambda: Pipeline([("words", clone(of_words)), ("svm", clone(svm))])
    if find_spec("skrub") is not None:
        found["logistic regression on 100 components of skrub"] = _on_skrub
    return found


class NativeCatBoost(ClassifierMixin, BaseEstimator):
    """CatBoost for several labels on a table of numbers and categories, with its default settings."""

    def __init__(self, categories: tuple[str, ...] = ()) -> None:
        self.categories = categories

    def fit(self, X: pd.DataFrame, Y: np.ndarray) -> NativeCatBoost:
        from catboost import CatBoostClassifier

        settings = {"loss_function": "MultiLogloss", "cat_features": [*self.categories]}
        self.model_ = CatBoostClassifier(**settings, **CATBOOST).fit(self._cells(X), Y.astype(int))
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self.model_.predict_proba(self._cells(X))

    def _cells(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.assign(**{name: as_texts(X[name]) for name in self.categories})


def _catboost_on(encoder: TableEncoder) -> BaseEstimator:
    from catboost import CatBoostClassifier

    return make_pipeline(encoder, MeasuredRows(OneLevelModel(one_per_label(CatBoostClassifier(**CATBOOST)))))


def _on_skrub() -> BaseEstimator:
    from skrub import StringEncoder, TableVectorizer

    encoder = TableVectorizer(high_cardinality=StringEncoder(n_components=100, random_state=SEED))
    return make_pipeline(encoder, StandardScaler(), regression())


def measure(
    make: Callable[[], BaseEstimator], frame: pd.DataFrame, Y: np.ndarray, rate: int, seed: int
) -> dict[str, float]:
    """Return scores of out-of-fold probabilities, and the processor seconds of all folds."""
    observed = mask_positives(Y, rate / 100, random_state=seed) if rate else Y
    fold_of = IterativeStratification(N_FOLDS, random_state=seed).assign(Y)
    P, start = np.empty(Y.shape), time.process_time()
    for fold in range(N_FOLDS):
        train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        model = make().fit(frame.iloc[train], observed[train])
        P[test] = label_probabilities(model, frame.iloc[test], Y.shape[1])
    found = multilabel_scores(Y, P, metrics=[*SCORES.values()])
    return {**{kind: found[name] for kind, name in SCORES.items()}, "seconds": time.process_time() - start}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--labels", nargs="+", required=True, help="prefix of the label columns, or their names")
    parser.add_argument("--molecules", help="column of molecules in SMILES")
    parser.add_argument("--categories", nargs="+", help="columns of categories")
    parser.add_argument("--ignore", nargs="+", default=[], help="columns to leave out")
    parser.add_argument("--repeats", type=int, default=1, help="number of splits")
    parser.add_argument("--rows", type=int, help="number of random rows; all by default")
    parser.add_argument("--models", nargs="+", help="all by default")
    parser.add_argument("--rates", nargs="+", type=int, default=[0, 50], help="percentages of hidden positives")
    options = parser.parse_args()
    table = _read(options.table).drop(columns=options.ignore)
    if options.rows:
        table = table.sample(min(options.rows, len(table)), random_state=SEED)
    are_labels = table.columns.str.startswith(tuple(options.labels))
    frame, Y = table.loc[:, ~are_labels], table.loc[:, are_labels].to_numpy(np.float64)
    Y = Y[:, np.nansum(Y, axis=0) >= LEAST_POSITIVES]
    if options.molecules:
        frame, features = _with_molecules(frame[[options.molecules]]), {"roles": {options.molecules: "molecule"}}
        makers = {
            name: lambda name=name: make_model(name, features=features, random_state=SEED) for name in ON_MOLECULES
        }
        makers["CatBoost"] = lambda: _catboost_on(TableEncoder(**features))
    elif options.categories:
        features = {"roles": dict.fromkeys(options.categories, "category")}
        makers = {
            name: lambda name=name: make_model(name, features=features, random_state=SEED) for name in ON_CATEGORIES
        }
        makers["CatBoost"] = lambda: NativeCatBoost(tuple(options.categories))
    else:
        makers = baselines(frame)
        makers |= {name: lambda name=name: make_model(name, features="auto", random_state=SEED) for name in OURS}
        dense = TableEncoder(text="dense", n_components=300)
        makers["Stack+ on 300 components"] = lambda: make_model("Stack+", features=dense, random_state=SEED)
    name = options.table.name.split(".")[0]
    for rate in options.rates:
        for model in options.models or makers:
            each = [measure(makers[model], frame, Y, rate, SEED + repeat) for repeat in range(options.repeats)]
            found = pd.DataFrame(each).mean().to_dict()
            row = {"data": name, "rows": len(Y), "rate": rate, "model": model, "labels": Y.shape[1], **found}
            print(*(f"{value:.4f}" if isinstance(value, float) else value for value in row.values()), flush=True)
            packages = ("fairfold", "scikit-learn", "numpy", *(["catboost"] if model == "CatBoost" else []))
            versions = " ".join(f"{package} {version(package)}" for package in packages)
            _keep(pd.DataFrame([{**row, "seed": SEED, "versions": versions}]))


def _read(path: Path) -> pd.DataFrame:
    """Read a CSV or ARFF file."""
    if path.suffix != ".arff":
        return pd.read_csv(path)
    table = pd.DataFrame(loadarff(path)[0])
    return table.map(lambda cell: cell.decode() if isinstance(cell, bytes) else cell)


def _with_molecules(frame: pd.DataFrame) -> pd.DataFrame:
    """Empty the cells that RDKit cannot read."""
    from rdkit.Chem import MolFromSmiles

    unread = frame.map(lambda cell: MolFromSmiles(cell) is None)
    print(f"{unread.to_numpy().sum()} of {len(frame)} molecules cannot be read.")
    return frame.mask(unread)


def _keep(row: pd.DataFrame) -> None:
    kept = [pd.read_csv(KEPT)] if KEPT.is_file() else []
    table = pd.concat([*kept, row]).drop_duplicates(KEYS, keep="last").sort_values(KEYS)
    table.to_csv(KEPT, index=False, float_format="%.4f")


if __name__ == "__main__":
    main()
