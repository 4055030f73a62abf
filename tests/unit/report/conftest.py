"""Small handwritten results of a study."""

import struct
import zlib

import pandas as pd
import pytest
from answers import board_of, tables_of

from fairfold.answer.answer import ANSWER, Answer, save
from fairfold.models.legend import legend_table
from fairfold.planning.check import check_config


def png(width, height):
    """Return a white image."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.fixture
def config(config):
    """Return the same configuration as a typed object."""
    return check_config(config)


@pytest.fixture
def results(tmp_path):
    """Return the folder of results, and the paths below it that belong to the configuration."""
    for folder in ("figures", "tables", "benchmarks/train_model", "timings", "recommendation"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "figures/percentile_ranks.png").write_bytes(png(400, 100))
    (tmp_path / "figures/percentile_ranks.pdf").write_bytes(b"%PDF-1.4")
    sizes = pd.DataFrame({"dataset": ["<script>alert(1)</script>", "b"], "n_samples": [1500, 20]})
    sizes = sizes.assign(n_features=3, n_labels=2, label_cardinality=0.5)
    sizes.to_csv(tmp_path / "tables/datasets.csv", index=False)
    rows = [
        ("a", rate, metric, model, rank, 5)
        for rate in (0, 50)
        for metric in ("average_precision", "mcc")
        for model, rank in (("RF+ET", 0.75 if rate else 0.5), ("SLCForest", 0.75))
    ]
    columns = ["dataset", "missing_rate", "metric", "model", "percentile_rank", "n_repeats"]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "tables/percentile_ranks.csv", index=False)
    (tmp_path / "benchmarks/train_model/a.tsv").write_text("s\tcpu_time\tmax_rss\n12.5\t10\t300\n")
    legend_table(["RF+ET", "SLCForest"]).to_csv(tmp_path / "legend.csv", index=False)
    (tmp_path / "config.yaml").write_text("title: '</pre><b>'\n")
    return tmp_path


@pytest.fixture
def files():
    """Return the files of the results above."""
    return [
        "config.yaml",
        "figures/percentile_ranks.pdf",
        "figures/percentile_ranks.png",
        "legend.csv",
        "tables/datasets.csv",
        "tables/percentile_ranks.csv",
    ]


@pytest.fixture
def write_answers(results):
    """Return a function that writes the answers on datasets."""

    def write(*datasets, **tables):
        tables = tables_of(board_of(*datasets), **tables)
        save([Answer.from_tables(dataset, tables) for dataset in datasets], results / ANSWER)
        return ANSWER

    return write
