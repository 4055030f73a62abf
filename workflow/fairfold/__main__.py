"""The command line: ``python -m fairfold predict``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from fairfold.errors import StudyError
from fairfold.files import disk_faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status of the command; a user's mistake is one sentence and 1."""
    options = _parser().parse_args(arguments)
    try:
        with disk_faults():
            options.run(options)
    except StudyError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fairfold", description="What the study's results are good for.")
    commands = parser.add_subparsers(required=True, metavar="command")
    predict = commands.add_parser(
        "predict",
        help="labels of new samples, by a model that `snakemake final` made",
        description="Write what a model says of the rows of a CSV, whose columns are matched by name.",
    )
    predict.add_argument("model", help="folder of the model, results/final/<dataset>")
    predict.add_argument("table", help="CSV of new samples, with a column for each feature")
    predict.add_argument("-o", "--output", required=True, help="CSV to write")
    predict.add_argument("--top", type=int, metavar="K", help="the K likeliest labels of each sample, a row each")
    predict.add_argument(
        "--objective", help="what decisions are to be best by: mcc, f1 or hamming_loss; without it, above one half"
    )
    predict.add_argument(
        "--by", choices=["pooled", "label"], default="pooled", help="one threshold for all labels, or one for each"
    )
    predict.set_defaults(run=_predict)
    return parser


def _predict(options: argparse.Namespace) -> None:
    from fairfold.final.model import load_final
    from fairfold.final.prediction import predict_file

    final = load_final(options.model)
    how = {"top": options.top, "objective": options.objective, "by": options.by}
    n_samples = predict_file(final, options.table, options.output, **how)
    print(f"{options.output}: {len(final.labels)} labels of {n_samples} samples, by {final.name}.")


if __name__ == "__main__":
    sys.exit(main())
