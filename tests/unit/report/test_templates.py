"""Test the texts, style and templates of the report."""

import re

import jinja2
import pytest

from fairfold.core.project import REPORT
from fairfold.report.templates import plain_text, render, text_html

CONFIG = {"name": "<b>bold</b>", "items": ["a", "b"]}


def test_texts_read_the_configuration():
    text = '{{ snakemake.config["items"] | join(", ") }} are ``code``.'
    assert plain_text(text, CONFIG) == "a, b are ``code``."
    assert re.sub(r"<[^>]+>", "", text_html(text, CONFIG)).strip() == "a, b are code."


def test_values_in_texts_are_escaped():
    html = text_html('{{ snakemake.config["name"] }}', CONFIG)
    assert "<b>" not in html
    assert "&lt;b&gt;bold" in html


@pytest.mark.parametrize("directive", [".. raw:: html\n\n   <script>1</script>", ".. include:: /etc/passwd"])
def test_texts_bring_in_nothing_else(directive):
    html = text_html(directive, {})
    assert "<script" not in html
    assert "root:" not in html


def test_a_key_that_is_not_there_is_an_error():
    with pytest.raises(jinja2.UndefinedError, match="missing"):
        plain_text('{{ snakemake.config["missing"] }}', {})
    with pytest.raises(jinja2.UndefinedError):
        render("table.html.jinja", title="a")


def luminance(color):
    channels = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_stands_out_in_light_and_dark():
    """The contrast of text is at least 4.5 to 1, as WCAG 2 requires at level AA."""
    style = (REPORT / "report.css").read_text()
    schemes = [dict(re.findall(r"--(\w+): (#\w{6});", block)) for block in re.findall(r":root \{(.*?)\}", style, re.S)]
    light, dark = schemes[:2]
    assert light["back"] != dark["back"]
    for colors in (light, dark):
        for text in ("text", "soft", "link"):
            for back in ("back", "panel"):
                bright, dim = sorted((luminance(colors[text]), luminance(colors[back])), reverse=True)
                assert (bright + 0.05) / (dim + 0.05) >= 4.5, (text, back)
