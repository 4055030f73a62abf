# The last job of a target, which fails where no model could be scored on some dataset: else a study would end well with
# nothing to show. It fails again in each run until that is mended.

# Part of the configuration that trains models on its datasets -> tables of their scores, or why there are none
SCORES_OF = {
    "weak_labels": rules.gather_scores.output,
    "weak_labels.rank_stability": rules.measure_rank_stability.input
    * bool(STABILITY["datasets"]),
    "cross_testing.forests": rules.gather_judgements.output * bool(FORESTS["datasets"]),
    "win_percentage.forests": [FOREST_WINS["sets"]] * bool(SETS_OF),
}
# Target -> what it makes, and the parts whose models it scores
TARGETS = {
    "study": (["results/report.html"], [*SCORES_OF]),
    "weak_labels": (
        [*DATA_RESULTS, *WEAK_LABEL_RESULTS, *RANK_STABILITY_RESULTS],
        ["weak_labels", "weak_labels.rank_stability"],
    ),
    "cross_testing": (CROSS_TESTING_RESULTS, ["cross_testing.forests"]),
    "win_percentage": (WIN_PERCENTAGE_RESULTS, ["win_percentage.forests"]),
    "recommendation": ([*DATA_RESULTS, *RECOMMENDATION_RESULTS], ["weak_labels"]),
    "paper_figures": (["results/paper_figures.zip"], [*SCORES_OF]),
}
LOGS_OF_CHECKS = Path("results/logs/check_scores")


def scored(target):
    """What a target makes, and the check of its scores where it has any."""
    results, parts = TARGETS[target]
    has_scores = any(SCORES_OF[part] for part in parts)
    return [*results, *[f"results/scored/{target}.done"] * has_scores]


rule check_scores:
    input:
        lambda wildcards: TARGETS[wildcards.target][0],  # so that it comes last
        tables=lambda wildcards: [
            path for part in TARGETS[wildcards.target][1] for path in SCORES_OF[part]
        ],
    output:
        touch("results/scored/{target}.done"),
    log:
        "results/logs/check_scores/{target}.log",
    benchmark:
        "results/benchmarks/check_scores/{target}.tsv"
    wildcard_constraints:
        target="|".join(TARGETS),
    retries: 0
    localrule: True  # a moment, and a cluster's profile would try it again
    params:
        parts=lambda wildcards: [
            part for part in TARGETS[wildcards.target][1] for _ in SCORES_OF[part]
        ],
    script:
        "../scripts/check_scores.py"


def forget_checks():
    """Remove what the checks of earlier runs said."""
    for path in LOGS_OF_CHECKS.glob("*.log"):
        path.unlink()


def end_with_what_was_not_scored():
    """Say it once more where it is seen, below all that Snakemake says of a failed job."""
    said = [path.read_text(encoding="utf-8") for path in LOGS_OF_CHECKS.glob("*.log")]
    sentences = {text.partition("ModelError: ")[2].strip() for text in said} - {""}
    if sentences:
        sys.exit("\n".join(sorted(sentences)))
