"""``fairfold predict``: predict the labels of new samples with a final model."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from fairfold.core.defaults import CONFIDENCE
from fairfold.errors import DataError, count
from fairfold.evaluation.certified import UNSURE, Certified, n_held_out_of
from fairfold.tables.names import composed

if TYPE_CHECKING:
    import pandas as pd

    from fairfold.final.model import FinalModel


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
    add(
        "--threshold",
        action="append",
        default=[],
        metavar="NUMBER",
        help="predict labels with a probability, or posterior, above this number; LABEL=NUMBER for one label (repeat "
        "the option for more)",
    )
    add("--allow-missing", action="store_true", help="treat missing columns as empty")
    add(
        "--unknown",
        choices=["error", "missing"],
        default="error",
        help="whether categories that the model does not know are an error or count as empty cells (default: error)",
    )
    add("--precision", type=float, metavar="SHARE", help="decide only where this precision is certified, such as 0.9")
    add(
        "--negative-precision", type=float, metavar="SHARE", help="with --precision: also decide that labels are absent"
    )
    confidence = f"with --precision: confidence of certificates (default: {CONFIDENCE:g})"
    add("--confidence", type=float, metavar="SHARE", help=confidence)
    wrong = "with --precision: share of recorded positives that may be wrong (default: 0)"
    add("--wrong-positives", type=float, metavar="SHARE", help=wrong)
    prevalence = "write the expected prevalence of each label, with intervals, to this CSV file"
    add("--prevalence", metavar="FILE", help=prevalence)
    explain = "also write how much each column contributes to the three most probable labels of these samples, by "
    explain += "identifier, or row number if the study has no --id (default: the first ten), to FILE-explained.csv; "
    explain += "needs fairfold[explain]"
    add("--explain", nargs="*", metavar="SAMPLE", help=explain)
    background = "with --explain: table of typical rows to compare with, such as that of the study (default: the other "
    add("--background", metavar="TABLE", help=f"{background}rows of the predicted table)")
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
    from fairfold.core.files import write_table
    from fairfold.core.formulas import protect_table
    from fairfold.core.output import open_output
    from fairfold.final.expected_score import DESIGN_EFFECT, ExpectedScore
    from fairfold.final.model import load_final
    from fairfold.final.prediction import predict_file
    from fairfold.final.prevalence import ExpectedPrevalence

    if options.background and options.explain is None:
        raise DataError("--background needs --explain. Give both, or leave out --background.")
    final = load_final(options.model, n_jobs=-1)
    out = _checked_outputs(options)
    prevalence = ExpectedPrevalence(final.certified_curves()) if options.prevalence else None
    has_counts = final.curves is not None and DESIGN_EFFECT in final.curves
    expected = ExpectedScore(final.certified_curves()) if has_counts else None
    objective, decided = _certified(options), []
    how = {"top": options.top, "objective": objective or options.objective, "by": options.by}
    how |= {"threshold": _threshold(options, final.labels)}
    how |= {"allow_missing": options.allow_missing, "unknown": options.unknown}

    def look(found: dict[str, pd.DataFrame]) -> None:
        if objective is not None:
            decided.append((found["decision"] != UNSURE).any(axis=1).sum())
        likely = found.get("posterior", found["probability"])
        if prevalence is not None:
            prevalence.add(likely)
        if expected is not None:
            expected.add(likely)

    explained = None if options.explain is None else _explained(options, final)
    comparison = final.comparison()
    n_samples = predict_file(final, options.table, options.output, look=look, comparison=comparison, **how)
    size = f"{count(len(final.labels), 'label')} of {count(n_samples, 'sample')}"
    sentence = f"{options.output}: {size}, predicted by {final.name}."
    described = [] if comparison is None else comparison.sentences()
    if expected is not None:
        described += expected.estimate().sentences(n_samples, 0 if comparison is None else comparison.n_unlike)
    print(sentence, *described, sep="\n", file=out)
    if explained is not None:
        write_table(explained, path := _path_of_explanations(options.output))
        print(*_about(explained, path, options), sep="\n", file=out)
    if prevalence is not None:
        with open_output(options.prevalence) as stream:
            protect_table(table := prevalence.table()).to_csv(stream, index=False, lineterminator="\n")
        line = (
            f"{options.prevalence}: prevalence of {table['expected'].notna().sum()} of {len(table)} labels, if only it"
        )
        print(f"{line} has changed.", file=out)
    if objective is not None:
        found = objective.certificates(final.certified_curves())
        certified = f"{(found['n_decisions'] > 0).sum()} of {len(final.labels)} labels certified"
        n_held_out = n_held_out_of(final.certified_curves())
        by = f" by {n_held_out:,} held-out samples" if n_held_out else ""
        line = f"{certified} at {100 * options.precision:g} %{by}: {sum(decided):,} of {n_samples:,} samples decided"
        print(line, file=out)


def _checked_outputs(options: argparse.Namespace) -> TextIO:
    """Check that no result replaces an input or another result, and return the stream for messages."""
    from fairfold.core.output import check_output, messages_beside

    inputs = [*Path(options.model).glob("*"), options.table, *filter(None, [options.background])]
    outputs = [options.output, *filter(None, [options.prevalence])]
    if options.explain is not None:
        if messages_beside(options.output) is sys.stderr:
            raise DataError("--explain writes a file next to the predictions. Name their file with --output.")
        outputs.append(_path_of_explanations(options.output))
    for number, path in enumerate(outputs):
        check_output(path, *inputs, outputs=outputs[:number])
    return messages_beside(*outputs)


def _path_of_explanations(output: str) -> Path:
    return Path(output).with_name(f"{Path(output).name.split('.csv')[0]}-explained.csv")


def _explained(options: argparse.Namespace, final: FinalModel) -> pd.DataFrame:
    """Explain samples before anything is written."""
    from fairfold.final.prediction import explain_file

    how = {"allow_missing": options.allow_missing, "unknown": options.unknown}
    logging.disable(logging.WARNING)  # The prediction reports once how the table is read.
    try:
        return explain_file(final, options.table, options.explain, background=options.background, **how)
    finally:
        logging.disable(logging.NOTSET)


def _about(explained: pd.DataFrame, path: Path, options: argparse.Namespace) -> Iterator[str]:
    """Describe the explanations, and show the first one."""
    from fairfold.final.explanation import lines_on

    labels = count(explained.groupby("sample")["label"].nunique().max(), "most probable label")
    yield f"{path}: contributions of each column to the {labels} of {count(explained['sample'].nunique(), 'sample')}."
    others = f"rows of {options.background}"
    if not options.background:
        others = f"the other rows of {options.table}; --background compares with another table, as that of the study"
    yield f"Samples are compared with {others}."
    yield from lines_on(explained)


def _threshold(options: argparse.Namespace, labels: Sequence[str]) -> dict[str, float] | None:
    """Return the thresholds of labels. Those of single labels win over the one of all labels."""
    if not options.threshold:
        return None
    if options.objective or options.by:
        raise DataError("--threshold cannot be combined with --objective or --by. Give one of them.")
    shared, single = {}, {}
    for text in options.threshold:
        label, mark, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            example = "Give a number such as 0.35, or a label and a number such as LABEL=0.2."
            raise DataError(f"--threshold: found {text!r}. {example}") from None
        if mark:
            single[composed(label)] = value
        else:
            shared = dict.fromkeys(labels, value)
    return shared | single


def _certified(options: argparse.Namespace) -> Certified | None:
    """Return the objective of the options on certificates."""
    names = "precision", "negative_precision", "confidence", "wrong_positives"
    chosen = {name: value for name in names if (value := getattr(options, name)) is not None}
    if "precision" not in chosen:
        for name in chosen:
            raise DataError(f"--{name.replace('_', '-')} needs a precision: give --precision, too.")
        return None
    if options.objective or options.by or options.threshold:
        raise DataError("--precision sets the threshold of each label. Leave out --objective, --by and --threshold.")
    return Certified(**chosen)
