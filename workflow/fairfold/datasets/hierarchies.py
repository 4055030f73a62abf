"""Hierarchies of labels from files: ontologies in the OBO format, and tables of a label and one above it.

The reader of OBO takes what a hierarchy needs (versions 1.2 and 1.4 alike) and refuses what would make it wrong. The
public ones take cycles and relations to terms that are not there, and drop obsolete terms without a word.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from fairfold.core.hierarchy import Hierarchy, Reconciliation
from fairfold.datasets.names import composed
from fairfold.datasets.rows import TableFile, sentences
from fairfold.errors import DataError, shortened, unknown_name

RELATIONS = ("is_a", "part_of")
"""By which a gene that has a term has the other, too, in the Gene Ontology; what CAFA's evaluator goes by."""

KEYS = ("hierarchy", "relations", "propagate", "reconciliation")
"""Keys of ``labels`` in the configuration that describe a hierarchy."""

_STANZA = re.compile(r"\[(\w+)\]\s*$")
_COMMENT = re.compile(r"\s*(?<!\\)\{[^{}]*\}\s*(!.*)?$|(^|\s+)!.*$")  # and a modifier in braces
_HEADER = ("child", "parent")


@dataclass
class Terms:
    """What a file says of its terms.

    Attributes
    ----------
    source : the file.
    names : id -> name; both are the same in a table.
    parents : id -> ids of terms above it -> line that says so.
    alternatives : other id -> id.
    obsolete : id of a term that is no longer used -> what is to be used in its place, or nothing.
    namespaces : id -> part of the ontology that the term is in, or ``"none"``.
    """

    source: str
    names: dict[str, str] = field(default_factory=dict)
    parents: dict[str, dict[str, int]] = field(default_factory=dict)
    alternatives: dict[str, str] = field(default_factory=dict)
    obsolete: dict[str, str] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise :class:`DataError` for terms above themselves, or below terms that are not there."""
        for term, above in self.parents.items():
            for parent, line in above.items():
                if parent == term:
                    raise DataError(f"{self.source}, line {line}: {term!r} is above itself; remove that.")
                if parent not in self.names:
                    what = "is obsolete" if parent in self.obsolete else "is no term of the file"
                    below = f"{term!r} is below {parent!r}, which {what}"
                    raise DataError(f"{self.source}, line {line}: {below}; add it, or remove the line.")
        try:
            TopologicalSorter(self.parents).prepare()
        except CycleError as error:
            circle = shortened(list(map(repr, error.args[1][::-1])), 8)
            raise DataError(
                f"{self.source}: terms are above each other in a circle, {circle}; remove one of these relations."
            ) from None

    def of_labels(self, labels: Sequence[str], prefix: str = "") -> list[str]:
        """Ids of the terms that labels stand for, by id, alternative id or name, with or without a prefix.

        Raises
        ------
        DataError
            When a label stands for none, for one that is obsolete, or for the same as another.
        """
        known = {name: term for term, name in self.names.items()} | self.alternatives
        known |= {term: term for term in self.names}
        label_of: dict[str, str] = {}
        for label in labels:
            spellings = [label, label.removeprefix(prefix)]
            term = next((known[name] for name in spellings if name in known), None)
            if term is None:
                raise DataError(f"{self.source}: label {label!r} {self._why_not(spellings)}")
            if term in label_of:
                both = f"{label_of[term]!r} and {label!r}"
                raise DataError(f"{self.source}: labels {both} are both term {term!r}; leave one out.")
            label_of[term] = label
        return list(label_of)

    def _why_not(self, spellings: Sequence[str]) -> str:
        for name in spellings:
            if name in self.obsolete:
                instead = f"; {self.obsolete[name]!r} takes its place" if self.obsolete[name] else ""
                return f"is an obsolete term{instead}: rename it, or leave it out."
        nearest = textwrap.shorten(unknown_name("term", spellings[-1], self.names), 200)
        return f"is none of its {len(self.names)} terms, by id or by name ({nearest}): rename it, or leave it out."

    def above(self, terms: Iterable[str]) -> dict[str, list[str]]:
        """Parents of terms, of these, and so on."""
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
    prefix: str = "",
    relations: Collection[str] = RELATIONS,
    reconciliation: Reconciliation = "isotonic",
) -> Hierarchy:
    """The hierarchy of labels that a file has, whatever stands between them there.

    Parameters
    ----------
    path : an ontology in the OBO format, told by its ``[Term]``; or a table, as :mod:`fairfold.datasets.rows` reads
        any, of two columns: a label and one above it, or nothing for one that has none. A first line ``child, parent``
        says so, and may be left out. Terms that are no labels may be there.
    labels : names of the labels, each the id, an alternative id or the name of a term.
    prefix : that the names of labels may begin with besides.
    relations : of the OBO format, by which a term is below another.
    reconciliation : see :class:`~fairfold.core.hierarchy.Hierarchy`.

    Raises
    ------
    DataError
        When the file cannot be read; has a term above itself, terms in a circle, or below one that is not there; or a
        label is no term of it, an obsolete one, or the same as another.
    """
    path = Path(path)
    terms = _read_obo(path, relations) if _is_obo(path) else _read_edges(path)
    terms.check()
    of_labels = terms.of_labels(labels, prefix)
    above = terms.above(of_labels)
    number = {term: place for place, term in enumerate(dict.fromkeys([*of_labels, *above]))}
    edges = [(number[term], number[parent]) for term, parents in above.items() for parent in parents]
    # of terms that are no labels nobody asks whether the ontology has several parts
    several = len({terms.namespaces[term] for term in of_labels if term in terms.namespaces}) > 1
    namespaces = tuple(terms.namespaces[term] for term in number) if several else ()
    return Hierarchy(edges, len(number), reconciliation, namespaces).of(range(len(labels)))


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
            raise DataError(
                f"{path.name}, line {line}: found {len(cells)} cells ({shortened(cells, 3)}), but a label and one "
                "above it are needed, or nothing there for a label that has none above it."
            )
        child, parent = cells
        terms.names |= {term: term for term in cells if term}
        if parent:
            terms.parents.setdefault(child, {}).setdefault(parent, line)
    return terms


def _read_obo(path: Path, relations: Collection[str]) -> Terms:
    terms = Terms(path.name)
    stanzas = _stanzas(path)
    _, header = next(stanzas)
    default = next((value for _, value in header.get("default-namespace", ())), "none")
    for line, tags in stanzas:
        if "id" not in tags:
            raise DataError(f"{path.name}, line {line}: the term has no id; add it, or remove the term.")
        term = tags["id"][0][1]
        if term in terms.names or term in terms.obsolete:
            raise DataError(f"{path.name}, line {line}: term {term!r} is there twice; remove one of them.")
        if any(value == "true" for _, value in tags.get("is_obsolete", ())):
            terms.obsolete[term] = next((value for _, value in tags.get("replaced_by", ())), "")
            continue
        terms.names[term] = next((value for _, value in tags.get("name", ())), term)
        terms.namespaces[term] = next((value for _, value in tags.get("namespace", ())), default)
        terms.alternatives |= {value: term for _, value in tags.get("alt_id", ())}
        above = {value: at for at, value in tags.get("is_a", ()) if "is_a" in relations}
        for at, value in tags.get("relationship", ()):
            kind, _, parent = value.partition(" ")
            if kind in relations:
                above[parent.strip()] = at
        terms.parents[term] = above
    return terms


def _stanzas(path: Path) -> Iterator[tuple[int, dict[str, list[tuple[int, str]]]]]:
    """The header as that of line 0, then line of each term, and its tags: values and where they stand."""
    begun, tags = 0, {}
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for line, text in enumerate(map(composed, stream), start=1):
                if stanza := _STANZA.match(text):
                    if begun is not None:
                        yield begun, tags
                    begun, tags = (line if stanza[1] == "Term" else None), {}
                elif begun is not None and not text.startswith("!") and ":" in text:
                    tag, _, value = text.partition(":")
                    tags.setdefault(tag.strip(), []).append((line, _COMMENT.sub("", value.strip()).strip()))
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} is not text in UTF-8 ({error.reason}); save it as UTF-8.") from None
    if begun is not None:
        yield begun, tags
