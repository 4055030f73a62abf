"""Tables 1, 2, 4 and 5, Equation 2, and numbers in Figure 5 and the text of Parry, Phan & Wang (2012)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fairfold.papers.published.rows import Tables, joined, missing_reason, notes_of, with_distances, with_results

if TYPE_CHECKING:
    from fairfold.settings import Study
    from fairfold.win_percentage.settings import WinPercentage

PAPER = "Parry, Phan & Wang (2012)"
_REPEATS = 20  # cross-validations of Table 1
_TABLE_1_DATASET = "breast-pcr"
_ANY_DATASET = "not computed here: win_percentage.datasets needs a dataset"
_EXAMPLE_SETS = 10_000  # feature sets of each estimate of the example (Figure 3)
_BY_EQUATION_2 = "standard error of where curves of 10,000 feature sets cross, by Equation 2"
_SMALL_ERROR = 0.01  # small error in the text below Equation 2
_TABLES = "tables/win_percentage"
_NONLINEAR = {"SDA", "UDA", "QDA"}  # classifiers with a variance or covariance per class
_TABLES_OF_TEXT = {
    "Table 4": "classifiers",
    "illustrative example": "illustration",
    "Equation 2": "sampling_law",
    "synthetic study": "sampling_errors",
    "Figure 5": "win_percentages",
}


def compare_best_pairs(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare the performance of the six classifiers on six pairs of probes, and the marks of the best ones (Table 1).

    Parameters
    ----------
    published : DataFrame
        Columns ``probe_1, probe_2, classifier, value, is_marked``. The best classifier of a pair is marked, and each
        one that is not significantly worse.
    ours : mapping of str to DataFrame
        ``best_pairs`` is the table of :func:`fairfold.papers.win_percentage_top_pairs.reevaluate_pairs`. It contains a
        pair only if the pair is among our best ones. The order of the probes does not matter.
    study : Study
        Configuration with the datasets and the number of cross-validations.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`.
    """
    wins = study.win_percentage
    best = ours.get("best_pairs", pd.DataFrame())
    best = best[best["dataset"] == _TABLE_1_DATASET] if len(best) else best
    if len(best):
        best = best.assign(pair=_pairs(best, "feature_1", "feature_2"))
    theirs = published.assign(pair=_pairs(published, "probe_1", "probe_2"))
    found = ["performance", "standard_deviation", "is_best", "is_significant"]
    both = with_results(theirs, best, ["pair", "classifier"], found)
    n_pairs, n_repeats = wins.reevaluation.n_pairs, wins.reevaluation.n_repeats
    absent = missing_reason({"win_percentage.datasets": (_TABLE_1_DATASET, wins.datasets)})
    absent = absent or f"the pair is not among the {n_pairs} best here"
    note = pd.Series(f"other folds; {n_repeats} cross-validations, published {_REPEATS}", index=both.index)
    both = both.assign(
        place="Table 1",
        what=both["probe_1"] + " and " + both["probe_2"] + ", " + both["classifier"],
        file=f"win_percentage/{_TABLE_1_DATASET}/best_pairs.csv",
        note=note.where(both["performance"].notna(), absent),
    )
    scatter = both["standard_deviation"] * np.sqrt(1 / _REPEATS + 1 / n_repeats)
    performances = both.assign(published=both["value"], ours=both["performance"], scatter=scatter)
    is_marked = (both["is_best"].eq(True) | both["is_significant"].eq(False)).where(both["is_best"].notna())
    marks = both.assign(published=both["is_marked"], ours=is_marked.astype(float), scatter=np.nan)
    marks["what"] += ", marked as not below the best (1: yes)"
    return with_distances(pd.concat([performances, marks], ignore_index=True), PAPER)


def compare_draws(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare the shares p of good feature sets (Table 2), which have a closed form.

    Parameters
    ----------
    published : DataFrame
        Columns ``epsilon, n_draws, value``.
    ours : mapping of str to DataFrame
        ``draws_needed`` has the columns ``epsilon, n_draws, p``.
    study : Study
        Ignored.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`.
    """
    theirs = published.astype({"epsilon": float, "n_draws": int})
    both = with_results(theirs, ours.get("draws_needed"), ["epsilon", "n_draws"], ["p"])
    what = "p of " + both["n_draws"].astype(str) + " draws, epsilon " + published["epsilon"]
    note, file = np.where(both["p"].isna(), _ANY_DATASET, ""), f"{_TABLES}/draws_needed.csv"
    return with_distances(both, PAPER, place="Table 2", what=what, ours=both["p"], file=file, note=note)


def compare_endpoints(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare the numbers of features, Gaussian features and pairs of the eight endpoints (Table 5).

    Parameters
    ----------
    published : DataFrame
        Columns ``panel, dataset, quantity, value``.
    ours : mapping of str to DataFrame
        ``pairs_of_datasets`` contains rows of :func:`fairfold.papers.win_percentage_tables.dataset_row`.
    study : Study
        Configuration with the datasets.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`.
    """
    wide = ours.get("pairs_of_datasets")
    quantities = ["n_features", "n_gaussian", "n_pairs"]
    long = None if wide is None else wide.melt("dataset", quantities, var_name="quantity", value_name="ours")
    both = with_results(published, long, ["dataset", "quantity"], ["ours"])
    used = study.win_percentage.datasets
    absent = [missing_reason({"win_percentage.datasets": (name, used)}) for name in both["dataset"]]
    multiple = study.win_percentage.kurtosis_multiple
    text = f"kurtosis within {multiple:g} standard errors; the published multiple is not printed"
    return with_distances(
        both,
        PAPER,
        place="Table 5",
        what="panel " + joined(both, ["panel", "dataset", "quantity"]),
        file=f"{_TABLES}/datasets.csv",
        note=np.where(both["ours"].isna(), absent, np.where(both["quantity"] == "n_features", "", text)),
    )


def compare_text(published: pd.DataFrame, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare Table 4, the leaders of the example, Equation 2, the synthetic study and the leaders in Figure 5.

    Parameters
    ----------
    published : DataFrame
        Columns ``place, what, value, note``.
    ours : mapping of str to DataFrame
        ``classifiers``, ``illustration``, ``sampling_law``, ``sampling_errors`` and ``win_percentages``, all optional.
    study : Study
        Configuration with the sample sizes.

    Returns
    -------
    DataFrame
        Rows of :func:`~fairfold.papers.published.rows.with_distances`.
    """
    found: dict[str, float] = {}
    for name, numbers_of in _NUMBERS_OF.items():
        if name in ours:
            found |= numbers_of(ours[name])
    values = published["what"].map(found).astype(float)
    wins = study.win_percentage
    sizes = ", ".join(map(str, wins.sampling.n_sampled))
    sources = ", ".join(["synthetic", *wins.datasets])
    how = f"theirs over the eight endpoints, ours over {sources}; M = {sizes}, at most all pairs"
    text = notes_of(published["note"], published["place"].map({"Equation 2": how}), index=published.index)
    absent = [_absent(what, wins) for what in published["what"]]
    errors = published["what"].map(_crossing_errors(ours, published)).astype(float)
    text = notes_of(text, errors.map(lambda error: _BY_EQUATION_2 if np.isfinite(error) else ""), index=published.index)
    files = f"{_TABLES}/" + published["place"].map(_TABLES_OF_TEXT) + ".csv"
    note = text.where(values.notna(), absent)
    return with_distances(published, PAPER, ours=values, scatter=errors, file=files, note=note)


def _pairs(table: pd.DataFrame, first: str, second: str) -> list[str]:
    return [" ".join(sorted(map(str, pair))) for pair in zip(table[first], table[second], strict=True)]


def _absent(what: str, wins: WinPercentage) -> str:
    """Return the reason for a number of the text without a counterpart."""
    if what.startswith(("rank", "a nonlinear", "LDA")):
        return missing_reason({"win_percentage.datasets": (what.rpartition(", ")[2], wins.datasets)})
    if what.startswith("RMSE") and wins.datasets:
        size = int(what.rpartition("= ")[2])
        return missing_reason({"win_percentage.sampling.n_sampled": (size, wins.sampling.n_sampled)})
    return _ANY_DATASET


def _degrees(classifiers: pd.DataFrame) -> dict[str, float]:
    degrees = classifiers.set_index("classifier")["degrees_of_freedom"]
    return {f"degrees of freedom, {name}": number for name, number in degrees.items()}


def _leaders(illustration: pd.DataFrame) -> dict[str, float]:
    """Compute the first and last number of draws at which each classifier of the example leads, from N = 2 on."""
    curves = illustration.pivot(index="n_draws", columns="classifier", values="win_percentage")
    leader = curves.loc[2:].idxmax(axis=1)
    draws = leader.index.to_series().groupby(leader)
    first = {f"first N that {name} leads": number for name, number in draws.min().items()}
    return first | {f"last N that {name} leads": number for name, number in draws.max().items()}


def _crossing_errors(ours: Tables, published: pd.DataFrame) -> dict[str, float]:
    """Estimate the standard errors of the numbers of draws at which the lead changes, if they are read off estimates.

    The error of the gap between the two win percentages is divided by the change of the gap per draw. Both win
    percentages have the error of Equation 2, and the two errors are taken as independent.
    """
    law = published.set_index("what")["value"].reindex(["factor", "exponent"]).astype(float)
    if "illustration" not in ours or law.isna().any():
        return {}
    curves = ours["illustration"].pivot(index="n_draws", columns="classifier", values="win_percentage")
    leader = curves.loc[2:].idxmax(axis=1)
    errors: dict[str, float] = {}
    for last, following in zip(leader.index, leader.index[1:], strict=False):
        before, after = leader[last], leader[following]
        if before != after:
            gap = curves[after] - curves[before]
            slope = (gap[following] - gap[last]) / (following - last)
            error = law["factor"] * (last / _EXAMPLE_SETS) ** law["exponent"] * np.sqrt(2) / slope
            errors |= {f"last N that {before} leads": error, f"first N that {after} leads": error}
    return errors


def _law(laws: pd.DataFrame) -> dict[str, float]:
    """Return factor a and exponent b of a (N / M)^b over all sources, and the least M / N for an error below 1 %."""
    factor, exponent = laws.set_index("source").loc["all", ["factor", "exponent"]]
    least = (factor / _SMALL_ERROR) ** (1 / exponent)
    return {"factor": factor, "exponent": exponent, "least M/N for an error below 1 %": least}


def _synthetic_errors(errors: pd.DataFrame) -> dict[str, float]:
    """Compute the root mean squared error over all numbers of draws, in percent, by sample size."""
    errors = errors.query("source == 'synthetic'")
    squares = (errors["rmse"] ** 2).groupby(errors["n_sampled"]).mean()
    return {f"RMSE in percent at M = {size}": 100 * square**0.5 for size, square in squares.items()}


def _figure_5(wins: pd.DataFrame) -> dict[str, float]:
    """Compute the leaders of each dataset for a single draw, and whether LDA wins too often up to 1e5 draws."""
    first = wins.query("n_draws == 1")
    ranks = first.groupby("dataset")["win_percentage"].rank(ascending=False, method="min")
    nearest = first["classifier"] == "NC"
    found = dict(zip("rank of NC at N = 1, " + first.loc[nearest, "dataset"], ranks[nearest], strict=True))
    leaders = first[ranks == 1].groupby("dataset")["classifier"].agg(lambda names: {*names} <= _NONLINEAR)
    found |= {f"a nonlinear classifier leads at N = 1, {name}": float(holds) for name, holds in leaders.items()}
    up_to = wins.query("classifier == 'LDA' and n_draws <= 100_000")
    is_high = (up_to["win_percentage"] > up_to["null_upper"]).groupby(up_to["dataset"]).all()
    return found | {f"LDA is significantly high for N up to 1e5, {name}": float(yes) for name, yes in is_high.items()}


_NUMBERS_OF: Mapping[str, Callable[[pd.DataFrame], dict[str, float]]] = {
    "classifiers": _degrees,
    "illustration": _leaders,
    "sampling_law": _law,
    "sampling_errors": _synthetic_errors,
    "win_percentages": _figure_5,
}
