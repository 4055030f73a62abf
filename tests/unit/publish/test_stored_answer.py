"""Test that all texts show the sentences of the stored answer."""

from dataclasses import replace

from fairfold.__main__ import main
from fairfold.answer.answer import ANSWER, load, save
from fairfold.publish.cards import write_cards
from fairfold.publish.methods import as_markdown, methods
from fairfold.report.page import render_report

SENTENCES = {  # attribute -> its sentence, and the texts that show it
    "verdict": ("Use the oracle.", {"terminal", "report"}),
    "score": ("It is always right", {"terminal", "report"}),
    "decisions": ("Let the oracle decide.", {"terminal", "report"}),
    "samples": ("A million samples would tell.", {"terminal", "report"}),
    "advice": ("Ask the oracle about labels.", {"terminal", "report"}),
    "intervals": ("Its intervals never miss.", {"report"}),
    "others": (["The others are far behind it."], {"methods", "card"}),
    "same": (["Twins have the same scores."], {"terminal", "report", "methods", "card"}),
    "missing_labels": (["Half of the positives are lost."], {"terminal", "report", "methods"}),
    "further": (["None of them comes back."], {"report"}),
    "labels": (["No label is hard."], {"terminal", "report"}),
    "checked": (["Nobody checked the oracle."], {"terminal", "report", "methods", "card"}),
    "design": (["Test folds contain other omens."], {"terminal", "report"}),
    "errors": (["The table is upside down."], {"terminal", "report"}),
    "warnings": (["The ink is wet."], {"terminal"}),
    "details": ({"About it": ["It has a long beard."]}, {"terminal", "report"}),
}


def first_of(value):
    while not isinstance(value, str):
        value = next(iter(value.values() if isinstance(value, dict) else value))
    return value


def test_every_text_shows_the_sentences_of_the_stored_answer(make_facts, tmp_path, capsys):
    facts = make_facts()
    changed = replace(facts.answers["plants"], **{name: value for name, (value, _) in SENTENCES.items()})
    save([changed], facts.results / ANSWER)
    facts.__dict__["answers"] = load(facts.results / ANSWER)
    assert main(["recommend", str(facts.results.parent), "--all"]) == 0
    write_cards(facts, tmp_path)
    texts = {
        "terminal": capsys.readouterr().out,
        "report": render_report(facts.results, [ANSWER], facts.study),
        "methods": as_markdown(methods(facts)),
        "card": (tmp_path / "plants/README.md").read_text(),
    }
    texts = {name: " ".join(text.split()) for name, text in texts.items()}
    for name, (value, expected) in SENTENCES.items():
        assert {place for place, text in texts.items() if first_of(value) in text} == expected, name
