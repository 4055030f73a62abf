"""Tabulate scores, ranks and imputation quality of models on weak labels."""

import pandas as pd

from adapter import logged
from fairfold import forests
from fairfold.core.files import concat_tables, read_table, write_table
from fairfold.evaluation.metrics import BASIC_METRICS
from fairfold.evaluation.ranking import rank_tables
from fairfold.evaluation.score_tables import score_tables, summarize_scores

with logged(snakemake.log):
    files, made, params = snakemake.input, snakemake.output, snakemake.params
    whole = concat_tables(files.scores)
    is_compared = whole["metric"].isin([*BASIC_METRICS, params.score])
    write_table(whole[is_compared], made.scores)
    write_table(concat_tables(files.seconds), made.seconds)
    scores = read_table(made.scores)
    summaries = score_tables(scores, params.datasets)
    further = summarize_scores(whole[~is_compared])
    write_table(pd.concat([summaries["summary"], further], ignore_index=True), made.summary)
    write_table(summaries["curves"], made.curves)
    for table, path in zip(summaries["printed"], made.printed, strict=True):
        write_table(table, path)
    for name, table in rank_tables(scores, alpha=params.alpha).items():
        if made[name]:
            write_table(table, made[name])
    if made.of_paper:
        tables = rank_tables(scores[scores["model"].isin(forests.models.PUBLISHED_MODELS)], alpha=params.alpha)
        for name, path in zip(("ranks", "comparisons", "cliques"), made.of_paper, strict=True):
            write_table(tables[name], path)
    if made.imputation:
        tables = forests.diagnostics.imputation_tables(concat_tables(files.imputation))
        for name, path in zip(("imputation", "frequencies", "errors"), made.imputation, strict=True):
            write_table(tables[name], path)
