"""Estimate the scores of all models on complete labels, for one dataset and missing rate."""

from functools import partial

from adapter import logged
from fairfold.core.files import read_arrays, write_table
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.evaluation.fold_scores import read_predictions
from fairfold.recommendation.complete_scores import complete_scores, share_left, with_notes
from fairfold.recommendation.guessing import best_model, score_guessing
from fairfold.recommendation.identical import identical_models
from fairfold.recommendation.verdicts import study_verdicts
from fairfold.weak_labels.masking import observed_labels
from fairfold.weak_labels.plateau import FrequencyDistribution

with logged(snakemake.log):
    data, rate, params = Dataset.load(snakemake.input.dataset), int(snakemake.wildcards.rate), snakemake.params
    hierarchical = data.hierarchy is not None
    hidden = read_arrays(snakemake.input.hidden)
    observed = observed_labels(data.Y, hidden["hidden_in_tests"], None, data.negatives)
    arrays = read_arrays(snakemake.input.frequency)
    bound = float(arrays.pop("bound")) if "bound" in arrays else None
    frequency = FrequencyDistribution(**arrays) if arrays else None
    predictions = dict(read_predictions(snakemake.input.predictions))
    fold_of = next(iter(predictions.values())).fold_of
    known = share_left(data.Y, observed, fold_of) if data.negatives == "unlabeled" else 1.0
    options = {"threshold": params.threshold, "score": params.score, "sample_weight": data.weights}
    options |= {"groups": data.groups, "hierarchical": hierarchical}
    tables = complete_scores(
        *(data.Y, observed, predictions, frequency, known),
        bound=bound,
        **options,
        balanced=data.fold_of is None and params.splitter != "random",
        random_state=seed_for(params.seed, "complete scores", data.id, rate),
    )
    compared = predictions if rate == params.compared_rate else {}  # Other rates are trials without verdicts.
    tables["verdicts"] = study_verdicts(observed, compared, frequency, rope=params.rope, **options)
    in_training = partial(observed_labels, data.Y, hidden["hidden"], negatives=data.negatives)
    best = best_model(tables["scores"], params.score)
    rivals = {name: each for name, each in compared.items() if name == best}
    tables["guessing"] = score_guessing(data.Y, observed, in_training, fold_of, rivals, frequency, known, **options)
    is_corrected = data.declared(rate)["labels_are"] == "incomplete"
    scores = with_notes(tables["scores"], hierarchical=hierarchical) if is_corrected else tables["scores"]
    tables["scores"] = scores.merge(identical_models(tables["folds"], predictions), how="left", on="model")
    unit = {"dataset": data.id, "missing_rate": rate}
    for name, path in snakemake.output.items():
        write_table(tables[name].assign(**unit)[[*unit, *tables[name]]], path)
