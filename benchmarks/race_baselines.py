"""Compare our models with optional baselines on the datasets of config/race.yaml: means over folds, all in one run.

    make baselines
    python benchmarks/race_baselines.py [--datasets flags emotions] [--models Stack+ CatBoost] [--rates 0 50]
    python benchmarks/race_baselines.py --show

Folds, hidden labels, seeds and scores are those of a study with config/race.yaml at the current commit. They differ
from those of race_scores.csv, because the splitter has changed since. F1 is scored at the decisions of a study: those
for this score if the model has calibrated probabilities, and otherwise those at 0.5, as Matthews correlation is. A
model runs on one thread. `seconds` is the mean CPU time of a fit.

Each model on a dataset at a missing rate is a row of resources/measured/race_baselines.csv. In rows that are still
missing, `reason` states the estimated CPU minutes of five fits. Run the script again to continue. It leaves out rows
with an estimate above `--minutes`. `--show` prints the mean scores of each model next to those of Stack+ on the same
datasets.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pandas as pd
import yaml

from fairfold.core.files import write_table
from fairfold.datasets import Dataset, prepare
from fairfold.models.training import Model, Unit, train_model
from fairfold.planning.check import catalog_of, check_study
from fairfold.planning.models import model_of_study, unit_options
from fairfold.settings import Study
from fairfold.splitting.methods import repeated_splits
from fairfold.weak_labels.masking import hide_in_test_parts, hide_in_training_parts

ROOT = Path(__file__).parents[1]
CONFIG, FILE = ROOT / "config/race.yaml", ROOT / "resources/measured/race_baselines.csv"
OURS = ("Stack+", "gcForest+")
PACKAGES = {
    **dict.fromkeys(("logistic-C", "logistic-C+"), ("scikit-learn",)),
    **dict.fromkeys(("BOOMER", "BOOMER+"), ("mlrl-boomer",)),
    **dict.fromkeys(("XGBoost", "XGBoost+"), ("xgboost-cpu", "xgboost")),
    "CatBoost": ("catboost",),
}
MODELS = [*OURS, *PACKAGES]
METRICS = ["average_precision", "f1_micro", "f1_macro", "mcc"]
UNIT = ["dataset", "missing_rate", "model"]
NOT_RUN = "not run"
# CPU minutes of five fits in rows that are not run. Those of a model with + are from the seconds of the model without.
MINUTES = {
    "logistic-C+": {"enron": 3},
    "BOOMER+": {"scene": 3, "yeast": 3},
    "XGBoost": {"scene": 3, "yeast": 2},
    "XGBoost+": {"GrampositivePseAAC-repaired": 3, "emotions": 2, "birds": 5, "scene": 15, "yeast": 12, "enron": 2},
    "CatBoost": {
        **{"VirusPseAAC-repaired": 4, "GrampositivePseAAC-repaired": 8, "emotions": 3, "birds": 12},
        **{"scene": 15, "yeast": 9, "enron": 70},
    },
}


def versions() -> dict[str, str]:
    """Return the commit of our models and the package version of each baseline."""
    git = ["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip()
    installed = {each.name: each.version for each in metadata.distributions()}
    found = [(model, name) for model, names in PACKAGES.items() for name in names if name in installed]
    return dict.fromkeys(OURS, f"fairfold {commit}") | {model: f"{name} {installed[name]}" for model, name in found}


def unit_of(study: Study, data: Dataset, rate: int) -> Unit:
    folds = study.folds
    fold_of, _ = repeated_splits(
        *(folds.method, data.Y, folds.n_splits, folds.n_repeats),
        **{"seed": study.seed, "names": ("folds", data.id), "groups": data.named_groups},
    )
    given = {"seed": study.seed, "names": ("hidden labels", data.id, rate)}
    given |= {"negatives": data.negatives, "hierarchy": data.hierarchy}
    hidden = hide_in_training_parts(data.Y, fold_of, rate / 100, **given)
    in_tests = hide_in_test_parts(data.Y, fold_of[0], rate / 100, **given)
    return Unit(data, fold_of, hidden, in_tests, rate, study.seed, **unit_options(study))


def run(study: Study, unit: Unit, model: str) -> dict[str, object]:
    """Return the mean scores over folds and the mean CPU seconds of a fit."""
    tables = train_model(None, unit, Model(**model_of_study(study, model)))
    final = tables.scores[tables.scores["is_final"] & tables.scores["metric"].isin(METRICS)]
    means = final.groupby("metric")["value"].agg(lambda values: values.mean(skipna=False)).reindex(METRICS)
    seconds = tables.seconds.query("step == 'fit'")["seconds"].mean()
    reasons = [text for text in final["reason"].dropna().unique() if text]
    return {**means.round(6), "seconds": round(seconds, 3), "reason": "; ".join(reasons)}


def reason(model: str, minutes: int | None) -> str:
    """Say why a row is missing, with the estimated minutes, if there are any."""
    origin = model.removesuffix("+") if model.endswith("+") else "one fold"
    return f"{NOT_RUN}: about {minutes} minutes, estimated from {origin}" if minutes else NOT_RUN


def whole(done: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return a row for each model on each dataset at each missing rate, in the order of the configuration."""
    grid = pd.MultiIndex.from_product([study.weak_labels.datasets, study.weak_labels.missing_rates, MODELS], names=UNIT)
    table = done.set_index(UNIT).reindex(grid).reset_index()
    pairs = zip(table["dataset"], table["model"], strict=True)
    missing = [reason(model, MINUTES.get(model, {}).get(dataset)) for dataset, model in pairs]
    reasons = table["reason"].where(table["version"].notna(), missing)
    return table.assign(reason=reasons).astype({"seed": "Int64"})


def show(table: pd.DataFrame) -> None:
    ours = table[table["model"] == OURS[0]].set_index(UNIT[:2])[METRICS]
    for rate, of_rate in table.dropna(subset=METRICS).groupby("missing_rate"):
        print(f"\n{rate} % hidden: mean, and mean of {OURS[0]} on the same datasets")
        for model in MODELS:
            part = of_rate[of_rate["model"] == model].set_index(UNIT[:2])
            beside = ours.reindex(part.index).dropna()
            pairs = [f"{part.loc[beside.index, name].mean():.3f} {beside[name].mean():.3f}" for name in METRICS]
            print(f"{model:12s} {len(beside):2d} datasets  {'   '.join(pairs)}  {part['seconds'].mean():8.2f} s")


def main() -> None:
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    config["weak_labels"]["models"] = MODELS
    study = check_study(config)
    catalog, labels = catalog_of(study), study.weak_labels
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", choices=labels.datasets, default=labels.datasets)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--rates", nargs="+", type=int, choices=labels.missing_rates, default=labels.missing_rates)
    parser.add_argument("--minutes", type=float, default=3, help="leave out rows that take longer (default: 3)")
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--show", action="store_true", help="print the means of the file instead")
    options = parser.parse_args()
    columns = [*UNIT, *METRICS, "seconds", "seed", "version", "reason"]
    table = whole(pd.read_csv(options.file) if options.file.exists() else pd.DataFrame(columns=columns), study)
    if options.show:
        show(table)
        return
    of_model = versions()
    for dataset in options.datasets:
        data = None
        for rate in options.rates:
            for model in options.models:
                row = (table[UNIT] == [dataset, rate, model]).all(axis=1)
                is_long = MINUTES.get(model, {}).get(dataset, 0) > options.minutes
                if table.loc[row, "version"].notna().all() or is_long or model not in of_model:
                    continue
                data = prepare(dataset, catalog=catalog) if data is None else data
                found = run(study, unit_of(study, data, rate), model)
                found |= {"seed": study.seed, "version": of_model[model]}
                table.loc[row, list(found)] = list(found.values())
                write_table(table, options.file)
                sys.stdout.write(f"{dataset} {rate} {model} {found}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
