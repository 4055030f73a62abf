# Where labels are below each other: F max and S min of the models, and whether their predictions keep the true-path rule

HIERARCHICAL = [
    dataset for dataset in WEAK_LABELS["datasets"] if CATALOG[dataset].hierarchical
]
RESULTS_OF["hierarchies"] = [
    "results/tables/hierarchical_scores.csv",
    "results/tables/hierarchical_summary.csv",
] * bool(HIERARCHICAL)
GATHERED |= {
    "hierarchical_scores": (
        expand(
            "results/weak_labels/{dataset}/rate-{rate}/hierarchical_scores.csv",
            dataset=HIERARCHICAL,
            rate=WEAK_LABELS["missing_rates"],
        ),
        "results/tables/hierarchical_scores.csv",
    )
}


rule score_hierarchies:
    input:
        dataset="results/datasets/{dataset}.npz",
        predictions=expand(
            "results/weak_labels/{{dataset}}/rate-{{rate}}/predictions/{model}.npz",
            model=WEAK_LABELS["models"],
        ),
    output:
        "results/weak_labels/{dataset}/rate-{rate}/hierarchical_scores.csv",
    log:
        "results/logs/score_hierarchies/{dataset}_{rate}.log",
    benchmark:
        "results/benchmarks/score_hierarchies/{dataset}_{rate}.tsv"
    params:
        models=WEAK_LABELS["models"],
    script:
        "../scripts/score_hierarchies.py"


rule summarise_hierarchies:
    input:
        "results/tables/hierarchical_scores.csv",
    output:
        "results/tables/hierarchical_summary.csv",
    log:
        "results/logs/summarise_hierarchies.log",
    benchmark:
        "results/benchmarks/summarise_hierarchies.tsv"
    params:
        function="fairfold.evaluation.hierarchical:summarise_hierarchies",
    script:
        "../scripts/tabulate.py"
