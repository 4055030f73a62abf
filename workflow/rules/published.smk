# Published numbers beside those of the study, and how far they lie apart

# Of nothing but a user's own data there is no published number.
NOT_OWN = [dataset for dataset, _ in study.used_datasets(config) if dataset not in config["data"]["own"]]
RESULTS_OF["published"] = ["results/tables/published.csv"] * bool(NOT_OWN or ECOC_EXAMPLES)
PAGE_EXAMPLES = [name for name in ECOC_EXAMPLES if name in ("custom-loss", "posterior")]
# What the papers print -> our table of it, where this configuration makes one
COMPARED_TABLES = {
    "cross_testing": CROSS_TESTING_POINTS,
    "label_matrices": "results/tables/label_matrices.csv",
    "splits": "results/tables/split_summary.csv",
    "scores": "results/tables/weak_label_scores.csv",
    "best_pairs": "results/tables/win_percentage/best_pairs.csv",
    "draws_needed": "results/tables/win_percentage/draws_needed.csv",
    "pairs_of_datasets": "results/tables/win_percentage/datasets.csv",
    "classifiers": "results/tables/win_percentage/classifiers.csv",
    "illustration": "results/tables/win_percentage/illustration.csv",
    "win_percentages": "results/tables/win_percentage/win_percentages.csv",
    "sampling_law": "results/tables/win_percentage/sampling_law.csv",
    "sampling_errors": "results/tables/win_percentage/sampling_errors.csv",
    "ecoc_values": expand("results/ecoc/{example}/values.csv", example=PAGE_EXAMPLES),
    "arrhythmia_classes": "results/tables/ecoc/arrhythmia_classes.csv",
}
MADE = {path for results in RESULTS_OF.values() for path in results}


rule write_config:
    output:
        "results/config.yaml",
    log:
        "results/logs/write_config.log",
    params:
        config=config,
        code=code("write_config"),
    message:
        "Keep the configuration"
    script:
        "../scripts/write_config.py"


rule compare_published:
    input:
        **{name: paths for name, paths in COMPARED_TABLES.items() if isinstance(paths, list) or paths in MADE},
        **{f"published_{name}": workflow.source_path(f"../../resources/published/{name}.csv") for name in PUBLISHED},
        config="results/config.yaml",
    output:
        "results/tables/published.csv",
    log:
        "results/logs/compare_published.log",
    benchmark:
        "results/benchmarks/compare_published.tsv"
    params:
        code=code("compare_published"),
    message:
        "Compare with the published numbers"
    script:
        "../scripts/compare_published.py"
