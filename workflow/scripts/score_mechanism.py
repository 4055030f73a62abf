"""Hide labels of one dataset once by one mechanism, train models on the observed labels, and estimate their scores."""

from functools import partial

import numpy as np

from adapter import logged
from fairfold.core.files import read_arrays, write_table
from fairfold.core.seeds import seed_for, seed_sequence
from fairfold.datasets.dataset import Dataset
from fairfold.evaluation.fold_scores import FinalPredictions, score_on_folds
from fairfold.models.registry import make_model, register_own
from fairfold.recommendation.mechanisms import scores_under_mechanism, without_scores
from fairfold.weak_labels.masking import mask_positives


def predict(model: str, Y: np.ndarray, hidden_rate: int, *names: str) -> tuple[FinalPredictions, str]:
    """Compute out-of-fold predictions of a model, and the reason for the first failed fold."""
    settings = {**snakemake.params.models.get(model, {}), "n_jobs": snakemake.threads}
    settings |= {"label_frequency": data.label_frequency(hidden_rate), "categories": data.category_columns}
    tables = score_on_folds(
        lambda fold: make_model(model, **settings, random_state=seed_for(snakemake.params.seed, *names, fold)),
        *(data.X, Y, read_arrays(snakemake.input.folds)["fold_of"][0]),
        observed=lambda fold: Y,
        threshold=snakemake.params.threshold,
        groups=data.groups,
        sample_weight=data.weights,
    )
    failures = tables.findings.get("reason", [])  # one reason per failed fold
    return tables.predictions, next(iter(failures), "")


with logged(snakemake.log):
    register_own(snakemake.config["models"])
    data, params = Dataset.load(snakemake.input.dataset), snakemake.params
    mechanism, wrong = snakemake.wildcards.mechanism, int(snakemake.wildcards.wrong)
    unit = {"dataset": data.id, "missing_rate": params.missing_rate, "mechanism": mechanism, "wrong_positives": wrong}
    names = ("mechanisms", *unit.values())
    if data.negatives == "confirmed":
        table = without_scores("zeros of these labels are confirmed, so missing positives are counted, not estimated")
    elif mechanism == "group" and data.groups is None:
        table = without_scores("the data have no groups")
    else:
        by = {"mechanism": mechanism, "groups": data.groups if mechanism == "group" else None}
        if mechanism == "difficulty":
            reference, _ = predict(params.difficulty_by, data.Y, 0, "mechanisms", data.id)
            by["reference"] = np.clip(reference.by("average_precision"), 0, 1)
        seed = seed_sequence(params.seed, *names)
        hide = partial(mask_positives, rate=params.missing_rate / 100, wrong_positives=wrong / 100, random_state=seed)
        observed = hide(data.Y, **by)
        found = {
            model: predict(model, observed, params.missing_rate, *names)
            for model in dict.fromkeys([*params.compared, params.reference])
        }
        table = scores_under_mechanism(
            *(data.Y, observed, {model: found[model][0] for model in params.compared}, found[params.reference][0]),
            threshold=params.threshold,
            groups=data.groups,
            sample_weight=data.weights,
            balanced=data.fold_of is None and params.splitter != "random",
            random_state=seed_for(params.seed, *names, "draws"),
        )
        own = table["model"].map({model: reason for model, (_, reason) in found.items()})
        table["reason"] = table["reason"].where(table["reason"] != "", own)
    write_table(table.assign(**unit)[[*unit, *table]], snakemake.output[0])
