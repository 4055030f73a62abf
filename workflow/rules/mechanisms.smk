# Labels missing not at random: errors of estimates that assume missing at random, and evidence against the assumption.

MECHANISMS = WEAK_LABELS["mechanisms"]
MECHANISM_MODELS = MECHANISMS["models"] or WEAK_LABELS["models"]
TRAINED = [*MECHANISM_MODELS, study.REFERENCE]
MECHANISM_PARTS = [
    f"results/mechanisms/{dataset}/{kind}_wrong-{wrong}.csv"
    for dataset in MECHANISMS["datasets"]
    for kind in MECHANISMS["kinds"]
    for wrong in (MECHANISMS["wrong_positives"] if kind == "random" else [0])
]


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
    params:
        seed=config["seed"],
        missing_rate=MECHANISMS["missing_rate"],
        compared=MECHANISM_MODELS,
        reference=study.REFERENCE,
        difficulty_by=lambda wildcards: study.difficulty_by(TRAINED) if wildcards.mechanism == "difficulty" else None,
        models={model: study.model_settings(config, model, MECHANISMS) for model in TRAINED},
        threshold=WEAK_LABELS["forest"]["threshold"],
        splitter=config["folds"]["method"],
        code_of_models=lambda wildcards: code_of_models(
            [*TRAINED, study.difficulty_by(TRAINED)] if wildcards.mechanism == "difficulty" else TRAINED
        ),
    script:
        "../scripts/score_mechanism.py"


FILES_OF["mechanisms"] = [
    *expand(rules.score_mechanism.input.folds, dataset=MECHANISMS["datasets"]),
    *MECHANISM_PARTS,
    *["results/tables/mechanisms.csv"] * bool(MECHANISM_PARTS),
]
