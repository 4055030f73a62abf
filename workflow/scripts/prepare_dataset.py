"""Fetch, verify, read and filter one dataset; refuse it where the study could learn nothing from it."""

import logging
import os

from adapter import logged
from fairfold.datasets import load_catalog, prepare
from fairfold.datasets.demands import check_demands, demands_of
from fairfold.datasets.preparation import environment_mirrors

screen = logging.StreamHandler(os.fdopen(os.dup(2), "w"))  # before the log file replaces the error stream

with logged(snakemake.log):
    settings = snakemake.config["data"]
    if snakemake.params.dataset in settings["own"]:
        logging.getLogger("fairfold.datasets.decimals").addHandler(screen)
    data = prepare(
        snakemake.params.dataset,
        catalog=load_catalog().with_own(settings["own"]).with_variants(settings["variants"]),
        mirrors=[*settings["mirrors"], *environment_mirrors()],
        cache=settings["cache"],
        offline=settings["offline"],
    )
    # No parameter of the rule: other settings do not change the data, and need not prepare them and train anew.
    check_demands(data, demands_of(snakemake.config, snakemake.params.dataset))
    data.save(snakemake.output[0])
