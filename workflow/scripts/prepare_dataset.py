"""Download, verify, read and filter one dataset, and reject data unfit for the study."""

import logging
import os

from adapter import logged

# Keep the original error stream before the log file replaces it.
screen = logging.StreamHandler(os.fdopen(os.dup(2), "w"))

with logged(snakemake.log):
    from fairfold.datasets.preparation import prepare_for_study

    # The configuration is no parameter of the rule, because other settings must not prepare the data again.
    params = snakemake.params
    prepare_for_study(params.dataset, snakemake.config, screen, held_out=params.held_out).save(snakemake.output[0])
