"""Recommend models for each dataset by estimated scores on complete labels, in tables, a leaderboard and sentences."""

from adapter import logged
from fairfold.core.files import concat_tables, read_table, write_table
from fairfold.recommendation.checked import with_checked_rates, with_checked_scores
from fairfold.recommendation.comparison import recommend
from fairfold.recommendation.complete_scores import correction_quality
from fairfold.recommendation.leaderboard import leaderboard
from fairfold.recommendation.regret import regret_tables
from fairfold.recommendation.sentences import recommendation_sentences

OTHERS = ("scores", "seconds", "checked", "verdicts", "guessing")
JOINED = ("missing_rates", "corrected_folds", "complete_scores")

with logged(snakemake.log):
    files, made, params = snakemake.input, snakemake.output, snakemake.params
    for name in JOINED:
        write_table(concat_tables(files[name]), made[name])
    missing_rates, folds, complete = (read_table(made[name]) for name in JOINED)
    identical = complete.dropna(subset="same_as").drop_duplicates(["dataset", "missing_rate", "model"])
    checked = concat_tables(files.checked) if files.checked else None
    if checked is not None:
        missing_rates = with_checked_rates(missing_rates, checked)
        write_table(missing_rates, made.missing_rates)
    write_table(correction_quality(complete), made.quality)
    for name, table in regret_tables(read_table(files.scores), missing_rates, n_repeats=params.n_repeats).items():
        write_table(table, made[name])
    options = {"rope": params.rope, "n_repeats": params.n_repeats, "verdicts": concat_tables(files.verdicts)}
    numbers = recommend(folds, complete, missing_rates, identical=identical, score=params.score, **options)
    write_table(numbers, made.numbers)
    board = leaderboard(numbers, folds, read_table(files.seconds), params.score, concat_tables(files.guessing))
    write_table(board if checked is None else with_checked_scores(board, checked), made.leaderboard)
    # Further tables, by the parameters of recommendation_sentences.
    tables = {name: read_table(path) for name, path in files.items() if name not in (*JOINED, *OTHERS)}
    tables["quality"] = read_table(made.quality)
    sentences = recommendation_sentences(numbers, missing_rates, hierarchical=params.hierarchical, **tables)
    write_table(sentences, made.sentences)
