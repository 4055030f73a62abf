# Learning curves: scores by number of training samples, and a power-law forecast for more samples.

SAMPLE_CURVES = WEAK_LABELS["sample_curves"]
CURVE_MODELS = SAMPLE_CURVES["models"] or WEAK_LABELS["models"]
CURVE_OPTIONS = {
    "n_splits": config["folds"]["n_splits"],
    "shares": SAMPLE_CURVES["shares"],
    "threshold": WEAK_LABELS["forest"]["threshold"],
    "seed": config["seed"],
}
CURVE_SETTINGS = {model: study.model_settings(config, model, SAMPLE_CURVES) for model in CURVE_MODELS}
CURVES = {"dataset": SAMPLE_CURVES["datasets"], "rate": SAMPLE_CURVES["missing_rate"], "model": CURVE_MODELS}


rule score_by_samples:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(config["folds"]["n_splits"], repeats=SAMPLE_CURVES["repeats"]),
    output:
        scores="results/sample_curves/{dataset}/rate-{rate}/{model}.csv",
        curve="results/sample_curves/{dataset}/rate-{rate}/{model}_curve.csv",
    log:
        "results/logs/score_by_samples/{dataset}_{rate}_{model}.log",
    params:
        curve=CURVE_OPTIONS,
        settings=lambda wildcards: CURVE_SETTINGS[wildcards.model],
        code_of_models=lambda wildcards: code_of_models([wildcards.model]),
    script:
        "../scripts/score_by_samples.py"


FILES_OF["sample_curves"] = [
    *expand(rules.score_by_samples.input.folds, dataset=SAMPLE_CURVES["datasets"]),
    *expand(rules.score_by_samples.output, **CURVES),
]
