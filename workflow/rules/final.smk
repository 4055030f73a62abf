# Fit the final model, recommended or named in the configuration, on all rows and examine the labels with it.

FINAL = config["final"]
FINAL_DATASETS = FINAL["datasets"] or WEAK_LABELS["datasets"]
FINAL_MODELS = [FINAL["model"]] if FINAL["model"] else WEAK_LABELS["models"]
# The two jobs of a dataset run in parallel, because they are independent.
FINAL_THREADS = threads_of_each(2 * len(FINAL_DATASETS), most=8)


rule fit_final_model:
    input:
        dataset="results/datasets/{dataset}.npz",
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
    log:
        "results/logs/fit_final_model/{dataset}.log",
    benchmark:
        "results/benchmarks/fit_final_model/{dataset}.tsv"
    threads: FINAL_THREADS
    resources:
        mem_mb=memory_for,
    params:
        seed=config["seed"],
        model=FINAL["model"],
        score=WEAK_LABELS["score"],
        settings={model: study.model_settings(config, model) for model in FINAL_MODELS},
        own=study.checksums_of_own(config, FINAL_MODELS),
    script:
        "../scripts/fit_final_model.py"


rule examine_labels:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(config["folds"]["n_splits"]),
        recommendation=recommended_of,
    output:
        scores="results/final/{dataset}/label_scores.csv",
        label_errors="results/final/{dataset}/likely_label_errors.csv",
        precision="results/final/{dataset}/label_error_precision.csv",
        importance="results/final/{dataset}/feature_importance.csv",
    log:
        "results/logs/examine_labels/{dataset}.log",
    benchmark:
        "results/benchmarks/examine_labels/{dataset}.tsv"
    priority: 1  # start the longest job early; only its page depends on it
    threads: FINAL_THREADS
    resources:
        mem_mb=memory_for,
    params:
        seed=config["seed"],
        model=FINAL["model"],
        score=WEAK_LABELS["score"],
        hidden=30,
        settings=rules.fit_final_model.params.settings,
        own=study.checksums_of_own(config, FINAL_MODELS),
    script:
        "../scripts/examine_labels.py"


rule write_dataset_page:
    input:
        **rules.examine_labels.output,
        dataset="results/datasets/{dataset}.npz",
        columns=rules.fit_final_model.output.columns,
    output:
        page="results/final/{dataset}/report.html",
    log:
        "results/logs/write_dataset_page/{dataset}.log",
    script:
        "../scripts/write_dataset_page.py"


# A target of its own.
FINAL_FILES = [
    *expand(rules.examine_labels.input.folds, dataset=FINAL_DATASETS),
    *expand([*rules.fit_final_model.output, *rules.examine_labels.output], dataset=FINAL_DATASETS),
    *expand(rules.write_dataset_page.output, dataset=FINAL_DATASETS),
]
# Further files of a study.
FINAL_OF_STUDY = ["results/config.yaml", *FINAL_FILES * FINAL["fit"]]
