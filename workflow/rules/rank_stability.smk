# How much of a model's rank comes from the split: the weak-label study on many splits, more than once on each

STABILITY = STUDY["rank_stability"]
# Model -> its variant, and that of the level 0 it shares. None is "paper", or the one kind of a model with a "+", which
# draws the random numbers of "paper".
STABILITY_VARIANTS = {
    model: (
        None if model.endswith("+") or STUDY["variant"] == "paper" else STUDY["variant"]
    )
    for model in STABILITY["models"] or STUDY["models"]
}
RANK_STABILITY_RESULTS = [
    "results/tables/rank_stability.csv",
    "results/figures/rank_stability.pdf",
] * bool(STABILITY["datasets"])


def options_of_repeats(wildcards):
    first = int(wildcards.first)
    last = min(first + STABILITY["repeats_per_job"], STABILITY["repeats"])
    return {
        "repeats": list(range(first, last)),
        "n_trainings": STABILITY["trainings"],
        "first_model": "RF+ET",
        "threshold": STUDY["forest"]["threshold"],
    }


rule repeat_weak_labels:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=f"results/folds/{{dataset}}/{{splitter}}/repeats-{STABILITY['repeats']}.npz",
    output:
        "results/rank_stability/{dataset}/rate-{rate}/{splitter}/from-{first}.csv",
    log:
        "results/logs/repeat_weak_labels/{dataset}_{rate}_{splitter}_{first}.log",
    benchmark:
        "results/benchmarks/repeat_weak_labels/{dataset}_{rate}_{splitter}_{first}.tsv"
    threads: 1
    params:
        seed=config["seed"],
        options=options_of_repeats,
        variants=STABILITY_VARIANTS,
        forest={**STUDY["forest"], **STABILITY["forest"]},
    script:
        "../scripts/repeat_weak_labels.py"


rule measure_rank_stability:
    input:
        expand(
            "results/rank_stability/{dataset}/rate-{rate}/{splitter}/from-{first}.csv",
            dataset=STABILITY["datasets"],
            rate=STABILITY["missing_rates"],
            splitter=STABILITY["splitters"],
            first=range(0, STABILITY["repeats"], STABILITY["repeats_per_job"]),
        ),
    output:
        "results/tables/rank_stability.csv",
    log:
        "results/logs/measure_rank_stability.log",
    benchmark:
        "results/benchmarks/measure_rank_stability.tsv"
    script:
        "../scripts/measure_rank_stability.py"


use rule plot_metric_behaviour as plot_rank_stability with:
    input:
        "results/tables/rank_stability.csv",
    output:
        "results/figures/rank_stability.pdf",
        report(
            "results/figures/rank_stability.png",
            caption="../report/rank_stability.rst",
            category="3 Weak labels",
            labels={"figure": "stability of ranks"},
        ),
    log:
        "results/logs/plot_rank_stability.log",
    benchmark:
        "results/benchmarks/plot_rank_stability.tsv"
    params:
        draw="fairfold.figures.rank_stability:plot_rank_stability",
