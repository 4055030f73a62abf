# How many labels each dataset lacks, and which models to trust on it

RESULTS_OF["recommendation"] = [
    "results/tables/missing_rates.csv",
    "results/tables/recommendation.csv",
    "results/recommendation/sentences.csv",
    "results/tables/regret.csv",
    "results/tables/choices.csv",
]
# What win percentages say of them, where they are computed
WINS_OF_FORESTS = (
    {"win_percentages": "results/tables/win_percentage/models.csv"}
    if WIN_PERCENTAGE["models"]["datasets"]
    else {}
)
# The estimate of the data as they are, and of what the study hides, where the truth is known.
ESTIMATED_AT = sorted({0, *WEAK_LABELS["missing_rates"]})


rule estimate_missing_rates:
    input:
        datasets=expand(
            "results/datasets/{dataset}.npz",
            dataset=WEAK_LABELS["datasets"],
        ),
        folds=expand(FOLDS, dataset=WEAK_LABELS["datasets"]),
        hidden=expand(
            "results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
            dataset=WEAK_LABELS["datasets"],
            rate=ESTIMATED_AT,
        ),
        first_levels=expand(
            "results/weak_labels/{dataset}/rate-{rate}/first_level/{first_level}.npz",
            dataset=WEAK_LABELS["datasets"],
            rate=ESTIMATED_AT,
            first_level=WEAK_LABELS["variant"],
        ),
    output:
        "results/tables/missing_rates.csv",
    log:
        "results/logs/estimate_missing_rates.log",
    benchmark:
        "results/benchmarks/estimate_missing_rates.tsv"
    params:
        rates=ESTIMATED_AT,
    script:
        "../scripts/estimate_missing_rates.py"


rule recommend_models:
    input:
        **WINS_OF_FORESTS,
        scores="results/tables/weak_label_scores.csv",
        missing_rates="results/tables/missing_rates.csv",
        seconds="results/timings/models.csv",
        comparisons="results/tables/comparisons.csv",
        cliques="results/tables/cliques.csv",
    output:
        numbers="results/tables/recommendation.csv",
        # in words, with seconds and memory, which differ from run to run
        sentences="results/recommendation/sentences.csv",
    log:
        "results/logs/recommend_models.log",
    benchmark:
        "results/benchmarks/recommend_models.tsv"
    script:
        "../scripts/recommend_models.py"


rule measure_regret:
    input:
        scores="results/tables/weak_label_scores.csv",
        missing_rates="results/tables/missing_rates.csv",
    output:
        regret="results/tables/regret.csv",
        choices="results/tables/choices.csv",
    log:
        "results/logs/measure_regret.log",
    benchmark:
        "results/benchmarks/measure_regret.tsv"
    params:
        function="fairfold.recommendation.regret:regret_tables",
    script:
        "../scripts/tabulate.py"
