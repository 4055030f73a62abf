# Write the configuration and the models of the study, and compare published numbers with its results.

PAGE_EXAMPLES = [name for name in ECOC_EXAMPLES if name in ("custom-loss", "posterior")]
COMPARED_FILES = {name: f"results/{path}" for name, path in OUR_TABLES.items()}


rule describe_study:
    output:
        config="results/config.yaml",
        models="results/tables/models.csv",
        legend="results/legend.csv",
        versions="results/versions.csv",
    log:
        "results/logs/describe_study.log",
    priority: 1  # `fairfold study` shows the plan first
    localrule: True  # short; in a submission, the figures of one part would wait for another part
    params:
        config=config,
        used=study.used_models(config),
        own=study.checksums_of_own(config, WEAK_LABELS["models"]),
    script:
        "../scripts/describe_study.py"


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
