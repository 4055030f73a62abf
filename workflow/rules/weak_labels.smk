# Hide labels, train models, score them on all measured labels, and rank them.

WEAK_LABELS = config["weak_labels"]
FOLDS = folds_of(config["folds"]["n_splits"], repeats=config["folds"]["repeats"])
UNITS = {"dataset": WEAK_LABELS["datasets"], "rate": WEAK_LABELS["missing_rates"]}
HIERARCHICAL = {**UNITS, "dataset": [name for name in WEAK_LABELS["datasets"] if CATALOG[name].hierarchical]}
MANY = {**UNITS, "dataset": study.with_many_labels(config, CATALOG)}
# The missing rate is estimated for the original data and for each rate at which the study hides labels.
ESTIMATED = {"dataset": WEAK_LABELS["datasets"], "rate": sorted({0, *WEAK_LABELS["missing_rates"]})}
# A job trains some models on one dataset at one missing rate; `part` is the number of the job.
MODELS = WEAK_LABELS["models"]
MODELS_PER_JOB = WEAK_LABELS["models_per_job"] or len(MODELS)
MODELS_OF_PART = [MODELS[first : first + MODELS_PER_JOB] for first in range(0, len(MODELS), MODELS_PER_JOB)]
PARTS_OF_UNIT = range(len(MODELS_OF_PART))
N_TRAININGS = len(WEAK_LABELS["datasets"]) * len(WEAK_LABELS["missing_rates"]) * len(MODELS_OF_PART)
UNIT_OPTIONS = {"threshold": WEAK_LABELS["forest"]["threshold"]} | {
    key: WEAK_LABELS[key] for key in ("levels_by", "score")
}
IMPUTING_PARTS = [part for part in PARTS_OF_UNIT if any(spec_of(model).imputes for model in MODELS_OF_PART[part])]
# Figure 1 of the paper ranks its nine models without others.
HAS_NINE = sum(spec_of(model).variants for model in MODELS) == 9 < len(MODELS)
OF_PAPER = ["percentile_ranks", "comparisons", "cliques"] * HAS_NINE
IMPUTATION_TABLES = ["imputation", "label_frequencies", "label_frequency_errors"] * bool(IMPUTING_PARTS)


rule train_and_score:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
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
    resources:
        mem_mb=lambda wildcards, input, threads, attempt: memory_to_request(
            input.dataset, min(threads, MODELS_PER_JOB), attempt
        ),
    params:
        seed=config["seed"],
        unit=UNIT_OPTIONS,
        models=lambda wildcards: [study.model_of_study(config, model) for model in MODELS_OF_PART[int(wildcards.part)]],
    script:
        "../scripts/train_and_score.py"


rule score_hierarchies:
    input:
        datasets=expand("results/datasets/{dataset}.npz", dataset=HIERARCHICAL["dataset"]),
        predictions=expand(rules.train_and_score.output.predictions, **HIERARCHICAL, part=PARTS_OF_UNIT),
    output:
        scores="results/tables/hierarchical_scores.csv",
        summary="results/tables/hierarchical_summary.csv",
    log:
        "results/logs/score_hierarchies.log",
    script:
        "../scripts/score_hierarchies.py"


rule score_many_labels:
    input:
        datasets=expand("results/datasets/{dataset}.npz", dataset=MANY["dataset"]),
        hidden=expand("results/weak_labels/{dataset}/rate-{rate}/hidden.npz", **MANY),
        predictions=expand(rules.train_and_score.output.predictions, **MANY, part=PARTS_OF_UNIT),
    output:
        at_k="results/tables/scores_at_k.csv",
        by_frequency="results/tables/scores_by_frequency.csv",
        at_k_summary="results/tables/scores_at_k_summary.csv",
        by_frequency_summary="results/tables/scores_by_frequency_summary.csv",
    log:
        "results/logs/score_many_labels.log",
    benchmark:
        "results/benchmarks/score_many_labels.tsv"
    params:
        options={name: WEAK_LABELS["many_labels"][name] for name in ("bands", "propensity")},
    script:
        "../scripts/score_many_labels.py"


FILES_OF["weak_labels"] = [
    *expand(FOLDS, dataset=WEAK_LABELS["datasets"]),
    *expand(rules.train_and_score.output, **UNITS, part=PARTS_OF_UNIT),
    *[*rules.score_hierarchies.output] * bool(HIERARCHICAL["dataset"]),
    *[*rules.score_many_labels.output] * bool(MANY["dataset"]),
    "results/tables/models.csv",
]
