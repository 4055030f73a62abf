"""Methods section as Markdown and LaTeX, with the references that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fairfold.core.markdown import visible
from fairfold.publish.facts import Facts
from fairfold.publish.sentences import CITED, REFERENCES, as_markup, sentences

# Heading -> keys of sentences.yaml.
_PARAGRAPHS = {
    "State of this study": ("state",),
    "Objectives": ("objectives",),
    "Data": ("dataset", "hierarchy", "predictors", "missing_cells", "audit"),
    "Preprocessing": ("excluded", "preprocessing", "rounding", "missing_treatment"),
    "Folds": ("folds", "dependencies", "analyzed", "no_leak"),
    "Models": ("models", "reconciliation", "model_choice", "hyperparameters", "fits", "imbalance", "updating"),
    "Missing labels": ("meaning", "terms", "hidden", "rate_method", "correction", "random_method"),
    "Evaluation": (
        "metrics",
        "metric_reason",
        "intervals",
        "refits",
        "label_intervals",
        "tests",
        "bayesian",
        "change_method",
        "selection",
        "checked",
        "certified",
    ),
    "Results": ("performance", "labels", "calibration", "coverage"),
    "Scope": ("external", "elsewhere", "limits", "limits_of_data", "random_tests", "heterogeneity", "fairness"),
    "Software": ("code", "seeds"),
}
_SPECIAL = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",  # \textquotedbl needs the package fontenc
    "`": r"\textasciigrave{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "–": "--",
    "†": r"\textdagger{}",
}
_CHECKSUM = re.compile(r"\b[0-9a-f]{64}\b")
Paragraphs = list[tuple[str, str]]


def methods(facts: Facts) -> Paragraphs:
    """Compose the methods section.

    Parameters
    ----------
    facts : Facts
        Facts of the study.

    Returns
    -------
    list of tuple of (str, str)
        Heading and text of each paragraph that the study supports. Citations have the form ``[@key; @key]``.
    """
    found = {
        heading: " ".join(filter(None, (sentences(key, facts) for key in keys)))
        for heading, keys in _PARAGRAPHS.items()
    }
    return [(heading, text) for heading, text in found.items() if text]


def as_markdown(paragraphs: Paragraphs) -> str:
    """Format paragraphs as Pandoc Markdown.

    Parameters
    ----------
    paragraphs : list of tuple of (str, str)
        Heading and text of each paragraph.

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> print(as_markdown([("Data", "It has 2 rows [@elkan2008].")]))
    # Methods
    <BLANKLINE>
    ## Data
    <BLANKLINE>
    It has 2 rows [@elkan2008].
    <BLANKLINE>
    """
    return "# Methods\n\n" + "\n".join(f"## {name}\n\n{as_markup(text)}\n" for name, text in paragraphs)


def as_latex(paragraphs: Paragraphs) -> str:
    r"""Format paragraphs as LaTeX, with citations by natbib.

    Parameters
    ----------
    paragraphs : list of tuple of (str, str)
        Heading and text of each paragraph.

    Returns
    -------
    str
        LaTeX.

    Examples
    --------
    >>> print(as_latex([("Data", "5 % of a_b [@breiman2001; @geurts2006].")]))
    \section{Methods}
    <BLANKLINE>
    \subsection{Data}
    <BLANKLINE>
    5 \% of a\_b~\citep{breiman2001,geurts2006}.
    <BLANKLINE>
    """
    return "\\section{Methods}\n\n" + "\n".join(
        f"\\subsection{{{latex(name)}}}\n\n{latex(text)}\n" for name, text in paragraphs
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
    >>> latex("50 % [@elkan2008]")
    '50 \\%~\\citep{elkan2008}'
    """
    parts = CITED.split(text)  # text, citation, text, ...
    escaped = [_CHECKSUM.sub(_breakable, _escaped(part)) for part in parts[::2]]
    cited = [f"~\\citep{{{keys.replace('@', '').replace('; ', ',')}}}" for keys in parts[1::2]]
    return "".join(a + b for a, b in zip(escaped, [*cited, ""], strict=True))


def _escaped(text: str) -> str:
    shown = visible(text)
    pairs = zip(f" {shown}", shown, strict=False)
    return "".join("{}-" if before == char == "-" else _SPECIAL.get(char, char) for before, char in pairs)


def _breakable(checksum: re.Match[str]) -> str:
    return r"\allowbreak{}".join(re.findall(".{8}", checksum[0]))


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
    cited = {key for text in texts for group in CITED.findall(text) for key in re.findall(r"[\w-]+", group)}
    entries = [entry.strip() for entry in REFERENCES.split("\n\n")]
    chosen = [entry for entry in entries if entry.partition("{")[2].partition(",")[0] in cited.union(keys)]
    return "\n\n".join(chosen) + "\n"
