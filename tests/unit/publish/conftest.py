"""Facts of a small handwritten study of a table of the user, with a final model and an audit."""

import copy

import pandas as pd
import pytest
from answers import change

from fairfold.models.legend import legend_table
from fairfold.planning.check import check_config
from fairfold.planning.models import specifications
from fairfold.publish.crate import checksum
from fairfold.publish.facts import Facts, Source

MODELS = ["RF+ET", "logistic+", "kNN"]
METRICS = ["average_precision", "roc_auc", "mcc", "hamming_loss"]
CONFIG = {
    "seed": 7,
    "data": {
        "own": {
            "plants": {
                **{"path": "plants.csv", "labels": {"prefix": "label_"}, "labels_are": "incomplete"},
                **{"id": "row", "groups": "site"},
            }
        }
    },
    "weak_labels": {"datasets": ["plants"], "missing_rates": [0, 50], "models": MODELS},
    "final": {"fit": True},
}

FURTHER = ["tables/audit.csv", "tables/score_summary.csv", "tables/decisions/plants.csv", "tables/audit_rows/herbs.csv"]
FURTHER += ["tables/audit_rows/plants.csv"]


def recommendation():
    rows = []
    for metric in METRICS:
        for rank, model in enumerate(MODELS):
            mean = 0.9 - 0.1 * rank
            tested = {
                "p_value": [None, 0.2, 0.005][rank],
                "p_adjusted": [None, 0.4, 0.01][rank],
                "is_top": rank < 2,
                "difference": 0.1 * rank,
            }
            rows.append(
                {
                    **{"metric": metric, "model": model, "mean": mean, "observed": mean, "low": mean - 0.05},
                    **{"high": mean + 0.05, "rank": rank + 1.0, "n_folds": 5, "alpha": 0.05, **tested},
                }
            )
    return pd.DataFrame(rows).assign(dataset="plants", missing_rate=0, use="ranking", same_as=None, rope=0.01)


def tables():
    board = {"model": MODELS, "score": [0.9, 0.8, 0.7], "low": [0.85, 0.75, 0.65], "high": [0.95, 0.85, 0.75]}
    board |= {"deciding": [0.6, 0.5, 0.4], "verdict": ["best", "not different", "worse"]}
    scores = {"model": MODELS * 5, "fold": [fold for fold in range(5) for _ in MODELS], "metric": "average_precision"}
    scores |= {"missing_rate": 0, "level": 0, "is_final": True, "value": [0.9, 0.8, None, *[0.9, 0.8, 0.7] * 4]}
    scores |= {"reason": ["", "", "It ran out of memory.", *[""] * 12]}
    complete = {"missing_rate": [0, 50], "model": "RF+ET", "metric": "average_precision"}
    complete |= {"complete": 0.9, "low": 0.85, "high": [0.95, 0.88]}
    labels = {"model": "RF+ET", "label": ["shade", "moss"], "n_positives": [40, 4]}
    for name in ("average_precision", "roc_auc", "mcc"):
        labels |= {name: [0.8, 0.4], f"{name}_low": [0.7, 0.1], f"{name}_high": [0.9, None]}
    sizes = {"n_samples": [120], "n_features": 2, "n_labels": 2, "label_cardinality": 0.4, "label_density": 0.2}
    curve = {"kind": ["measured", "measured", "extrapolated"], "times": [0.5, 1.0, 2.0], "n_train": [48, 96, 192]}
    curve |= {"score": [0.7, 0.8, 0.85], "n_folds": 5, "low": [0.6, 0.7, 0.75], "high": 0.9}
    tests = {"test": ["samples", "groups"], "p_value": [0.9, None], "conclusion": ["No evidence (p = 0.900).", "None."]}
    tests |= {"estimate": [0.01, None], "margin": 0.15, "p_adjusted": [0.9, None], "rate_high_if_hard": 55.2}
    rates = {
        "hidden_rate": [0, 50],
        "labels_are": "incomplete",
        "hidden_share": [0.0, 48.6],
        "estimated_rate": [8.0, 50.0],
        "low": [0.0, 40.0],
        "high": [20.0, 60.0],
    }
    audit = {"check": ["gaps"], "severity": "warning", "message": "column 'height' has 3 empty cells; fill them"}
    return {
        "tables/datasets.csv": pd.DataFrame(sizes).assign(labels_are="incomplete"),
        "tables/recommendation.csv": recommendation(),
        "tables/complete_scores.csv": pd.DataFrame(complete),
        "tables/missing_rates.csv": pd.DataFrame(rates).assign(reason=""),
        "tables/weak_label_scores.csv": pd.DataFrame(scores),
        "tables/sample_curves.csv": pd.DataFrame(curve).assign(metric="average_precision", model="joint-GB"),
        "tables/models.csv": pd.DataFrame({"model": MODELS, "length_control": "single"}),
        "tables/scar_tests.csv": pd.DataFrame(tests),
        "recommendation/leaderboard.csv": pd.DataFrame(board).assign(
            metric="average_precision", missing_rate=0, at_bound=[0.95, 0.85, 0.75]
        ),
        "datasets/plants.audit.csv": pd.DataFrame(audit).assign(where="column 'height'", evidence=""),
        "final/plants/label_scores.csv": pd.DataFrame(labels),
    }


def new_config():
    """Return the configuration of the study, with defaults."""
    filled = copy.deepcopy(CONFIG)
    check_config(filled)
    return filled


def maker(folder, config):
    """Return a function that writes some tables of the study to a folder and returns its facts."""

    def make(written=None, *, is_done=True, is_recorded=True, **publish):
        results = folder / "study" / "results"
        for name, table in tables().items() if written is None else ():
            (results / name).parent.mkdir(parents=True, exist_ok=True)
            table.assign(dataset="plants").to_csv(results / name, index=False)
        results.mkdir(parents=True, exist_ok=True)
        legend_table(MODELS).to_csv(results / "legend.csv", index=False)
        (path := results.parent / "plants.csv").write_text("row,site,height,label_shade,label_moss\n")
        config["publish"] |= publish
        described = ["tables/datasets.csv", "datasets/plants.npz"]
        others = [name for name in [*tables(), *FURTHER] if name not in described]
        jobs = {"file": [f"results/{name}" for name in [*described, *others]], "inputs": "", "job": "plants"}
        jobs["rule"] = ["describe_study"] * len(described) + ["recommend_models"] * len(others)
        jobs |= {"ended": "2026-01-02T03:04:05+00:00", "is_done": is_done}
        counts = {"label": ["shade", "moss"], "positives": [40, 4], "negatives": [70, 116], "unmeasured": [10, 0]}
        counts |= {"missing_if_positive": [0.01, 0.0], "missing_if_negative": 0.02}
        features = {
            "predictor": ["height", "width"],
            "column": ["height", "width"],
            "missing": [3, 0],
            "mean": 1.5,
            "sd": 0.1,
        }
        features |= {"q25": 1.0, "median": 1.5, "q75": 2.0}
        folds = {"fold": range(5), "training_samples": 96, "training_positives": [35, 36, 35, 35, 35]}
        folds |= {"test_samples": 24, "test_positives": [9, 8, 9, 9, 9]}
        hyperparameters = {
            "model": ["kNN"],
            "component": "KNeighborsClassifier",
            "parameter": "p",
            "value": "2",
            "note": "2 or 3",
        }
        chosen = {"component": ["CascadeForest"], "setting": "best_level", "value": "0", "meaning": "last level used"}
        study = check_config(copy.deepcopy(config))
        software = {"software": ["Python", "snakemake", "scikit-learn", "machine"], "version": ["3", "9", "1", "Linux"]}
        facts = Facts(
            results=results,
            study=study,
            jobs=pd.DataFrame(jobs),
            sources=[Source("plants", path.resolve(), "data/plants/plants.csv", checksum(path))],
            outcomes=pd.DataFrame(counts).assign(dataset="plants"),
            predictors=pd.DataFrame(features).assign(dataset="plants"),
            folds=pd.DataFrame(folds).assign(dataset="plants"),
            hyperparameters=pd.DataFrame(hyperparameters),
            software=pd.DataFrame(software),
            is_recorded=is_recorded,
            **specifications(study),
            n_draws=200,
            n_resamplings={"plants": 500},
            reference="joint-GB",
            n_rounded={"plants": 0},
            limits={"surprise": 0.9, "explained": 0.3, "row_orders": 20, "power": 80},
            chosen_settings=pd.DataFrame(chosen).assign(dataset="plants"),
            feature_groups=pd.DataFrame({"dataset": ["plants"] * 2, "group": "height", "feature": ["height", "width"]}),
        )
        return change(facts) if written is None else facts

    return make


@pytest.fixture
def config():
    """Return the configuration of the study, with defaults."""
    return new_config()


@pytest.fixture(scope="session")
def make_config():
    """Return the function that returns a new configuration, for fixtures with a wider scope."""
    return new_config


@pytest.fixture(scope="session")
def facts_in():
    """Return a function of a folder and a configuration that returns ``make_facts`` for them."""
    return maker


@pytest.fixture
def make_facts(tmp_path, config):
    """Return a function that writes some tables of the study and returns its facts."""
    return maker(tmp_path, config)
