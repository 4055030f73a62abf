# Compare published numbers with the results of this study.

PAGE_EXAMPLES = [name for name in ECOC_EXAMPLES if name in ("custom-loss", "posterior")]
COMPARED_FILES = {name: f"results/{path}" for name, path in OUR_TABLES.items()}


# In a module, output paths start with the module's prefix. Snakemake adds it to inputs, so it is removed here.
PREFIX = rules.describe_study.output.config.removesuffix("results/config.yaml")
for stage, files in FILES_OF.items():
    FILES_OF[stage] = [path.removeprefix(PREFIX) for path in files]


rule compare_published:
    input:
        **{name: path for name, path in COMPARED_FILES.items() if path in sum(FILES_OF.values(), [])},
        **{f"published_{name}": workflow.source_path(f"../../resources/published/{name}.csv") for name in COMPARISONS},
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
