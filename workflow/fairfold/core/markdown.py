"""Escape names in Markdown, as GitHub and Pandoc read it."""

from __future__ import annotations

import re
import unicodedata

# Signs of code, emphasis, links, HTML, tables, mathematics, citations, and sub- and superscripts. An underscore between
# letters, and an at sign after one, are ordinary.
_SPECIAL = re.compile(r"[\\`*\[\]<>|$~^]|(?<![^\W_])_|_(?![^\W_])|(?<!\w)@|&(?=#?\w+;)|(?<=\{)[{%#]|(?<=[}%#])\}")
_START = re.compile(r"(?:#|[-+=](?=\s|$|[-+=])|:|[0-9]+[.)](?=\s|$))")  # of a heading, list, rule or definition


def visible(text: str) -> str:
    r"""Replace characters that control the direction or the device of a text, and line ends.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    str
        Text in one line, with codes such as ``U+202E`` for control characters.

    Examples
    --------
    >>> visible("a\u202eb\nc")
    'aU+202Eb c'
    """
    spaced = " ".join(re.split(r"\s+", text))
    return "".join(
        f"U+{ord(each):04X}" if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Co") and each != "\u200d" else each
        for each in spaced
    )


def escape_markdown(text: str) -> str:
    r"""Escape a text for Markdown, so that it is shown as it is.

    Parameters
    ----------
    text : str
        Text without markup, such as the name of a label.

    Returns
    -------
    str
        Markdown in one line.

    Examples
    --------
    >>> print(escape_markdown("<b> label_a, *x* | $y$"))
    \<b\> label_a, \*x\* \| \$y\$
    >>> print(escape_markdown("# title"), escape_markdown("1. item"))
    \# title 1\. item
    """
    escaped = _SPECIAL.sub(r"\\\g<0>", visible(text))
    if start := _START.match(escaped):
        return f"{escaped[: start.end() - 1]}\\{escaped[start.end() - 1 :]}"
    return escaped
