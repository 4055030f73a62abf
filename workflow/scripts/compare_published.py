"""Published numbers beside those of this study."""

from pathlib import Path

import pandas as pd

from adapter import logged
from fairfold.config import load_yaml
from fairfold.files import write_table
from fairfold.report.published import compare_published


def read(name: str) -> list[pd.DataFrame]:
    """Tables of an input, none where this configuration has none."""
    paths = snakemake.input.get(name, [])
    return [pd.read_csv(path) for path in ([paths] if isinstance(paths, str) else paths)]


with logged(snakemake.log):
    comparison = compare_published(
        load_yaml(Path(snakemake.input.config)),
        cross_testing=read("cross_testing"),
        splits=[*read("splits"), *read("published_splits")],
        weak_labels=[*read("scores"), *read("published_scores")],
    )
    write_table(comparison, snakemake.output[0])
