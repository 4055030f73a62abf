"""Templates, style sheet and script of the report, and its texts in reStructuredText."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import jinja2
from markupsafe import Markup

from fairfold.core.config import setting
from fairfold.core.project import REPORT
from fairfold.report.labels import labels_sentences

_SETTINGS = {"raw_enabled": False, "file_insertion_enabled": False, "report_level": 5, "math_output": "MathML"}


def render(template: str, **values: Any) -> str:
    """Render a template of ``workflow/report``.

    Parameters
    ----------
    template : str
        File name of the template.
    **values : object
        Values of the template. They are escaped unless they are ``Markup``.

    Returns
    -------
    str
        Rendered text.
    """
    return _pages().get_template(template).render(**values)


def plain_text(text: str, config: Any, labels_of: str | None = None) -> str:
    """Fill in the values of a text and return it as reStructuredText.

    Parameters
    ----------
    text : str
        Name of an ``.rst`` file in ``workflow/report``, or the text itself.
    config : Study or mapping
        Configuration of the study. Texts read it as ``snakemake.config``, as in the report of Snakemake.
    labels_of : str or None, default=None
        Configuration key that contains datasets. The result of :func:`~fairfold.report.labels.labels_sentences` for
        them is appended to the text.

    Returns
    -------
    str
        Text in reStructuredText.

    Examples
    --------
    >>> plain_text("Seed {{ snakemake.config.seed }}.", {"seed": 7})
    'Seed 7.'
    """
    source = (REPORT / text).read_text(encoding="utf-8") if text.endswith(".rst") else text
    written = _texts().from_string(source).render(snakemake=SimpleNamespace(config=config)).strip()
    return written if labels_of is None else f"{written} {labels_sentences(setting(labels_of, config), config)}"


def text_html(text: str, config: Any, labels_of: str | None = None) -> Markup:
    """Fill in the values of a text and convert it to HTML.

    Parameters
    ----------
    text : str
        Name of an ``.rst`` file in ``workflow/report``, or the text itself.
    config : Study or mapping
        Configuration of the study.
    labels_of : str or None, default=None
        Configuration key that contains datasets, see :func:`plain_text`.

    Returns
    -------
    Markup
        HTML fragment.
    """
    from docutils.core import publish_parts  # Imported here because pages of tables do not need docutils.

    source = plain_text(text, config, labels_of)
    parts = publish_parts(source, writer="html5", settings_overrides=_SETTINGS | {"initial_header_level": 4})
    return Markup(parts["fragment"])


@functools.cache
def _pages() -> jinja2.Environment:
    loader, strict = jinja2.FileSystemLoader(REPORT), jinja2.StrictUndefined
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=strict, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals["asset"] = lambda name: Markup((REPORT / name).read_text(encoding="utf-8"))
    return environment


@functools.cache
def _texts() -> jinja2.Environment:
    return jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)  # Docutils escapes the text.
