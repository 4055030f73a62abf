# Error-correcting output codes with cross-validated predictions: the documentation page's examples, and a comparison

EXAMPLE_DATASETS = {
    "linear": "iris",
    "custom-loss": "iris",
    "posterior": "iris",
    "arrhythmia": "arrhythmia",
}
ECOC = config["ecoc"]
ECOC_EXAMPLES = ECOC["examples"]
COMPARED = ECOC["comparison"]["datasets"]
ECOC_RESULTS = [
    *expand(
        "results/tables/ecoc/{example}_{table}.csv",
        example=ECOC_EXAMPLES,
        table=["rows", "classes"],
    ),
    *expand("results/figures/ecoc_confusion_{example}.pdf", example=ECOC_EXAMPLES),
    *expand(
        "results/figures/ecoc_regions_{example}.pdf",
        example=[example for example in ECOC_EXAMPLES if example == "posterior"],
    ),
    *expand(
        "results/figures/ecoc_posterior_{example}.pdf",
        example=[example for example in ECOC_EXAMPLES if example == "arrhythmia"],
    ),
    *["results/tables/ecoc/examples.csv"] * bool(ECOC_EXAMPLES),
    *["results/tables/ecoc/comparison.csv", "results/figures/ecoc_comparison.pdf"]
    * bool(COMPARED),
]


wildcard_constraints:
    example="|".join(EXAMPLE_DATASETS),


def data_of_example(wildcards):
    return f"results/datasets/{EXAMPLE_DATASETS[wildcards.example]}.npz"


rule predict_ecoc:
    input:
        data_of_example,
    output:
        predictions="results/ecoc/{example}/predictions.csv",
        posteriors="results/ecoc/{example}/posteriors.csv",
        summary="results/ecoc/{example}/summary.csv",
        rows="results/tables/ecoc/{example}_rows.csv",
        classes="results/tables/ecoc/{example}_classes.csv",
    log:
        "results/logs/predict_ecoc/{example}.log",
    benchmark:
        "results/benchmarks/predict_ecoc/{example}.tsv"
    threads: lambda wildcards: 8 if wildcards.example == "arrhythmia" else 1
    params:
        seed=config["seed"],
        n_splits=ECOC["n_splits"],
    script:
        "../scripts/predict_ecoc.py"


rule map_posteriors:
    input:
        data_of_example,
    output:
        map="results/ecoc/{example}/map.csv",
        samples="results/ecoc/{example}/samples.csv",
    log:
        "results/logs/map_posteriors/{example}.log",
    benchmark:
        "results/benchmarks/map_posteriors/{example}.tsv"
    params:
        seed=config["seed"],
        n_splits=ECOC["n_splits"],
    script:
        "../scripts/map_posteriors.py"


use rule gather_scores as gather_ecoc_examples with:
    input:
        expand("results/ecoc/{example}/summary.csv", example=ECOC_EXAMPLES),
    output:
        "results/tables/ecoc/examples.csv",
    log:
        "results/logs/gather_ecoc_examples.log",
    benchmark:
        "results/benchmarks/gather_ecoc_examples.tsv"


rule compare_codes:
    input:
        "results/datasets/{dataset}.npz",
    output:
        "results/ecoc/comparison/{dataset}.csv",
    log:
        "results/logs/compare_codes/{dataset}.log",
    benchmark:
        "results/benchmarks/compare_codes/{dataset}.tsv"
    params:
        seed=config["seed"],
        options={
            "n_splits": ECOC["n_splits"],
            "designs": ECOC["comparison"]["designs"],
        },
    script:
        "../scripts/compare_codes.py"


use rule gather_scores as gather_code_comparison with:
    input:
        expand("results/ecoc/comparison/{dataset}.csv", dataset=COMPARED),
    output:
        "results/tables/ecoc/comparison.csv",
    log:
        "results/logs/gather_code_comparison.log",
    benchmark:
        "results/benchmarks/gather_code_comparison.tsv"


use rule plot_metric_behaviour as plot_confusion with:
    input:
        "results/ecoc/{example}/predictions.csv",
    output:
        "results/figures/ecoc_confusion_{example}.pdf",
        report(
            "results/figures/ecoc_confusion_{example}.png",
            caption="../report/ecoc.rst",
            category="6 Error-correcting output codes",
            labels={"figure": "confusion matrix, {example}"},
        ),
    log:
        "results/logs/plot_confusion/{example}.log",
    benchmark:
        "results/benchmarks/plot_confusion/{example}.tsv"
    params:
        draw="fairfold.figures.ecoc:plot_confusion",


use rule plot_metric_behaviour as plot_posterior_regions with:
    input:
        "results/ecoc/{example}/map.csv",
        "results/ecoc/{example}/samples.csv",
    output:
        "results/figures/ecoc_regions_{example}.pdf",
        report(
            "results/figures/ecoc_regions_{example}.png",
            caption="../report/ecoc.rst",
            category="6 Error-correcting output codes",
            labels={"figure": "posterior regions, {example}"},
        ),
    log:
        "results/logs/plot_posterior_regions/{example}.log",
    benchmark:
        "results/benchmarks/plot_posterior_regions/{example}.tsv"
    params:
        draw="fairfold.figures.ecoc:plot_posterior_regions",


use rule plot_metric_behaviour as plot_posterior_histogram with:
    input:
        "results/ecoc/{example}/posteriors.csv",
    output:
        "results/figures/ecoc_posterior_{example}.pdf",
        report(
            "results/figures/ecoc_posterior_{example}.png",
            caption="../report/ecoc.rst",
            category="6 Error-correcting output codes",
            labels={"figure": "posterior probabilities, {example}"},
        ),
    log:
        "results/logs/plot_posterior_histogram/{example}.log",
    benchmark:
        "results/benchmarks/plot_posterior_histogram/{example}.tsv"
    params:
        draw="fairfold.figures.ecoc:plot_posterior_histogram",
        options={"candidate": "1", "title": "P(no arrhythmia)"},


use rule plot_metric_behaviour as plot_code_comparison with:
    input:
        "results/tables/ecoc/comparison.csv",
    output:
        "results/figures/ecoc_comparison.pdf",
        report(
            "results/figures/ecoc_comparison.png",
            caption="../report/ecoc.rst",
            category="6 Error-correcting output codes",
            labels={"figure": "codes, losses and decodings"},
        ),
    log:
        "results/logs/plot_code_comparison.log",
    benchmark:
        "results/benchmarks/plot_code_comparison.tsv"
    params:
        draw="fairfold.figures.ecoc:plot_code_comparison",
