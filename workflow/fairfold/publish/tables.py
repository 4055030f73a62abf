"""Tables of a publication as LaTeX with booktabs rules, and as HTML, which word processors open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from fairfold.answer.answer import RECOMMENDATION
from fairfold.core.files import write_text
from fairfold.core.formulas import protect_table
from fairfold.metrics.registry import METRICS
from fairfold.publish.facts import LABEL_SCORES, Facts, notes_of
from fairfold.publish.methods import latex
from fairfold.publish.sentences import page

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

    from fairfold.answer.answer import Answer

_ALIKE, _MINUS = "†", "−"
_NUMBER = re.compile(f"[{_MINUS}+0-9.,e]+")
_SIZES = (
    "Size of the data. Label cardinality is the number of positives per sample, and label density the share of "
    "positives. Labels are declared complete, or incomplete if some zeros are missing positives, or their state is "
    "unknown."
)
_HYPERPARAMETERS = (
    "Hyperparameters of the models. A component is a class of the model. auto means that the training part or its size "
    "chooses the value."
)
_CANDIDATES = "Candidates and automatic values of hyperparameters, by component, with the models that contain it."
_OF_POOLS = " Stack+ uses other members for large data (of_large), many labels (of_many) and text (of_terms, of_text)."
_SHARES = ["missing_if_positive", "missing_if_negative"]
_MOST_ROWS, _MOST_COLUMNS, _MOST_CHARACTERS = 40, 4, 100  # of a table that fits on a page


class PaperTable(NamedTuple):
    """Table of a publication.

    Attributes
    ----------
    name : str
        Name of its files.
    caption : str
        Caption.
    cells : DataFrame
        Formatted cells.
    bold : list of int
        Rows in bold.
    """

    name: str
    caption: str
    cells: pd.DataFrame
    bold: list[int]


def paper_tables(facts: Facts) -> Iterator[PaperTable]:
    """Yield the tables that the study supports.

    Parameters
    ----------
    facts : Facts
        Facts of the study.

    Yields
    ------
    PaperTable
        Sizes, outcomes, predictors, scores of models, and scores of labels.
    """
    several = len(facts.datasets) > 1
    if len(sizes := facts.table("tables/datasets.csv")):
        yield PaperTable("data", _SIZES, _rounded(sizes), [])
    texts = {
        "outcomes": "Labels of {}: numbers of samples, and percentage of missing feature cells of samples with and "
        "without the label.",
        "folds": "Folds of {}: numbers of samples and of positive label cells in the training and the test part.",
        "predictors": "Features of {}: number of missing cells, mean, standard deviation and quartiles.",
        "feature_groups": "Features of {} that were permuted together, by groups of feature_importance.csv.",
        "chosen_settings": "Settings that the final model of {} chose by all samples. A component is a class of the "
        "model. A shape of trees is (least samples in a leaf, features per split as a share or sqrt, share of samples "
        "drawn per tree).",
    }
    if len(facts.hyperparameters):
        has_pools = facts.hyperparameters["component"].str.contains(" > ", regex=False).any()
        caption = _HYPERPARAMETERS + (_OF_POOLS if has_pools else "")
        cells = facts.hyperparameters.astype(str)
        yield PaperTable("hyperparameters", caption, cells.drop(columns="note", errors="ignore"), [])
        if len(notes := notes_of(facts.hyperparameters)):
            yield PaperTable("candidates", _CANDIDATES, notes, [])
    for dataset in facts.datasets:
        suffix = f"-{dataset}" if several else ""
        for name, text in texts.items():
            rows = facts.of(getattr(facts, name), dataset).drop(columns="dataset")
            if len(rows):
                rows = rows.assign(**100 * rows[_SHARES]) if name == "outcomes" else rows
                yield PaperTable(f"{name}{suffix}", text.format(dataset), _rounded(rows), [])
        if len(scores := facts.of(f"recommendation/checked/{dataset}.csv", dataset)) and dataset in facts.checked:
            yield _checked_scores(scores, facts.answers[dataset], suffix)
        elif len(scores := facts.of(RECOMMENDATION, dataset)):
            yield _scores(scores, dataset, suffix, is_estimated=dataset in facts.estimated)
        if len(labels := facts.of(f"final/{dataset}/label_scores.csv", dataset)):
            yield _labels(labels, dataset, suffix)


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Format numbers with at most four significant digits, and whole numbers in full."""

    def text(value: object) -> str:
        if isinstance(value, float) and value != value:
            return "–"
        shown = f"{value:.4g}" if isinstance(value, float) and not value.is_integer() else f"{value:,.0f}"
        return _with_minus(shown)

    shown = table.rename(columns=lambda name: name.replace("_", " "))
    return shown.map(lambda value: text(value) if isinstance(value, (int, float)) else str(value))


def _with_minus(number: str) -> str:
    return number.replace("-", _MINUS)


def _scores(scores: pd.DataFrame, dataset: str, suffix: str, *, is_estimated: bool) -> PaperTable:
    """Compare models by each metric, with intervals and marks of significance."""
    columns, first = {}, scores["metric"].iloc[0]
    for metric, rows in scores.groupby("metric", sort=False):
        is_alike = rows["is_top"] & (rows["difference"] != 0) & rows["p_adjusted"].notna()
        marks = is_alike.map({True: _ALIKE, False: ""})
        columns[METRICS[str(metric)].label] = (rows.apply(_estimate, axis=1) + marks).set_axis(rows["model"])
    leading = scores[scores["metric"] == first]
    order = leading.sort_values("rank", kind="stable")["model"]
    cells = pd.DataFrame(columns).loc[order].rename_axis("model").reset_index()
    rate, n_folds = scores["missing_rate"].iloc[0], leading["n_folds"].iloc[0]
    hidden = f" {rate} % of the positives were hidden from training." if rate else ""
    has_intervals = bool(scores["low"].notna().any())
    estimated = ", estimated for complete labels" if is_estimated and has_intervals else " on the labels as they are"
    estimated += ", with 95 % intervals" if has_intervals else ""
    if has_intervals and is_estimated and (scores["low"].isna() & scores["mean"].notna()).any():
        estimated += "; scores without an interval are those on observed labels"
    caption = (
        f"Scores on {dataset}: means over {n_folds} folds{estimated}.{hidden} "
        f"The best model by {METRICS[first].label} is in bold."
    )
    if scores["p_adjusted"].notna().any():
        is_simultaneous = "difference_low" in scores and scores["difference_low"].notna().any()
        test = "simultaneous intervals" if is_simultaneous else "corrected resampled t-test, adjusted"
        caption += (
            f" {_ALIKE}: not significantly different from the best model of the column "
            f"({test}, level {scores['alpha'].iloc[0]})."
        )
    bold = [number for number, model in enumerate(order) if (leading.set_index("model")["difference"] == 0)[model]]
    return PaperTable(f"scores{suffix}", caption, cells, bold)


def _checked_scores(scores: pd.DataFrame, answer: Answer, suffix: str) -> PaperTable:
    """Compare models by each metric, estimated from checked cells, with the recommended model."""
    models = [row["model"] for row in answer.rows]
    rows = scores[(scores["reference"] == answer.model) & scores["metric"].isin(METRICS)]
    is_alike = (rows["behind_low"] <= 0) & (rows["model"] != answer.model)
    rows = rows.assign(text=rows.rename(columns={"estimate": "mean"}).apply(_estimate, axis=1))
    rows["text"] += is_alike.map({True: _ALIKE, False: ""})
    wide = rows.pivot(index="model", columns="metric", values="text")
    order = [name for name in models if name in wide.index]
    metrics = sorted(wide, key=lambda name: (name != answer.metric, [*METRICS].index(name)))
    cells = wide.loc[order, metrics].rename(columns=lambda name: METRICS[name].label).reset_index()
    caption = (
        f"Scores on {answer.dataset}, estimated from {answer.n_checked:,} checked cells for the test samples of all "
        "folds, with 95 % intervals for the choice of the cells. The recommended model is in bold."
    )
    if is_alike.any():
        caption += f" {_ALIKE}: not significantly worse than it (simultaneous 95 % intervals of the differences)."
    return PaperTable(f"scores{suffix}", caption, cells, [order.index(answer.model)] if answer.model in order else [])


def _estimate(row: pd.Series) -> str:
    if row["mean"] != row["mean"]:
        return "–"
    to = "–" if row["low"] >= 0 else " to "
    interval = f" ({row['low']:.3f}{to}{row['high']:.3f})" if row["low"] == row["low"] else ""
    return _with_minus(f"{row['mean']:.3f}{interval}")


def _labels(labels: pd.DataFrame, dataset: str, suffix: str) -> PaperTable:
    """Tabulate the score of the final model for each label."""
    cells = labels[["label", "n_positives"]].astype(str).rename(columns={"n_positives": "positives"})
    for metric in (name for name in LABEL_SCORES if name in labels):
        parts = labels[[metric, f"{metric}_low", f"{metric}_high"]].set_axis(["mean", "low", "high"], axis=1)
        cells[METRICS[metric].name] = parts.apply(_estimate, axis=1)
    model = labels["model"].iloc[0]
    caption = (
        f"Scores of {model} for each label of {dataset}, with 95 % bootstrap intervals, the hardest label first. "
        "Models with the settings of the final model were fitted once more, each without one fold, and predicted that "
        "fold. A missing positive counts as a negative."
    )
    return PaperTable(f"labels{suffix}", caption, cells, [])


def write_table_files(table: PaperTable, facts: Facts, folder: Path) -> None:
    """Write a table as LaTeX, HTML and CSV.

    Parameters
    ----------
    table : PaperTable
        The table.
    facts : Facts
        Facts of the study.
    folder : Path
        Folder of the files.
    """
    style = table.cells.style.hide(axis="index")
    bold = pd.IndexSlice[table.cells.index[table.bold], :]
    style = style.set_properties(subset=bold, **{"font-weight": "bold"}) if table.bold else style
    html = style.format(escape="html").to_html(table_uuid=table.name)
    tex = _as_latex(style, table)
    text = page("table.html.jinja", facts, caption=table.caption, table=html)
    for suffix, content in (
        (".tex", tex),
        (".html", text),
        (".csv", protect_table(table.cells.map(_readable)).to_csv(index=False, lineterminator="\n")),
    ):
        write_text(content, folder / f"{table.name}{suffix}")


def _readable(cell: object) -> object:
    """Write the minus of a number as programs read it."""
    return cell.replace(_MINUS, "-") if isinstance(cell, str) and _NUMBER.fullmatch(cell) else cell


def _as_latex(style: Styler, table: PaperTable) -> str:
    """Format a table as LaTeX. A long table is set in small type on several pages, and a wide one is narrowed."""
    is_long = len(table.cells) > _MOST_ROWS
    tex = (
        style.format(latex)
        .format_index(latex, axis="columns")
        .to_latex(
            hrules=True,
            convert_css=True,
            caption=latex(table.caption),
            label=f"tab:{table.name}",
            position_float=None if is_long else "centering",
            environment="longtable" if is_long else None,
        )
    )
    widths = table.cells.astype(str).map(len).sum(axis=1)
    is_wide = table.cells.shape[1] > _MOST_COLUMNS or bool((widths > _MOST_CHARACTERS).any())
    if is_long:
        size = r"\scriptsize\setlength{\tabcolsep}{3pt}" if is_wide else r"\footnotesize"
        return f"{{{size}\n{tex}}}\n"
    if not is_wide:
        return tex
    narrowed = tex.replace(r"\begin{tabular}", "\\begin{adjustbox}{max width=\\linewidth}\n\\begin{tabular}")
    return narrowed.replace(r"\end{tabular}", "\\end{tabular}\n\\end{adjustbox}")
