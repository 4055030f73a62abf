"""Fit the recommended or configured model to all rows of a dataset, and write the final model with its model card."""

from pathlib import Path

from adapter import logged
from fairfold import final
from fairfold.core.files import read_table, write_text
from fairfold.datasets import Dataset
from fairfold.final.card import model_card, recommended_model
from fairfold.models.registry import register_own
from fairfold.recommendation.checked import read_checked

with logged(snakemake.log):
    params, data = snakemake.params, Dataset.load(snakemake.input.dataset)
    register_own(snakemake.config["models"])
    name = params.model or recommended_model(read_table(*snakemake.input.recommendation), data.id, params.score)
    scores, rates = (next(map(read_table, snakemake.input[key]), None) for key in ("scores", "rates"))
    settings = final.model.with_checked_frequency(params.settings[name], rates)
    cells = next((read_checked(path, data.version) for path in snakemake.input.checked), None)
    data, checked = final.model.with_checked_labels(data, cells)
    fitted = final.model.fit_final(data, name, settings, seed=params.seed, n_jobs=snakemake.threads)
    fitted.save(Path(snakemake.output.model).parent)
    card = model_card(data, name, settings=settings, seed=params.seed, scores=scores, checked=checked)
    write_text(card, snakemake.output.card)
