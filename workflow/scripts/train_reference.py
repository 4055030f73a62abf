"""Predict left-out samples of a dataset with many labels by the model by which missing ones are estimated."""

from adapter import logged
from fairfold.core.files import read_arrays
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.models import make_model
from fairfold.recommendation.reference import most_common_labels, save_reference
from fairfold.weak_labels.masking import observed_labels

with logged(snakemake.log):
    data, params, rate = Dataset.load(snakemake.input.dataset), snakemake.params, int(snakemake.wildcards.rate)
    arrays = read_arrays(snakemake.input.hidden)
    hidden = arrays["hidden"]
    seen = observed_labels(data.Y, arrays["hidden_in_tests"], None, data.negatives)
    labels = most_common_labels(seen, params.n_labels)
    settings = {**params.settings, "n_jobs": snakemake.threads, "negatives": data.negatives}
    tables = score_on_folds(
        lambda fold: make_model(
            params.model,
            **settings,
            categories=data.category_columns,
            random_state=seed_for(params.seed, data.id, rate, fold),
        ),
        *(data.X, data.Y[:, labels], read_arrays(snakemake.input.folds)["fold_of"]),
        observed=lambda fold: observed_labels(data.Y, hidden, fold, data.negatives)[:, labels],
        groups=data.groups,
        sample_weight=data.weights,
    )
    save_reference(tables.predictions, labels, snakemake.output[0])
