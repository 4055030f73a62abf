"""Sentences on the final model and its use, for the checklists.

Each function takes the facts of a study and returns sentences, or an empty list if the study does not support any.
"""

from __future__ import annotations

from fairfold.report.labels import listed
from fairfold.report.publish.about_data import outcomes, rare_labels
from fairfold.report.publish.facts import Facts, if_scored


def readme(facts: Facts) -> list[str]:
    """Name the README."""
    return ["README.md lists the files and the command that computes the results again."]


def script(facts: Facts) -> list[str]:
    """Name the command that computes the results again."""
    if facts.config["publish"]["with_data"] or all(each.path is None for each in facts.sources):
        return ["`fairfold study --from publication.zip` computes all results again and compares their checksums."]
    return [
        "`fairfold study --from publication.zip TABLE` computes all results again from a copy of the data and compares "
        "their checksums."
    ]


@if_scored
def title(facts: Facts) -> list[str]:
    """Suggest a title."""
    sizes = [(name, size) for name in facts.datasets if (size := facts.size(name))]
    if not sizes:
        return []
    about = listed([f"{size['n_labels']} labels of {size['n_samples']:,} samples of {name}" for name, size in sizes])
    what = "Development and internal evaluation" if facts.finals else "Internal evaluation"
    return [f"Suggestion: {what} of machine-learning models that predict {about}."]


@if_scored
def objectives(facts: Facts) -> list[str]:
    """State what the study does."""
    n_models = len(facts.config["weak_labels"]["models"])
    goal = f"The study compares {n_models} models by internal evaluation"
    fitted = [f"{model} for {name}" for name, model in facts.finals.items()]
    return [f"{goal} and fits the final model {listed(fitted)}." if fitted else f"{goal} and fits no final model."]


@if_scored
def sample_size(facts: Facts) -> list[str]:
    """Describe the origin of the sample size, and learning curves."""
    found = ["All samples of the table were used. The sample size was not calculated before the study."]
    curves = facts.table("tables/sample_curves.csv")
    if len(curves):
        models = listed(curves["model"].drop_duplicates().tolist())
        found.append(
            f"The learning curve of {models} shows how scores change with the number of samples [@viering2021]."
        )
    return found


@if_scored
def heterogeneity(facts: Facts) -> list[str]:
    """Describe differences between clusters."""
    grouped = [name for name in facts.datasets if facts.own.get(name, {}).get("groups")]
    kept = f"Groups of {listed(grouped)} stay in one fold. " if grouped else "The data name no clusters. "
    return [f"{kept}Scores were not estimated for single clusters, so their heterogeneity is unknown."]


@if_scored
def updating(facts: Facts) -> list[str]:
    """State that no model was updated."""
    return ["No existing model was updated. All models were fitted to the data of this study."]


@if_scored
def imbalance(facts: Facts) -> list[str]:
    """Describe the treatment of rare labels."""
    own = facts.config["models"]["own"]
    models = " by the models of fairfold" * bool(own)
    return [
        f"No label was resampled or weighted{models}. Folds balance the positives of each label as far as the "
        "method of the folds does, and the leading metric suits rare labels."
    ]


def model_output(facts: Facts) -> list[str]:
    """Describe the predictions of the final model."""
    threshold = facts.config["weak_labels"]["forest"]["threshold"]
    return [
        "The output is a probability for each label, a posterior that allows for missing labels, and a decision of 0 "
        f"or 1. Reported decisions use the threshold {threshold}."
    ] * bool(facts.finals)


def analyzed(facts: Facts) -> list[str]:
    """State how many samples and positives each analysis has."""
    found = outcomes(facts)
    if facts.finals:
        found.append("The evaluation tests each sample out of fold; the final model was fitted to all samples.")
    return found


def specification(facts: Facts) -> list[str]:
    """Name the files of the final model."""
    where = "model/" if facts.config["publish"]["with_data"] else "the results of the study, not in this folder,"
    return [
        f"The final model {model} of {name} is stored in {where} and is used with `fairfold predict`. Its card lists "
        "settings and versions."
        for name, model in facts.finals.items()
    ]


def bad_input(facts: Facts) -> list[str]:
    """Describe the treatment of poor input by the final model."""
    return [
        "`fairfold predict` matches columns by name. A missing column, an infinite number and a cell that is not a "
        "number are refused with the row and the column. Empty cells are filled as in training."
    ] * bool(facts.finals)


def users(facts: Facts) -> list[str]:
    """Describe the interaction of users with the final model."""
    return [
        "Users give a table with the same columns to one command and need no other interaction. They need to know how "
        "to run a command."
    ] * bool(facts.finals)


def next_steps(facts: Facts) -> list[str]:
    """Suggest further work that follows from the results."""
    steps = ["check the likely label errors", *["collect positives of rare labels"] * bool(rare_labels(facts))]
    return [f"Next steps: {listed([*steps, 'evaluate the model on external data'])}."] * bool(facts.finals)
