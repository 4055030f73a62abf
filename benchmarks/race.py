"""Store the scores of config/race.yaml, the race of all models on real datasets, and compute the tables of the guide.

    python benchmarks/race.py --add results --commit 24a8ed2    # store the scores of a run, complete or partial
    python benchmarks/race.py                                   # compute the tables from the stored scores

The race can be run in parts, because its jobs depend only on the seed. Results from several commits can be combined:
each row contains the commit that it comes from. Rerun a model after a change of its code. The script stores
`resources/measured/race_scores.csv` (final scores of each fold on all labels and on observed labels) and
`race_missing_rates.csv` (estimates of the recommendation). From these it computes `race.csv` (means over folds) and
`race_regret.csv`, for the models that have run on every dataset at every rate.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from fairfold.evaluation.ranking import rank_tables
from fairfold.recommendation.regret import regret_tables

MEASURED = Path(__file__).parents[1] / "resources" / "measured"
CONFIG = Path(__file__).parents[1] / "config" / "race.yaml"
UNIT = ["dataset", "missing_rate", "model"]
SCORES = ["average_precision", "mcc", "hamming_loss"]
LEADING = SCORES[:2]
SHOWN_STRATEGIES = ["recommendation", "observed labels", "other datasets", "any model"]


def scores_of_run(results: Path, commit: str) -> pd.DataFrame:
    """Return a row per dataset, missing rate, model and fold."""
    path = results / "tables" / "weak_label_scores.csv"
    scores = pd.read_csv(path)
    final = scores[scores["is_final"] & scores["metric"].isin(SCORES)]
    if (final["level"] < 0).any() or final["value"].isna().any():
        raise SystemExit(f"{path} has folds without a score; see its column reason.")
    wide = final.pivot(index=[*UNIT, "fold"], columns="metric", values=["value", "observed_value"])
    wide.columns = [name if kind == "value" else f"observed_{name}" for kind, name in wide.columns]
    seconds = pd.read_csv(results / "timings" / "models.csv").query("step == 'fit'")
    fit_seconds = seconds.set_index([*UNIT, "fold"])["seconds"].rename("fit_seconds")
    return wide.drop(columns="observed_hamming_loss").join(fit_seconds).reset_index().assign(commit=commit)


def missing_rates_of_run(results: Path, commit: str) -> pd.DataFrame | None:
    path = results / "tables" / "missing_rates.csv"
    if not path.exists():
        return None
    return pd.read_csv(path)[["dataset", "hidden_rate", "estimated_rate"]].assign(commit=commit)


def keep(new: pd.DataFrame | None, name: str, key: list[str], order: list[str]) -> None:
    """Replace earlier rows of the same key and sort all rows in the order of the configuration."""
    path = MEASURED / name
    if new is None:
        return
    old = pd.read_csv(path, dtype={"commit": str}) if path.exists() else new.head(0)
    kept = pd.concat([old, new]).drop_duplicates(key, keep="last")
    by = {name: place for place, name in enumerate(order)}
    numbers = pd.api.types.is_numeric_dtype
    kept = kept.sort_values(key, key=lambda column: column if numbers(column) else column.map(by), kind="stable")
    kept.round(6).to_csv(path, index=False)


def complete(scores: pd.DataFrame, datasets: list[str], models: list[str], rates: list[int]) -> list[str]:
    """Return the models that have run on every dataset at every rate; print the missing runs of the others."""
    done, found = set(scores[UNIT].itertuples(index=False, name=None)), []
    for model in models:
        missing = [(dataset, rate) for dataset in datasets for rate in rates if (dataset, rate, model) not in done]
        if missing:
            print(f"{model} lacks {len(missing)} of {len(datasets) * len(rates)} runs, for example {missing[0]}")
        else:
            found.append(model)
    return found


def long_form(scores: pd.DataFrame) -> pd.DataFrame:
    """Convert to the layout of the study's table of scores."""
    parts = [
        scores[[*UNIT, "fold"]].assign(
            metric=metric, is_final=True, value=scores[metric], observed_value=scores[f"observed_{metric}"]
        )
        for metric in LEADING
    ]
    return pd.concat(parts, ignore_index=True)


def print_table(heads: str, rows: pd.DataFrame) -> None:
    print(f"\n| | {heads} |\n|---|{'---|' * (heads.count('|') + 1)}")
    for name, cells in zip(rows.index, rows.to_numpy(), strict=True):
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--add", type=Path, metavar="RESULTS", help="the folder `results` of a run of config/race.yaml")
    parser.add_argument("--commit", help="that it ran at")
    arguments = parser.parse_args()
    study = read_config()
    datasets, models, rates = study["datasets"], study["models"], study["missing_rates"]
    if arguments.add:
        if not arguments.commit:
            parser.error("--add needs --commit")
        new = scores_of_run(arguments.add, arguments.commit)
        keep(new, "race_scores.csv", [*UNIT, "fold"], [*datasets, *models])
        rates_found = missing_rates_of_run(arguments.add, arguments.commit)
        keep(rates_found, "race_missing_rates.csv", ["dataset", "hidden_rate"], datasets)
    scores = pd.read_csv(MEASURED / "race_scores.csv", dtype={"commit": str})
    scores = scores[scores["model"].isin(complete(scores, datasets, models, rates))]
    means = scores.groupby(UNIT, sort=False)[[*SCORES, "fit_seconds"]].mean().round(6).reset_index()
    means.to_csv(MEASURED / "race.csv", index=False)
    shown = means.pivot_table(index="model", columns="missing_rate", values=LEADING, sort=False)
    shown = pd.concat([shown[metric] for metric in LEADING], axis=1).map("{:.3f}".format)
    seconds = means[means["dataset"] == "yeast"].groupby("model")["fit_seconds"].mean().reindex(shown.index)
    heads = f"AP, {' | '.join(map(str, rates))} | MCC, {' | '.join(map(str, rates))}"
    print_table(f"{heads} | seconds to fit yeast", shown.assign(seconds=seconds.map("{:.1f}".format)))
    report_regret(scores, heads)
    report_pairs(scores)


def report_regret(scores: pd.DataFrame, heads: str) -> None:
    estimates = pd.read_csv(MEASURED / "race_missing_rates.csv")
    regret = regret_tables(long_form(scores), estimates)["regret"]
    regret.round(6).to_csv(MEASURED / "race_regret.csv", index=False)
    wide = regret.pivot_table(index="strategy", columns=["metric", "missing_rate"], values="regret", sort=False)
    wide = wide[LEADING].map("{:.3f}".format)
    always = [name for name in wide.index if name.startswith("always")]
    print_table(heads, wide.reindex([*SHOWN_STRATEGIES[:3], *always, *SHOWN_STRATEGIES[3:]]))


def report_pairs(scores: pd.DataFrame) -> None:
    """Print the models that each model beats significantly (signed-rank tests, adjusted over all pairs)."""
    pairs = rank_tables(long_form(scores))["pairs"]
    pairs = pairs[pairs["is_different"].eq(True)]
    better = pairs["model_a"].where(pairs["mean_difference"] > 0, pairs["model_b"])
    worse = pairs["model_b"].where(pairs["mean_difference"] > 0, pairs["model_a"])
    print("\nSignificantly better than:")
    for (metric, rate, model), others in worse.groupby([pairs["metric"], pairs["missing_rate"], better], sort=False):
        print(f"{metric} at {rate}: {model} than {len(others)}: {', '.join(others)}")


def read_config() -> dict:
    import yaml

    return yaml.safe_load(CONFIG.read_text())["weak_labels"]


if __name__ == "__main__":
    main()
