"""Write the page of a dataset and the figure of its label scores."""

from pathlib import Path

from adapter import logged
from fairfold import figures
from fairfold.core.files import atomic_open, read_json, read_table
from fairfold.core.validation import unmeasured_cells
from fairfold.datasets import Dataset
from fairfold.datasets.columns import account_line
from fairfold.report.dataset_page import render_dataset_page
from fairfold.report.results import read_results

with logged(snakemake.log):
    data, tables = Dataset.load(snakemake.input.dataset), snakemake.input
    model = read_json(tables.columns)["name"]
    scores = read_table(tables.scores, "label")
    n_measured = data.shape[0] - unmeasured_cells(data.Y).sum(axis=0)
    share = dict(zip(data.label_names, (data.Y == 1).sum(axis=0) / n_measured.clip(1), strict=True))
    paths = [snakemake.output.figure, snakemake.output.pdf]
    drawn = scores.assign(share=scores["label"].map(share))
    figures.save_figure(figures.label_scores.plot_label_scores(drawn, read_table(tables.legend)), paths)
    page = render_dataset_page(
        data.id,
        model,
        f"{data.shape[0]} samples; {account_line(data)}.",
        sentences=next((read_results(path) for path in tables.sentences), None),
        label_scores=scores,
        suspects=read_table(tables.suspects, "sample", "label"),
        precision=read_table(tables.precision),
        importance=read_table(tables.importance, "features"),
        figure=snakemake.output.figure,
        folder=str(Path(tables.columns).parent),
    )
    with atomic_open(snakemake.output.page, "w", encoding="utf-8") as stream:
        stream.write(page)
