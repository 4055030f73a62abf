# Compare published numbers with those of the study.

PAGE_EXAMPLES = [name for name in ECOC_EXAMPLES if name in ("custom-loss", "posterior")]
# Published result -> our table, if this configuration computes it.
COMPARED_TABLES = {
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
    "arrhythmia_classes": "results/tables/ecoc/arrhythmia_classes.csv",
}


rule write_config:
    output:
        "results/config.yaml",
    log:
        "results/logs/write_config.log",
    priority: 1  # `fairfold study` shows the plan first
    params:
        config=config,
    script:
        "../scripts/write_config.py"


# In a module, output paths start with the module's prefix. Snakemake adds it to inputs, so it is removed here.
PREFIX = rules.write_config.output[0].removesuffix("results/config.yaml")
for stage, files in FILES_OF.items():
    FILES_OF[stage] = [path.removeprefix(PREFIX) for path in files]


rule compare_published:
    input:
        **{name: path for name, path in COMPARED_TABLES.items() if path in sum(FILES_OF.values(), [])},
        **{f"published_{name}": workflow.source_path(f"../../resources/published/{name}.csv") for name in PUBLISHED},
        cross_testing=rules.tabulate_cross_testing.output.points,
        ecoc_values=expand("results/ecoc/{example}/values.csv", example=PAGE_EXAMPLES),
        config="results/config.yaml",
    output:
        "results/tables/published.csv",
    log:
        "results/logs/compare_published.log",
    script:
        "../scripts/compare_published.py"


# No published numbers exist for a user's own data.
FILES_OF["published"] = ["results/tables/published.csv"] * bool({*USED_DATASETS} - {*OWN_DATASETS} or ECOC_EXAMPLES)
