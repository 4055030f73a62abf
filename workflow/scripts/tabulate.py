"""Make tables from tables by one function of the library, or put tables below each other where none is named."""

from pkgutil import resolve_name

import pandas as pd

from adapter import logged
from fairfold.files import write_table


def read(paths: str | list[str]) -> pd.DataFrame:
    """Tables of the same columns below each other."""
    options = snakemake.params.get("reading", {})
    paths = [paths] if isinstance(paths, str) else paths
    return pd.concat([pd.read_csv(path, **options) for path in paths], ignore_index=True)


def write(made: pd.DataFrame | list[pd.DataFrame], paths: str | list[str]) -> None:
    """A table to its path, or several to theirs."""
    pairs = [(made, paths)] if isinstance(paths, str) else zip(made, paths, strict=True)
    for table, path in pairs:
        write_table(table, path)


with logged(snakemake.log):
    files, function = dict(snakemake.input.items()), snakemake.params.get("function")
    tables = [read(snakemake.input)] if snakemake.input and not files else []
    if function is None:
        made = tables[0]
    else:
        named = {name: read(paths) for name, paths in files.items()}
        made = resolve_name(function)(*tables, **named, **snakemake.params.get("options", {}))
    outputs = dict(snakemake.output.items())
    for name, paths in outputs.items():
        write(made[name], paths)
    if not outputs:
        write(made, snakemake.output[0])
