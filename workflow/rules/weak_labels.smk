# Hide labels, train, score on all labels that the data have, rank the models

WEAK_LABELS = config["weak_labels"]
FOLDS = folds_of(config["folds"]["n_splits"], repeats=config["folds"]["repeats"])
UNITS = {
    "dataset": WEAK_LABELS["datasets"],
    "rate": WEAK_LABELS["missing_rates"],
}
# A job trains some models on one dataset at one missing rate; its part is the number of the job.
MODELS_PER_JOB = WEAK_LABELS["models_per_job"] or len(WEAK_LABELS["models"])
MODELS_OF_PART = [
    WEAK_LABELS["models"][first : first + MODELS_PER_JOB]
    for first in range(0, len(WEAK_LABELS["models"]), MODELS_PER_JOB)
]
PARTS_OF_UNIT = range(len(MODELS_OF_PART))
N_TRAININGS = len(WEAK_LABELS["datasets"]) * len(WEAK_LABELS["missing_rates"]) * len(MODELS_OF_PART)
UNIT_OPTIONS = {
    "threshold": WEAK_LABELS["forest"]["threshold"],
    "levels_by": WEAK_LABELS["levels_by"],
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
            *["imputation", "label_frequencies", "label_frequency_errors"] * bool(IMPUTERS),
        ],
    ),
    *expand("results/tables/weak_labels/{dataset}.csv", dataset=WEAK_LABELS["datasets"]),
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
        code=code("mask_labels"),
    message:
        "Hide {wildcards.rate} % of the labels of {wildcards.dataset}"
    script:
        "../scripts/mask_labels.py"


rule train_and_score:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
        hidden="results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
    output:
        scores="results/weak_labels/{dataset}/rate-{rate}/scores_{part}.csv",
        imputation="results/weak_labels/{dataset}/rate-{rate}/imputation_{part}.csv",
        predictions="results/weak_labels/{dataset}/rate-{rate}/predictions_{part}.npz",
        seconds="results/timings/models/{dataset}_{rate}_{part}.csv",
    log:
        "results/logs/train_and_score/{dataset}_{rate}_{part}.log",
    benchmark:
        "results/benchmarks/train_and_score/{dataset}_{rate}_{part}.tsv"
    threads: threads_of_each(N_TRAININGS, most=MODELS_PER_JOB)
    params:
        seed=config["seed"],
        unit=UNIT_OPTIONS,
        models=lambda wildcards: [model_of_study(model) for model in MODELS_OF_PART[int(wildcards.part)]],
        code=code("train_and_score"),
    message:
        "Train and score on {wildcards.dataset}, {wildcards.rate} % hidden"
    script:
        "../scripts/train_and_score.py"


rule tabulate_weak_labels:
    input:
        scores=expand(rules.train_and_score.output.scores, **UNITS, part=PARTS_OF_UNIT),
        seconds=expand(rules.train_and_score.output.seconds, **UNITS, part=PARTS_OF_UNIT),
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
        code=code("tabulate_weak_labels"),
    message:
        "Tables of weak labels"
    script:
        "../scripts/tabulate_weak_labels.py"


rule tabulate_imputation:
    input:
        expand(
            rules.train_and_score.output.imputation,
            **UNITS,
            part=[part for part, models in enumerate(MODELS_OF_PART) if {*models} & {*IMPUTERS}],
        ),
    output:
        imputation="results/tables/imputation.csv",
        frequencies="results/tables/label_frequencies.csv",
        errors="results/tables/label_frequency_errors.csv",
    log:
        "results/logs/tabulate_imputation.log",
    benchmark:
        "results/benchmarks/tabulate_imputation.tsv"
    params:
        code=code("tabulate_imputation"),
    message:
        "Tables of imputed labels"
    script:
        "../scripts/tabulate_imputation.py"
