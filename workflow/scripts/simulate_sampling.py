"""The synthetic study: errors of win percentages estimated from samples of random distributions."""

from adapter import logged
from fairfold.files import write_table
from fairfold.win_percentage.sampling import synthetic_rmse

with logged(snakemake.log):
    write_table(synthetic_rmse(**snakemake.params.options, random_state=snakemake.params.seed), snakemake.output[0])
