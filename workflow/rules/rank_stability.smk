# Effect of the split on the ranks of models: the weak-label study on many splits, with several trainings on each.

STABILITY = WEAK_LABELS["rank_stability"]
STABILITY_MODELS = STABILITY["models"] or WEAK_LABELS["models"]
STABILITY_JOBS = {
    "dataset": STABILITY["datasets"],
    "rate": STABILITY["missing_rates"],
    "splitter": STABILITY["splitters"],
    "first": range(0, STABILITY["repeats"], STABILITY["repeats_per_job"]),
}


rule repeat_weak_labels:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(config["folds"]["n_splits"], "{splitter}", STABILITY["repeats"]),
    output:
        "results/rank_stability/{dataset}/rate-{rate}/{splitter}/from-{first}.csv",
    log:
        "results/logs/repeat_weak_labels/{dataset}_{rate}_{splitter}_{first}.log",
    benchmark:
        "results/benchmarks/repeat_weak_labels/{dataset}_{rate}_{splitter}_{first}.tsv"
    params:
        seed=config["seed"],
        repeats=numbers_of_job(STABILITY_JOBS["first"]),
        options={"n_trainings": STABILITY["trainings"], "threshold": WEAK_LABELS["forest"]["threshold"]},
        models={model: study.model_settings(config, model, STABILITY) for model in STABILITY_MODELS},
        first_levels={model: study.first_level(config, model) for model in STABILITY_MODELS},
        forest={**WEAK_LABELS["forest"], **STABILITY["forest"]},
        code_of_models=code_of_models(STABILITY_MODELS),
    script:
        "../scripts/repeat_weak_labels.py"


rule tabulate_rank_stability:
    input:
        expand(rules.repeat_weak_labels.output, **STABILITY_JOBS),
    output:
        "results/tables/rank_stability.csv",
    log:
        "results/logs/tabulate_rank_stability.log",
    script:
        "../scripts/tabulate_rank_stability.py"


FILES_OF["rank_stability"] = [
    *expand(rules.repeat_weak_labels.input.folds, dataset=STABILITY["datasets"], splitter=STABILITY["splitters"]),
    *rules.tabulate_rank_stability.input,
    *[*rules.tabulate_rank_stability.output] * bool(STABILITY["datasets"]),
]
