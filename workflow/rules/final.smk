# Fit the final model, recommended or named in the configuration, on all rows and examine the labels with it.

FINAL = config["final"]
FINAL_DATASETS = FINAL["datasets"] or WEAK_LABELS["datasets"]
FINAL_MODELS = [FINAL["model"]] if FINAL["model"] else WEAK_LABELS["models"]


rule fit_final_model:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(config["folds"]["n_splits"]),
        recommendation=recommended_of,
        # cells that a person has checked
        checked=lambda wildcards: [f"{WEAK_LABELS['checked_cells']}/{wildcards.dataset}.csv"]
        * (wildcards.dataset in CHECKED),
        rates=lambda wildcards: [f"results/recommendation/checked/{wildcards.dataset}.csv"]
        * (wildcards.dataset in CHECKED),
        # empty if the study does not score the model
        scores=lambda wildcards: ["results/tables/complete_scores.csv"]
        * (wildcards.dataset in WEAK_LABELS["datasets"] and {*FINAL_MODELS} <= {*WEAK_LABELS["models"]}),
    output:
        # The earlier model can predict until the new one replaces it.
        model=update("results/final/{dataset}/model.fairfold"),
        columns=update("results/final/{dataset}/columns.json"),
        probe=update("results/final/{dataset}/probe.npz"),
        card="results/final/{dataset}/README.md",
        scores="results/final/{dataset}/label_scores.csv",
        label_errors="results/final/{dataset}/likely_label_errors.csv",
        precision="results/final/{dataset}/label_error_precision.csv",
        importance="results/final/{dataset}/feature_importance.csv",
        page="results/final/{dataset}/report.html",
    log:
        "results/logs/fit_final_model/{dataset}.log",
    benchmark:
        "results/benchmarks/fit_final_model/{dataset}.tsv"
    threads: threads_of_each(len(FINAL_DATASETS), most=8)
    resources:
        mem_mb=memory_for,
    params:
        seed=config["seed"],
        model=FINAL["model"],
        score=WEAK_LABELS["score"],
        hidden=30,
        settings={model: study.model_settings(config, model) for model in FINAL_MODELS},
        code_of_models=code_of_models(FINAL_MODELS),
    script:
        "../scripts/fit_final_model.py"


# A target of its own.
FINAL_FILES = [
    *expand(rules.fit_final_model.input.folds, dataset=FINAL_DATASETS),
    *expand(rules.fit_final_model.output, dataset=FINAL_DATASETS),
]
# Further files of a study.
FINAL_OF_STUDY = ["results/config.yaml", *FINAL_FILES * FINAL["fit"]]
