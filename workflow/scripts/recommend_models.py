"""Tabulate scores and ranks of the models, recommend models for each dataset, and describe their predictions."""

from pathlib import Path

import pandas as pd

from adapter import logged
from fairfold.core.files import concat_tables, read_table, write_table
from fairfold.datasets.dataset import Dataset
from fairfold.evaluation.fold_scores import read_predictions
from fairfold.evaluation.ranking import rank_tables
from fairfold.evaluation.score_tables import score_tables, summarize_scores
from fairfold.final.described import describe_predictions
from fairfold.forests.diagnostics import imputation_tables
from fairfold.forests.models import PUBLISHED_MODELS
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.recommendation.checked import with_checked_rates, with_checked_scores
from fairfold.recommendation.comparison import recommend
from fairfold.recommendation.complete_scores import correction_quality
from fairfold.recommendation.leaderboard import leaderboard
from fairfold.recommendation.regret import regret_tables
from fairfold.recommendation.sentences import recommendation_sentences

JOINED = ("missing_rates", "corrected_folds", "complete_scores")

with logged(snakemake.log):
    files, made, params = snakemake.input, snakemake.output, snakemake.params

    # Scores and ranks
    whole = concat_tables(files.trained)
    is_compared = whole["metric"].isin([*BASIC_METRICS, params.score])
    write_table(whole[is_compared], made.scores)
    write_table(concat_tables(files.seconds), made.seconds)
    scores = read_table(made.scores)
    summaries = score_tables(scores, params.datasets)
    further = summarize_scores(whole[~is_compared])
    write_table(pd.concat([summaries["summary"], further], ignore_index=True), made.summary)
    write_table(summaries["curves"], made.learning)
    for table, path in zip(summaries["printed"], made.printed, strict=True):
        write_table(table, path)
    for name, table in rank_tables(scores, alpha=params.alpha).items():
        if made[name]:
            write_table(table, made[name])
    if made.of_paper:
        tables = rank_tables(scores[scores["model"].isin(PUBLISHED_MODELS)], alpha=params.alpha)
        for name, path in zip(("ranks", "comparisons", "cliques"), made.of_paper, strict=True):
            write_table(tables[name], path)
    if made.imputation:
        tables = imputation_tables(concat_tables(files.imputation))
        for name, path in zip(("imputation", "frequencies", "errors"), made.imputation, strict=True):
            write_table(tables[name], path)

    # Recommendations
    for name in JOINED:
        write_table(concat_tables(files[name]), made[name])
    missing_rates, folds, complete = (read_table(made[name]) for name in JOINED)
    write_table(concat_tables(files.tests).drop(columns="missing_rate"), made.tests)
    identical = complete.dropna(subset="same_as").drop_duplicates(["dataset", "missing_rate", "model"])
    checked = concat_tables(files.checked) if files.checked else None
    if checked is not None:
        missing_rates = with_checked_rates(missing_rates, checked)
        write_table(missing_rates, made.missing_rates)
    write_table(correction_quality(complete), made.quality)
    for name, table in regret_tables(scores, missing_rates, n_repeats=params.n_repeats).items():
        write_table(table, made[name])
    options = {"rope": params.rope, "n_repeats": params.n_repeats, "verdicts": concat_tables(files.verdicts)}
    numbers = recommend(folds, complete, missing_rates, identical=identical, score=params.score, **options)
    write_table(numbers, made.numbers)
    board = leaderboard(numbers, folds, read_table(made.seconds), params.score, concat_tables(files.guessing))
    write_table(board if checked is None else with_checked_scores(board, checked), made.leaderboard)
    others = {"quality": read_table(made.quality)}
    if files.curves:
        write_table(concat_tables(files.curves), made.sample_curves)
        others["sample_curves"] = read_table(made.sample_curves)
    sentences = recommendation_sentences(numbers, missing_rates, hierarchical=params.hierarchical, **others)
    write_table(sentences, made.sentences)

    # Predictions
    board = read_table(made.leaderboard)
    for number, data in enumerate(map(Dataset.load, files.datasets)):
        predictions = read_predictions(path for path in files.predictions if Path(path).parts[-3] == data.id)
        for name, table in describe_predictions(data, predictions, board, seed=params.seed).items():
            write_table(table, made[name][number])
