# Where labels are below each other: F max and S min of the models, and whether their predictions keep the true-path rule

HIERARCHICAL = [dataset for dataset in WEAK_LABELS["datasets"] if CATALOG[dataset].hierarchical]
RESULTS_OF["hierarchies"] = [
    "results/tables/hierarchical_scores.csv",
    "results/tables/hierarchical_summary.csv",
] * bool(HIERARCHICAL)


rule score_hierarchies:
    input:
        dataset="results/datasets/{dataset}.npz",
        predictions=expand(
            "results/weak_labels/{{dataset}}/rate-{{rate}}/predictions_{part}.npz",
            part=PARTS_OF_UNIT,
        ),
    output:
        "results/weak_labels/{dataset}/rate-{rate}/hierarchical_scores.csv",
    log:
        "results/logs/score_hierarchies/{dataset}_{rate}.log",
    benchmark:
        "results/benchmarks/score_hierarchies/{dataset}_{rate}.tsv"
    params:
        code=code("score_hierarchies"),
    message:
        "Scores along the hierarchy of {wildcards.dataset}, {wildcards.rate} % hidden"
    script:
        "../scripts/score_hierarchies.py"


rule tabulate_hierarchies:
    input:
        expand(
            "results/weak_labels/{dataset}/rate-{rate}/hierarchical_scores.csv",
            dataset=HIERARCHICAL,
            rate=WEAK_LABELS["missing_rates"],
        ),
    output:
        scores="results/tables/hierarchical_scores.csv",
        summary="results/tables/hierarchical_summary.csv",
    log:
        "results/logs/tabulate_hierarchies.log",
    benchmark:
        "results/benchmarks/tabulate_hierarchies.tsv"
    params:
        code=code("tabulate_hierarchies"),
    message:
        "Tables of scores in a hierarchy"
    script:
        "../scripts/tabulate_hierarchies.py"
