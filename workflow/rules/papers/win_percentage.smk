# Win percentages of Gaussian classifiers in random searches over feature pairs.


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
    conda:
        "../../envs/environment.yaml"
    threads: threads_of_each(len(STUDY.win_percentage.datasets), most=STUDY.win_percentage.jobs_per_dataset)
    params:
        seed=STUDY.seed,
        n_parts=STUDY.win_percentage.jobs_per_dataset,
        setting=models.pair_setting(STUDY),
        reevaluation=STUDY.win_percentage.reevaluation.model_dump(include={"n_splits", "n_repeats", "corrected"}),
        alpha=STUDY.win_percentage.alpha,
        search=STUDY.win_percentage.search.model_dump(),
        code=code_of("evaluate_pairs"),
    script:
        "../../scripts/evaluate_pairs.py"


rule permute_pairs:
    input:
        "results/datasets/{dataset}.npz",
    output:
        "results/win_percentage/{dataset}/permuted-from-{first}.npz",
    log:
        "results/logs/permute_pairs/{dataset}_{first}.log",
    benchmark:
        "results/benchmarks/permute_pairs/{dataset}_{first}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        seed=STUDY.seed,
        permutations=numbers_of_job(PLAN.win_percentage.permuted_pairs),
        setting=models.pair_setting(STUDY),
        code=code_of("permute_pairs"),
    script:
        "../../scripts/permute_pairs.py"


rule tabulate_win_percentage:
    input:
        data=expand("results/datasets/{dataset}.npz", dataset=STUDY.win_percentage.datasets),
        pairs=expand(rules.evaluate_pairs.output.pairs, dataset=STUDY.win_percentage.datasets),
        best_pairs=expand(rules.evaluate_pairs.output.table, dataset=STUDY.win_percentage.datasets),
        permuted=expand(
            rules.permute_pairs.output,
            dataset=STUDY.win_percentage.datasets,
            first=PLAN.win_percentage.permuted_pairs,
        ),
        searches=expand(rules.evaluate_pairs.output.search, dataset=STUDY.win_percentage.datasets),
        shown=[
            expand(rules.evaluate_pairs.output[name], dataset=STUDY.win_percentage.datasets)
            for name in ("maps", "points")
        ],
        models=[
            expand(
                rules.evaluate_feature_sets.output,
                dataset=STUDY.win_percentage.models.datasets,
                rate=STUDY.win_percentage.models.missing_rate,
                order=order,
                first=firsts,
            )
            for order, firsts in (
                ("sets", PLAN.win_percentage.sets),
                ("permuted", PLAN.win_percentage.permutations),
            )
        ],
        legend=legend_of("win_percentage"),
    output:
        **figures_of_job("win_percentage"),
        **{name: f"results/tables/win_percentage/{name}.csv" for name in PLAN.win_percentage.tables},
    log:
        "results/logs/tabulate_win_percentage.log",
    conda:
        "../../envs/environment.yaml"
    params:
        **STUDY.win_percentage.model_dump(
            include={"kurtosis_multiple", "most_draws", "alpha", "independent", "sampling"}
        ),
        seed=STUDY.seed,
        titles=[CATALOG[dataset].title for dataset in STUDY.win_percentage.datasets],
        figures=specs_of_figures("win_percentage"),
        code=code_of("tabulate_win_percentage"),
    script:
        "../../scripts/tabulate_win_percentage.py"
