"""Tables behind the answer of a handwritten study."""

import numpy as np
import pandas as pd

from fairfold.answer import Answer

EMPTY = {
    "complete_scores": ["missing_rate", "metric", "complete", "low", "high"],
    "summary": ["metric", "missing_rate", "model", "mean"],
    "labels": ["model", "label", "n_positives", "n_true_positives", "roc_auc", "n_models_above_chance"],
    "certified": ["label", "precision", "threshold"],
    "audit": ["check", "severity", "message"],
    "columns": ["kind", "names"],
    "sentences": ["use", "sentence"],
}


def tables_of(board, **others):
    """Return the tables of :meth:`fairfold.answer.Answer.from_tables`: a leaderboard, others, and default ones."""
    missing = dict.fromkeys(["low", "high", "behind", "behind_low", "behind_high", "fit_seconds"], np.nan)
    board = pd.DataFrame({"dataset": "a", "missing_rate": 0, "metric": "average_precision", **missing} | dict(board))
    datasets = pd.DataFrame({"dataset": board["dataset"].unique()})
    unknown = {"labels_are": "unknown", "estimated_rate": np.nan, "low": 0.0, "high": 11.0, "reason": ""}
    tested = {"metric": "mcc", "same_as": np.nan, "difference": 0.0, "p_adjusted": 1.0, "alpha": 0.05, "rope": 0.01}
    defaults = {
        "numbers": board[["dataset", "model"]].assign(**tested),
        "missing_rates": datasets.assign(hidden_rate=0, **unknown),
        "tests": datasets.assign(rate_high_if_hard=np.nan),
        "sizes": datasets.assign(n_samples=1060, n_features=2, n_labels=14, label_cardinality=0.5),
        **{name: pd.DataFrame(columns=["dataset", *columns]) for name, columns in EMPTY.items()},
    }
    first = {"dataset": datasets["dataset"].iloc[0]}
    given = {name: pd.DataFrame(first | dict(table)) for name, table in others.items()}
    return {"leaderboard": board, **defaults, **given}


VERDICTS = ["best", "not different", "worse", "not tested", "same as RF+ET", "no score"]


def board_of(*datasets, verdicts=VERDICTS):
    """Return the leaderboard of datasets with one model for each verdict."""
    rows = []
    for dataset in datasets:
        for place, verdict in enumerate(verdicts):
            score = float("nan") if verdict == "no score" else 0.7 - 0.01 * place
            numbers = (score, score - 0.02, score + 0.1, 0.01 * place, 0.0, 0.02, 0.4, 0.5)
            model = "RF+ET" if verdict == "best" else f"model {place}"
            rows.append((dataset, model, *numbers, verdict))
    names = ["score", "low", "high", "behind", "behind_low", "behind_high", "deciding", "fit_seconds"]
    return pd.DataFrame(rows, columns=["dataset", "model", *names, "verdict"])


FILES = {
    "leaderboard": "recommendation/leaderboard.csv",
    "numbers": "tables/recommendation.csv",
    "missing_rates": "tables/missing_rates.csv",
    "complete_scores": "tables/complete_scores.csv",
    "tests": "tables/scar_tests.csv",
    "sizes": "tables/datasets.csv",
}


def change(facts, **columns):
    """Set columns of tables in the facts of a study of plants, and build its answer again."""
    facts.memo.update({FILES[name]: facts.table(FILES[name]).assign(**changed) for name, changed in columns.items()})
    board, *others = (facts.of(path, "plants") for path in FILES.values())
    tables = tables_of(board, **dict(zip([*FILES][1:], others, strict=True)))
    facts.__dict__["answers"] = {"plants": Answer.from_tables("plants", tables)}
    facts.memo.pop("values", None)
    facts.__dict__.pop("files", None)  # A test may write more of them.
    return facts
