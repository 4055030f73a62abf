"""Sentences on the data of a study, for the methods section and the checklists.

Each function takes the facts of a study and returns sentences, or an empty list if the study does not support any.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairfold.errors import shortened
from fairfold.report.publish.facts import FEW_POSITIVES, Facts

_NAMED = 10  # labels or columns listed in a sentence
_ROLES = {"id": "identifier", "groups": "groups", "weights": "sample weights", "dates": "dates", "folds": "folds"}
_DUPLICATES = ("duplicated rows", "near duplicates", "order dependence")
_LEAKS = ("leak", "equal to a label", "complement of a label", "predicts a label")


def dataset(facts: Facts) -> list[str]:
    """Describe the files and their sizes."""
    return [sentence for name in facts.datasets for sentence in _dataset(name, facts)]


def _dataset(name: str, facts: Facts) -> Iterator[str]:
    if (size := facts.size(name)) is None:
        return
    own = name in facts.own
    files = [f"{each.name.rsplit('/', 1)[-1]}, SHA-256 {each.sha256}" for each in facts.sources if each.dataset == name]
    where = f" ({'; '.join(files)})" if own else ""
    yield (
        f"The dataset {name}{where} has {size['n_samples']:,} samples, {size['n_features']:,} features and "
        f"{size['n_labels']:,} labels."
    )
    yield f"A sample has {size['label_cardinality']:.2f} positive labels on average."
    yield from (f"{name}: {each.about}." for each in facts.sources if each.dataset == name and each.about)


def availability(facts: Facts) -> list[str]:
    """Describe where the data are."""
    files = [each for each in facts.sources if each.path is not None]
    sentences = []
    if files and facts.config["publish"]["with_data"]:
        sentences.append(f"The data are in this folder: {shortened([each.name for each in files])}.")
    elif files:
        sentences.append("The data are not in this folder. Their SHA-256 checksums identify the files.")
    if any(each.path is None for each in facts.sources):
        sentences.append("fairfold downloads or generates the datasets of its catalog and verifies their checksums.")
    if address := facts.config["publish"]["data_address"]:
        sentences.append(f"The data are available from {address}.")
    return sentences


def outcomes(facts: Facts) -> list[str]:
    """Describe the labels."""
    found = []
    for name, table in facts.outcomes.groupby("dataset", sort=False):
        labels, counts = table["label"].astype(str).tolist(), table["positives"]
        found.append(f"The outcomes of {name} are {len(labels)} labels of 0 and 1: {shortened(labels, _NAMED)}.")
        found.append(
            f"A label has {counts.min():,} to {counts.max():,} positives, with a median of {counts.median():,.0f}."
        )
    return found


def sizes(facts: Facts) -> list[str]:
    """Describe the number of samples and the frequency of the labels."""
    found = []
    for name, table in facts.outcomes.groupby("dataset", sort=False):
        positives, negatives = table["positives"].sum(), table["negatives"].sum()
        size = facts.size(str(name)) or {"n_samples": 0}
        found.append(
            f"{name} has {size['n_samples']:,} samples. Of {positives + negatives:,} measured label cells, "
            f"{positives:,} ({_percent(positives, positives + negatives)}) are positive."
        )
    return found


def missing_cells(facts: Facts) -> list[str]:
    """Describe the share of missing features and labels."""
    found = []
    for name, table in facts.outcomes.groupby("dataset", sort=False):
        n_samples = (facts.size(str(name)) or {"n_samples": 0})["n_samples"]
        gaps = facts.predictors.loc[facts.predictors["dataset"] == name, "missing"]
        unmeasured = table["unmeasured"].sum()
        found.append(
            f"Of the feature cells of {name}, {_percent(gaps.sum(), n_samples * len(gaps))} are missing: "
            f"{100 * table['missing_if_positive'].mean():.1f} % of those of samples with a label and "
            f"{100 * table['missing_if_negative'].mean():.1f} % of those without it (means over labels)."
        )
        found.append(f"Of the label cells, {_percent(unmeasured, n_samples * len(table))} are unmeasured.")
    return found


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none"


def excluded(facts: Facts) -> list[str]:
    """Describe excluded samples, labels and columns."""
    found = []
    for name in (name for name in facts.datasets if facts.size(name)):
        own = facts.own.get(name, {})
        if chosen := own.get("samples", {}).get("only"):
            found.append(f"The study of {name} uses the samples with these characteristics: {chosen}.")
        else:
            found.append(f"No sample of {name} was excluded.")
        if bounds := own.get("label_filter"):
            limits = ", ".join(f"{key} {value}" for key, value in bounds.items())
            found.append(f"Labels of {name} outside of these limits were excluded: {limits}.")
        if ignored := own.get("ignore"):
            found.append(f"Columns not used: {shortened(ignored, _NAMED)}.")
    return found


def corrupt(facts: Facts) -> list[str]:
    """Describe the treatment of cells that cannot be read."""
    if not any(name in facts.own and facts.size(name) for name in facts.datasets):
        return []
    return [
        "A cell that is neither empty nor a number, an infinite number, and a label other than 0, 1 or empty stop a "
        "study with the row and the column, so no such cell was used."
    ]


def audit(facts: Facts) -> list[str]:
    """Describe the findings of the audit."""
    found = []
    for name in (name for name in facts.datasets if name in facts.own):
        if not (facts.results / f"datasets/{name}.audit.csv").is_file():
            continue
        table = facts.table(f"datasets/{name}.audit.csv")
        counts = table["severity"].value_counts() if len(table) else {}
        errors, warnings = (counts.get(kind, 0) for kind in ("error", "warning"))
        found.append(f"The audit of {name} found {errors or 'no'} errors and {warnings or 'no'} warnings.")
        shown = table[table["severity"].isin(["error", "warning"])] if len(table) else table
        found += [f"{row.severity.capitalize()}: {row.message}." for row in shown.itertuples()]
    return found


def duplicates(facts: Facts) -> list[str]:
    """Describe findings on copies of samples."""
    return _findings(facts, _DUPLICATES, "no copies of rows")


def leaks(facts: Facts) -> list[str]:
    """Describe findings on features that contain a label."""
    return _findings(facts, _LEAKS, "no feature that equals or separates a label")


def _findings(facts: Facts, checks: tuple[str, ...], none: str) -> list[str]:
    found = []
    for name in facts.datasets:
        path = f"datasets/{name}.audit.csv"
        if name in facts.own and (facts.results / path).is_file():
            table = facts.table(path)
            rows = table[table["check"].isin(checks)] if len(table) else table
            found += [f"Audit of {name}: {row.message}." for row in rows.itertuples()]
            found += [f"The audit of {name} found {none}."] * rows.empty
    return found


def predictors(facts: Facts) -> list[str]:
    """Describe the choice of features."""
    found = []
    for name in (name for name in facts.datasets if facts.size(name)):
        own = facts.own.get(name, {})
        roles = [f"{own[key]} ({role})" for key, role in _ROLES.items() if own.get(key)]
        others = [*roles, *own.get("ignore", ())]
        besides = f" The columns {shortened(others, _NAMED)} were not used as features." if others else ""
        n_features = (facts.size(name) or {})["n_features"]
        found.append(f"All {n_features:,} features of {name} were used, without preselection by the labels.{besides}")
    return found


def characteristics(facts: Facts) -> list[str]:
    """Name the table of features."""
    if facts.predictors.empty:
        return []
    return [
        "The table of predictors lists the mean, the standard deviation, the quartiles and the number of missing cells "
        "of each feature."
    ]


def dependencies(facts: Facts) -> list[str]:
    """Describe the treatment of dependent samples."""
    found = []
    for name in (name for name in facts.datasets if facts.size(name)):
        own = facts.own.get(name, {})
        if column := own.get("groups"):
            found.append(f"All samples of {name} with the same value of the column {column} are in the same fold.")
        elif own.get("dates"):
            found.append(f"Models of {name} learn from earlier samples only and are tested on later ones.")
        else:
            found.append(f"{name} names no groups, so its samples were treated as independent.")
    return found


def rare_labels(facts: Facts) -> list[str]:
    """Name the labels with few positives."""
    found = []
    for name, table in facts.outcomes.groupby("dataset", sort=False):
        rare = table[table["positives"] < FEW_POSITIVES]
        named = [f"{row.label} ({row.positives})" for row in rare.itertuples()]
        if named:
            found.append(
                f"Labels of {name} with fewer than {FEW_POSITIVES} positives, whose scores are uncertain: "
                f"{shortened(named, _NAMED)}."
            )
    return found
