"""Write the page of a final model."""

from pathlib import Path

from adapter import logged
from fairfold.core.files import read_json, read_table, write_text
from fairfold.datasets import Dataset
from fairfold.datasets.columns import account_line
from fairfold.report.dataset_page import render_dataset_page

with logged(snakemake.log):
    data, tables = Dataset.load(snakemake.input.dataset), snakemake.input
    page = render_dataset_page(
        data.id,
        read_json(tables.columns)["name"],
        f"{data.shape[0]:,} samples; {account_line(data)}.",
        label_scores=read_table(tables.scores, "label"),
        label_errors=read_table(tables.label_errors, "sample", "label"),
        precision=read_table(tables.precision),
        importance=read_table(tables.importance, "features"),
        folder=str(Path(tables.columns).parent),
    )
    write_text(page, snakemake.output.page)
