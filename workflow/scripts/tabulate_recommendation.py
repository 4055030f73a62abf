"""Tabulate missing rates, scores on complete labels, and the worth of each way to choose."""

from adapter import logged
from fairfold.core.files import concat_tables, read_table, write_table
from fairfold.recommendation.complete_scores import correction_quality
from fairfold.recommendation.regret import regret_tables

with logged(snakemake.log):
    files, made = snakemake.input, snakemake.output
    for name in ("missing_rates", "corrected_folds", "complete_scores", "identical_models"):
        write_table(concat_tables(files[name]), made[name])
    write_table(correction_quality(read_table(made.complete_scores)), made.quality)
    scores, missing_rates = read_table(files.scores), read_table(made.missing_rates)
    for name, table in regret_tables(scores, missing_rates, n_repeats=snakemake.params.n_repeats).items():
        write_table(table, made[name])
