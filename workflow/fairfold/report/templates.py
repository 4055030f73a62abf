"""Templates, style and script of the report, and its texts in reStructuredText."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import jinja2
from markupsafe import Markup

from fairfold.report.contents import FOLDER, setting
from fairfold.report.labels import labels_sentences

_SETTINGS = {"raw_enabled": False, "file_insertion_enabled": False, "report_level": 5, "math_output": "MathML"}


def render(template: str, **values: Any) -> str:
    """Fill in a template of ``workflow/report``; values are escaped unless they are ``Markup``."""
    return _pages().get_template(template).render(**values)


def plain_text(text: str, config: Mapping[str, Any], labels_of: str | None = None) -> str:
    """A text of the report as reStructuredText: the file of that name, or the text itself, with its values filled in.

    Parameters
    ----------
    text : name of an ``.rst`` file in ``workflow/report``, or the text.
    config : the study's configuration; texts read it as ``snakemake.config``, as those of Snakemake's own report do.
    labels_of : key of the configuration with datasets; the text ends with what
        :func:`~fairfold.report.labels.labels_sentences` says of them.
    """
    source = (FOLDER / text).read_text(encoding="utf-8") if text.endswith(".rst") else text
    written = _texts().from_string(source).render(snakemake=SimpleNamespace(config=config)).strip()
    return written if labels_of is None else f"{written} {labels_sentences(setting(labels_of, config), config)}"


def text_html(text: str, config: Mapping[str, Any], labels_of: str | None = None) -> Markup:
    """Like :func:`plain_text`, as HTML."""
    from docutils.core import publish_parts  # here, as pages of tables have no such texts

    source = plain_text(text, config, labels_of)
    parts = publish_parts(source, writer="html5", settings_overrides=_SETTINGS | {"initial_header_level": 4})
    return Markup(parts["fragment"])


@functools.cache
def _pages() -> jinja2.Environment:
    options = {"autoescape": True, "undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), **options)
    environment.globals["asset"] = lambda name: Markup((FOLDER / name).read_text(encoding="utf-8"))
    return environment


@functools.cache
def _texts() -> jinja2.Environment:
    return jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)  # docutils escapes
