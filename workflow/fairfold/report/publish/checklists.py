"""Reporting checklists, filled in from the facts of a study."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from fairfold.core.config import load_yaml
from fairfold.errors import ConfigError, unknown_name
from fairfold.report.contents import FOLDER
from fairfold.report.publish import about_data, about_models, about_use
from fairfold.report.publish.facts import Facts
from fairfold.report.publish.methods import without_citations
from fairfold.report.templates import render

CHECKLISTS = ("reforms", "tripod-ai")
Status = Literal["filled", "partly filled", "to be filled in"]
_BY_AUTHOR = "To be filled in by the author: "


def _answers() -> dict[str, Callable[[Facts], list[str]]]:
    modules = (about_data, about_models, about_use)
    return {
        name: function
        for module in modules
        for name, function in vars(module).items()
        if callable(function) and getattr(function, "__module__", "") == module.__name__ and not name.startswith("_")
    }


class Answer(NamedTuple):
    """Answer to an item of a checklist.

    Attributes
    ----------
    id : str
        Number of the item.
    item : str
        Subject of the item.
    text : str
        Answer, and what the author needs to add.
    evidence : list of str
        Files of the folder with the evidence.
    status : {"filled", "partly filled", "to be filled in"}
        Whether the author needs to add something.
    """

    id: str
    item: str
    text: str
    evidence: list[str]
    status: Status


def load_checklist(name: str) -> dict[str, Any]:
    """Load the items of a checklist.

    Parameters
    ----------
    name : str
        One of ``CHECKLISTS``.

    Returns
    -------
    dict
        ``title``, ``name``, ``source`` and ``items``.
    """
    return load_yaml(FOLDER / "publish" / f"{name}.yaml")


def answer_checklist(name: str, facts: Facts, folder: Path) -> list[Answer]:
    """Answer the items of a checklist.

    Parameters
    ----------
    name : str
        One of ``CHECKLISTS``.
    facts : Facts
        Facts of the study.
    folder : Path
        Folder of the publication. Evidence that it does not contain is not named.

    Returns
    -------
    list of Answer
        One answer per item.

    Raises
    ------
    ConfigError
        If the configuration answers an unknown item.
    """
    items = load_checklist(name)["items"]
    given = facts.config["publish"]["answers"].get(name, {})
    for number in given:
        if number not in (known := [item["id"] for item in items]):
            raise ConfigError(f"config.publish.answers.{name}: {unknown_name('item', number, known)}")
    return [_answer(item, given.get(item["id"]), facts, folder) for item in items]


def _answer(item: Mapping[str, Any], given: str | None, facts: Facts, folder: Path) -> Answer:
    functions = _answers()
    sentences = [line for name in item.get("answers", ()) for line in functions[name](facts)]
    text = without_citations(" ".join(dict.fromkeys(sentences)))
    wanted = item.get("author") or ("" if text else "the study has no result for this item")
    evidence = [path for path in item.get("evidence", ()) if text and (folder / path).exists()]
    if given:
        return Answer(item["id"], item["item"], f"{text} {given}".strip(), evidence, "filled")
    asked = f"{_BY_AUTHOR}{wanted}." * bool(wanted)
    status: Status = "filled" if not wanted else "partly filled" if text else "to be filled in"
    return Answer(item["id"], item["item"], f"{text} {asked}".strip(), evidence, status)


def count_status(answers: list[Answer]) -> dict[str, int]:
    """Count items by status. Parts such as 3a and 3b of TRIPOD+AI belong to one item.

    Parameters
    ----------
    answers : list of Answer
        Answers of a checklist.

    Returns
    -------
    dict of str to int
        Number of items that are filled, partly filled, and to be filled in. An item is filled if all its parts are.

    Examples
    --------
    >>> answers = [Answer("1", "", "", [], "filled"), Answer("2", "", "", [], "to be filled in")]
    >>> count_status(answers)
    {'filled': 1, 'partly filled': 0, 'to be filled in': 1}
    """
    parts: dict[str, set[str]] = {}
    has_whole_numbers = any(answer.id.isdigit() for answer in answers)  # REFORMS counts each part as an item.
    for answer in answers:
        key = re.sub(r"[a-z]$", "", answer.id) if has_whole_numbers else answer.id
        parts.setdefault(key, set()).add(answer.status)
    found = [next(iter(group)) if len(group) == 1 else "partly filled" for group in parts.values()]
    return {status: found.count(status) for status in ("filled", "partly filled", "to be filled in")}


def checklist_markdown(title: str, answers: list[Answer]) -> str:
    """Format a checklist as Markdown.

    Parameters
    ----------
    title : str
        Name of the checklist.
    answers : list of Answer
        Its answers.

    Returns
    -------
    str
        Markdown with a table.
    """
    rows = [(each.id, each.item, each.text, ", ".join(each.evidence), each.status) for each in answers]
    lines = [("no.", "item", "answer", "evidence", "status"), ("---",) * 5, *rows]
    table = "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
    return f"# {title} checklist\n\n{summary(answers)}\n\n{table}\n"


def checklist_html(title: str, answers: list[Answer]) -> str:
    """Format a checklist as HTML, which word processors open.

    Parameters
    ----------
    title : str
        Name of the checklist.
    answers : list of Answer
        Its answers.

    Returns
    -------
    str
        HTML page.
    """
    return render("checklist.html.jinja", title=f"{title} checklist", summary=summary(answers), answers=answers)


def summary(answers: list[Answer]) -> str:
    """Describe how much of a checklist is filled.

    Parameters
    ----------
    answers : list of Answer
        Answers of a checklist.

    Returns
    -------
    str
        A sentence.
    """
    counts = count_status(answers)
    return (
        f"{counts['filled']} of {sum(counts.values())} items are filled, {counts['partly filled']} are partly filled, "
        f"and {counts['to be filled in']} are to be filled in by the author. Items are paraphrased."
    )
