"""``python -m fairfold predict``: predict the labels of new samples with a final model."""

from __future__ import annotations

import argparse
import logging
from typing import Any


def add_to(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse._SubParsersAction
        Subparsers of the command line.
    """
    parser = commands.add_parser(
        "predict",
        help="labels of new samples, by a model that `study --final` made",
        description="Write what a model says of the rows of a table, whose columns are matched by name. The "
        "file may be whatever a study reads, and need not be of the kind that the model learned from.",
    )
    add = parser.add_argument
    add("model", help="folder of the model, results/final/<dataset>")
    add("table", help="CSV, TSV, Parquet, Excel, ARFF or svmlight file of new samples, with a column for each feature")
    add("-o", "--output", required=True, help="CSV to write")
    add("--top", type=int, metavar="K", help="the K likeliest labels of each sample, a row each")
    add("--objective", help="metric that decisions are to be best by, such as mcc; without it, labels above one half")
    add("--by", choices=["pooled", "label"], default="pooled", help="one threshold for all labels, or one for each")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Predict a table, write the predictions, and log how the table is read.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.
    """
    logging.basicConfig(format="%(message)s")
    logging.getLogger("fairfold.datasets").setLevel(logging.INFO)
    from fairfold.final.model import load_final
    from fairfold.final.prediction import predict_file

    final = load_final(options.model, n_jobs=-1)
    how = {"top": options.top, "objective": options.objective, "by": options.by}
    n_samples = predict_file(final, options.table, options.output, **how)
    print(f"{options.output}: {len(final.labels)} labels of {n_samples} samples, by {final.name}.")
