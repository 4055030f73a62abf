# Win percentages of models in random searches over feature sets.


rule evaluate_feature_sets:
    input:
        strict_audit_of,
        dataset="results/datasets/{dataset}.npz",
    output:
        "results/win_percentage/models/{dataset}/rate-{rate}/{order}-from-{first}.csv",
    log:
        "results/logs/evaluate_feature_sets/{dataset}_{rate}_{order}_{first}.log",
    benchmark:
        "results/benchmarks/evaluate_feature_sets/{dataset}_{rate}_{order}_{first}.tsv"
    wildcard_constraints:
        order="sets|permuted",
    conda:
        "../envs/environment.yaml"
    params:
        seed=STUDY.seed,
        folds={"splitter": STUDY.folds.method, "n_splits": STUDY.win_percentage.models.n_splits},
        models={
            model: models.model_settings(STUDY, model, STUDY.win_percentage.models)
            for model in PLAN.win_percentage.models
        },
        threshold=STUDY.weak_labels.forest.threshold,
        set_size=STUDY.win_percentage.models.set_size,
        numbers=lambda wildcards: (
            {"sets": numbers_of_job(PLAN.win_percentage.sets)(wildcards), "permutations": [0, 1]}
            if wildcards.order == "sets"
            else {
                "sets": [0, PLAN.win_percentage.n_permuted_sets],
                "permutations": numbers_of_job(PLAN.win_percentage.permutations)(wildcards),
            }
        ),
        exchange=STUDY.win_percentage.models.exchange,
        own=STUDY.models.entries(PLAN.win_percentage.models),
        code_of_models=code_of_models(PLAN.win_percentage.models),
        code=code_of("evaluate_feature_sets"),
    script:
        "../scripts/evaluate_feature_sets.py"
