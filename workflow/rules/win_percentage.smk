# Win percentages of Gaussian classifiers in random searches over feature pairs, and of forests over feature sets.

WIN_PERCENTAGE = config["win_percentage"]
PAIRS_OF = WIN_PERCENTAGE["datasets"]
PAIR_SETTING = {name: WIN_PERCENTAGE[name] for name in ("n_splits", "n_repeats", "kurtosis_multiple")}
PAIR_SETTING["n_best"] = WIN_PERCENTAGE["reevaluation"]["n_pairs"]
PERMUTED_PAIRS = range(0, WIN_PERCENTAGE["n_permutations"], WIN_PERCENTAGE["permutations_per_job"])
MODEL_SETS = WIN_PERCENTAGE["models"]
SETS_OF = {"dataset": MODEL_SETS["datasets"], "rate": MODEL_SETS["missing_rate"]}
SETS_MODELS = MODEL_SETS["models"] or WEAK_LABELS["models"]
N_PERMUTED_SETS = MODEL_SETS["n_permuted_sets"] or MODEL_SETS["n_sets"]
SETS = range(0, MODEL_SETS["n_sets"], MODEL_SETS["sets_per_job"])
# Permutations start at 1, because 0 is the original order.
PERMUTATIONS = range(1, MODEL_SETS["n_permutations"] + 1, MODEL_SETS["permutations_per_job"])


rule evaluate_pairs:
    input:
        "results/datasets/{dataset}.npz",
    output:
        pairs="results/win_percentage/{dataset}/pairs.npz",
        table="results/win_percentage/{dataset}/best_pairs.csv",
        printed="results/tables/win_percentage/table1_{dataset}.csv",
        maps="results/win_percentage/{dataset}/decision_maps.csv",
        points="results/win_percentage/{dataset}/samples.csv",
        search="results/win_percentage/{dataset}/search.csv",
    log:
        "results/logs/evaluate_pairs/{dataset}.log",
    benchmark:
        "results/benchmarks/evaluate_pairs/{dataset}.tsv"
    threads: threads_of_each(len(PAIRS_OF), most=WIN_PERCENTAGE["jobs_per_dataset"])
    params:
        seed=config["seed"],
        n_parts=WIN_PERCENTAGE["jobs_per_dataset"],
        setting=PAIR_SETTING,
        reevaluation={name: WIN_PERCENTAGE["reevaluation"][name] for name in ("n_splits", "n_repeats", "corrected")},
        alpha=WIN_PERCENTAGE["alpha"],
        search=WIN_PERCENTAGE["search"],
    script:
        "../scripts/evaluate_pairs.py"


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
        permutations=numbers_of_job(PERMUTED_PAIRS),
        setting=PAIR_SETTING,
    script:
        "../scripts/permute_pairs.py"


rule tabulate_pairs:
    input:
        data=expand("results/datasets/{dataset}.npz", dataset=PAIRS_OF),
        pairs=expand(rules.evaluate_pairs.output.pairs, dataset=PAIRS_OF),
        best_pairs=expand(rules.evaluate_pairs.output.table, dataset=PAIRS_OF),
        permuted=expand(rules.permute_pairs.output, dataset=PAIRS_OF, first=PERMUTED_PAIRS),
        searches=expand(rules.evaluate_pairs.output.search, dataset=PAIRS_OF),
    output:
        random_labels=["results/tables/win_percentage/random_labels.csv"] * (WIN_PERCENTAGE["n_permutations"] > 1),
        wins="results/tables/win_percentage/win_percentages.csv",
        draws="results/tables/win_percentage/draws_needed.csv",
        classifiers="results/tables/win_percentage/classifiers.csv",
        datasets="results/tables/win_percentage/datasets.csv",
        best_pairs="results/tables/win_percentage/best_pairs.csv",
        searches="results/tables/win_percentage/searches.csv",
        joint="results/tables/win_percentage/joint_densities.csv",
        curves="results/tables/win_percentage/illustration.csv",
        weights="results/tables/win_percentage/rank_weights.csv",
        densities="results/tables/win_percentage/performance_densities.csv",
        example="results/tables/win_percentage/sampling_example.csv",
        errors="results/tables/win_percentage/sampling_errors.csv",
        law="results/tables/win_percentage/sampling_law.csv",
    log:
        "results/logs/tabulate_pairs.log",
    params:
        **{
            name: WIN_PERCENTAGE[name]
            for name in ("kurtosis_multiple", "most_draws", "alpha", "independent", "sampling")
        },
        seed=config["seed"],
        titles=[CATALOG[dataset].title for dataset in PAIRS_OF],
    script:
        "../scripts/tabulate_pairs.py"


rule evaluate_feature_sets:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(MODEL_SETS["n_splits"]),
    output:
        "results/win_percentage/models/{dataset}/rate-{rate}/{order}-from-{first}.csv",
    log:
        "results/logs/evaluate_feature_sets/{dataset}_{rate}_{order}_{first}.log",
    benchmark:
        "results/benchmarks/evaluate_feature_sets/{dataset}_{rate}_{order}_{first}.tsv"
    wildcard_constraints:
        order="sets|permuted",
    params:
        seed=config["seed"],
        models={model: study.model_settings(config, model, MODEL_SETS) for model in SETS_MODELS},
        threshold=WEAK_LABELS["forest"]["threshold"],
        set_size=MODEL_SETS["set_size"],
        numbers=lambda wildcards: (
            {"sets": numbers_of_job(SETS)(wildcards), "permutations": [0, 1]}
            if wildcards.order == "sets"
            else {"sets": [0, N_PERMUTED_SETS], "permutations": numbers_of_job(PERMUTATIONS)(wildcards)}
        ),
        exchange=MODEL_SETS["exchange"],
        code_of_models=code_of_models(SETS_MODELS),
    script:
        "../scripts/evaluate_feature_sets.py"


rule tabulate_model_wins:
    input:
        expand(rules.evaluate_feature_sets.output, **SETS_OF, order="sets", first=SETS),
        expand(rules.evaluate_feature_sets.output, **SETS_OF, order="permuted", first=PERMUTATIONS),
    output:
        **{"permutations": "results/tables/win_percentage/model_permutations.csv"} if PERMUTATIONS else {},
        wins="results/tables/win_percentage/models.csv",
        sets="results/tables/win_percentage/model_sets.csv",
    log:
        "results/logs/tabulate_model_wins.log",
    params:
        alpha=WIN_PERCENTAGE["alpha"],
    script:
        "../scripts/tabulate_model_wins.py"


FILES_OF["win_percentage"] = [
    *rules.tabulate_pairs.input.permuted,
    *expand(rules.evaluate_pairs.output, dataset=PAIRS_OF),
    *[*rules.tabulate_pairs.output] * bool(PAIRS_OF),
    *expand(rules.evaluate_feature_sets.input.folds, **SETS_OF),
    *rules.tabulate_model_wins.input,
    *[*rules.tabulate_model_wins.output] * bool(SETS_OF["dataset"]),
]
