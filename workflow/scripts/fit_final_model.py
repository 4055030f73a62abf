"""Fit the final model to all rows of a dataset, examine the labels with it, and write its model card and page."""

from pathlib import Path

from adapter import logged
from fairfold.core.files import read_arrays, read_json, read_table, write_table, write_text
from fairfold.datasets.columns import account_line
from fairfold.datasets.dataset import Dataset
from fairfold.final.card import model_card, recommended_model
from fairfold.final.examined import examine_labels
from fairfold.final.model import fit_final, with_checked_frequency, with_checked_labels
from fairfold.models.registry import register_own
from fairfold.recommendation.checked import read_checked
from fairfold.report.dataset_page import render_dataset_page

with logged(snakemake.log):
    files, made, params = snakemake.input, snakemake.output, snakemake.params
    data, options = Dataset.load(files.dataset), {"seed": params.seed, "n_jobs": snakemake.threads}
    register_own(snakemake.config["models"])
    name = params.model or recommended_model(read_table(*files.recommendation), data.id, params.score)

    scores, rates = (next(map(read_table, files[key]), None) for key in ("scores", "rates"))
    settings = with_checked_frequency(params.settings[name], rates)
    cells = next((read_checked(path, data.version) for path in files.checked), None)
    corrected, checked = with_checked_labels(data, cells)
    fitted = fit_final(corrected, name, settings, **options)
    card = model_card(corrected, name, settings=settings, seed=params.seed, scores=scores, checked=checked)

    fold_of = read_arrays(files.folds)["fold_of"][0]
    examined = examine_labels(data, name, params.settings[name], fold_of, hidden=params.hidden, **options)

    fitted.save(Path(made.model).parent)
    write_text(card, made.card)
    for kind, table in examined.items():
        write_table(table, made[kind])
    page = render_dataset_page(
        data.id,
        read_json(made.columns)["name"],
        f"{data.shape[0]:,} samples; {account_line(data)}.",
        label_scores=read_table(made.scores, "label"),
        label_errors=read_table(made.label_errors, "sample", "label"),
        precision=read_table(made.precision),
        importance=read_table(made.importance, "features"),
        folder=str(Path(made.columns).parent),
    )
    write_text(page, made.page)
