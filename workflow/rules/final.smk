# Fit the final model, recommended or named in the configuration, and examine the labels with it.


rule fit_final_model:
    input:
        dataset="results/datasets/{dataset}.npz",
        held_out=["results/held_out/{dataset}.npz"] if STUDY.data.set_aside else [],
        folds=folds_of(STUDY, STUDY.folds.n_splits),
        recommendation=recommended_of,
        # cells that a person has checked
        checked=lambda wildcards: known_cells_of(wildcards.dataset),
        rates=lambda wildcards: [
            f"results/recommendation/checked/{wildcards.dataset}.csv" for _ in checked_cells_of(wildcards.dataset)
        ],
        elsewhere=lambda wildcards: [
            f"results/elsewhere/{wildcards.dataset}.csv"
            for dataset in STUDY.weak_labels.elsewhere.datasets
            if dataset == wildcards.dataset
        ],
        # empty if the study does not score the model
        scores=lambda wildcards: (
            ["results/tables/complete_scores.csv"]
            if wildcards.dataset in STUDY.weak_labels.datasets and {*PLAN.final.models} <= {*STUDY.weak_labels.models}
            else []
        ),
    output:
        **{"certified": "results/tables/certified/{dataset}.csv"} if STUDY.data.set_aside else {},
        # The earlier model can predict until the new one replaces it.
        model=update("results/final/{dataset}/model.fairfold"),
        columns=update("results/final/{dataset}/columns.json"),
        probe=update("results/final/{dataset}/probe.npz"),
        card="results/final/{dataset}/README.md",
        scores="results/final/{dataset}/label_scores.csv",
        label_errors="results/final/{dataset}/likely_label_errors.csv",
        precision="results/final/{dataset}/label_error_precision.csv",
        importance="results/final/{dataset}/feature_importance.csv",
        words="results/final/{dataset}/label_words.csv",
        dependence="results/final/{dataset}/partial_dependence.csv",
        weights="results/final/{dataset}/pool_weights.csv",
        example="results/final/{dataset}/explained_prediction.csv",
        certificates="results/final/{dataset}/certificates.csv",
        page="results/final/{dataset}/report.html",
    log:
        "results/logs/fit_final_model/{dataset}.log",
    benchmark:
        "results/benchmarks/fit_final_model/{dataset}.tsv"
    conda:
        "../envs/environment.yaml"
    threads: threads_of_each(len(PLAN.final.datasets), most=8)
    resources:
        mem_mb=memory_for,
    params:
        seed=STUDY.seed,
        model=STUDY.final.model,
        sketch=STUDY.final.sketch,
        score=STUDY.weak_labels.scoring,
        hidden=30,
        settings={model: models.model_settings(STUDY, model) for model in PLAN.final.models},
        own=STUDY.models.entries(PLAN.final.models),
        code_of_models=code_of_models(PLAN.final.models),
        code=code_of("fit_final_model"),
    script:
        "../scripts/fit_final_model.py"
