"""Compare all published numbers with the results of the study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from fairfold.papers.published import cross_testing, ecoc, splitting, weak_label_claims, weak_labels, win_percentage
from fairfold.papers.published.rows import COLUMNS, Tables, by_distance

# File of resources/published -> what puts ours beside it
COMPARISONS: Mapping[str, Callable[[pd.DataFrame, Tables, Mapping[str, Any]], pd.DataFrame]] = {
    "splitting_table1": splitting.compare_label_matrices,
    "splitting_table2": splitting.compare_splits,
    "split_quality": splitting.compare_packages,
    "weak_labels": weak_labels.compare_scores,
    "weak_labels_text": weak_label_claims.compare_claims,
    "weak_labels_seconds": weak_labels.compare_seconds,
    "cross_testing": cross_testing.compare_figures,
    "cross_testing_text": cross_testing.compare_sizes,
    "win_percentage_table1": win_percentage.compare_best_pairs,
    "win_percentage_table2": win_percentage.compare_draws,
    "win_percentage_table5": win_percentage.compare_endpoints,
    "win_percentage_text": win_percentage.compare_text,
    "ecoc_examples": ecoc.compare_examples,
    "ecoc_arrhythmia": ecoc.compare_classes,
}


def compare_published(published: Tables, ours: Tables, config: Mapping[str, Any]) -> pd.DataFrame:
    """Each published number beside ours, whether or not they agree, the most different ones first.

    Parameters
    ----------
    published : tables by the keys of ``COMPARISONS``, all of text, as printed.
    ours : the study's tables, by the names that the functions of ``COMPARISONS`` explain; those that the configuration
        does not make are not there.
    config : the study's configuration; ``note`` says where it departs from the published setting.

    Returns
    -------
    DataFrame with the columns ``paper, place, what, published, ours, standard_error, difference_in_se,
    difference_in_digits, file, note``
        ``standard_error`` is that of the difference, and ``difference_in_se`` ours minus published in these; where our
        number does not scatter, ``difference_in_digits`` has it in units of the last printed digit. ``file``, below
        ``results``, is what ours is read from, and what Snakemake is asked for to make it again. Numbers without a
        counterpart stand last, and their note names the key of the configuration that lacks it.
    """
    if "weak_labels" in published:
        ours = {**ours, "scores_of_authors": published["weak_labels"]}
    tables = [compare(published[name], ours, config) for name, compare in COMPARISONS.items() if name in published]
    rows = [row for table in tables for row in table.to_dict("records")]
    comparison = pd.DataFrame(rows, columns=COLUMNS)
    for dataset in config["data"].get("left_out", ()):
        notes, ending = comparison["note"], f" needs {dataset}"
        told = notes.str.removesuffix(ending) + f" lacks {dataset}, which is left out (tables/unavailable.csv)"
        comparison["note"] = notes.mask(notes.str.startswith("not computed here") & notes.str.endswith(ending), told)
    return by_distance(comparison)
