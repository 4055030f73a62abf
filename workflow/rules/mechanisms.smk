# Labels that are not missing at random: what estimates that suppose so say of them, and what the labels say against it

MECHANISMS = WEAK_LABELS["mechanisms"]
MECHANISM_MODELS = MECHANISMS["models"] or WEAK_LABELS["models"]
# Kind and percent of wrong positives, which are added to labels missing at random
MECHANISM_CASES = [
    (kind, wrong)
    for kind in MECHANISMS["kinds"]
    for wrong in (MECHANISMS["wrong_positives"] if kind == "random" else [0])
]
RESULTS_OF["mechanisms"] = [
    "results/tables/scar_tests.csv",
    *["results/tables/mechanisms.csv"] * bool(MECHANISMS["datasets"]),
]


rule examine_observed_labels:
    input:
        dataset="results/datasets/{dataset}.npz",
        missing_rate="results/weak_labels/{dataset}/rate-0/missing_rate.csv",
        frequency="results/weak_labels/{dataset}/rate-0/label_frequency.npz",
        reference="results/weak_labels/{dataset}/rate-0/reference.npz",
    output:
        "results/weak_labels/{dataset}/scar_tests.csv",
    log:
        "results/logs/examine_observed_labels/{dataset}.log",
    benchmark:
        "results/benchmarks/examine_observed_labels/{dataset}.tsv"
    params:
        code=code("examine_observed_labels"),
    message:
        "Are labels of {wildcards.dataset} missing at random?"
    script:
        "../scripts/examine_observed_labels.py"


rule score_mechanism:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(config["folds"]["n_splits"]),
    output:
        "results/mechanisms/{dataset}/{mechanism}_wrong-{wrong}.csv",
    log:
        "results/logs/score_mechanism/{dataset}_{mechanism}_{wrong}.log",
    benchmark:
        "results/benchmarks/score_mechanism/{dataset}_{mechanism}_{wrong}.tsv"
    wildcard_constraints:
        mechanism="[a-z]+",
        wrong=r"\d+",
    threads: 1
    params:
        seed=config["seed"],
        missing_rate=MECHANISMS["missing_rate"],
        compared=MECHANISM_MODELS,
        reference=study.REFERENCE,
        difficulty_by=lambda wildcards: (
            study.difficulty_by([*MECHANISM_MODELS, study.REFERENCE]) if wildcards.mechanism == "difficulty" else None
        ),
        models={
            model: study.model_settings(config, model, MECHANISMS) for model in [*MECHANISM_MODELS, study.REFERENCE]
        },
        threshold=WEAK_LABELS["forest"]["threshold"],
        own=own_code(MECHANISM_MODELS),
        code=code("score_mechanism"),
    message:
        "Labels of {wildcards.dataset} hidden by {wildcards.mechanism}, {wildcards.wrong} % wrong"
    script:
        "../scripts/score_mechanism.py"


rule tabulate_scar_tests:
    input:
        expand(
            "results/weak_labels/{dataset}/scar_tests.csv",
            dataset=WEAK_LABELS["datasets"],
        ),
    output:
        "results/tables/scar_tests.csv",
    log:
        "results/logs/tabulate_scar_tests.log",
    benchmark:
        "results/benchmarks/tabulate_scar_tests.tsv"
    params:
        code=code("concat_tables"),
    message:
        "Table of tests of labels missing at random"
    script:
        "../scripts/concat_tables.py"


rule tabulate_mechanisms:
    input:
        [
            f"results/mechanisms/{dataset}/{kind}_wrong-{wrong}.csv"
            for dataset in MECHANISMS["datasets"]
            for kind, wrong in MECHANISM_CASES
        ],
    output:
        "results/tables/mechanisms.csv",
    log:
        "results/logs/tabulate_mechanisms.log",
    benchmark:
        "results/benchmarks/tabulate_mechanisms.tsv"
    params:
        code=code("concat_tables"),
    message:
        "Table of labels that are not missing at random"
    script:
        "../scripts/concat_tables.py"
