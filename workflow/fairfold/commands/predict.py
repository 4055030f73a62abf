"""``fairfold predict``: predict the labels of new samples with a final model."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
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
        help="predict the labels of new samples with a final model",
        description="Predict the labels of each row of a table with a final model. Columns are matched by name. The "
        "file may have any format that a study reads.",
    )
    add = parser.add_argument
    add("model", help="folder of the final model, results/final/<dataset>")
    add("table", help="CSV, TSV, Parquet, Excel, ARFF or svmlight file of new samples, with all features")
    add("-o", "--output", required=True, metavar="FILE", help="CSV file to write, or - for the standard output")
    add("--top", type=int, metavar="K", help="write the K most probable labels of each sample, one per row")
    add(
        "--objective",
        metavar="METRIC",
        help="score that decisions maximize, such as f1_samples or subset (default: threshold 0.5); f1_macro or mcc "
        "with --by label if rare labels are never predicted",
    )
    add(
        "--by",
        choices=["pooled", "label"],
        help="one threshold for all labels or one per label (default: depends on the score)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Predict a table, write the predictions, and show how the table is read.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.
    """
    logging.basicConfig(format="%(message)s")
    logging.getLogger("fairfold.tables").setLevel(logging.INFO)
    from fairfold.core.output import check_output, messages_beside
    from fairfold.final.model import load_final
    from fairfold.final.prediction import predict_file

    final = load_final(options.model, n_jobs=-1)
    check_output(options.output, *Path(options.model).glob("*"))
    how = {"top": options.top, "objective": options.objective, "by": options.by}
    n_samples = predict_file(final, options.table, options.output, **how)
    sentence = f"{options.output}: {len(final.labels)} labels of {n_samples} samples, predicted by {final.name}."
    print(sentence, file=messages_beside(options.output))
