"""Sentences on the models of a study and their evaluation, for the methods section and the checklists.

Each function takes the facts of a study and returns sentences, or an empty list if the study does not support any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from fairfold import __version__
from fairfold.core.config import load_yaml
from fairfold.errors import shortened
from fairfold.evaluation.metrics import BASIC_METRICS, METRICS
from fairfold.report.contents import FOLDER
from fairfold.report.costs import costs_sentence, gather_costs
from fairfold.report.failures import failures_of
from fairfold.report.labels import listed
from fairfold.report.publish.about_data import rare_labels
from fairfold.report.publish.facts import DECIDING, FEW_SAMPLES, LEAD, LEADERBOARD, SCORES, Facts, if_scored

_BASELINES = {
    "linear": ("logistic", "chains"),
    "nearest-neighbor": ("kNN", "ML-kNN"),
    "support vector machine": ("RBF-SVM",),
    "forest": ("RandomForest", "ExtraTrees"),
    "boosting": ("HistGB", "LightGBM"),
    "no-feature": ("dummy",),
}
_MOST_FAILURES, _MOST_STEPS = 5, 4


@cache
def phrases() -> dict[str, Any]:
    """Return the phrases of ``workflow/report/publish/methods.yaml``.

    Returns
    -------
    dict
        ``models``, ``folds`` and ``corrected``.
    """
    return load_yaml(FOLDER / "publish" / "methods.yaml")


def state(facts: Facts) -> list[str]:
    """Warn of an unfinished study, failures, and few samples."""
    found = []
    if n := len(facts.missing):
        rules = facts.missing["rule"].drop_duplicates().tolist()
        found.append(
            f"This study is unfinished: {n} of {len(facts.jobs)} files are missing or outdated (steps "
            f"{shortened(rules, _MOST_STEPS)}). Texts and tables cover finished parts only."
        )
    scores = facts.table(SCORES)
    failures = failures_of(scores) if len(scores) else scores
    for row in failures[:_MOST_FAILURES].itertuples():
        found.append(
            f"{row.model} failed on {row.dataset} at a missing rate of {row.missing_rate} % in {row.times} cases: "
            f"{row.reason.rstrip('.')}."
        )
    if (more := len(failures) - _MOST_FAILURES) > 0:
        found.append(f"{more} more failures are listed in the report.")
    for name in facts.datasets:
        size = facts.size(name)
        if size and size["n_samples"] < FEW_SAMPLES:
            found.append(f"{name} has only {size['n_samples']} samples, so scores and ranks are uncertain.")
    return [*found, *rare_labels(facts)]


@if_scored
def models(facts: Facts) -> list[str]:
    """Describe all models."""
    names = facts.config["weak_labels"]["models"]
    return [f"The study compared {len(names)} models: {'; '.join(_phrase(name, facts) for name in names)}."]


def _phrase(name: str, facts: Facts) -> str:
    known, base = phrases()["models"], name.removesuffix("+")
    if name in known:
        return f"{name}, {known[name]}"
    about = known.get(base)
    if about is None:
        entry = facts.config["models"]["own"][base]
        about = f"a model of the authors of this study ({entry['class']})"
    return f"{name}, {about}, {phrases()['corrected']}" if name != base else f"{name}, {about}"


def _compared(facts: Facts) -> dict[str, list[str]]:
    names = facts.config["weak_labels"]["models"]
    kinds = {kind: [name for name in names if name.removesuffix("+") in known] for kind, known in _BASELINES.items()}
    return {kind: found for kind, found in kinds.items() if found}


@if_scored
def model_choice(facts: Facts) -> list[str]:
    """Describe the kinds of models."""
    kinds = [f"{kind} ({listed(names)})" for kind, names in _compared(facts).items()]
    known = {name for names in _compared(facts).values() for name in names}
    others = [name for name in facts.config["weak_labels"]["models"] if name not in known]
    more = f"The other models are {listed(others)}. " if others else ""
    simple = f"The comparison contains baselines of these kinds: {listed(kinds)}. " if kinds else ""
    return [f"{simple}{more}Simple and flexible models compete on the same folds, so the data decide between them."]


@if_scored
def baselines(facts: Facts) -> list[str]:
    """Name the baselines and the score of guessing."""
    names = [name for found in _compared(facts).values() for name in found]
    first = (
        f"Baselines on the same folds: {listed(names)}." if names else "No baseline of another package was compared."
    )
    guesses = [
        f"Guessing has a micro average precision of about {size['label_density']:.3f} on {name}."
        for name in facts.datasets
        if (size := facts.size(name))
    ]
    return [first, *guesses]


@if_scored
def hyperparameters(facts: Facts) -> list[str]:
    """Describe how hyperparameters were chosen."""
    forest = facts.config["weak_labels"]["forest"]
    sentences = [
        f"Forests have {forest['n_trees']} trees, and deep forests at most {forest['max_levels']} levels. Other "
        "hyperparameters are the defaults of fairfold and are listed in the configuration.",
        "A choice inside a model, such as a number of rounds or levels, uses the training part only.",
    ]
    tuned = [name for name, entry in facts.config["models"]["own"].items() if entry["tune"]]
    if tuned:
        tuning = facts.config["models"]["tuning"]
        sentences.append(
            f"Hyperparameters of {listed(tuned)} were searched in each training part with {tuning['n_candidates']} "
            f"candidates and {tuning['n_splits']} folds."
        )
    return sentences


def folds(facts: Facts) -> list[str]:
    """Describe the folds."""
    return [sentence for name in facts.datasets if facts.size(name) for sentence in _folds(name, facts)]


def _folds(name: str, facts: Facts) -> Iterator[str]:
    own, settings = facts.own.get(name, {}), facts.config["folds"]
    if own.get("dates"):
        yield f"{name} was divided into test periods by the column {own['dates']}."
    elif own.get("folds"):
        yield f"The column {own['folds']} of {name} defines its folds."
    else:
        repeats = f", {settings['repeats']} times," if settings["repeats"] > 1 else ""
        method = phrases()["folds"].get(settings["method"], settings["method"])
        yield f"The samples of {name} were split{repeats} into {settings['n_splits']} folds by {method}."
        yield "Each fold was tested with models that were fitted to the other folds."
    if own.get("groups"):
        yield f"Samples with the same value of the column {own['groups']} stay in one fold."


def hidden(facts: Facts) -> list[str]:
    """Describe labels hidden on purpose, and the estimated missing rate."""
    found = []
    rates = [rate for rate in facts.config["weak_labels"]["missing_rates"] if rate]
    if rates and len(facts.table(SCORES)):
        shares = listed([f"{rate} %" for rate in rates])
        found.append(f"To measure the effect of missing labels, {shares} of the positives were hidden from training.")
    for row in facts.table("tables/missing_rates.csv").itertuples():
        if row.hidden_rate == 0 and row.low == row.low:
            found.append(
                f"An estimated {row.estimated_rate:.0f} % of the positives of {row.dataset} are missing (95 % interval "
                f"{row.low:.0f} to {row.high:.0f} %) [@elkan2008]."
            )
        elif row.hidden_rate == 0 and row.reason:
            found.append(f"The missing rate of {row.dataset} could not be estimated: {row.reason}.")
    return found


def preprocessing(facts: Facts) -> list[str]:
    """Describe the steps from the file to the model."""
    encoded = {name: own["categorical"] for name, own in facts.own.items() if own.get("categorical")}
    sentences = [f"Text columns of {name} were encoded as {kind}, without labels." for name, kind in encoded.items()]
    return [
        *sentences,
        "Numbers were used as in the file. A model that needs scaled features scales them by its training part.",
        *missing_treatment(facts),
    ]


def missing_treatment(facts: Facts) -> list[str]:
    """Describe the treatment of missing features and labels."""
    return [
        "Each model fills missing features by its own method from its training part.",
        "An empty label cell is unmeasured: it takes part in no score and is neither 0 nor 1.",
    ]


@if_scored
def no_leak(facts: Facts) -> list[str]:
    """Describe what training parts contain."""
    return [
        "A prediction of a sample comes from a model that was fitted without its fold.",
        "Scaling, filling, calibration and label imputation use the training part only. Folds are balanced by the "
        "labels of all samples.",
    ]


@if_scored
def metrics(facts: Facts) -> list[str]:
    """Name the metrics."""
    threshold = facts.config["weak_labels"]["forest"]["threshold"]
    ranking = [metric.label for name, metric in BASIC_METRICS.items() if metric.use == "ranking" and name != LEAD]
    deciding = [metric.label for metric in BASIC_METRICS.values() if metric.use == "threshold"]
    return [
        f"Models were ranked by {METRICS[LEAD].label}, which needs no threshold and rewards positives at the top of a "
        f"ranking, also if labels are rare. Other metrics: {listed(ranking)}; at the threshold {threshold}, "
        f"{listed(deciding)}."
    ]


def intervals(facts: Facts) -> list[str]:
    """Describe the confidence intervals."""
    if facts.table("tables/complete_scores.csv").empty:
        return []
    return [
        "Scores are means over folds, estimated for complete labels. Their 95 % intervals come from bootstrap samples "
        "of each fold, with groups drawn as a whole, and include the uncertainty of the missing rate."
    ]


def coverage(facts: Facts) -> list[str]:
    """Describe how often intervals held where labels were hidden on purpose."""
    scores = facts.table("tables/complete_scores.csv")
    if scores.empty:
        return []
    tried = scores[(scores["missing_rate"] > 0) & (scores["metric"] == LEAD)].dropna(subset=["complete", "low"])
    if tried.empty:
        return ["The coverage of the intervals was not checked, because no labels were hidden on purpose."]
    held = tried["complete"].round(6).between(tried["low"].round(6), tried["high"].round(6))
    return [
        f"After labels were hidden on purpose, {held.sum()} of {len(held)} intervals of {METRICS[LEAD].name} contained "
        "the score on all labels."
    ]


def tests(facts: Facts) -> list[str]:
    """Describe the tests."""
    table = facts.table("tables/recommendation.csv")
    if table.empty:
        return []
    if table["p_adjusted"].isna().all():
        return ["No test was possible, because there is a single fold or a single model."]
    return [
        "Each model was compared with the best one by a two-sided corrected resampled t-test over folds [@nadeau2003], "
        f"adjusted for all pairs of models [@benjamini1995], at the level {facts.config['weak_labels']['alpha']}.",
        "The test assumes normally distributed differences and allows for overlapping training parts. A few folds "
        "cannot show whether differences are normal.",
    ]


@if_scored
def selection(facts: Facts) -> list[str]:
    """Describe how the best model was chosen."""
    named = facts.config["final"]["model"]
    sentences = [
        f"The best model of a dataset has the highest {METRICS[LEAD].label}, estimated for complete labels. The same "
        "scores are reported, so the score of the best model is slightly optimistic."
    ]
    return [*sentences, f"The configuration names the final model: {named}."] if named else sentences


def performance(facts: Facts) -> list[str]:
    """State the results of each dataset."""
    found = []
    for name in facts.datasets:
        if (best := facts.best(name)) is None:
            continue
        board = facts.of(LEADERBOARD, name).set_index("model")
        found.append(
            f"On {name}, {best['model']} has the best {best['metric_name']}: {best['score']:.3f}{_range(best)}."
        )
        if best["deciding"] == best["deciding"]:
            found.append(f"Its {METRICS[DECIDING].name} is {best['deciding']:.3f}.")
        for verdict, words in (("not different", "not significantly different from"), ("worse", "worse than")):
            others = board.index[board["verdict"] == verdict].tolist()
            verb = "is" if len(others) == 1 else "are"
            mark = "significantly " * (verdict == "worse")
            found += [f"{listed(others)} {verb} {mark}{words} it."] * bool(others)
    return found


def _range(row: Mapping[str, Any]) -> str:
    return f" (95 % interval {row['low']:.3f} to {row['high']:.3f})" if row["low"] == row["low"] else ""


def interpretation(facts: Facts) -> list[str]:
    """Interpret the results without earlier studies."""
    if not (results := performance(facts)):
        return []
    return [*results, *fairness(facts), "The study makes no comparison with earlier studies."]


@if_scored
def fairness(facts: Facts) -> list[str]:
    """State that fairness was not examined."""
    return ["The study used no method for fairness and did not compare scores between groups of people."]


@if_scored
def external(facts: Facts) -> list[str]:
    """Describe external validity."""
    by_time = [name for name in facts.datasets if facts.own.get(name, {}).get("dates")]
    later = f" The test samples of {listed(by_time)} are later than the training samples." if by_time else ""
    return [
        "The evaluation is internal: training and test samples come from the same table, and no external data were "
        f"used.{later}"
    ]


def limits(facts: Facts) -> list[str]:
    """List the limits of the results."""
    return [
        "Scores may be lower on samples from another place, time or source.",
        "Scores for complete labels assume that labels are missing at random, at the same rate in all labels, and that "
        "no positive is wrong.",
        *state(facts),
    ]


def code(facts: Facts) -> list[str]:
    """Name the software with versions."""
    versions = dict(facts.software.itertuples(index=False))
    return [
        f"Computed by fairfold {__version__} [@fairfold] with Snakemake {versions.get('snakemake', '')} [@molder2021], "
        f"scikit-learn {versions.get('scikit-learn', '')} [@pedregosa2011] and Python {versions.get('Python', '')}. "
        f"The SHA-256 of the source code of the library is {versions.get('source code', 'unknown')}."
    ]


def infrastructure(facts: Facts) -> list[str]:
    """Describe the machine and the run time."""
    machine = dict(facts.software.itertuples(index=False)).get("machine", "unknown")
    return [f"Machine that wrote this folder: {machine}.", costs_sentence(gather_costs(facts.results / "benchmarks"))]


def seeds(facts: Facts) -> list[str]:
    """Describe the random numbers."""
    return [f"All random numbers derive from the seed {facts.config['seed']}; the number of cores changes no result."]
