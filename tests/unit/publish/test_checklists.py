"""Test the reporting checklists."""

import pytest

from fairfold.errors import ConfigError
from fairfold.publish.checklists import (
    CHECKLISTS,
    answer_checklist,
    count_status,
)
from fairfold.publish.folder import write_publication
from fairfold.publish.sentences import load_phrases


def test_checklists_have_their_numbers_of_items():
    numbers = {name: [item["id"] for item in load_phrases(name)["items"]] for name in CHECKLISTS}
    assert len(numbers["reforms"]) == 32
    assert {number.rstrip("abcdefg") for number in numbers["tripod-ai"]} == set(map(str, range(1, 28)))


@pytest.mark.parametrize(("name", "least"), [("reforms", 22), ("tripod-ai", 18)])
def test_a_study_of_a_table_fills_most_items(make_facts, tmp_path, name, least):
    answers = answer_checklist(name, make_facts(), tmp_path)
    counts = count_status(answers)
    assert counts["filled"] >= least and counts["to be filled in"] > 0
    for answer in answers:
        assert ("To be filled in by the author" in answer.text) == (answer.status != "filled")
        assert "[@" not in answer.text


@pytest.mark.parametrize("name", CHECKLISTS)
def test_an_unfinished_study_fills_little(make_facts, tmp_path, name):
    answers = {each.id: each for each in answer_checklist(name, make_facts({}, is_done=False), tmp_path)}
    models = answers["5a" if name == "reforms" else "22"]
    assert models.text == "To be filled in by the author: the study has no result for this item."
    limits = answers["8b" if name == "reforms" else "26"]
    assert limits.status == "partly filled"
    assert limits.text.endswith("To be filled in by the author: the rest, which the study lacks.")


def test_answers_of_the_author_fill_items(make_facts, tmp_path):
    facts = make_facts(answers={"reforms": {"1a": "Plants of the Alps."}})
    answer = answer_checklist("reforms", facts, tmp_path)[0]
    assert (answer.id, answer.text, answer.status) == ("1a", "Plants of the Alps.", "filled")
    with pytest.raises(ConfigError, match=r"config.publish.answers.reforms: unknown item '9z'"):
        answer_checklist("reforms", make_facts(answers={"reforms": {"9z": "No."}}), tmp_path)


def test_evidence_exists(make_facts, tmp_path):
    (tmp_path / "methods.md").touch()
    answers = answer_checklist("reforms", make_facts(), tmp_path)
    assert {path for answer in answers for path in answer.evidence} == {"methods.md"}


def test_pages_escape_cells(make_facts, tmp_path):
    facts = make_facts(answers={"reforms": {"1a": "a | <b>"}})
    write_publication(facts, tmp_path / "publication")
    table, html = ((tmp_path / f"publication/checklist-reforms{suffix}").read_text() for suffix in (".md", ".html"))
    assert "| 1a | Population or distribution that the claims are about | a \\| \\<b\\> |" in table
    assert "<td>a | &lt;b&gt;</td>" in html


@pytest.mark.parametrize(("score", "status"), [("average_precision", "filled"), ("f1_macro", "partly filled")])
def test_the_author_gives_the_reason_for_a_chosen_score(make_facts, config, tmp_path, score, status):
    config["weak_labels"]["scoring"] = score
    answers = {each.id: each for each in answer_checklist("reforms", make_facts(), tmp_path)}
    assert answers["7a"].status == status
    assert ("why the metric suits the selection" in answers["7a"].text) == (score != "average_precision")
