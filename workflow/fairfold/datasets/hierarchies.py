"""Readers of label hierarchies: ontologies in OBO format, and tables of labels and their parents.

The OBO reader supports versions 1.2 and 1.4, and raises an error for input that would give a wrong hierarchy. Public
readers accept cycles and relations to missing terms, and silently drop obsolete terms.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import numpy as np

from fairfold.core.hierarchy import Hierarchy
from fairfold.errors import DataError, count, shortened, unknown_name
from fairfold.tables.names import composed
from fairfold.tables.rows import TableFile, sentences

KEYS = ("hierarchy", "propagate")
"""Keys of ``labels`` in the configuration that describe a hierarchy."""

_STANZA = re.compile(r"\[(\w+)\]\s*$")
_COMMENT = re.compile(r"(?<!\s)\s*(?<!\\)\{[^{}]*\}\s*(!.*)?$|(^|(?<!\s)\s+)!.*$")  # Also matches a modifier in braces.
_HEADER = ("child", "parent")


@dataclass
class Terms:
    """Terms of a hierarchy file and their relations.

    Attributes
    ----------
    source : str
        Name of the file, for messages.
    names : dict of str to str
        Name of each term by id. In a table, the name is the id.
    parents : dict of str to dict of str to int
        For each term, the ids of its parents and the lines of the file with these relations.
    alternatives : dict of str to str
        Id of the term by alternative id.
    obsolete : dict of str to str
        Replacement of each obsolete term by id, or an empty text without a replacement.
    namespaces : dict of str to str
        Part of the ontology of each term, or ``"none"``.

    Examples
    --------
    >>> names = {"T:1": "plant", "T:2": "fern", "T:3": "tree fern"}
    >>> terms = Terms("plants.obo", names, parents={"T:2": {"T:1": 9}, "T:3": {"T:2": 14}})
    >>> terms.of_labels(["tree fern", "T:1"])
    ['T:3', 'T:1']
    >>> terms.above(["T:3"])
    {'T:3': ['T:2'], 'T:2': ['T:1'], 'T:1': []}
    """

    source: str
    names: dict[str, str] = field(default_factory=dict)
    parents: dict[str, dict[str, int]] = field(default_factory=dict)
    alternatives: dict[str, str] = field(default_factory=dict)
    obsolete: dict[str, str] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise :class:`DataError` for cycles and for parents that are not in the file."""
        for term, above in self.parents.items():
            for parent, line in above.items():
                if parent == term:
                    raise DataError(f"{self.source}, line {line}: {term!r} is its own parent. Remove the line.")
                if parent not in self.names:
                    what = "obsolete" if parent in self.obsolete else "not in the file"
                    below = f"{term!r} has the parent {parent!r}, which is {what}"
                    raise DataError(f"{self.source}, line {line}: {below}. Add it, or remove the line.")
        try:
            TopologicalSorter(self.parents).prepare()
        except CycleError as error:
            circle = shortened(list(map(repr, error.args[1][::-1])), 8)
            raise DataError(f"{self.source}: terms form a cycle, {circle}. Remove one of these relations.") from None

    def of_labels(self, labels: Sequence[str], prefixes: Sequence[str] = ()) -> list[str]:
        """Return the ids of the terms that labels stand for.

        Parameters
        ----------
        labels : sequence of str
            Names of the labels, each the id, an alternative id or the name of a term.
        prefixes : sequence of str, default=()
            Prefixes that label names may have in addition.

        Returns
        -------
        list of str
            Id of the term of each label.

        Raises
        ------
        DataError
            If a label stands for no term, for an obsolete term, or for the same term as another label.
        """
        known = {name: term for term, name in self.names.items()} | self.alternatives
        known |= {term: term for term in self.names}
        label_of: dict[str, str] = {}
        for label in labels:
            spellings = [label, *(label.removeprefix(prefix) for prefix in prefixes if prefix != label)]
            term = next((known[name] for name in spellings if name in known), None)
            if term is None:
                raise DataError(f"{self.source}: label {label!r} {self._why_not(spellings)}")
            if term in label_of:
                both = f"{label_of[term]!r} and {label!r}"
                raise DataError(f"{self.source}: labels {both} are both the term {term!r}. Leave one out.")
            label_of[term] = label
        return list(label_of)

    def _why_not(self, spellings: Sequence[str]) -> str:
        for name in spellings:
            if name in self.obsolete:
                instead = f" (replaced by {self.obsolete[name]!r})" if self.obsolete[name] else ""
                return f"is an obsolete term{instead}. Rename it, or leave it out."
        nearest = textwrap.shorten(unknown_name("term", spellings[-1], self.names), 200)
        return f"is not one of its {len(self.names)} terms, by id or by name ({nearest}). Rename it, or leave it out."

    def above(self, terms: Iterable[str]) -> dict[str, list[str]]:
        """Return the parents of terms, of their parents, and so on.

        Parameters
        ----------
        terms : iterable of str
            Ids of the terms.

        Returns
        -------
        dict of str to list of str
            Parents of each term and of all its ancestors.
        """
        found: dict[str, list[str]] = {}
        waiting = list(terms)
        while waiting:
            if (term := waiting.pop()) not in found:
                found[term] = list(self.parents.get(term, ()))
                waiting += found[term]
        return found


def read_hierarchy(
    path: str | Path,
    labels: Sequence[str],
    *,
    prefixes: Sequence[str] = (),
) -> Hierarchy:
    r"""Read the hierarchy of labels from a file.

    Terms of the file that are not labels may stand between labels. Relations through such terms are kept.

    Parameters
    ----------
    path : str or Path
        Path of an ontology in OBO format, or of a table with two columns. A file with a line ``[Term]`` is an ontology.
        The table can have any format of :mod:`fairfold.tables.rows`. Its rows contain a label and one of its parents,
        or an empty cell for a label without parents. The header ``child, parent`` is optional.
    labels : sequence of str
        Names of the labels, each the id, an alternative id or the name of a term.
    prefixes : sequence of str, default=()
        Prefixes that label names may have in addition.

    Returns
    -------
    Hierarchy
        Hierarchy of the labels, in their order.

    Raises
    ------
    DataError
        If the file cannot be read, its relations have a cycle, or a parent is not in the file. Also if a label is not a
        term, an obsolete term, or the same term as another label.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "parents.csv"
    ...     _ = path.write_text("child,parent\nfern,plant\nmoss,plant\n")
    ...     hierarchy = read_hierarchy(path, ["plant", "fern", "moss"])
    >>> hierarchy.edges.tolist()  # labels 1 and 2 are below label 0
    [[1, 0], [2, 0]]
    """
    path = Path(path)
    terms = _read_obo(path) if _is_obo(path) else _read_edges(path)
    terms.check()
    of_labels = terms.of_labels(labels, prefixes)
    above = terms.above(of_labels)
    number = {term: place for place, term in enumerate(dict.fromkeys([*of_labels, *above]))}
    edges = [(number[term], number[parent]) for term, parents in above.items() for parent in parents]
    # Only the terms of labels decide whether the ontology has several parts.
    several = len({terms.namespaces[term] for term in of_labels if term in terms.namespaces}) > 1
    namespaces = tuple(terms.namespaces[term] for term in number) if several else ()
    return Hierarchy(np.array(edges), len(number), namespaces).of(range(len(labels)))


def _is_obo(path: Path) -> bool:
    with sentences(path), path.open("rb") as stream:
        return any(line.strip() == b"[Term]" for line in stream)


def _read_edges(path: Path) -> Terms:
    terms = Terms(path.name)
    for number, (line, cells) in enumerate(TableFile(path).rows()):
        cells = [composed(cell.strip()) for cell in cells]
        if number == 0 and tuple(map(str.casefold, cells)) == _HEADER:
            continue
        if len(cells) != 2 or not cells[0]:
            found = f"found {count(len(cells), 'cell')} ({shortened(cells, 3)})"
            raise DataError(f"{path.name}, line {line}: {found}. Write a label and its parent, or an empty cell.")
        child, parent = cells
        terms.names |= {term: term for term in cells if term}
        if parent:
            terms.parents.setdefault(child, {}).setdefault(parent, line)
    return terms


def _read_obo(path: Path) -> Terms:
    terms = Terms(path.name)
    stanzas = _stanzas(path)
    _, header = next(stanzas)
    default = next((value for _, value in header.get("default-namespace", ())), "none")
    for line, tags in stanzas:
        if "id" not in tags:
            raise DataError(f"{path.name}, line {line}: the term has no id. Add it, or remove the term.")
        term = tags["id"][0][1]
        if term in terms.names or term in terms.obsolete:
            raise DataError(f"{path.name}, line {line}: term {term!r} occurs twice. Remove one of them.")
        if any(value == "true" for _, value in tags.get("is_obsolete", ())):
            terms.obsolete[term] = next((value for _, value in tags.get("replaced_by", ())), "")
            continue
        terms.names[term] = next((value for _, value in tags.get("name", ())), term)
        terms.namespaces[term] = next((value for _, value in tags.get("namespace", ())), default)
        terms.alternatives |= {value: term for _, value in tags.get("alt_id", ())}
        above = {value: number for number, value in tags.get("is_a", ())}
        for number, value in tags.get("relationship", ()):
            kind, _, parent = value.partition(" ")
            if kind == "part_of":  # Like is_a, it implies the parent term. CAFA's evaluator uses the same relations.
                above[parent.strip()] = number
        terms.parents[term] = above
    return terms


def _stanzas(path: Path) -> Iterator[tuple[int, dict[str, list[tuple[int, str]]]]]:
    """Yield the header as line 0, then the line of each term, with the values and lines of its tags."""
    begun: int | None = 0
    tags: dict[str, list[tuple[int, str]]] = {}
    for line, text in enumerate(_lines(path), start=1):
        if stanza := _STANZA.match(text):
            if begun is not None:
                yield begun, tags
            begun, tags = (line if stanza[1] == "Term" else None), {}
        elif begun is not None and not text.startswith("!") and ":" in text:
            tag, _, value = text.partition(":")
            tags.setdefault(tag.strip(), []).append((line, _COMMENT.sub("", value.strip()).strip()))
    if begun is not None:
        yield begun, tags


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8-sig") as stream:
            yield from map(composed, stream)
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} is not text in UTF-8 ({error.reason}). Save it as UTF-8.") from None
