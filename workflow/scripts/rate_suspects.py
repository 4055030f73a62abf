"""How many positives of a dataset that are hidden on purpose the model to take home finds among its first suspects."""

from scipy import sparse

from adapter import logged
from fairfold import final
from fairfold.core.files import read_arrays, read_table, write_table
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.final.card import recommended_model
from fairfold.models.registry import register_own
from fairfold.weak_labels import mask_labels

with logged(snakemake.log):
    params, data = snakemake.params, Dataset.load(snakemake.input.dataset)
    register_own(snakemake.config["models"])
    name = params.model or recommended_model(read_table(*snakemake.input.recommendation), data.id)
    Y = data.Y.toarray() if sparse.issparse(data.Y) else data.Y
    fold_of = read_arrays(snakemake.input.folds)["fold_of"][0]
    drawn = seed_for(params.seed, "labels", data.id, "hidden")
    rules = {"negatives": data.negatives, "hierarchy": data.hierarchy}
    observed = mask_labels(Y, params.hidden / 100, **rules, random_state=drawn)
    known = {"seed": params.seed, "n_jobs": snakemake.threads}
    P = final.left_out.left_out_of_dataset(data, name, params.settings[name], observed, fold_of, **known)
    table = final.labels.precision_at(Y, observed, P).assign(hidden_rate=params.hidden, dataset=data.id, model=name)
    write_table(table[["dataset", "model", *table.columns[:-2]]], snakemake.output.precision)
