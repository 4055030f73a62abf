# How likely each Gaussian classifier is to win a random search over feature pairs, and each forest over feature sets

WIN_PERCENTAGE = config["win_percentage"]
WIN_SAMPLING = WIN_PERCENTAGE["sampling"]
PAIRS_OF = WIN_PERCENTAGE["datasets"]
PAIR_SETTING = {
    **{name: WIN_PERCENTAGE[name] for name in ("n_splits", "n_repeats")},
    "kurtosis_multiple": WIN_PERCENTAGE["kurtosis_multiple"],
    "n_best": WIN_PERCENTAGE["reevaluation"]["n_pairs"],
}
MODEL_SETS = WIN_PERCENTAGE["models"]
SETS_OF = MODEL_SETS["datasets"]
SETS_MODELS = MODEL_SETS["models"] or WEAK_LABELS["models"]
N_PERMUTED_SETS = MODEL_SETS["n_permuted_sets"] or MODEL_SETS["n_sets"]
MODEL_SETS_FOLDER = "results/win_percentage/models/{dataset}"
MODEL_WINS = {
    "wins": "results/tables/win_percentage/models.csv",
    "sets": "results/tables/win_percentage/model_sets.csv",
}
if MODEL_SETS["n_permutations"]:
    MODEL_WINS["permutations"] = "results/tables/win_percentage/model_permutations.csv"
RESULTS_OF["win_percentage"] = [
    *expand(
        "results/tables/win_percentage/{table}.csv",
        table=[
            *("draws_needed", "classifiers", "datasets", "best_pairs"),
            *("joint_densities", "illustration", "performance_densities"),
            *("win_percentages", "sampling_bands", "sampling_errors"),
            *("sampling_example", "sampling_law", "rank_weights"),
        ],
    )
    * bool(PAIRS_OF),
    *expand("results/tables/win_percentage/table1_{dataset}.csv", dataset=PAIRS_OF),
    *[*MODEL_WINS.values()] * bool(SETS_OF),
]


rule evaluate_pairs:
    input:
        "results/datasets/{dataset}.npz",
    output:
        "results/win_percentage/{dataset}/part-{part}.npz",
    log:
        "results/logs/evaluate_pairs/{dataset}_{part}.log",
    benchmark:
        "results/benchmarks/evaluate_pairs/{dataset}_{part}.tsv"
    params:
        seed=config["seed"],
        part=lambda wildcards: [
            int(wildcards.part),
            WIN_PERCENTAGE["jobs_per_dataset"],
        ],
        setting=PAIR_SETTING,
        code=code("evaluate_pairs"),
    message:
        "Pairs of features of {wildcards.dataset}, part {wildcards.part}"
    script:
        "../scripts/evaluate_pairs.py"


rule gather_pairs:
    input:
        expand(
            "results/win_percentage/{{dataset}}/part-{part}.npz",
            part=range(WIN_PERCENTAGE["jobs_per_dataset"]),
        ),
    output:
        "results/win_percentage/{dataset}/pairs.npz",
    log:
        "results/logs/gather_pairs/{dataset}.log",
    benchmark:
        "results/benchmarks/gather_pairs/{dataset}.tsv"
    params:
        code=code("gather_pairs"),
    message:
        "Gather the pairs of {wildcards.dataset}"
    script:
        "../scripts/gather_pairs.py"


rule permute_pairs:
    input:
        "results/datasets/{dataset}.npz",
    output:
        "results/win_percentage/{dataset}/permuted-from-{first}.npz",
    log:
        "results/logs/permute_pairs/{dataset}_{first}.log",
    benchmark:
        "results/benchmarks/permute_pairs/{dataset}_{first}.tsv"
    params:
        seed=config["seed"],
        permutations=numbers_of_job(WIN_PERCENTAGE["permutations_per_job"], WIN_PERCENTAGE["n_permutations"]),
        setting=PAIR_SETTING,
        code=code("permute_pairs"),
    message:
        "Pairs of {wildcards.dataset} with permuted classes, from {wildcards.first}"
    script:
        "../scripts/permute_pairs.py"


rule tabulate_win_percentages:
    input:
        data=expand("results/datasets/{dataset}.npz", dataset=PAIRS_OF),
        pairs=expand("results/win_percentage/{dataset}/pairs.npz", dataset=PAIRS_OF),
        permuted=expand(
            "results/win_percentage/{dataset}/permuted-from-{first}.npz",
            dataset=PAIRS_OF,
            first=range(
                0,
                WIN_PERCENTAGE["n_permutations"],
                WIN_PERCENTAGE["permutations_per_job"],
            ),
        ),
    output:
        "results/tables/win_percentage/win_percentages.csv",
    log:
        "results/logs/tabulate_win_percentages.log",
    benchmark:
        "results/benchmarks/tabulate_win_percentages.tsv"
    params:
        **{name: WIN_PERCENTAGE[name] for name in ("kurtosis_multiple", "most_draws", "alpha", "independent")},
        code=code("tabulate_win_percentages"),
    message:
        "Win percentages"
    script:
        "../scripts/tabulate_win_percentages.py"


rule reevaluate_pairs:
    input:
        data="results/datasets/{dataset}.npz",
        pairs="results/win_percentage/{dataset}/pairs.npz",
    output:
        table="results/win_percentage/{dataset}/best_pairs.csv",
        printed="results/tables/win_percentage/table1_{dataset}.csv",
        maps="results/win_percentage/{dataset}/decision_maps.csv",
        points="results/win_percentage/{dataset}/samples.csv",
    log:
        "results/logs/reevaluate_pairs/{dataset}.log",
    benchmark:
        "results/benchmarks/reevaluate_pairs/{dataset}.tsv"
    params:
        seed=config["seed"],
        options={name: WIN_PERCENTAGE["reevaluation"][name] for name in ("n_splits", "n_repeats", "corrected")},
        alpha=WIN_PERCENTAGE["alpha"],
        code=code("reevaluate_pairs"),
    message:
        "The best pairs of {wildcards.dataset} once more"
    script:
        "../scripts/reevaluate_pairs.py"


rule summarise_pairs:
    input:
        expand("results/win_percentage/{dataset}/pairs.npz", dataset=PAIRS_OF),
    output:
        densities="results/tables/win_percentage/performance_densities.csv",
        bands="results/tables/win_percentage/sampling_bands.csv",
        example="results/tables/win_percentage/sampling_example.csv",
        errors="results/tables/win_percentage/sampling_errors.csv",
        law="results/tables/win_percentage/sampling_law.csv",
    log:
        "results/logs/summarise_pairs.log",
    benchmark:
        "results/benchmarks/summarise_pairs.tsv"
    params:
        seed=config["seed"],
        names=PAIRS_OF,
        options=WIN_SAMPLING,
        code=code("summarise_pairs"),
    message:
        "Summarise the pairs"
    script:
        "../scripts/summarise_pairs.py"


rule describe_pairs:
    input:
        expand("results/datasets/{dataset}.npz", dataset=PAIRS_OF),
    output:
        draws="results/tables/win_percentage/draws_needed.csv",
        classifiers="results/tables/win_percentage/classifiers.csv",
        datasets="results/tables/win_percentage/datasets.csv",
    log:
        "results/logs/describe_pairs.log",
    benchmark:
        "results/benchmarks/describe_pairs.tsv"
    params:
        titles=[CATALOG[dataset].title for dataset in PAIRS_OF],
        kurtosis_multiple=WIN_PERCENTAGE["kurtosis_multiple"],
        code=code("describe_pairs"),
    message:
        "Describe the pairs"
    script:
        "../scripts/describe_pairs.py"


use rule mask_labels as mask_labels_for_feature_sets with:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(MODEL_SETS["n_splits"]),
    output:
        f"{MODEL_SETS_FOLDER}/rate-{{rate}}/hidden.npz",
    log:
        "results/logs/mask_labels_for_feature_sets/{dataset}_{rate}.log",
    benchmark:
        "results/benchmarks/mask_labels_for_feature_sets/{dataset}_{rate}.tsv"


rule evaluate_feature_sets:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(MODEL_SETS["n_splits"]),
        hidden=f"{MODEL_SETS_FOLDER}/rate-{{rate}}/hidden.npz",
    output:
        f"{MODEL_SETS_FOLDER}/rate-{{rate}}/sets-from-{{first}}.csv",
    log:
        "results/logs/evaluate_feature_sets/{dataset}_{rate}_{first}.log",
    benchmark:
        "results/benchmarks/evaluate_feature_sets/{dataset}_{rate}_{first}.tsv"
    threads: 1
    params:
        seed=config["seed"],
        models={model: study.model_settings(config, model, MODEL_SETS) for model in SETS_MODELS},
        threshold=WEAK_LABELS["forest"]["threshold"],
        set_size=MODEL_SETS["set_size"],
        sets=numbers_of_job(MODEL_SETS["sets_per_job"], MODEL_SETS["n_sets"]),
        permutations=[0, 1],
        exchange=MODEL_SETS["exchange"],
        own=own_code(SETS_MODELS),
        code=code("evaluate_feature_sets"),
    message:
        "Sets of features of {wildcards.dataset}, {wildcards.rate} % hidden, from {wildcards.first}"
    script:
        "../scripts/evaluate_feature_sets.py"


use rule evaluate_feature_sets as permute_feature_sets with:
    output:
        f"{MODEL_SETS_FOLDER}/rate-{{rate}}/permuted-from-{{first}}.csv",
    log:
        "results/logs/permute_feature_sets/{dataset}_{rate}_{first}.log",
    benchmark:
        "results/benchmarks/permute_feature_sets/{dataset}_{rate}_{first}.tsv"
    params:
        **{
            name: value
            for name, value in rules.evaluate_feature_sets.params.items()
            if name not in ("sets", "permutations")
        },
        sets=[0, N_PERMUTED_SETS],
        # counted from 1, as 0 is the order of the data
        permutations=numbers_of_job(MODEL_SETS["permutations_per_job"], MODEL_SETS["n_permutations"] + 1),


rule tabulate_win_percentage:
    input:
        best_pairs=expand("results/win_percentage/{dataset}/best_pairs.csv", dataset=PAIRS_OF),
    output:
        best_pairs="results/tables/win_percentage/best_pairs.csv",
        joint="results/tables/win_percentage/joint_densities.csv",
        curves="results/tables/win_percentage/illustration.csv",
        weights="results/tables/win_percentage/rank_weights.csv",
    log:
        "results/logs/tabulate_win_percentage.log",
    benchmark:
        "results/benchmarks/tabulate_win_percentage.tsv"
    params:
        seed=config["seed"],
        code=code("tabulate_win_percentage"),
    message:
        "Tables of the best pairs and of the example"
    script:
        "../scripts/tabulate_win_percentage.py"


rule tabulate_model_wins:
    input:
        sets=expand(
            f"{MODEL_SETS_FOLDER}/rate-{MODEL_SETS['missing_rate']}/sets-from-{{first}}.csv",
            dataset=SETS_OF,
            first=range(0, MODEL_SETS["n_sets"], MODEL_SETS["sets_per_job"]),
        ),
        permuted=expand(
            f"{MODEL_SETS_FOLDER}/rate-{MODEL_SETS['missing_rate']}/permuted-from-{{first}}.csv",
            dataset=SETS_OF,
            first=range(
                1,
                MODEL_SETS["n_permutations"] + 1,
                MODEL_SETS["permutations_per_job"],
            ),
        ),
    output:
        **MODEL_WINS,
    log:
        "results/logs/tabulate_model_wins.log",
    benchmark:
        "results/benchmarks/tabulate_model_wins.tsv"
    params:
        alpha=WIN_PERCENTAGE["alpha"],
        code=code("tabulate_model_wins"),
    message:
        "Tables of the win percentages of the models"
    script:
        "../scripts/tabulate_model_wins.py"
