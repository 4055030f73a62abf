"""Make tables from tables, step by step: by a function of the library, or put below each other where none is named.

A step names its tables: one path; a list of paths, whose tables are put below each other; or names of the function's
arguments with one or the other. So does what it makes: one table, or several by name.
"""

from pkgutil import resolve_name
from typing import Any

import pandas as pd

from adapter import logged
from fairfold.core.files import read_table, write_table


def read(paths: str | list[str]) -> pd.DataFrame:
    """Tables of the same columns below each other."""
    paths = [paths] if isinstance(paths, str) else paths
    return pd.concat([read_table(place[path]) for path in paths], ignore_index=True)


def write(made: pd.DataFrame | list[pd.DataFrame], paths: str | list[str]) -> None:
    """A table to its path, or several to theirs."""
    pairs = [(made, paths)] if isinstance(paths, str) else zip(made, paths, strict=True)
    for table, path in pairs:
        write_table(table, place[path])


def make(step: dict[str, Any]) -> None:
    """Make and write what one step makes."""
    tables, output = step["tables"], step["output"]
    named = {name: read(paths) for name, paths in tables.items()} if isinstance(tables, dict) else {}
    unnamed = [read(tables)] if tables and not named else []
    made = resolve_name(step["function"])(*unnamed, **named, **step["options"]) if step["function"] else unnamed[0]
    for name, paths in output.items() if isinstance(output, dict) else [(None, output)]:
        write(made if name is None else made[name], paths)


# as the steps name their files -> where these are: elsewhere, where this is a module of another workflow with a prefix
place = dict(zip(snakemake.params.files, [*snakemake.input, *snakemake.output], strict=True))
with logged(snakemake.log):
    for step in snakemake.params.steps:
        make(step)
