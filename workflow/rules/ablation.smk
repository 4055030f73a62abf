# What each part of Stack+ adds: the model without it, on the same folds and hidden labels, on several splits

ABLATION = WEAK_LABELS["ablation"]
RESULTS_OF["ablation"] = ["results/tables/ablation.csv"] * bool(ABLATION["datasets"])
ABLATION_PARTS = expand(
    "results/ablation/{dataset}/rate-{rate}/from-{first}.csv",
    dataset=ABLATION["datasets"],
    rate=ABLATION["missing_rates"],
    first=range(ABLATION["repeats"]),
)
STEPS_OF["ablation"] = [
    step(
        "results/tables/ablation.csv",
        ABLATION_PARTS,
        "fairfold.models.ablation:ablation_table",
        n_splits=config["folds"]["n_splits"],
    )
] * bool(ABLATION["datasets"])


rule ablate_model:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(config["folds"]["n_splits"], repeats=ABLATION["repeats"]),
    output:
        "results/ablation/{dataset}/rate-{rate}/from-{first}.csv",
    log:
        "results/logs/ablate_model/{dataset}_{rate}_{first}.log",
    benchmark:
        "results/benchmarks/ablate_model/{dataset}_{rate}_{first}.tsv"
    threads: 1
    params:
        seed=config["seed"],
        repeats=numbers_of_job(1, ABLATION["repeats"]),
        settings=study.model_settings(config, "Stack+", ABLATION),
        threshold=WEAK_LABELS["forest"]["threshold"],
        code=code_of_models("ablate_model", ["Stack+"]),
    message:
        "Ablations of Stack+ on {wildcards.dataset}, {wildcards.rate} % hidden"
    script:
        "../scripts/ablate_model.py"
