"""Steps of a study that tabulate the results of all datasets, from files to files."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fairfold.answer.answer import Answer, save
from fairfold.core.files import concat_tables, read_table, write_table, write_tables
from fairfold.evaluation.ranking import rank_tables
from fairfold.evaluation.score_tables import score_tables, summarize_scores
from fairfold.forests.diagnostics import imputation_tables
from fairfold.forests.models import PUBLISHED_MODELS
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.recommendation.checked import with_checked_rates, with_checked_scores
from fairfold.recommendation.comparison import recommend
from fairfold.recommendation.complete_scores import correction_quality
from fairfold.recommendation.leaderboard import leaderboard
from fairfold.recommendation.regret import regret_tables
from fairfold.recommendation.sentences import recommendation_sentences

_JOINED = ("missing_rates", "corrected_folds", "complete_scores")
_OF_MODELS = ("leaderboard", "numbers", "sentences", "missing_rates", "complete_scores", "summary", "tests")


def tabulate_scores(files: Any, made: Any, params: Any) -> None:
    """Tabulate scores and ranks of the models, run times and imputations.

    Parameters
    ----------
    files : namespace of sequence of str
        Tables of all units: ``trained, seconds, imputation``.
    made : mapping of str to str or sequence of str
        Files to write: ``scores, seconds, summary, learning, printed, ranks, comparisons, pairs, cliques, of_paper,
        imputation``.
    params : namespace
        ``datasets``, ``score`` and ``alpha``.
    """
    whole = concat_tables(files.trained)
    is_compared = whole["metric"].isin([*BASIC_METRICS, params.score])
    write_tables({"scores": whole[is_compared], "seconds": concat_tables(files.seconds)}, made)
    scores = read_table(made["scores"])
    found = score_tables(scores, params.datasets)
    summary = pd.concat([found["summary"], summarize_scores(whole[~is_compared])], ignore_index=True)
    write_tables({"summary": summary, "learning": found["curves"], "printed": [*found["printed"]]}, made)
    write_tables(rank_tables(scores, alpha=params.alpha), made)
    if made["of_paper"]:
        tables = rank_tables(scores[scores["model"].isin(PUBLISHED_MODELS)], alpha=params.alpha)
        write_tables({"of_paper": [tables[name] for name in ("ranks", "comparisons", "cliques")]}, made)
    if made["imputation"]:
        tables = imputation_tables(concat_tables(files.imputation))
        write_tables({"imputation": [tables[name] for name in ("imputation", "frequencies", "errors")]}, made)


def tabulate_recommendations(files: Any, made: Any, params: Any) -> None:
    """Recommend models for each dataset, and tabulate corrected scores and missing rates.

    Parameters
    ----------
    files : namespace of sequence of str
        Tables of all units: ``missing_rates, corrected_folds, complete_scores, tests, verdicts, guessing``, and those
        of some datasets: ``checked, curves``.
    made : mapping of str to str
        Files ``scores`` and ``seconds`` of :func:`tabulate_scores`, and files to write: ``missing_rates,
        corrected_folds, complete_scores, tests, quality, regret, choices, numbers, leaderboard, sentences``, and
        ``sample_curves`` if there are curves.
    params : namespace
        ``score``, ``rope``, ``n_repeats`` and ``hierarchical``.
    """
    write_tables({name: concat_tables(files[name]) for name in _JOINED}, made)
    missing_rates, folds, complete = (read_table(made[name]) for name in _JOINED)
    write_table(concat_tables(files.tests).drop(columns="missing_rate"), made["tests"])
    identical = complete.dropna(subset="same_as").drop_duplicates(["dataset", "missing_rate", "model"])
    checked = concat_tables(files.checked) if files.checked else None
    others = {}
    if checked is not None:
        others["unchecked"] = missing_rates
        missing_rates = with_checked_rates(missing_rates, checked)
        write_table(missing_rates, made["missing_rates"])
    write_table(correction_quality(complete), made["quality"])
    write_tables(regret_tables(read_table(made["scores"]), missing_rates, n_repeats=params.n_repeats), made)
    options = {"rope": params.rope, "n_repeats": params.n_repeats, "verdicts": concat_tables(files.verdicts)}
    numbers = recommend(folds, complete, missing_rates, identical=identical, score=params.score, **options)
    board = leaderboard(numbers, folds, read_table(made["seconds"]), params.score, concat_tables(files.guessing))
    board = board if checked is None else with_checked_scores(board, checked)
    write_tables({"numbers": numbers, "leaderboard": board}, made)
    others["quality"] = read_table(made["quality"])
    if files.curves:
        write_table(concat_tables(files.curves), made["sample_curves"])
        others["sample_curves"] = read_table(made["sample_curves"])
    sentences = recommendation_sentences(numbers, missing_rates, hierarchical=params.hierarchical, **others)
    write_table(sentences, made["sentences"])


def write_answers(files: Any, path: str) -> None:
    """Write the answers of the study, from its tables.

    Parameters
    ----------
    files : mapping of str to str or sequence of str
        Tables of all datasets, and ``labels``, ``certified`` and ``elsewhere``, a table for each dataset.
    path : str
        File to write.
    """
    tables = {name: read_table(files[name]) for name in (*_OF_MODELS, "sizes", "columns", "audit")}
    tables |= {name: concat_tables(files[name]) for name in ("labels", "certified", "elsewhere") if files[name]}
    save([Answer.from_tables(name, tables) for name in tables["leaderboard"]["dataset"].unique()], path)
