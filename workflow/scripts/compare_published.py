"""Compare published numbers with the results of this study."""

import pandas as pd

from adapter import logged
from fairfold.core.files import read_table, write_table
from fairfold.datasets.catalog import load_catalog
from fairfold.papers.published.comparison import compare_published

PREFIX = "published_"


def read(paths: str | list[str]) -> pd.DataFrame:
    """Concatenate tables with the same columns."""
    return pd.concat(map(read_table, [paths] if isinstance(paths, str) else paths), ignore_index=True)


with logged(snakemake.log):
    given = {name: paths for name, paths in snakemake.input.items() if name != "config" and paths}
    published = {
        name.removeprefix(PREFIX): pd.read_csv(path, dtype=str, keep_default_na=False)
        for name, path in given.items()
        if name.startswith(PREFIX)
    }
    ours = {name: read(paths) for name, paths in given.items() if not name.startswith(PREFIX)}
    ours["sizes"] = pd.DataFrame([{"dataset": name, **entry.expected} for name, entry in load_catalog().items()])
    write_table(compare_published(published, ours, snakemake.config), snakemake.output[0])
