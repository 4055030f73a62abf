# Where labels are many: scores of the first labels of each sample, and of labels by their number of training positives

MANY_LABELS = WEAK_LABELS["many_labels"]
MANY = study.with_many_labels(config, CATALOG)
RESULTS_OF["many_labels"] = expand(
    "results/tables/{table}.csv",
    table=[
        "scores_at_k",
        "scores_by_frequency",
        "scores_at_k_summary",
        "scores_by_frequency_summary",
    ]
    * bool(MANY),
)


rule score_many_labels:
    input:
        dataset="results/datasets/{dataset}.npz",
        hidden="results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
        predictions=expand(
            "results/weak_labels/{{dataset}}/rate-{{rate}}/predictions_{part}.npz",
            part=PARTS_OF_UNIT,
        ),
    output:
        "results/weak_labels/{dataset}/rate-{rate}/scores_at_k.csv",
        "results/weak_labels/{dataset}/rate-{rate}/scores_by_frequency.csv",
    log:
        "results/logs/score_many_labels/{dataset}_{rate}.log",
    benchmark:
        "results/benchmarks/score_many_labels/{dataset}_{rate}.tsv"
    params:
        bands=MANY_LABELS["bands"],
        propensity=MANY_LABELS["propensity"],
        code=code("score_many_labels"),
    message:
        "Scores of many labels on {wildcards.dataset}, {wildcards.rate} % hidden"
    script:
        "../scripts/score_many_labels.py"


rule tabulate_many_labels:
    input:
        at_k=expand(
            "results/weak_labels/{dataset}/rate-{rate}/scores_at_k.csv",
            dataset=MANY,
            rate=WEAK_LABELS["missing_rates"],
        ),
        by_frequency=expand(
            "results/weak_labels/{dataset}/rate-{rate}/scores_by_frequency.csv",
            dataset=MANY,
            rate=WEAK_LABELS["missing_rates"],
        ),
    output:
        at_k="results/tables/scores_at_k.csv",
        by_frequency="results/tables/scores_by_frequency.csv",
        at_k_summary="results/tables/scores_at_k_summary.csv",
        by_frequency_summary="results/tables/scores_by_frequency_summary.csv",
    log:
        "results/logs/tabulate_many_labels.log",
    benchmark:
        "results/benchmarks/tabulate_many_labels.tsv"
    params:
        code=code("tabulate_many_labels"),
    message:
        "Tables of scores of many labels"
    script:
        "../scripts/tabulate_many_labels.py"
