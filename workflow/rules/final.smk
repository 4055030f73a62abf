# The model to take home: the recommended one, or the one that is named, fitted on all rows; and what it says of the labels

FINAL = config["final"]
FINAL_DATASETS = FINAL["datasets"] or WEAK_LABELS["datasets"]
FINAL_MODELS = [FINAL["model"]] if FINAL["model"] else WEAK_LABELS["models"]
# Where the model to take home is named; nothing where the configuration does
RECOMMENDED = ["results/tables/recommendation.csv"] * (FINAL["model"] is None)
# A dataset's three jobs side by side, as none waits for another
FINAL_THREADS = threads_of_each(3 * len(FINAL_DATASETS), most=8)


rule fit_final_model:
    input:
        dataset="results/datasets/{dataset}.npz",
        recommendation=RECOMMENDED,
        # nothing where the model is not in the study
        scores=lambda wildcards: ["results/tables/complete_scores.csv"]
        * (wildcards.dataset in WEAK_LABELS["datasets"] and {*FINAL_MODELS} <= {*WEAK_LABELS["models"]}),
    output:
        model="results/final/{dataset}/model.fairfold",
        columns="results/final/{dataset}/columns.json",
        probe="results/final/{dataset}/probe.npz",
        card="results/final/{dataset}/README.md",
    log:
        "results/logs/fit_final_model/{dataset}.log",
    benchmark:
        "results/benchmarks/fit_final_model/{dataset}.tsv"
    threads: FINAL_THREADS
    params:
        seed=config["seed"],
        model=FINAL["model"],
        settings={model: study.model_settings(config, model) for model in FINAL_MODELS},
        own=own_code(FINAL_MODELS),
        code=code("fit_final_model"),
    message:
        "Fit the model to take home on {wildcards.dataset}"
    script:
        "../scripts/fit_final_model.py"


rule examine_labels:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(config["folds"]["n_splits"]),
        recommendation=RECOMMENDED,
    output:
        scores="results/final/{dataset}/label_scores.csv",
        suspects="results/final/{dataset}/suspect_labels.csv",
        importance="results/final/{dataset}/feature_importance.csv",
    log:
        "results/logs/examine_labels/{dataset}.log",
    benchmark:
        "results/benchmarks/examine_labels/{dataset}.tsv"
    priority: 1  # the longest, for which no more than its page waits
    threads: FINAL_THREADS
    params:
        seed=config["seed"],
        model=FINAL["model"],
        settings=rules.fit_final_model.params.settings,
        own=own_code(FINAL_MODELS),
        code=code("examine_labels"),
    message:
        "Examine the labels of {wildcards.dataset}"
    script:
        "../scripts/examine_labels.py"


rule rate_suspects:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(config["folds"]["n_splits"]),
        recommendation=RECOMMENDED,
    output:
        precision="results/final/{dataset}/suspect_precision.csv",
    log:
        "results/logs/rate_suspects/{dataset}.log",
    benchmark:
        "results/benchmarks/rate_suspects/{dataset}.tsv"
    threads: FINAL_THREADS
    params:
        seed=config["seed"],
        model=FINAL["model"],
        hidden=30,
        settings=rules.fit_final_model.params.settings,
        own=own_code(FINAL_MODELS),
        code=code("rate_suspects"),
    message:
        "Hide labels of {wildcards.dataset}, and look for them"
    script:
        "../scripts/rate_suspects.py"


rule write_dataset_page:
    input:
        **rules.examine_labels.output,
        **rules.rate_suspects.output,
        dataset="results/datasets/{dataset}.npz",
        columns=rules.fit_final_model.output.columns,
        legend="results/legend.csv",
        sentences=["results/recommendation/sentences.csv"] * (FINAL["model"] is None),
    output:
        page="results/final/{dataset}/report.html",
        figure="results/final/{dataset}/label_scores.png",
        pdf="results/final/{dataset}/label_scores.pdf",
    log:
        "results/logs/write_dataset_page/{dataset}.log",
    benchmark:
        "results/benchmarks/write_dataset_page/{dataset}.tsv"
    params:
        code=code("write_dataset_page"),
    message:
        "Page of {wildcards.dataset}"
    script:
        "../scripts/write_dataset_page.py"


rule tabulate_final:
    input:
        label_scores=expand("results/final/{dataset}/label_scores.csv", dataset=FINAL_DATASETS),
        suspect_labels=expand("results/final/{dataset}/suspect_labels.csv", dataset=FINAL_DATASETS),
        suspect_precision=expand("results/final/{dataset}/suspect_precision.csv", dataset=FINAL_DATASETS),
        feature_importance=expand("results/final/{dataset}/feature_importance.csv", dataset=FINAL_DATASETS),
    output:
        label_scores="results/tables/label_scores.csv",
        suspect_labels="results/tables/suspect_labels.csv",
        suspect_precision="results/tables/suspect_precision.csv",
        feature_importance="results/tables/feature_importance.csv",
    log:
        "results/logs/tabulate_final.log",
    benchmark:
        "results/benchmarks/tabulate_final.tsv"
    params:
        code=code("tabulate_final"),
    message:
        "Tables of the final models"
    script:
        "../scripts/tabulate_final.py"
