"""``fairfold check``: write a sheet of cells to check, and use the filled sheet."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import webbrowser
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pandas as pd

from fairfold.commands import recommend
from fairfold.console.running import LOCK, check_file, run_study, snakemake_command
from fairfold.core.files import read_table, write_table, write_text
from fairfold.core.formulas import protect_table, unprotect_table
from fairfold.core.output import STANDARD_OUTPUT, check_output, messages_beside, open_output
from fairfold.core.runs import lock_of_folder
from fairfold.errors import DataError, check_name, count

if TYPE_CHECKING:
    from fairfold.datasets import Dataset

_CHECKS = "checks"
_EXCEL = ".xlsx"
_CELLS = 100  # of a page, by default
_MOST_VALUES = 300  # of a sample, on the page


def add_to(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse._SubParsersAction
        Subparsers of the command line.
    """
    parser = commands.add_parser(
        "check",
        help="check a few labels by hand, and base the recommendation on them",
        description="Write a sheet of cells (a sample and a label) to check. Fill in the column correct_label with 0 "
        "or 1, then give the sheet to the same command with --sheet. Scores, intervals, the missing rate and the "
        "recommendation then hold under any mechanism of missing labels.",
    )
    add = parser.add_argument
    add("study", type=Path, help="folder of a finished study")
    add("--dataset", metavar="NAME", help="dataset of the study, if it has several")
    page = "also write an HTML page that asks one label at a time and saves the sheet, and open it in a browser"
    add("--open", action="store_true", help=f"{page}; with --cells {_CELLS} by default")
    add("--cells", type=int, metavar="N", help="write a sheet with N cells; after a filled sheet, N more")
    certify = (
        "with --cells or --open: choose cells whose check certifies the most labels at this precision, such as 0.9"
    )
    add("--certify", type=float, metavar="PRECISION", help=certify)
    add("--sheet", type=Path, metavar="FILE", help="filled sheet, CSV or Excel")
    output = "sheet to write, .csv or .xlsx, or - for the standard output (default: <dataset>-check.csv)"
    add("-o", "--output", metavar="FILE", help=output)
    add("--show-probabilities", action="store_true", help="show the models' mean probability, which may bias answers")
    add("--cost-per-sample", type=float, default=0.0, metavar="COST", help="cost to open a sample, in cells")
    add("--within", type=float, metavar="MARGIN", help="with --sheet: how many more cells give the score to ± MARGIN")
    add("-c", "--cores", default="all", metavar="N", help="number of cores to use (default: all)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write a sheet, or use a filled one and print the new recommendation.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.

    Raises
    ------
    DataError
        If the study is not finished, the dataset is unknown, or the sheet is invalid.
    """
    if options.open and options.sheet is None:
        options.cells = _CELLS if options.cells is None else options.cells
    if options.open and (options.sheet is not None or options.output == STANDARD_OUTPUT):
        raise DataError("check: --open writes a sheet and its page. Leave out --sheet and --output -.")
    if (options.cells is None) == (options.sheet is None):
        raise DataError("check: give either --cells N to write a sheet, or --sheet FILE to use a filled one.")
    if options.cells is not None and options.cells < 1:
        raise DataError(f"--cells is {options.cells}. Choose at least 1.")
    if not options.cost_per_sample >= 0:
        raise DataError(f"--cost-per-sample is {options.cost_per_sample:g}. Choose 0 or more.")
    if options.certify is not None:
        _check_certify(options)
    if options.within is not None and options.sheet is None:
        raise DataError("--within needs the filled sheet: give --sheet FILE, too.")
    if options.within is not None and not options.within > 0:
        raise DataError(f"--within is {options.within:g}. Choose a number above 0, such as 0.02.")
    dataset = _dataset_of(options.study, options.dataset)
    if options.sheet is not None:
        with lock_of_folder(options.study, name=LOCK):
            _use(options, dataset)
    else:
        _write(options, dataset)


def _check_certify(options: argparse.Namespace) -> None:
    from fairfold.core.defaults import CONFIDENCE
    from fairfold.evaluation.certificates import check_targets

    check_targets(options.certify, CONFIDENCE, None, 0, "--certify")
    if options.sheet is not None:
        raise DataError("--certify chooses cells for a new sheet. Leave it out to use a filled sheet.")
    if options.show_probabilities or options.cost_per_sample:
        raise DataError("--certify takes neither --show-probabilities nor --cost-per-sample. Leave them out.")


def _dataset_of(study: Path, name: str | None) -> str:
    if not (datasets := [*recommend.answers_of(study)]):
        raise DataError(f"{study} is not a finished study. Run it first: `fairfold study`.")
    if name is None and len(datasets) > 1:
        raise DataError(f"{study} has {len(datasets)} datasets. Choose one with --dataset: {', '.join(datasets)}.")
    if name is not None:
        check_name("dataset of this study", name, datasets, DataError)
    return name or datasets[0]


def _write(options: argparse.Namespace, dataset: str) -> None:
    """Choose cells by the predictions of models, and write the sheet."""
    from fairfold.recommendation.checked import VERSION

    data, ids = _data(options.study, dataset)
    path = str(options.study / f"{dataset}-check.csv") if options.output is None else options.output
    check_output(path, formats=(_EXCEL,))
    for each in (path, *([_page_of(path)] if options.open else [])):
        if Path(each).is_file():
            raise DataError(f"{each} exists and may contain answers. Choose another file with --output, or delete it.")
    sheet = (_drawn if options.certify is None else _chosen)(options, dataset, data, ids)
    sheet["dataset"], sheet[VERSION] = dataset, data.version
    is_excel = path.lower().endswith(_EXCEL)
    with open_output(path, binary=is_excel) as stream:
        if is_excel:
            _write_excel(sheet, stream)
        else:
            protect_table(sheet).to_csv(stream, index=False, lineterminator="\n")
    n_open, out = int(sheet["correct_label"].isna().sum()), messages_beside(path)
    print(f"{path}: {count(n_open, 'cell')} to check. Enter 0 or 1 in the column correct_label, then run", file=out)
    words = ["fairfold", "check", str(options.study), "--dataset", dataset]
    print(shlex.join([*words, "--sheet", "FILE" if path == STANDARD_OUTPUT else path]), file=out)
    if options.open:
        _open_page(_page_of(path), dataset, data, sheet)


def _drawn(options: argparse.Namespace, dataset: str, data: Dataset, ids: list[Any]) -> pd.DataFrame:
    """Draw cells by the predictions of all models."""
    from fairfold.recommendation.checked import read_checked, read_study_predictions, sheet_to_fill

    kept = _kept(options.study, dataset)
    return sheet_to_fill(
        data.Y,
        read_study_predictions(options.study / "results", dataset),
        options.cells,
        ids,
        data.label_names,
        shows_probabilities=options.show_probabilities,
        earlier=read_checked(kept, data.version) if kept.is_file() else None,
        groups=data.groups,
        cost_per_sample=options.cost_per_sample,
    )


def _chosen(options: argparse.Namespace, dataset: str, data: Dataset, ids: list[Any]) -> pd.DataFrame:
    """Choose the cells that certify labels by the predictions of the recommended model."""
    from fairfold.recommendation.certified_cells import known_cells, sheet_to_certify
    from fairfold.recommendation.checked import read_checked, read_study_predictions

    answer = recommend.answers_of(options.study)[dataset]
    if n_held_out := answer.n_held_out:
        raise DataError(
            f"--certify: {n_held_out:,} held-out samples certify the final model, and checks of other samples change "
            "nothing. Use --cells alone, or a study without --hold-out."
        )
    predicted = read_study_predictions(options.study / "results", dataset)
    if answer.model not in predicted:
        raise DataError(
            "--certify: the study recommends no model, so there is no decision to certify. Use --cells alone."
        )
    places = [path for of_scores in (True, False) if (path := _kept(options.study, dataset, of_scores)).is_file()]
    kept = _kept(options.study, dataset, of_scores=False)
    return sheet_to_certify(
        data,
        predicted[answer.model],
        answer.metric,
        options.cells,
        ids,
        precision=options.certify,
        known=known_cells(places, data.version),
        earlier=read_checked(kept, data.version) if kept.is_file() else None,
    )


def _kept(study: Path, dataset: str, of_scores: bool = True) -> Path:
    """Return the file that keeps the checked cells of a dataset, for scores or for certificates only."""
    from fairfold.recommendation.certified_cells import FOLDER

    return study / _CHECKS / ("" if of_scores else FOLDER) / f"{dataset}.csv"


def _page_of(path: str) -> Path:
    """Return the file of the page of a sheet, next to it."""
    return Path(path).with_suffix(".html")


def _open_page(page: Path, dataset: str, data: Dataset, sheet: pd.DataFrame) -> None:
    """Write the page of a sheet, and open it in a browser if there is one with windows."""
    from fairfold.report.check_page import render_check_page

    names, values = _values_of(data, sorted({int(sample) for sample in sheet["sample"]}))
    write_text(render_check_page(dataset, sheet, names, values, file=f"{dataset}-check.csv"), page)
    print(f"{page}: or answer in a browser, save the sheet, and give the saved file with --sheet.")
    has_windows = sys.platform in ("darwin", "win32") or bool(os.environ.keys() & {"DISPLAY", "WAYLAND_DISPLAY"})
    if has_windows and sys.stdout.isatty():
        webbrowser.open(page.resolve().as_uri())


def _values_of(data: Dataset, rows: list[int]) -> tuple[list[str], dict[int, list[str]]]:
    """Return the names and the texts of the features of some samples, texts and categories first."""
    from fairfold.core.arrays import with_sparsity

    samples = data.samples[rows]
    if data.typed is None or not data.typed.names:
        table = pd.DataFrame(with_sparsity(samples, False), columns=list(data.feature_names))
    else:
        table = samples.frame()[[*data.typed.names, *data.numbers]]
    table = table.iloc[:, :_MOST_VALUES]
    texts = table.map(lambda cell: f"{cell:.6g}" if isinstance(cell, float) else str(cell))
    texts = texts.where(table.notna(), "")
    return list(map(str, table)), dict(zip(rows, texts.to_numpy().tolist(), strict=True))


def _write_excel(sheet: pd.DataFrame, stream: IO[bytes]) -> None:
    """Write a sheet whose cells are all text, so that none is a formula."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils.exceptions import IllegalCharacterError

    book = Workbook(write_only=True)
    page = book.create_sheet("Sheet1")
    try:
        for row in (sheet.columns, *sheet.astype(object).where(sheet.notna(), None).itertuples(index=False)):
            cells = [None if value is None else WriteOnlyCell(page, str(value)) for value in row]
            for cell in filter(None, cells):
                cell.data_type = "s"
            page.append(cells)
    except IllegalCharacterError as error:
        raise DataError(f"an Excel file cannot contain the character in {error}. Choose a .csv file.") from None
    book.save(stream)


def _use(options: argparse.Namespace, dataset: str) -> None:
    """Check a filled sheet, keep its cells in the folder of the study, and renew the recommendation."""
    from fairfold.recommendation.checked import NOT_DRAWN, VERSION, cells_of_sheet, check_version, precision_sentence

    data, ids = _data(options.study, dataset)
    sheet = _read_sheet(options.sheet)
    if others := set(sheet.get("dataset", pd.Series(dtype=str))) - {dataset, ""}:
        raise DataError(f"{options.sheet} is a sheet of {min(others)!r}, not of {dataset!r}. Choose it with --dataset.")
    check_version(sheet, data.version, str(options.sheet))
    cells = cells_of_sheet(sheet, ids, data.label_names, str(options.sheet))
    of_scores = not (cells["draw_probability"] == NOT_DRAWN).all()
    if options.within is not None and not of_scores:
        raise DataError(f"--within: the cells of {options.sheet} estimate no score. Leave it out.")
    kept = _kept(options.study, dataset, of_scores)
    if n_lost := _n_lost(cells, kept):
        found = f"{count(n_lost, 'earlier answer')} {'is' if n_lost == 1 else 'are'} not in {options.sheet}"
        print(f"{found} and no longer used.", file=sys.stderr)
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_table(cells.assign(**{VERSION: data.version}), kept)
    configuration = next(each for each in ("study.yaml", "results/config.yaml") if (options.study / each).is_file())
    before = _models_of(options.study, dataset)
    targets = ["all"] if before[0] is None else ["all", "final"]  # A final model follows the recommendation.
    command = snakemake_command(options.study, *targets, cores=options.cores)
    run_study([*command, f"--configfile={options.study / configuration}"], options.study)
    recommend.print_answer(options.study, dataset)
    print(f"Checked:  {_change(before, _models_of(options.study, dataset))}")
    if options.within is not None:
        print(precision_sentence(recommend.answers_of(options.study)[dataset], options.within))


def _models_of(study: Path, dataset: str) -> tuple[str | None, str | None]:
    """Return the final model of a dataset and the recommended one."""
    scores = study / "results" / "final" / dataset / "label_scores.csv"
    final = str(read_table(scores)["model"].iloc[0]) if scores.is_file() else None
    return final, recommend.answers_of(study)[dataset].model


def _change(before: tuple[str | None, str | None], after: tuple[str | None, str | None]) -> str:
    """State whether the final model has changed, or the recommended one if no final model is fitted."""
    kind, (old, new) = "recommended", (before[1], after[1])
    if after[0] is not None:
        kind, (old, new) = "final", (before[0] or after[0], after[0])
    return f"{kind} model kept: {new}" if old == new else f"{kind} model changed: {old} → {new}"


def _n_lost(cells: pd.DataFrame, kept: Path) -> int:
    """Count the answers of earlier sheets that a sheet does not contain."""
    if not kept.is_file():
        return 0
    answered = [table.dropna(subset="label")[["sample", "label_index"]] for table in (read_table(kept), cells)]
    before, now = (set(table.itertuples(index=False, name=None)) for table in answered)
    return len(before - now)


def _read_sheet(path: Path) -> pd.DataFrame:
    """Read a sheet as text. A CSV file may have the separator and encoding of another language, as Excel writes it.

    Names that are decoded wrongly do not match the data, so they are refused later.
    """
    from fairfold.tables.reading import read_texts

    check_file(path, "--sheet")
    sheet, is_delimited = read_texts(path)
    return unprotect_table(sheet) if is_delimited else sheet


def _data(study: Path, dataset: str) -> tuple[Any, list[Any]]:
    """Return a dataset of the study and the names of its samples."""
    from fairfold.datasets import Dataset

    data = Dataset.load(study / "results" / "datasets" / f"{dataset}.npz")
    return data, data.sample_names
