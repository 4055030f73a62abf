"""Fetch, verify, read and filter one dataset."""

from adapter import logged
from fairfold.datasets import load_catalog, prepare
from fairfold.datasets.dataset import environment_mirrors

with logged(snakemake.log):
    data = snakemake.config["data"]
    prepare(
        snakemake.params.dataset,
        catalog=load_catalog().with_own(data["own"]),
        mirrors=[*data["mirrors"], *environment_mirrors()],
        cache=data["cache"],
        offline=data["offline"],
    ).save(snakemake.output[0])
