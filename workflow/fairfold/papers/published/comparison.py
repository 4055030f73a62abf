"""Compare all published numbers with the results of the study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from fairfold.core.files import read_table
from fairfold.datasets.catalog import load_catalog
from fairfold.papers.published import cross_testing, ecoc, splitting, weak_label_claims, weak_labels, win_percentage
from fairfold.papers.published.rows import COLUMNS, Tables, by_distance

if TYPE_CHECKING:
    from fairfold.settings import Study

# File of resources/published -> function that adds our numbers
_PREFIX = "published_"
COMPARISONS: Mapping[str, Callable[[pd.DataFrame, Tables, Study], pd.DataFrame]] = {
    "splitting_table1": splitting.compare_label_matrices,
    "splitting_table2": splitting.compare_splits,
    "split_quality": splitting.compare_packages,
    "weak_labels": weak_labels.compare_scores,
    "weak_labels_text": weak_label_claims.compare_claims,
    "weak_labels_seconds": weak_labels.compare_seconds,
    "cross_testing": cross_testing.compare_figures,
    "cross_testing_claims": cross_testing.compare_claims,
    "cross_testing_text": cross_testing.compare_sizes,
    "win_percentage_table1": win_percentage.compare_best_pairs,
    "win_percentage_table2": win_percentage.compare_draws,
    "win_percentage_table5": win_percentage.compare_endpoints,
    "win_percentage_text": win_percentage.compare_text,
    "ecoc_examples": ecoc.compare_examples,
    "ecoc_arrhythmia": ecoc.compare_classes,
}
# Name in the comparisons -> our table
OUR_TABLES: Mapping[str, str] = {
    "label_matrices": "tables/label_matrices.csv",
    "splits": "tables/split_summary.csv",
    "scores": "tables/weak_label_scores.csv",
    "pairs_of_datasets": "tables/win_percentage/datasets.csv",
    "best_pairs": "tables/win_percentage/best_pairs.csv",
    "draws_needed": "tables/win_percentage/draws_needed.csv",
    "classifiers": "tables/win_percentage/classifiers.csv",
    "illustration": "tables/win_percentage/illustration.csv",
    "win_percentages": "tables/win_percentage/win_percentages.csv",
    "sampling_law": "tables/win_percentage/sampling_law.csv",
    "sampling_errors": "tables/win_percentage/sampling_errors.csv",
    "arrhythmia_classes": "tables/ecoc/arrhythmia_classes.csv",
}


def compare_published(published: Tables, ours: Tables, study: Study) -> pd.DataFrame:
    """Compare each published number with ours, starting with the largest differences.

    Parameters
    ----------
    published : mapping of str to DataFrame
        Published tables by the keys of ``COMPARISONS``, as printed text.
    ours : mapping of str to DataFrame
        Tables of the study. The functions in ``COMPARISONS`` document the names. Tables outside the configuration are
        missing.
    study : Study
        Configuration of the study. Notes describe differences from the published setting.

    Returns
    -------
    DataFrame
        Columns ``paper, place, what, published, ours, standard_error, difference_in_se, difference_in_digits, file,
        note``, see :func:`~fairfold.papers.published.rows.with_distances`. ``file`` is relative to ``results`` and is
        the Snakemake target that recomputes our number. Numbers without a counterpart are last; their note contains the
        configuration key that needs a value.
    """
    if "weak_labels" in published:
        ours = {**ours, "scores_of_authors": published["weak_labels"]}
    tables = [compare(published[name], ours, study) for name, compare in COMPARISONS.items() if name in published]
    comparison = pd.DataFrame([row for table in tables for row in table.to_dict("records")], columns=COLUMNS)
    for dataset in study.data.left_out:
        notes, ending = comparison["note"], f" needs {dataset}"
        text = notes.str.removesuffix(ending) + f" lacks {dataset}, which is left out (tables/unavailable.csv)"
        comparison["note"] = notes.mask(notes.str.startswith("not computed here") & notes.str.endswith(ending), text)
    return by_distance(comparison)


def compare_files(files: Mapping[str, str | Sequence[str]], study: Study) -> pd.DataFrame:
    """Compare published numbers with the results of a study.

    Parameters
    ----------
    files : mapping of str to str or sequence of str
        Tables of :func:`compare_published` by name, with the prefix ``published_`` for published ones. Other files are
        ``config`` and those without a path.
    study : Study
        Configuration of the study.

    Returns
    -------
    DataFrame
        Table of :func:`compare_published`.
    """
    present = {name: paths for name, paths in files.items() if name != "config" and paths}
    published = {
        name.removeprefix(_PREFIX): pd.read_csv(path, dtype=str, keep_default_na=False)
        for name, path in present.items()
        if name.startswith(_PREFIX)
    }
    ours = {
        name: pd.concat(map(read_table, [paths] if isinstance(paths, str) else paths), ignore_index=True)
        for name, paths in present.items()
        if not name.startswith(_PREFIX)
    }
    ours["sizes"] = pd.DataFrame([{"dataset": name, **entry.expected} for name, entry in load_catalog().items()])
    return compare_published(published, ours, study)
