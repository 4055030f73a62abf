"""Typed configuration of a study, the plan of its files, and the border to Snakemake."""
