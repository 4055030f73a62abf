"""Methods section as Markdown and LaTeX, with the references that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fairfold.report.contents import FOLDER
from fairfold.report.publish import about_data, about_models
from fairfold.report.publish.facts import Facts

# Heading -> functions whose sentences make the paragraph.
_PARAGRAPHS = {
    "State of this study": (about_models.state,),
    "Data": (about_data.dataset, about_data.predictors, about_data.missing_cells, about_data.audit),
    "Preprocessing": (about_data.excluded, about_models.preprocessing),
    "Folds": (about_models.folds, about_data.dependencies),
    "Models": (about_models.models, about_models.hyperparameters),
    "Missing labels": (about_models.hidden,),
    "Evaluation": (about_models.metrics, about_models.intervals, about_models.tests, about_models.selection),
    "Results": (about_models.performance, about_models.coverage),
    "Scope": (about_models.external,),
    "Software": (about_models.code, about_models.seeds),
}
_CITED = re.compile(r" ?\[(@[\w-]+(?:; @[\w-]+)*)\]")
_SPECIAL = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "−": "$-$", "–": "--"},
}
Paragraphs = list[tuple[str, list[str]]]


def methods(facts: Facts) -> Paragraphs:
    """Compose the methods section.

    Parameters
    ----------
    facts : Facts
        Facts of the study.

    Returns
    -------
    list of tuple of (str, list of str)
        Heading and sentences of each paragraph that the study supports. Citations have the form ``[@key; @key]``.
    """
    written = {name: [line for part in parts for line in part(facts)] for name, parts in _PARAGRAPHS.items()}
    return [(heading, list(dict.fromkeys(sentences))) for heading, sentences in written.items() if sentences]


def as_markdown(paragraphs: Paragraphs) -> str:
    """Format paragraphs as Pandoc Markdown.

    Parameters
    ----------
    paragraphs : list of tuple of (str, list of str)
        Heading and sentences of each paragraph.

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> print(as_markdown([("Data", ["It has 2 rows.", "It is small [@a]."])]))
    # Methods
    <BLANKLINE>
    ## Data
    <BLANKLINE>
    It has 2 rows. It is small [@a].
    <BLANKLINE>
    """
    return "# Methods\n\n" + "\n".join(f"## {name}\n\n{' '.join(lines)}\n" for name, lines in paragraphs)


def as_latex(paragraphs: Paragraphs) -> str:
    r"""Format paragraphs as LaTeX, with citations by natbib.

    Parameters
    ----------
    paragraphs : list of tuple of (str, list of str)
        Heading and sentences of each paragraph.

    Returns
    -------
    str
        LaTeX.

    Examples
    --------
    >>> print(as_latex([("Data", ["5 % of a_b [@a; @b]."])]))
    \section{Methods}
    <BLANKLINE>
    \subsection{Data}
    <BLANKLINE>
    5 \% of a\_b~\citep{a,b}.
    <BLANKLINE>
    """
    return "\\section{Methods}\n\n" + "\n".join(
        f"\\subsection{{{latex(name)}}}\n\n{latex(' '.join(lines))}\n" for name, lines in paragraphs
    )


def latex(text: str) -> str:
    r"""Escape text for LaTeX and convert its citations.

    Parameters
    ----------
    text : str
        Text with citations of the form ``[@key]``.

    Returns
    -------
    str
        LaTeX.

    Examples
    --------
    >>> latex("50 % [@a]")
    '50 \\%~\\citep{a}'
    """
    parts = _CITED.split(text)  # text, citation, text, ...
    escaped = ["".join(_SPECIAL.get(char, char) for char in part) for part in parts[::2]]
    cited = [f"~\\citep{{{keys.replace('@', '').replace('; ', ',')}}}" for keys in parts[1::2]]
    return "".join(a + b for a, b in zip(escaped, [*cited, ""], strict=True))


def without_citations(text: str) -> str:
    """Remove citations from text.

    Parameters
    ----------
    text : str
        Text with citations of the form ``[@key]``.

    Returns
    -------
    str
        Text without them.

    Examples
    --------
    >>> without_citations("A test [@a; @b].")
    'A test.'
    """
    return _CITED.sub("", text)


def references(texts: Iterable[str], keys: Sequence[str] = ()) -> str:
    """Return the BibTeX entries that texts cite.

    Parameters
    ----------
    texts : iterable of str
        Texts with citations of the form ``[@key]``.
    keys : sequence of str, default=()
        Keys of further entries.

    Returns
    -------
    str
        BibTeX entries in the order of ``workflow/report/publish/references.bib``.

    Examples
    --------
    >>> references(["A forest [@breiman2001]."]).splitlines()[0]
    '@article{breiman2001,'
    """
    cited = {key for text in texts for group in _CITED.findall(text) for key in re.findall(r"[\w-]+", group)}
    entries = (FOLDER / "publish" / "references.bib").read_text(encoding="utf-8").split("\n\n")
    chosen = [entry.strip() for entry in entries if re.match(r"\s*@\w+\{([\w-]+),", entry)[1] in cited.union(keys)]  # type: ignore[index]
    return "\n\n".join(chosen) + "\n"
