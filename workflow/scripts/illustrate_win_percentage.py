"""Numbers of the figures that need no data: the illustrative example, and weights by rank."""

from adapter import logged
from fairfold.files import write_table
from fairfold.win_percentage.illustration import illustrative_curves, joint_densities
from fairfold.win_percentage.sampling import rank_weights

with logged(snakemake.log):
    write_table(joint_densities(), snakemake.output.joint)
    write_table(illustrative_curves(random_state=snakemake.params.seed), snakemake.output.curves)
    write_table(rank_weights(snakemake.params.n_sampled, (1, 10, 100, 1000)), snakemake.output.weights)
