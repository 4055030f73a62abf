# Hide labels, train, score on the true labels, rank the models

STUDY = config["weak_labels"]
FOLDS = f"results/folds/{{dataset}}/{config['folds']['method']}/repeats-1.npz"
WEAK_LABEL_RESULTS = [
    "results/tables/datasets.csv",
    "results/tables/weak_label_scores.csv",
    "results/tables/percentile_ranks.csv",
    "results/figures/percentile_ranks.pdf",
]


rule mask_labels:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
    output:
        "results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
    log:
        "results/logs/mask_labels/{dataset}_{rate}.log",
    params:
        seed=config["seed"],
        code=code_of("weak_labels"),
    script:
        "../scripts/mask_labels.py"


rule train_model:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
        hidden="results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
    output:
        "results/weak_labels/{dataset}/rate-{rate}/{model}.csv",
    log:
        "results/logs/train_model/{dataset}_{rate}_{model}.log",
    benchmark:
        "results/benchmarks/train_model/{dataset}_{rate}_{model}.tsv"
    params:
        seed=config["seed"],
        forest=STUDY["forest"],
        code=code_of("weak_labels", "forests", "evaluation"),
    script:
        "../scripts/train_model.py"


rule gather_scores:
    input:
        expand(
            "results/weak_labels/{dataset}/rate-{rate}/{model}.csv",
            dataset=STUDY["datasets"],
            rate=STUDY["missing_rates"],
            model=STUDY["models"],
        ),
    output:
        report(
            "results/tables/weak_label_scores.csv",
            caption="../report/weak_label_scores.rst",
            category="3 Weak labels",
            labels={"table": "scores"},
        ),
    log:
        "results/logs/gather_scores.log",
    script:
        "../scripts/gather_tables.py"


rule rank_models:
    input:
        "results/tables/weak_label_scores.csv",
    output:
        report(
            "results/tables/percentile_ranks.csv",
            caption="../report/percentile_ranks.rst",
            category="3 Weak labels",
            labels={"table": "percentile ranks"},
        ),
    log:
        "results/logs/rank_models.log",
    params:
        code=code_of("evaluation"),
    script:
        "../scripts/rank_models.py"


use rule plot_metric_behaviour as plot_percentile_ranks with:
    input:
        "results/tables/percentile_ranks.csv",
    output:
        "results/figures/percentile_ranks.pdf",
        report(
            "results/figures/percentile_ranks.png",
            caption="../report/percentile_ranks.rst",
            category="3 Weak labels",
            labels={"figure": "percentile ranks"},
        ),
    log:
        "results/logs/plot_percentile_ranks.log",
    params:
        draw="ranks:plot_percentile_ranks",
        code=code_of("figures"),
