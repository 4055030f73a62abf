"""Generate the messy table of the worked example, in the raw form that a laboratory provides.

Usage: ``python tests/messy_table.py docs/example``.

The first file is a compressed table of leaves in a European spreadsheet format. It has semicolons, decimal commas,
several leaves of each plant, two categorical columns, and missing numbers and categories. Some of the 30 traits were
never measured, and two occur on only two leaves. The second file contains new leaves without traits, with its columns
in another order.
"""

import gzip
import sys
from pathlib import Path

import numpy as np
import pandas as pd

N_PLANTS, N_TRAITS = 90, 30
RARE = ("trait_galls", "trait_albino")
SOILS, SIDES = ("loam", "sand", "peat", "chalk"), ("north", "south")


def leaves(seed: int, first_plant: int, n_plants: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return leaves of some plants and their traits, a 0/1 array of shape (n_leaves, N_TRAITS)."""
    rng = np.random.default_rng(20240601)  # shared by all plants and traits
    loadings, intercepts = rng.normal(size=(6, N_TRAITS)), rng.uniform(-2.5, -0.5, size=N_TRAITS)
    rng = np.random.default_rng(seed)
    plant = np.repeat(np.arange(n_plants), rng.integers(2, 5, size=n_plants))
    hidden = rng.normal(size=(n_plants, 6))[plant] + 0.3 * rng.normal(size=(len(plant), 6))
    table = pd.DataFrame(
        {
            "leaf": [f"L{first_plant + number:03d}-{place}" for place, number in enumerate(plant)],
            "plant": [f"P{first_plant + number:03d}" for number in plant],
            "soil": np.array(SOILS)[np.digitize(hidden[:, 0], [-0.7, 0, 0.7])],
            "side": np.array(SIDES)[(hidden[:, 1] > 0).astype(int)],
        }
    )
    numbers = {"length": 8 + 2 * hidden[:, 2], "width": 3 + 0.7 * hidden[:, 3], "thickness": 0.2 + 0.05 * hidden[:, 4]}
    numbers |= {"nitrogen": 2 + 0.4 * hidden[:, 5], "chlorophyll": 30 + 6 * hidden[:, 5] + rng.normal(size=len(plant))}
    for name, values in numbers.items():
        table[name] = values.round(3)
    traits = (hidden @ loadings + intercepts + 0.7 * rng.logistic(size=(len(plant), N_TRAITS)) > 0).astype(int)
    return table, traits


def messy_table() -> pd.DataFrame:
    """Return the measured table as text."""
    table, traits = leaves(1, 1, N_PLANTS)
    rng = np.random.default_rng(2)
    names = [f"trait_{number:02d}" for number in range(1, N_TRAITS - 1)] + list(RARE)
    traits[:, -2:] = 0
    for column in (-2, -1):
        traits[rng.choice(len(table), 2, replace=False), column] = 1
    text = table.astype(object)
    gaps = (("nitrogen", 0.2, ""), ("chlorophyll", 0.1, "NA"), ("width", 0.03, "?"), ("soil", 0.08, ""))
    for name, share, gap in gaps:
        text.loc[rng.random(len(table)) < share, name] = gap
    labels = pd.DataFrame(traits, columns=names).astype(object)
    labels[rng.random(labels.shape) < 0.15] = ""  # unmeasured
    labels.loc[:, list(RARE)] = traits[:, -2:]
    text["notes"] = np.where(rng.random(len(table)) < 0.1, "torn, photographed again", "")
    return pd.concat([text, labels], axis=1)


def new_leaves() -> pd.DataFrame:
    """Return leaves of other plants as text."""
    table, _ = leaves(3, 500, 12)
    text = table.astype(object)
    text.loc[[0, 5], "nitrogen"] = ""
    text.loc[3, ["soil", "length"]] = ["", "NA"]
    return text[["leaf", "chlorophyll", "nitrogen", "length", "width", "thickness", "side", "soil"]]


def as_written(table: pd.DataFrame) -> bytes:
    text = table.map(lambda cell: str(cell).replace(".", ",") if isinstance(cell, float) else cell)
    return text.to_csv(index=False, sep=";", lineterminator="\r\n").encode("cp1252")


def files() -> dict[str, bytes]:
    """Map file names to contents."""
    return {
        "leaves.csv.gz": gzip.compress(as_written(messy_table()), mtime=0),
        "new-leaves.csv": as_written(new_leaves()),
    }


if __name__ == "__main__":
    for name, content in files().items():
        (Path(sys.argv[1]) / name).write_bytes(content)
