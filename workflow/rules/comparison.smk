# One job for all steps of a small dataset up to corrected scores, because each step takes less time than its start.

SMALL = small_datasets(config, CATALOG)
# Learning curves on the folds of the comparison
HAS_CURVES = (
    bool(SMALL) and [*SAMPLE_CURVES["datasets"]] == SMALL and SAMPLE_CURVES["repeats"] == config["folds"]["repeats"]
)
SMALL_CURVES = expand(
    "results/sample_curves/{{dataset}}/rate-{rate}/{model}", rate=CURVES["rate"], model=CURVE_MODELS * HAS_CURVES
)


ruleorder: compare_models > train_and_score > correct_scores > score_by_samples > split_dataset


rule compare_models:
    input:
        lambda wildcards: STRICT_AUDITS.get(wildcards.dataset, []),
        dataset="results/datasets/{dataset}.npz",
    output:
        **{
            f"corrected_{name}": expand(path, rate=ESTIMATED["rate"], allow_missing=True)
            for name, path in rules.correct_scores.output.items()
        },
        **{
            name: expand(path, rate=UNITS["rate"], part=0, allow_missing=True)
            for name, path in rules.train_and_score.output.items()
        },
        folds=FOLDS,
        curve_scores=[f"{path}.csv" for path in SMALL_CURVES],
        curves=[f"{path}_curve.csv" for path in SMALL_CURVES],
    log:
        "results/logs/compare_models/{dataset}.log",
    benchmark:
        "results/benchmarks/compare_models/{dataset}.tsv"
    wildcard_constraints:
        dataset="|".join(map(re.escape, SMALL)) or "(?!)",
    # A process takes as long to start as some models to train.
    threads: threads_of_each(max(len(SMALL), 1), most=max(len(MODELS) // 3, 1))
    resources:
        mem_mb=lambda wildcards, input, threads, attempt: memory_to_request(input.dataset, threads, attempt),
    params:
        seed=config["seed"],
        folds={"splitter": config["folds"]["method"]}
        | {name: config["folds"][name] for name in ("n_splits", "repeats")},
        rates=ESTIMATED["rate"],
        trained=UNITS["rate"],
        unit=UNIT_OPTIONS,
        models=[study.model_of_study(config, model) for model in MODELS],
        correction=CORRECTION,
        n_labels=rules.correct_scores.params.n_labels,
        curves={model: CURVE_SETTINGS[model] for model in CURVE_MODELS * HAS_CURVES},
        curve=CURVE_OPTIONS,
        curve_rate=CURVES["rate"],
        code_of_models=code_of_models([*MODELS, *CURVE_MODELS]),
    script:
        "../scripts/compare_models.py"
