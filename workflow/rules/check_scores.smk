# The last job of a target, which fails where no model could be scored on some dataset: else a study would end well with
# nothing to show. It fails again in each run until that is mended.

# Part of the configuration that trains models on its datasets -> tables of their scores, or why there are none
SCORES_OF = {
    "weak_labels": ["results/tables/weak_label_scores.csv"],
    "weak_labels.rank_stability": STABILITY_PARTS,
    "weak_labels.sample_curves": SAMPLE_CURVES_PARTS,
    "weak_labels.mechanisms": ["results/tables/mechanisms.csv"] * bool(MECHANISMS["datasets"]),
    "cross_testing.models": ["results/cross_testing/models.csv"] * bool(CHOSEN_FROM["datasets"]),
    "win_percentage.models": ["results/tables/win_percentage/model_sets.csv"] * bool(SETS_OF["dataset"]),
}
# Target -> what it makes, and the parts whose models it scores
TARGETS = {
    "study": (
        [*STUDY_FILES, *FIGURES, *rules.render_report.output, *rules.describe_models.output, "results/config.yaml"],
        [*SCORES_OF],
    ),
    "weak_labels": (
        files_of("data", "weak_labels", "rank_stability", "sample_curves", "mechanisms"),
        [part for part in SCORES_OF if part.startswith("weak_labels")],
    ),
    "cross_testing": (files_of("cross_testing"), ["cross_testing.models"]),
    "win_percentage": (files_of("win_percentage"), ["win_percentage.models"]),
    "recommendation": (files_of("data", "recommendation"), ["weak_labels"]),
    "paper_figures": ([*FIGURES, *TABLES, "results/paper_figures.zip"], [*SCORES_OF]),
}


rule check_scores:
    input:
        lambda wildcards: TARGETS[wildcards.target][0],  # so that it comes last
        tables=lambda wildcards: [path for part in TARGETS[wildcards.target][1] for path in SCORES_OF[part]],
    output:
        touch("results/scored/{target}.done"),
    log:
        "results/logs/check_scores/{target}.log",
    wildcard_constraints:
        target="|".join(TARGETS),
    retries: 0
    localrule: True  # a moment, and a cluster's profile would try it again
    params:
        parts=lambda wildcards: [part for part in TARGETS[wildcards.target][1] for _ in SCORES_OF[part]],
        code=code("check_scores"),
    script:
        "../scripts/check_scores.py"
