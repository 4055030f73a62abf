# Effect of the split on the ranks of models: the weak-label study on many splits, with several trainings on each.


rule repeat_weak_labels:
    input:
        strict_audit_of,
        dataset="results/datasets/{dataset}.npz",
    output:
        "results/rank_stability/{dataset}/rate-{rate}/{splitter}/from-{first}.csv",
    log:
        "results/logs/repeat_weak_labels/{dataset}_{rate}_{splitter}_{first}.log",
    benchmark:
        "results/benchmarks/repeat_weak_labels/{dataset}_{rate}_{splitter}_{first}.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        seed=STUDY.seed,
        folds={"n_splits": STUDY.folds.n_splits, "n_repeats": STUDY.weak_labels.rank_stability.n_repeats},
        repeats=numbers_of_job(PLAN.rank_stability.jobs["first"]),
        options={
            "n_trainings": STUDY.weak_labels.rank_stability.trainings,
            "threshold": STUDY.weak_labels.forest.threshold,
        },
        models={
            model: models.model_settings(STUDY, model, STUDY.weak_labels.rank_stability)
            for model in PLAN.rank_stability.models
        },
        first_levels={model: models.first_level(STUDY, model) for model in PLAN.rank_stability.models},
        forest=models.forest_settings(STUDY, STUDY.weak_labels.rank_stability),
        own=STUDY.models.entries(PLAN.rank_stability.models),
        code_of_models=code_of_models(PLAN.rank_stability.models),
        code=code_of("repeat_weak_labels"),
    script:
        "../scripts/repeat_weak_labels.py"


rule tabulate_rank_stability:
    input:
        PLAN.rank_stability.scores,
    output:
        "results/tables/rank_stability.csv",
    log:
        "results/logs/tabulate_rank_stability.log",
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("tabulate_rank_stability"),
    script:
        "../scripts/tabulate_rank_stability.py"
