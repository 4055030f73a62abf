"""Test that the texts of a publication estimate missing labels only where a declaration or a check allows it."""

import re

import pandas as pd
import pytest
from answers import change

from fairfold.publish.checklists import CHECKLISTS, answer_checklist
from fairfold.publish.folder import write_publication
from fairfold.publish.methods import as_markdown, methods
from fairfold.publish.sentences import sentences
from fairfold.publish.tables import paper_tables

RATES = "tables/missing_rates.csv"
CLAIMS = re.compile(r"estimated for complete labels|[Aa]bout \d+ %|[Aa]n estimated|missing rate is (drawn|estimated)")


@pytest.fixture
def facts_of(make_facts, config):
    """Return a function that declares a state of the labels of a study without hidden positives."""

    def facts_of(state, row, **declared):
        own = config["data"]["own"]["plants"]
        own |= {"labels_are": state, **declared}
        config["weak_labels"]["missing_rates"] = [0]
        facts = make_facts()
        found = {"dataset": "plants", "hidden_rate": [0], "hidden_share": 0.0, "labels_are": state, "reason": ""} | row
        facts.memo[RATES] = pd.DataFrame(found)
        scores = facts.table("tables/complete_scores.csv")
        facts.memo["tables/complete_scores.csv"] = scores[scores["missing_rate"] == 0]
        return change(facts)

    return facts_of


@pytest.fixture
def unknown(facts_of):
    return facts_of("unknown", {"estimated_rate": float("nan"), "low": 0.0, "high": 45.2})


def texts_of(facts, folder):
    """Return all texts of the folder of a publication in one string."""
    write_publication(facts, folder)
    return {path.name: path.read_text() for path in folder.rglob("*") if path.suffix in (".md", ".html", ".json")}


def test_nothing_is_estimated_in_an_unknown_state(unknown, tmp_path):
    for name, text in texts_of(unknown, tmp_path / "folder").items():
        assert name == "README.md" or not CLAIMS.search(text), (name, CLAIMS.search(text))
    text = as_markdown(methods(unknown))
    assert "Nothing is declared about missing positives of plants. Scores, intervals and tests take labels as" in text
    assert "count as a negative. No label is imputed" in text.replace("counts as a", "count as a")
    bound = "at most 45 % of the positives are missing, and average precision would be up to 0.95."
    assert bound in text and "Noise in complete labels looks the same, so this is a bound (column high of" in text
    assert "fairfold check" not in text
    assert "logistic+ is calibrated and not corrected on the labels of plants as they are." in text
    assert "Scores are means over folds on the labels as they are. Their 95 % intervals come from" in text
    assert "The missing rates are bounded from the predictions of joint-GB" in text
    assert "The bound of the missing rate is 1 minus a 95 % lower confidence bound" in text
    assert "missing positives count as negatives. The labels cannot show how many" in sentences("limits", unknown)
    assert "posterior" not in sentences("model_output", unknown)
    caption = next(table.caption for table in paper_tables(unknown) if table.name == "scores")
    assert "means over 5 folds on the labels as they are, with 95 % intervals." in caption


@pytest.mark.parametrize("name", CHECKLISTS)
def test_checklists_state_the_bound(unknown, tmp_path, name):
    answers = {each.id: each.text for each in answer_checklist(name, unknown, tmp_path)}
    assert "at most 45 % of the positives" in answers["11" if name == "tripod-ai" else "3f"]


def test_complete_labels_have_no_missing_rate(facts_of, tmp_path):
    facts = facts_of("complete", {"estimated_rate": 12.0, "low": float("nan"), "high": float("nan")})
    for name, text in texts_of(facts, tmp_path / "folder").items():
        assert name == "README.md" or not CLAIMS.search(text), (name, CLAIMS.search(text))
    text = as_markdown(methods(facts))
    assert "The labels of plants are declared complete: a 0 is a negative. No label is imputed" in text
    assert "bound of the missing rate" not in text and "at most" not in sentences("meaning", facts)
    assert "not corrected" not in sentences("correction", facts)
    assert "missing at random" not in sentences("limits", facts)


def test_a_declared_rate_is_no_estimate(facts_of):
    row = {"estimated_rate": 30.0, "low": float("nan"), "high": float("nan")}
    facts = facts_of("incomplete", row, missing_rate=0.3)
    text = as_markdown(methods(facts))
    assert "Scores are corrected for 30 % missing positives, as declared, if these are missing at random." in text
    assert "logistic+ divides probabilities by the declared label frequency, 0.7." in text
    assert "The missing rate is estimated" not in text and "cautious estimate" not in text
    assert "They take the declared missing rate as exact." in text and "missing rate is drawn" not in text
    assert "can be lopsided" not in text and "uncertainty of the missing rate" not in text
    assert "estimated for complete labels" in text and "missing at random" in sentences("limits", facts)


def test_trials_with_hidden_positives_are_corrected(unknown):
    unknown.study.weak_labels.missing_rates = [0, 50]
    hidden = {"hidden_rate": [50], "labels_are": "incomplete", "estimated_rate": 50.0, "low": 40.0, "high": 60.0}
    rates = unknown.table(RATES)
    unknown.memo[RATES] = pd.concat([rates, rates.assign(**hidden, hidden_share=48.6)], ignore_index=True)
    text = as_markdown(methods(change(unknown)))
    assert "There, labels are known to be incomplete, so scores are corrected by the estimated missing rate." in text
    assert "as they are. With hidden positives, logistic+ divides probabilities by another, cautious estimate" in text
    assert "Except in the trials with hidden positives, no label is imputed" in text
    assert "at most 45 % of the positives are missing" in text and "bout 50 % of the positives are missing" not in text


def test_checked_cells_win_over_the_declaration(unknown):
    rates = {"n_checked": 60.0, "estimated_rate": 8.0, "low": 2.0, "high": 20.0}
    change(unknown, leaderboard={"n_checked": 60.0}, missing_rates=rates)
    text = as_markdown(methods(unknown))
    assert "Missing positives by 60 checked cells: about 8 % of positives (2 to 20 %)." in text
    assert "at most" not in sentences("meaning", unknown) and "bound of the missing rate" not in text


def test_final_models_have_a_posterior_where_they_correct(facts_of):
    facts = facts_of("incomplete", {"estimated_rate": 8.0, "low": 0.0, "high": 20.0})
    assert "posterior" not in sentences("model_output", facts)  # RF+ET corrects nothing.
    labels = facts.table("final/plants/label_scores.csv")
    facts.memo["final/plants/label_scores.csv"] = labels.assign(model="logistic+")
    del facts.__dict__["finals"]
    facts.memo.pop("values", None)
    text = sentences("model_output", facts)
    assert "It also outputs a posterior: the probability divided by the label frequency, at most 1." in text
    assert "Reported decisions are 1 if the posterior is above 0.5" in text
