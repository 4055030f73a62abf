"""Fill in the sentences of ``workflow/report/publish/sentences.yaml`` from the facts of a study."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from fairfold import __version__
from fairfold.answer.answer import RECOMMENDATION
from fairfold.answer.coverage import held_intervals
from fairfold.answer.leaderboard import DECIDING
from fairfold.core.config import load_yaml
from fairfold.core.defaults import PRECISION
from fairfold.core.markdown import escape_markdown
from fairfold.core.plugins import declared
from fairfold.core.project import REPORT
from fairfold.datasets.columns import OF_THESE
from fairfold.datasets.settings import OwnDataset
from fairfold.errors import MOST_NAMES, listed
from fairfold.metrics.decisions import is_decided
from fairfold.metrics.registry import BASIC_METRICS, FURTHER_METRICS, METRICS, REFERENCE_LABELS
from fairfold.publish.facts import LEAD, SCORES, Facts, notes_of
from fairfold.report.costs import costs_sentence, gather_costs
from fairfold.report.failures import failures_of

FEW_SAMPLES, FEW_POSITIVES = 100, 10
"""Below these numbers, the texts warn of too few samples, and of too few positives of a label."""
_MOST_FAILURES = 5
_MOST_NAMED = 30
_TWICE = 2
_FEWER_TREES = ("of_large", "of_many")  # members of a pool with fewer trees than others
_WITH_LEVELS = ("deep forest", "pool")  # traits of models that contain a deep forest
_PARTS = {"placed": "the trees of", "filled": "the regression of"}  # of a pool, by treatment of missing features
_LEAST_LABELS = 2  # of a comparison of labels
_FURTHER_FITS = ("tables/mechanisms.csv", "tables/rank_stability.csv", "tables/elsewhere.csv")
_OF_TEST_FILE = "test file"
REFERENCES = (REPORT / "publish" / "references.bib").read_text(encoding="utf-8")
"""Works that sentences cite, in BibTeX."""
_KEY = f"@(?:{'|'.join(re.findall(r'^ *@[a-z]+{([^ ,]+),', REFERENCES, re.MULTILINE))})"
CITED = re.compile(rf" ?\[({_KEY}(?:; {_KEY})*)\]")
"""Citations, such as ``[@breiman2001; @geurts2006]``. The name of a label, such as ``[@a]``, is none."""
_MARKUP = re.compile(rf"( ?\[{_KEY}(?:; {_KEY})*\]|`fairfold [^`<>\\|]+`)")  # citations and commands


@cache
def load_phrases(name: str) -> dict[str, Any]:
    """Load a file of ``workflow/report/publish``.

    Parameters
    ----------
    name : str
        ``"sentences"``, ``"methods"`` or a checklist.

    Returns
    -------
    dict
        Content of the file.
    """
    return load_yaml(REPORT / "publish" / f"{name}.yaml", is_ours=True)


def sentences(name: str, facts: Facts, dataset: str | None = None) -> str:
    """Return the sentences of one name.

    Parameters
    ----------
    name : str
        Key of ``sentences.yaml``.
    facts : Facts
        Facts of the study.
    dataset : str or None, default=None
        Dataset that sentences of each dataset describe. None describes all.

    Returns
    -------
    str
        Sentences with citations of the form ``[@key]``. Empty if the study does not support them.
    """
    entry, values = load_phrases("sentences")[name], _values(facts)
    if not all(values["has"][need] for need in entry.get("needs", ())):
        return ""
    template = _template(name)
    if dataset in facts.finals:
        learned = _learned([facts.finals[dataset]], facts)
        values = values | learned | {"final_gaps": learned["gaps"]}
    if not entry.get("each"):
        return " ".join(template.render(values).split())
    named = [each for each in facts.datasets if facts.size(each) and dataset in (None, each)]
    parts = [template.render(values | values["of_dataset"][each]) for each in named]
    return " ".join(" ".join(parts).split())


def page(template: str, facts: Facts, **values: Any) -> str:
    """Fill in a page of ``workflow/report/publish``.

    Parameters
    ----------
    template : str
        File name of the template. In it, ``say(name, dataset)`` returns :func:`sentences` without citations. Values
        are escaped for HTML or Markdown unless they are ``Markup``.
    facts : Facts
        Facts of the study.
    **values : object
        Further values of the template.

    Returns
    -------
    str
        Text of the page.
    """

    def say(name: str, dataset: str | None = None) -> str:
        return without_citations(sentences(name, facts, dataset))

    environment = _templates(is_markdown=template.endswith(".md.jinja"))
    return environment.get_template(template).render({**_values(facts), "say": say, **values}).strip() + "\n"


def as_markup(text: str) -> Markup:
    r"""Escape a text for Markdown, except for its citations and commands.

    Parameters
    ----------
    text : str
        Text of :func:`sentences`.

    Returns
    -------
    Markup
        Markdown.

    Examples
    --------
    >>> print(as_markup("The label <b> [@geurts2006]. `fairfold predict` reads a_b."))
    The label \<b\> [@geurts2006]. `fairfold predict` reads a_b.
    """
    parts = _MARKUP.split(text)  # text, markup, text, ...
    return Markup("".join(part if place % 2 else escape_markdown(part) for place, part in enumerate(parts)))


def without_citations(text: str) -> str:
    """Remove citations from text.

    Parameters
    ----------
    text : str
        Text with citations of the form ``[@key]``.

    Returns
    -------
    str
        Text without them.

    Examples
    --------
    >>> without_citations("A test [@breiman2001; @geurts2006].")
    'A test.'
    """
    return CITED.sub("", text)


@cache
def _template(name: str) -> jinja2.Template:
    return _templates().from_string(load_phrases("sentences")[name]["text"])


@cache
def _templates(*, is_markdown: bool = False) -> jinja2.Environment:
    options: dict[str, Any] = {"undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    loader = jinja2.FileSystemLoader(REPORT / "publish")
    environment = jinja2.Environment(loader=loader, autoescape=lambda name: ".html" in (name or ""), **options)
    if is_markdown:
        plain = (Markup, jinja2.Undefined)
        environment.finalize = lambda value: value if isinstance(value, plain) else as_markup(str(value))
    environment.filters |= {"listed": listed, "named": _named, "whole": lambda number: f"{number:,.0f}"}
    environment.filters |= {"finding": _finding, "span": _span}
    environment.globals["percent"] = lambda part, whole: f"{100 * part / whole:.1f} %" if whole else "none"
    return environment


def _named(names: Sequence[str], instead: str = "") -> str:
    """Join all names. A long list, which a table of the publication has, is replaced."""
    return ", ".join(names) if len(names) <= _MOST_NAMED else instead


def _finding(message: str) -> str:
    """Return the finding of a message of the audit, without its advice."""
    finding, _, advice = message.partition("; ")
    more = re.search(r" \(and \d+ more\)$", advice)
    return finding + (more[0] if more else "")


def _span(numbers: pd.Series) -> str:
    """Return the range of whole numbers."""
    low, high = numbers.min(), numbers.max()
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _of_dataset(name: str, facts: Facts) -> dict[str, Any]:
    """Return the values of a template for a dataset."""
    sources = [each for each in facts.sources if each.dataset == name]
    own = _own(name, facts)
    path = f"datasets/{name}.audit.csv"
    audit = facts.table(path) if name in facts.own and facts.has(path) else None
    if audit is not None and audit.empty:
        audit = pd.DataFrame(columns=["severity", "check", "message"])
    labels = facts.of(f"final/{name}/label_scores.csv", name)
    labels = labels[labels["n_positives"] >= FEW_POSITIVES].dropna(subset="roc_auc") if len(labels) else labels
    return {
        "name": name,
        "suffix": _suffix(name, facts),
        "is_own": name in facts.own,
        "hierarchy": _hierarchy_of(name, facts),
        "folds": facts.of(facts.folds, name),
        "is_all_tested": _is_all_tested(name, facts),
        "curve": _curve(name, facts),
        "n_resamplings": facts.n_resamplings.get(name),
        "n_rounded": facts.n_rounded.get(name),
        "calibration": _calibration(name, facts),
        "decided": _decided(name, facts),
        "detected": _detected(name, facts),
        "random_tests": _random_tests(name, facts),
        "rate_if_hard": _rate_if_hard(name, facts),
        "clustered_by": _clustered_by(name, facts),
        "hardest": labels.iloc[0] if len(labels) else None,
        "easiest": labels.iloc[-1] if len(labels) >= _LEAST_LABELS else None,
        "hidden": _hidden(name, facts),
        "frequencies": _frequencies(name, facts),
        "labels_are": facts.labels_are[name],
        "cautious": _is_rate_estimated(name, facts),
        "changes": _changes(name, facts) if name in facts.own else [],
        "checks": [
            name_of_check.replace("_", " ")
            for check, (spec, _) in declared("fairfold.datasets.audit").items()
            if check != _OF_TEST_FILE and (own.groups or "group" not in check)
            for name_of_check in (check, *spec.others)
        ],
        "n_folds": scores["fold"].nunique() if len(scores := facts.of(SCORES, name)) else 0,
        "own": own,
        "size": facts.size(name),
        "files": [f"{each.name.rsplit('/', 1)[-1]}, SHA-256 {each.sha256}" for each in sources if each.path],
        "about": [each.about for each in sources if each.about],
        "outcomes": facts.of(facts.outcomes, name),
        "columns": facts.of(facts.predictors, name).drop_duplicates("column"),
        "audit": audit,
        "answer": (answer := facts.answers.get(name)),
        "best": answer and answer.best,
        "metric_name": answer and METRICS[answer.metric].name,
    }


def _own(name: str, facts: Facts) -> OwnDataset:
    """Return the settings of a dataset of the user; of a dataset of the catalog, settings without values."""
    return facts.own.get(name) or OwnDataset.model_construct()


def _hierarchy_of(name: str, facts: Facts) -> str:
    """Return the file with the hierarchy of the labels; empty without one."""
    return (facts.own[name].labels.hierarchy or "") if name in facts.own else ""


def _clustered_by(name: str, facts: Facts) -> str:
    """Return the distance of the clusters on which models were scored; empty without such scores."""
    table = facts.of("tables/elsewhere.csv", name)
    rows = table.dropna(subset=["size", "score"]) if len(table) else table
    return str(rows["compared_by"].iloc[0]) if len(rows) else ""


def _is_all_tested(name: str, facts: Facts) -> bool:
    """Return whether each sample of a dataset is tested equally often, by models of other samples of any time."""
    folds, size = facts.of(facts.folds, name), facts.size(name)
    if size is None or len(folds) < 2 or _own(name, facts).dates:
        return False
    return bool(folds["test_samples"].sum() == size["n_samples"] * facts.study.folds.n_repeats)


def _curve(name: str, facts: Facts) -> SimpleNamespace | None:
    """Return the scores of the first model with a learning curve by number of training samples."""
    rows = facts.of("tables/sample_curves.csv", name, metric=LEAD)
    rows = rows.dropna(subset="score") if len(rows) else rows
    if rows.empty:
        return None
    rows = rows[rows["model"] == rows["model"].iloc[0]]
    measured = rows[rows["kind"] == "measured"]
    twice = next(rows[(rows["kind"] == "extrapolated") & (rows["times"] == _TWICE)].itertuples(), None)
    low, high, score = (twice.low, twice.high, twice.score) if twice else [float("nan")] * 3
    pairs = list(zip(measured["n_train"], measured["score"], strict=True))
    about = {"model": rows["model"].iloc[0], "metric_name": METRICS[LEAD].name, "measured": pairs}
    is_bound = "limit" in rows and bool((rows["limit"] >= 1).all())
    last = pairs[-1][1] if pairs else float("nan")
    about |= {"metric": LEAD, "last": last, "compared": (compared := _compared(name, rows, facts))}
    return SimpleNamespace(**about, low=low, high=high, twice=score, refit=abs(last - compared), is_bound=is_bound)


def _compared(name: str, rows: pd.DataFrame, facts: Facts) -> float:
    """Return the score of the same model, training parts and labels in the comparison; NaN if there is none."""
    curves, repeats = facts.study.weak_labels.sample_curves, facts.study.folds.n_repeats
    if curves.missing_rate or curves.n_repeats != repeats or not (rows["times"] == 1).any():
        return float("nan")
    found = facts.of(RECOMMENDATION, name, metric=LEAD, model=rows["model"].iloc[0], missing_rate=0)
    return float(found["observed"].iloc[0]) if len(found) else float("nan")


def _decided(name: str, facts: Facts) -> Any:
    """Return the row of the best model by the score of decisions, which has an interval, or None."""
    rows = facts.of(RECOMMENDATION, name, metric=DECIDING, model=facts.bests.get(name))
    return next(rows.dropna(subset="low").itertuples(), None) if len(rows) else None


def _detected(name: str, facts: Facts) -> SimpleNamespace | None:
    """Return the differences that the test finds, and the worst model that is not significantly different."""
    answer = facts.answers.get(name)
    rows = facts.of(RECOMMENDATION, name, metric=answer.metric) if answer else pd.DataFrame()
    if answer is None or "detectable" not in rows:
        return None
    rows = rows[rows["model"].isin(answer.alike)].dropna(subset="detectable")
    if rows.empty:
        return None
    worst, low, high = rows.loc[rows["difference"].idxmax()], rows["detectable"].min(), rows["detectable"].max()
    about = {"low": f"{low:.3f}", "high": f"{high:.3f}", "n": int(worst["n_folds"]), "model": worst["model"]}
    return SimpleNamespace(**about, behind=f"{worst['difference']:.3f}")


def _calibration(name: str, facts: Facts) -> SimpleNamespace | None:
    """Return the mean error of probabilities of the final model, or of the best one, for observed labels."""
    model = facts.finals.get(name, facts.bests.get(name))
    rows = facts.of(f"tables/reliability/{name}.csv", name, model=model)
    if rows.empty:
        return None
    error = ((rows["probability"] - rows["share"]).abs() * rows["n"]).sum() / rows["n"].sum()
    return SimpleNamespace(model=model, error=error)


def _random_tests(name: str, facts: Facts) -> list[Any]:
    """Return the tests of whether labels are missing at random that were possible."""
    table = facts.of("tables/scar_tests.csv", name)
    return list(table.dropna(subset="p_value").itertuples()) if len(table) else []


def _rate_if_hard(name: str, facts: Facts) -> float | None:
    """Return the highest missing rate if hard positives are missing more often, in percent."""
    table = facts.of("tables/scar_tests.csv", name)
    rates = table["rate_high_if_hard"].dropna() if "rate_high_if_hard" in table else []
    return float(max(rates)) if len(rates) else None


def _hidden(name: str, facts: Facts) -> list[SimpleNamespace]:
    """Return the number of positives that were hidden at each rate."""
    rates = facts.of("tables/missing_rates.csv", name)
    if "hidden_share" not in rates or facts.outcomes.empty:
        return []
    n = facts.of(facts.outcomes, name)["positives"].sum()
    rows = rates[rates["hidden_rate"] > 0].dropna(subset="hidden_share").itertuples()
    return [SimpleNamespace(rate=f"{row.hidden_rate} %", n=n * row.hidden_share / 100) for row in rows]


def _frequencies(name: str, facts: Facts) -> list[SimpleNamespace]:
    """Return the mean label frequencies that corrected deep forests estimated from the labels of the data."""
    table = facts.of("tables/label_frequencies.csv", name)
    if "estimated" not in table:
        return []
    table = table[(table["missing_rate"] == 0) & table["model"].str.endswith("+")]
    means = table.groupby("model", sort=False)["estimated"].mean().round(6)
    groups = means.groupby(means, sort=False).groups.items()
    return [SimpleNamespace(models=listed([*models]), mean=mean) for mean, models in groups]


def _is_rate_estimated(name: str, facts: Facts) -> bool:
    """Return whether labels are incomplete at an unknown rate, without or with hidden positives."""
    state, is_known = facts.labels_are[name], _own(name, facts).missing_rate is not None
    is_tried = state == "unknown" and any(facts.study.weak_labels.missing_rates)
    return is_tried or (state == "incomplete" and not is_known)


def _by_labels(facts: Facts) -> dict[str, list[str]]:
    """Group datasets by the state of their labels, and by the labels of their scores."""
    states, estimated = facts.labels_are, facts.estimated
    corrected = [name for name in facts.finals if states[name] == "incomplete" or name in facts.checked]
    return {
        "confirmed": [name for name, state in states.items() if state == "complete"],
        "not_complete": [name for name, state in states.items() if state != "complete"],
        "unknown": [name for name, state in states.items() if state == "unknown"],
        "bounded": [name for name, state in states.items() if state == "unknown" and name not in facts.checked],
        "rate_estimated": (own_rates := [name for name in states if _is_rate_estimated(name, facts)]),
        "asks_others": [name for name in own_rates if not _hierarchy_of(name, facts)],
        "estimated": estimated,
        "as_given": [name for name in states if name not in estimated],
        "corrected_finals": [name for name in corrected if facts.finals[name].endswith("+")],
    }


def _changes(name: str, facts: Facts) -> list[str]:
    """Describe the rows before which features or labels change more than in rows of random order."""
    path = f"tables/audit_rows/{name}.csv"
    table = facts.table(path)
    if not {"is_point", "change"} <= {*table}:
        return []
    points = table[table["is_point"].astype(bool) & (table["change"] > 1)]
    return [
        f"{row.kind.capitalize()} change before row {row.row}, by {row.change:.2f} times the 95 % limit of rows in "
        f"random order (results/{path})."
        for row in points.itertuples()
    ]


def _values(facts: Facts) -> dict[str, Any]:
    if "values" not in facts.memo:
        facts.memo["values"] = _gather(facts)
    return facts.memo["values"]


def _gather(facts: Facts) -> dict[str, Any]:
    """Return the values of all templates."""
    study, sizes = facts.study, {name: size for name in facts.datasets if (size := facts.size(name))}
    score = study.weak_labels.scoring
    tests, rates = facts.table(RECOMMENDATION), facts.table("tables/missing_rates.csv")
    intervals = facts.table("tables/complete_scores.csv")
    names = [each.name for each in facts.sources if each.path and each.dataset]
    has = {"data": sizes, "scores": len(facts.table(SCORES)), "final": facts.finals, "files": names}
    has["scored_fits"] = has["scores"] and facts.table(SCORES)["value"].notna().any()
    own = {name: facts.own[name] for name in facts.datasets if name in facts.own}
    hidden = rates[rates["hidden_rate"] > 0] if "hidden_share" in rates and len(sizes) == 1 else rates[:0]
    return {
        "config": study,
        "finals": facts.finals,
        "names": names,
        "version": __version__,
        **_models(facts),
        "datasets": facts.datasets,
        "of_dataset": {name: _of_dataset(name, facts) for name in sizes},
        "bests": facts.bests,
        "has": has
        | {
            "machine": facts.is_recorded,
            "intervals": len(intervals) and intervals["low"].notna().any(),
            "tests": len(tests),
        },
        "new_tables": [*study.weak_labels.elsewhere.predict_on],
        "is_of_catalog": any(each.path is None for each in facts.sources),
        "public": {each.dataset: each.public for each in facts.sources if each.public},
        "densities": {name: size["label_density"] for name, size in sizes.items()},
        "scopes": [_scope(name, size, facts) for name, size in sizes.items()],
        "hidden_rates": [f"{rate} %" for rate in study.weak_labels.missing_rates if rate],
        **_by_labels(facts),
        "held": held_intervals(intervals, score),
        "held_others": _held_others(intervals, score),
        "quality": _quality(facts, score),
        "limits": facts.limits,
        "has_notes": len(notes_of(facts.hyperparameters)) > 0,
        "has_chances": "prob_best_better" in tests and tests["prob_best_better"].notna().any(),
        "forest_changes": _forest_changes(facts),
        "is_simultaneous": "difference_low" in tests and tests["difference_low"].notna().any(),
        "is_tested": len(tests) and tests["p_adjusted"].notna().any(),
        **_about_own(own),
        "typed": _typed(facts),
        "splits": [name for name in sizes if not (_own(name, facts).dates or _own(name, facts).folds)],
        "all_tested": sizes and all(_is_all_tested(name, facts) for name in sizes),
        "hidden_shares": [f"{share:.1f} %" for share in hidden.get("hidden_share", ())],
        "n_scores": int(tests["n_folds"].max()) if len(tests) else 0,
        **_fits(facts),
        "is_repeated": study.folds.n_splits * study.folds.n_repeats > 1,
        "n_draws": facts.n_draws,
        "n_hyperparameters": len(facts.hyperparameters),
        "has_file": facts.has,
        "source": facts.memo.get("source"),
        "figures": facts.memo.setdefault("figures", []),
        "is_recorded": facts.is_recorded,
        "few_positives": FEW_POSITIVES,
        "has_unmeasured": facts.outcomes["unmeasured"].any() if len(facts.outcomes) else False,
        "has_gaps": facts.predictors["missing"].any() if len(facts.predictors) else False,
        "state": state(facts),
        "is_finished": facts.missing.empty,
        "is_rare": bool(_rare_labels(facts)),
        "software": dict(facts.software.itertuples(index=False)),
        "costs": costs_sentence(gather_costs(facts.results / "benchmarks")),
        "decisive": METRICS[DECIDING].name,
        "deciding_metric": DECIDING,
        "checked": facts.checked,
        "certified": facts.certified,
        "held_out": facts.held_out,
        "certified_precision": f"{100 * PRECISION:g}",
        **_about_score(score),
        "is_estimated": facts.estimated and len(_tried(intervals, score)),
    }


def _fits(facts: Facts) -> dict[str, Any]:
    """Count the fits of the comparison, and name the other fits of the study."""
    scores, curves = facts.table(SCORES), facts.table("tables/sample_curves.csv")
    keys = ["dataset", "missing_rate", "model", "fold"]
    done = scores.dropna(subset="value")[keys].drop_duplicates() if len(scores) else pd.DataFrame(columns=keys)
    measured = curves[(curves["kind"] == "measured") & (curves["metric"] == LEAD)] if "kind" in curves else curves[:0]
    groups = measured.groupby(["dataset", "model"], sort=False) if len(measured) else ()
    precision = {name: facts.of(f"final/{name}/label_error_precision.csv", name) for name in facts.finals}
    chosen = {*facts.chosen_settings["dataset"]}
    folders = [f"tables/chosen_settings{_suffix(name, facts)}.csv" for name in facts.datasets if name in chosen]
    return {
        "n_fits": len(done),
        "reference": facts.reference,
        "chosen_files": folders,
        "shares": [f"{rate} %" for rate in sorted(done["missing_rate"].unique())],
        "curves": [
            {"dataset": dataset, "model": model, "n_fits": int(rows["n_folds"].sum())}
            for (dataset, model), rows in groups
        ],
        "hidden_of_final": {
            name: f"{rows['hidden_rate'].iloc[0]} %" if len(rows) else "a part" for name, rows in precision.items()
        },
        "has_own_reference": _has_own_reference(facts),
        "is_audited": any(facts.has(f"datasets/{name}.audit.csv") for name in facts.datasets),
        "more_fits": [path for path in _FURTHER_FITS if facts.has(path)],
    }


def _has_own_reference(facts: Facts) -> bool:
    """Return whether the model that estimates missing rates was fitted for this, to all labels or to some of many."""
    study, at_k = facts.study.weak_labels, facts.table("tables/scores_at_k_summary.csv")
    is_compared = facts.reference in study.models and 0 in study.missing_rates
    sizes = [facts.size(name) for name in (at_k["dataset"].unique() if len(at_k) else ())]
    return not is_compared or any(size is not None and size["n_labels"] > REFERENCE_LABELS for size in sizes)


def _suffix(name: str, facts: Facts) -> str:
    return f"-{name}" if len(facts.datasets) > 1 else ""


def _held_others(intervals: pd.DataFrame, score: str) -> list[str]:
    """Count the intervals of other metrics that contained the score on all labels."""
    held = {name: held_intervals(intervals, name) for name in BASIC_METRICS if name != score}
    found = []
    for name, kept in held.items():
        if len(kept):
            missed = sorted(intervals.loc[kept.index[~kept], "missing_rate"].unique())
            where = f", misses with {listed([f'{rate} %' for rate in missed])} hidden" if missed else ""
            found.append(f"{kept.sum()} of {len(kept)} ({METRICS[name].label}{where})")
    return found


def _quality(facts: Facts, score: str) -> list[SimpleNamespace]:
    """Return the width of intervals and the mean error of estimates of the leading score, by missing rate."""
    table = facts.table("tables/correction_quality.csv")
    if "width" not in table:
        return []
    rows = table[(table["metric"] == score) & (table["model"] == "all models") & (table["missing_rate"] > 0)]
    rows = rows.dropna(subset=["width", "bias_corrected"]).itertuples()
    return [
        SimpleNamespace(rate=f"{row.missing_rate} %", width=f"{row.width:.2f}", error=f"{row.bias_corrected:+.3f}")
        for row in rows
    ]


def _forest_changes(facts: Facts) -> list[str]:
    """Name the settings of forests that are not the defaults."""
    forest = facts.study.weak_labels.forest
    usual = type(forest)()
    return [f"{key} = {value}" for key, value in forest if value != getattr(usual, key)]


def _scope(name: str, size: Mapping[str, Any], facts: Facts) -> str:
    """Name the outcomes and the samples of a dataset."""
    names = facts.of(facts.outcomes, name)["label"].astype(str).tolist()
    labels = f"labels {_named(names)}".rstrip()
    return f"the {size['n_labels']:,} {labels} in the {size['n_samples']:,} samples of {name}"


def _typed(facts: Facts) -> dict[str, list[str]]:
    """Return the columns of text, categories and dates of each dataset, with their roles."""
    table = facts.table("tables/columns.csv")
    if table.empty:
        return {}
    table = table[table["kind"].str.startswith(OF_THESE)]
    found: dict[str, list[str]] = {}
    for row in table.itertuples():
        names = row.names if row.n_columns <= MOST_NAMES else f"{row.n_columns:,} columns"  # The table has the first.
        found.setdefault(row.dataset, []).append(f"{names} ({row.kind.removeprefix(OF_THESE)})")
    return found


def _about_own(own: Mapping[str, OwnDataset]) -> dict[str, Any]:
    """Describe settings of the user's own datasets."""
    return {
        "encoded": {name: each.categorical for name, each in own.items() if each.categorical},
        "weighted": {name: each.weights for name, each in own.items() if each.weights},
        "by_time": [name for name, each in own.items() if each.dates],
        "grouped": [name for name, each in own.items() if each.groups or each.groups_by_scaffold],
        "filtered": [name for name, each in own.items() if each.label_filter and each.label_filter.model_fields_set],
        "selected": [name for name, each in own.items() if each.samples and each.samples.only],
        "completed": [name for name, each in own.items() if each.labels.propagate],
    }


def _about_score(score: str) -> dict[str, Any]:
    """Describe the score of the study and the other metrics."""
    others = {name: metric for name, metric in BASIC_METRICS.items() if name != score}
    is_of_decisions = METRICS[score].use == "threshold"
    return {
        "lead": METRICS[score].label,
        "is_gain": METRICS[score].direction > 0,
        "is_by_default": score == LEAD,
        "is_correctable": METRICS[score].correction is not None,
        "is_of_decisions": is_of_decisions,
        "decides_for_score": score in FURTHER_METRICS and is_decided(score),
        "ranking": [metric.label for metric in others.values() if metric.use == "ranking"],
        "deciding": [metric.label for metric in others.values() if metric.use == "threshold"],
    }


def _models(facts: Facts) -> dict[str, Any]:
    """Describe the compared models by their specifications. Only models with a score count."""
    scores, texts = facts.table(SCORES), load_phrases("methods")
    has_score = set(scores.dropna(subset="value")["model"]) if len(scores) else set()
    names, own = facts.study.weak_labels.models, facts.study.models.own
    specs = {name: facts.spec_of(name) for name in names}
    scored = [name for name in names if name in has_score]

    def of(*traits: str) -> list[str]:
        return [name for name in scored if not {*traits}.isdisjoint(specs[name].traits)]

    return {
        "models": names,
        "scored": scored,
        "failed": [name for name in names if name not in has_score],
        "phrases": [phrase_of(name, facts) for name in names],
        "kinds": [f"{kind} ({listed(some)})" for kind in texts["baselines"] if (some := of(kind))],
        "has_forests": bool(of("forest", "one-level forest", *_WITH_LEVELS)),
        "corrected": [name for name in scored if name.endswith("+")],
        "plus": texts["plus"],
        "untuned": [name for kind in texts["baselines"] for name in of(kind) if not specs[name].is_tuned],
        "pools": [key for name in scored for key in specs[name].additions if key in _FEWER_TREES and _uses(key, facts)],
        "has_levels": bool(of(*_WITH_LEVELS)),
        "ways": texts["ways"],
        "of_folds": facts.of_folds,
        "tuned": [name for name, entry in own.items() if entry.tune and {name, f"{name}+"} & has_score],
        "published": of("levels by labels"),
        "final_gaps": _treatments(sorted({*facts.finals.values()}), facts),
        **_learned(scored, facts),
    }


def _learned(names: list[str], facts: Facts) -> dict[str, Any]:
    """Describe what models choose and learn, by the lists of ``methods.yaml``."""
    texts, specs = load_phrases("methods"), [facts.spec_of(name) for name in names]
    found = {key: _matching(texts[key], specs) for key in ("reasons", "categories", "scaling", "choices", "inside")}
    rounded = {"single": [], "close": [], **dict(_matching(texts["rounded"], specs))}
    return found | {"gaps": _treatments(names, facts), "rounded": rounded}


def _treatments(names: list[str], facts: Facts) -> dict[str, list[str]]:
    """Group models by their treatment of missing features."""
    found: dict[str, list[str]] = {way: [] for way in load_phrases("methods")["ways"]}
    for way, some in found.items():
        for spec in map(facts.spec_of, names):
            if f"{way} gaps" in spec.traits:
                some.append(f"{_PARTS[way]} {spec.name}" if spec.pools else spec.name)
    return found


def _matching(entries: list[list[Any]], specs: list[Any]) -> list[tuple[str, list[str]]]:
    """Return each text of a list of ``methods.yaml`` with the models that it describes."""
    found = [
        (text, [spec.name for spec in specs if not {*traits}.isdisjoint(_traits(spec))]) for text, traits in entries
    ]
    return [(text, some) for text, some in found if some]


def _traits(spec: Any) -> set[str]:
    implied = {"calibrated": spec.name.endswith("+"), "imputes": spec.imputes, "categories": spec.accepts_categories}
    return {*spec.traits, *[trait for trait, is_implied in implied.items() if is_implied]}


def phrase_of(name: str, facts: Facts) -> str:
    """Describe a model.

    Parameters
    ----------
    name : str
        Name of the model.
    facts : Facts
        Facts of the study, whose hyperparameters show the members of a pool.

    Returns
    -------
    str
        Name and description, with citations of the form ``[@key]``.
    """
    spec = facts.spec_of(name)
    phrase = spec.phrase
    for key, text in spec.additions.items():
        phrase = phrase.replace(f"{{{key}}}", text if _uses(key, facts) else "")
    return f"{name}, {phrase}"


def _uses(key: str, facts: Facts) -> bool:
    """Return whether a pool of the study uses the members of a parameter."""
    return bool(facts.hyperparameters["component"].str.startswith(f"{key} > ").any())


def _tried(scores: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return the estimates of a score on complete labels."""
    return scores if scores.empty else scores[scores["metric"] == score].dropna(subset=["low"])


def state(facts: Facts) -> list[str]:
    """Warn of an unfinished study, failures, few samples and rare labels.

    Parameters
    ----------
    facts : Facts
        Facts of the study.

    Returns
    -------
    list of str
        Sentences.
    """
    found = []
    if n := len(facts.missing):
        rules = listed(facts.missing["rule"].drop_duplicates().tolist())
        n_old = sum((facts.results.parent / path).is_file() for path in facts.missing["file"])
        files = f"{n} of {len(facts.jobs)} files are missing or outdated (steps {rules})"
        found.append(f"This study is unfinished: {files}. Missing parts are left out.")
        if n_old:
            found.append(
                f"{n_old} of these files come from older code, configuration or data, so their numbers may not match "
                "the methods. `fairfold study` computes them again."
            )
    scores = facts.table(SCORES)
    failures = failures_of(scores) if len(scores) else scores
    found += [
        f"{row.model} failed on {row.dataset} at a missing rate of {row.missing_rate} % in {row.times} "
        f"case{'s' if row.times != 1 else ''}: {_without_advice(row.reason)}."
        for row in failures[:_MOST_FAILURES].itertuples()
    ]
    if (more := len(failures) - _MOST_FAILURES) > 0:
        found.append(f"The report lists {more} more failures.")
    sizes = {name: size["n_samples"] for name in facts.datasets if (size := facts.size(name))}
    few = {name: n for name, n in sizes.items() if n < FEW_SAMPLES}
    found += [f"{name} has only {n} samples, so scores and ranks are uncertain." for name, n in few.items()]
    return [*found, *_rare_labels(facts)]


def _without_advice(reason: str) -> str:
    """Return the first sentence of a reason, without its period."""
    return re.split(r"[.] (?=[A-Z])", reason)[0].rstrip(".")


def _rare_labels(facts: Facts) -> list[str]:
    found = []
    rare = facts.outcomes[facts.outcomes["positives"] < FEW_POSITIVES] if len(facts.outcomes) else facts.outcomes
    for name, table in rare.groupby("dataset", sort=False):
        named = _named([f"{row.label} ({row.positives})" for row in table.itertuples()], f"{len(table)} labels")
        found.append(
            f"Labels of {name} with fewer than {FEW_POSITIVES} positives, whose scores are uncertain: {named}."
        )
    return found
