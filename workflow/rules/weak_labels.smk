# Hide labels, train, score on all labels that the data have, rank the models

STUDY = config["weak_labels"]
FOLDS = f"results/folds/{{dataset}}/{config['folds']['method']}/repeats-1.npz"
# Models are named after their imputation: LC, SLC or FLA.
IMPUTERS = [model for model in STUDY["models"] if "LC" in model or "FLA" in model]
WEAK_LABEL_RESULTS = [
    *expand(
        "results/tables/{table}.csv",
        table=[
            "models",
            "weak_label_scores",
            "score_summary",
            "percentile_ranks",
            "comparisons",
            "pairs",
            "cliques",
            "learning_curves",
        ],
    ),
    *expand("results/tables/weak_labels/{dataset}.csv", dataset=STUDY["datasets"]),
    *expand(
        "results/figures/{figure}.pdf", figure=["percentile_ranks", "learning_curves"]
    ),
    "results/timings/models.csv",
]
if IMPUTERS:
    WEAK_LABEL_RESULTS += expand(
        "results/tables/{table}.csv",
        table=["imputation", "label_frequencies", "label_frequency_errors"],
    )
if IMPUTERS and any(STUDY["missing_rates"]):  # else there is nothing to find
    WEAK_LABEL_RESULTS += expand(
        "results/figures/{figure}.pdf", figure=["imputation", "label_frequencies"]
    )


def settings_of(wildcards):
    """What make_model is told; a model with a "+" has no variants."""
    is_honest = wildcards.model.endswith("+")
    return {**STUDY["forest"], "variant": "honest" if is_honest else STUDY["variant"]}


def first_level_of(wildcards):
    """Level 0 that a model shares with others; those with a "+" draw the random numbers of the variant `paper`."""
    variant = settings_of(wildcards)["variant"]
    folder = "results/weak_labels/{dataset}/rate-{rate}/first_level"
    return f"{folder}/{'paper' if variant == 'honest' else variant}.npz"


rule mask_labels:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
    output:
        "results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
    log:
        "results/logs/mask_labels/{dataset}_{rate}.log",
    benchmark:
        "results/benchmarks/mask_labels/{dataset}_{rate}.tsv"
    params:
        seed=config["seed"],
    script:
        "../scripts/mask_labels.py"


rule grow_first_level:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
        hidden="results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
    output:
        # Not `temp`: made anew for one more model, it would retrain all others.
        "results/weak_labels/{dataset}/rate-{rate}/first_level/{variant}.npz",
    log:
        "results/logs/grow_first_level/{dataset}_{rate}_{variant}.log",
    benchmark:
        "results/benchmarks/grow_first_level/{dataset}_{rate}_{variant}.tsv"
    threads: 1
    params:
        seed=config["seed"],
        settings=STUDY["forest"],
    script:
        "../scripts/grow_first_level.py"


rule train_model:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
        hidden="results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
        first_level=first_level_of,
    output:
        scores="results/weak_labels/{dataset}/rate-{rate}/{model}.csv",
        seconds="results/timings/models/{dataset}_{rate}_{model}.csv",
        imputation="results/weak_labels/{dataset}/rate-{rate}/imputation/{model}.csv",
    log:
        "results/logs/train_model/{dataset}_{rate}_{model}.log",
    benchmark:
        "results/benchmarks/train_model/{dataset}_{rate}_{model}.tsv"
    threads: 1
    params:
        seed=config["seed"],
        settings=settings_of,
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
        "results/tables/weak_label_scores.csv",
    log:
        "results/logs/gather_scores.log",
    benchmark:
        "results/benchmarks/gather_scores.tsv"
    script:
        "../scripts/gather_tables.py"


use rule gather_scores as gather_seconds with:
    input:
        expand(
            "results/timings/models/{dataset}_{rate}_{model}.csv",
            dataset=STUDY["datasets"],
            rate=STUDY["missing_rates"],
            model=STUDY["models"],
        ),
    output:
        "results/timings/models.csv",
    log:
        "results/logs/gather_seconds.log",
    benchmark:
        "results/benchmarks/gather_seconds.tsv"


rule summarise_imputation:
    input:
        expand(
            "results/weak_labels/{dataset}/rate-{rate}/imputation/{model}.csv",
            dataset=STUDY["datasets"],
            rate=STUDY["missing_rates"],
            model=IMPUTERS,
        ),
    output:
        imputation="results/tables/imputation.csv",
        frequencies="results/tables/label_frequencies.csv",
        errors="results/tables/label_frequency_errors.csv",
    log:
        "results/logs/summarise_imputation.log",
    benchmark:
        "results/benchmarks/summarise_imputation.tsv"
    script:
        "../scripts/summarise_imputation.py"


rule describe_models:
    output:
        "results/tables/models.csv",
    log:
        "results/logs/describe_models.log",
    benchmark:
        "results/benchmarks/describe_models.tsv"
    params:
        models=STUDY["models"],
        variant=STUDY["variant"],
    script:
        "../scripts/describe_models.py"


rule tabulate_scores:
    input:
        "results/tables/weak_label_scores.csv",
    output:
        summary="results/tables/score_summary.csv",
        curves="results/tables/learning_curves.csv",
        printed=expand(
            "results/tables/weak_labels/{dataset}.csv", dataset=STUDY["datasets"]
        ),
    log:
        "results/logs/tabulate_scores.log",
    benchmark:
        "results/benchmarks/tabulate_scores.tsv"
    params:
        datasets=STUDY["datasets"],
    script:
        "../scripts/tabulate_scores.py"


rule rank_models:
    input:
        "results/tables/weak_label_scores.csv",
    output:
        ranks="results/tables/percentile_ranks.csv",
        comparisons="results/tables/comparisons.csv",
        pairs="results/tables/pairs.csv",
        cliques="results/tables/cliques.csv",
    log:
        "results/logs/rank_models.log",
    benchmark:
        "results/benchmarks/rank_models.tsv"
    params:
        alpha=STUDY["alpha"],
    script:
        "../scripts/rank_models.py"


use rule plot_metric_behaviour as plot_percentile_ranks with:
    input:
        "results/tables/percentile_ranks.csv",
        "results/tables/comparisons.csv",
        "results/tables/cliques.csv",
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
    benchmark:
        "results/benchmarks/plot_percentile_ranks.tsv"
    params:
        draw="fairfold.figures.ranks:plot_percentile_ranks",


use rule plot_metric_behaviour as plot_learning_curves with:
    input:
        "results/tables/learning_curves.csv",
    output:
        "results/figures/learning_curves.pdf",
        report(
            "results/figures/learning_curves.png",
            caption="../report/learning_curves.rst",
            category="3 Weak labels",
            labels={"figure": "learning curves"},
        ),
    log:
        "results/logs/plot_learning_curves.log",
    benchmark:
        "results/benchmarks/plot_learning_curves.tsv"
    params:
        draw="fairfold.figures.cascades:plot_learning_curves",


rule plot_imputation:
    input:
        "results/tables/imputation.csv",
        "results/tables/label_frequencies.csv",
        "results/tables/label_frequency_errors.csv",
    output:
        imputation=[
            "results/figures/imputation.pdf",
            report(
                "results/figures/imputation.png",
                caption="../report/imputation_figure.rst",
                category="3 Weak labels",
                labels={"figure": "imputed labels"},
            ),
        ],
        frequencies=[
            "results/figures/label_frequencies.pdf",
            report(
                "results/figures/label_frequencies.png",
                caption="../report/label_frequencies.rst",
                category="3 Weak labels",
                labels={"figure": "label frequencies"},
            ),
        ],
    log:
        "results/logs/plot_imputation.log",
    benchmark:
        "results/benchmarks/plot_imputation.tsv"
    params:
        models=STUDY["models"],
    script:
        "../scripts/plot_imputation.py"
