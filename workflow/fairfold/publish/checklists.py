"""Reporting checklists, filled in from the facts of a study."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from fairfold.errors import ConfigError, check_name
from fairfold.publish.facts import Facts
from fairfold.publish.sentences import load_phrases, sentences, without_citations
from fairfold.publish.settings import Checklist

CHECKLISTS: tuple[Checklist, ...] = get_args(Checklist)
Status = Literal["filled", "partly filled", "to be filled in"]
_NO_RESULT = "the study has no result for this item"
_BY_AUTHOR = "To be filled in by the author: "


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


def answer_checklist(name: Checklist, facts: Facts, folder: Path) -> list[Answer]:
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
    items = load_phrases(name)["items"]
    by_author = facts.study.publish.answers.get(name, {})
    for number in by_author:
        check_name("item", number, [item["id"] for item in items], ConfigError, f"config.publish.answers.{name}")
    return [_answer(item, by_author.get(item["id"]), facts, folder) for item in items]


def _answer(item: Mapping[str, Any], by_author: str | None, facts: Facts, folder: Path) -> Answer:
    found = [sentences(name, facts) for name in item.get("answers", ())]
    text = without_citations(" ".join(filter(None, found)))
    is_open = "author" in item and not ("unless" in item and sentences(item["unless"], facts))
    lacking = "" if any(found[:1]) else "the rest, which the study lacks" if text else _NO_RESULT
    wanted = item["author"] if is_open else lacking
    patterns = item.get("evidence", ()) if text else ()
    found_files = {path: None for pattern in patterns for path in sorted(folder.glob(pattern))}
    evidence = [path.relative_to(folder).as_posix() for path in found_files]
    if by_author:
        return Answer(item["id"], item["item"], f"{text} {by_author}".strip(), evidence, "filled")
    asked = f"{_BY_AUTHOR}{wanted}." if wanted else ""
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


def summary(answers: list[Answer]) -> str:
    """Describe how much of a checklist is filled.

    Parameters
    ----------
    answers : list of Answer
        Answers of a checklist.

    Returns
    -------
    str
        Numbers of items by status.
    """
    counts = count_status(answers)
    filled, partly, others = counts.values()
    return f"{filled} of {sum(counts.values())} items filled, {partly} filled in part, {others} left to the author"
