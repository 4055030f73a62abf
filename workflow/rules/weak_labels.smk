# Hide labels, train, score on all labels that the data have, rank the models

WEAK_LABELS = config["weak_labels"]
FOLDS = folds_of(config["folds"]["n_splits"], repeats=config["folds"]["repeats"])
UNITS = {
    "dataset": WEAK_LABELS["datasets"],
    "rate": WEAK_LABELS["missing_rates"],
}
IMPUTERS = [model for model in WEAK_LABELS["models"] if spec_of(model).imputes]
RESULTS_OF["weak_labels"] = [
    *expand(
        "results/tables/{table}.csv",
        table=[
            "models",
            "weak_label_scores",
            "score_summary",
            "percentile_ranks",
            "comparisons",
            "pairs",
            "cliques",
            "learning_curves",
            *["imputation", "label_frequencies", "label_frequency_errors"]
            * bool(IMPUTERS),
        ],
    ),
    *expand(
        "results/tables/weak_labels/{dataset}.csv", dataset=WEAK_LABELS["datasets"]
    ),
    "results/timings/models.csv",
]


rule mask_labels:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
    output:
        "results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
    log:
        "results/logs/mask_labels/{dataset}_{rate}.log",
    benchmark:
        "results/benchmarks/mask_labels/{dataset}_{rate}.tsv"
    params:
        seed=config["seed"],
    message:
        "Hide {wildcards.rate} % of the labels of {wildcards.dataset}"
    script:
        "../scripts/mask_labels.py"


rule grow_first_level:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
        hidden="results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
    output:
        # Not `temp`: made anew for one more model, it would retrain all others.
        "results/weak_labels/{dataset}/rate-{rate}/first_level/{first_level}.npz",
    log:
        "results/logs/grow_first_level/{dataset}_{rate}_{first_level}.log",
    benchmark:
        "results/benchmarks/grow_first_level/{dataset}_{rate}_{first_level}.tsv"
    threads: 1
    params:
        seed=config["seed"],
        settings=WEAK_LABELS["forest"],
    message:
        "First level {wildcards.first_level} on {wildcards.dataset}, {wildcards.rate} % hidden"
    script:
        "../scripts/grow_first_level.py"


rule train_model:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
        hidden="results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
        first_level=first_level_of,
    output:
        scores="results/weak_labels/{dataset}/rate-{rate}/{model}.csv",
        seconds="results/timings/models/{dataset}_{rate}_{model}.csv",
        imputation="results/weak_labels/{dataset}/rate-{rate}/imputation/{model}.csv",
        predictions="results/weak_labels/{dataset}/rate-{rate}/predictions/{model}.npz",
    log:
        "results/logs/train_model/{dataset}_{rate}_{model}.log",
    benchmark:
        "results/benchmarks/train_model/{dataset}_{rate}_{model}.tsv"
    threads: 1
    params:
        seed=config["seed"],
        settings=lambda wildcards: study.model_settings(config, wildcards.model),
        threshold=WEAK_LABELS["forest"]["threshold"],
        levels_by=WEAK_LABELS["levels_by"],
        most_labels=lambda wildcards: WEAK_LABELS["many_labels"]["most_labels"].get(
            wildcards.model
        ),
        code=lambda wildcards: code_of_models("train_model", [wildcards.model]),
    message:
        "Train {wildcards.model} on {wildcards.dataset}, {wildcards.rate} % hidden"
    script:
        "../scripts/train_model.py"


rule tabulate_weak_labels:
    input:
        scores=expand(
            "results/weak_labels/{dataset}/rate-{rate}/{model}.csv",
            **UNITS,
            model=WEAK_LABELS["models"],
        ),
        seconds=expand(
            "results/timings/models/{dataset}_{rate}_{model}.csv",
            **UNITS,
            model=WEAK_LABELS["models"],
        ),
    output:
        scores="results/tables/weak_label_scores.csv",
        seconds="results/timings/models.csv",
        summary="results/tables/score_summary.csv",
        curves="results/tables/learning_curves.csv",
        printed=expand(
            "results/tables/weak_labels/{dataset}.csv",
            dataset=WEAK_LABELS["datasets"],
        ),
        ranks="results/tables/percentile_ranks.csv",
        comparisons="results/tables/comparisons.csv",
        pairs="results/tables/pairs.csv",
        cliques="results/tables/cliques.csv",
    log:
        "results/logs/tabulate_weak_labels.log",
    benchmark:
        "results/benchmarks/tabulate_weak_labels.tsv"
    params:
        datasets=WEAK_LABELS["datasets"],
        alpha=WEAK_LABELS["alpha"],
    message:
        "Tables of weak labels"
    script:
        "../scripts/tabulate_weak_labels.py"


rule tabulate_imputation:
    input:
        expand(
            "results/weak_labels/{dataset}/rate-{rate}/imputation/{model}.csv",
            **UNITS,
            model=IMPUTERS,
        ),
    output:
        imputation="results/tables/imputation.csv",
        frequencies="results/tables/label_frequencies.csv",
        errors="results/tables/label_frequency_errors.csv",
    log:
        "results/logs/tabulate_imputation.log",
    benchmark:
        "results/benchmarks/tabulate_imputation.tsv"
    message:
        "Tables of imputed labels"
    script:
        "../scripts/tabulate_imputation.py"
