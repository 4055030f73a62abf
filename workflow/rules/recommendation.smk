# How many labels each dataset lacks, and which models to trust on it

RESULTS_OF["recommendation"] = [
    "results/tables/missing_rates.csv",
    "results/tables/complete_scores.csv",
    "results/tables/correction_quality.csv",
    "results/tables/identical_models.csv",
    "results/tables/recommendation.csv",
    "results/recommendation/sentences.csv",
    "results/tables/regret.csv",
    "results/tables/choices.csv",
]
# What win percentages say of them, where they are computed
WINS_OF_FORESTS = (
    {"win_percentages": "results/tables/win_percentage/models.csv"} if WIN_PERCENTAGE["models"]["datasets"] else {}
)
# What more samples would give, where that is looked at
CURVES_OF_MODELS = {"sample_curves": "results/tables/sample_curves.csv"} if SAMPLE_CURVES["datasets"] else {}
# The data as they are, and what the study hides, where the truth is known.
ESTIMATED_AT = sorted({0, *WEAK_LABELS["missing_rates"]})


rule estimate_label_frequency:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
        hidden="results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
        predictions=predictions_of_reference,
    output:
        reference="results/weak_labels/{dataset}/rate-{rate}/reference.npz",
        missing_rate="results/weak_labels/{dataset}/rate-{rate}/missing_rate.csv",
        frequency="results/weak_labels/{dataset}/rate-{rate}/label_frequency.npz",
    log:
        "results/logs/estimate_label_frequency/{dataset}_{rate}.log",
    benchmark:
        "results/benchmarks/estimate_label_frequency/{dataset}_{rate}.tsv"
    threads: 1
    params:
        seed=config["seed"],
        unit=UNIT_OPTIONS,
        model=study.model_of_study(config, study.REFERENCE),
        # a few labels stand for all where labels are many
        n_labels=lambda wildcards: (study.REFERENCE_LABELS if wildcards.dataset in WITH_OWN_REFERENCE else None),
        code=code("estimate_label_frequency"),
    message:
        "Estimate how many labels of {wildcards.dataset} are missing, {wildcards.rate} % hidden"
    script:
        "../scripts/estimate_label_frequency.py"


rule correct_scores:
    input:
        dataset="results/datasets/{dataset}.npz",
        hidden="results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
        frequency="results/weak_labels/{dataset}/rate-{rate}/label_frequency.npz",
        predictions=expand(
            "results/weak_labels/{{dataset}}/rate-{{rate}}/predictions_{part}.npz",
            part=PARTS_OF_UNIT,
        ),
    output:
        folds="results/weak_labels/{dataset}/rate-{rate}/corrected_folds.csv",
        scores="results/weak_labels/{dataset}/rate-{rate}/complete_scores.csv",
        identical="results/weak_labels/{dataset}/rate-{rate}/identical_models.csv",
    log:
        "results/logs/correct_scores/{dataset}_{rate}.log",
    benchmark:
        "results/benchmarks/correct_scores/{dataset}_{rate}.tsv"
    params:
        seed=config["seed"],
        threshold=WEAK_LABELS["forest"]["threshold"],
        code=code("correct_scores"),
    message:
        "Scores on complete labels of {wildcards.dataset}, {wildcards.rate} % hidden"
    script:
        "../scripts/correct_scores.py"


rule recommend_models:
    input:
        **WINS_OF_FORESTS,
        **CURVES_OF_MODELS,
        folds="results/recommendation/corrected_folds.csv",
        scores="results/tables/complete_scores.csv",
        identical="results/tables/identical_models.csv",
        quality="results/tables/correction_quality.csv",
        missing_rates="results/tables/missing_rates.csv",
        seconds="results/timings/models.csv",
        comparisons="results/tables/comparisons.csv",
        cliques="results/tables/cliques.csv",
        samples="results/tables/datasets.csv",
    output:
        numbers="results/tables/recommendation.csv",
        # in words, with seconds and memory, which differ from run to run
        sentences="results/recommendation/sentences.csv",
    log:
        "results/logs/recommend_models.log",
    benchmark:
        "results/benchmarks/recommend_models.tsv"
    params:
        options={
            "rope": WEAK_LABELS["rope"],
            "n_repeats": config["folds"]["repeats"],
        },
        hierarchical=HIERARCHICAL,
        code=code("recommend_models"),
    message:
        "Recommend models"
    script:
        "../scripts/recommend_models.py"


rule tabulate_recommendation:
    input:
        missing_rates=expand(
            "results/weak_labels/{dataset}/rate-{rate}/missing_rate.csv",
            dataset=WEAK_LABELS["datasets"],
            rate=ESTIMATED_AT,
        ),
        corrected_folds=expand("results/weak_labels/{dataset}/rate-{rate}/corrected_folds.csv", **UNITS),
        complete_scores=expand("results/weak_labels/{dataset}/rate-{rate}/complete_scores.csv", **UNITS),
        identical_models=expand("results/weak_labels/{dataset}/rate-{rate}/identical_models.csv", **UNITS),
        scores="results/tables/weak_label_scores.csv",
    output:
        missing_rates="results/tables/missing_rates.csv",
        corrected_folds="results/recommendation/corrected_folds.csv",
        complete_scores="results/tables/complete_scores.csv",
        identical_models="results/tables/identical_models.csv",
        quality="results/tables/correction_quality.csv",
        regret="results/tables/regret.csv",
        choices="results/tables/choices.csv",
    log:
        "results/logs/tabulate_recommendation.log",
    benchmark:
        "results/benchmarks/tabulate_recommendation.tsv"
    params:
        n_repeats=config["folds"]["repeats"],
        code=code("tabulate_recommendation"),
    message:
        "Tables of the recommendation"
    script:
        "../scripts/tabulate_recommendation.py"
