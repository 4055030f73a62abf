"""All figures and tables of a study in one archive, for a paper."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fairfold.core.files import atomic_open
from fairfold.report.contents import Item, Section, load_contents, owner
from fairfold.report.templates import plain_text

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date of the format: the same files make the same bytes


def write_archive(
    results: str | os.PathLike[str], files: Iterable[str], config: Mapping[str, Any], target: str | os.PathLike[str]
) -> None:
    """Pack figures and tables, the configuration, and a README that says what each is.

    Parameters
    ----------
    results : folder of results.
    files : paths under it: figures (PDF, PNG), tables (CSV) and the configuration.
    config : the study's configuration, for the captions.
    target : the archive, ZIP.
    """
    # figures that lie beside run times go to the figures
    positions = {
        f"figures/{Path(file).name}" if file.endswith((".pdf", ".png")) else file: file for file in sorted(files)
    }
    content = {position: (Path(results) / file).read_bytes() for position, file in positions.items()}
    content["README.txt"] = _readme(positions, config).encode()
    with atomic_open(target) as stream, zipfile.ZipFile(stream, "w") as archive:
        for position in sorted(content):
            entry = zipfile.ZipInfo(position, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content[position])


def _readme(positions: Mapping[str, str], config: Mapping[str, Any]) -> str:
    """Under each entry of the report: its files, its title and its caption."""
    contents = load_contents()
    members: dict[str, list[str]] = {}
    for position, file in positions.items():
        found = owner(re.sub(r"\.pdf$", ".png", file), contents)  # The report shows the picture.
        members.setdefault("" if found is None else _description(*found, config), []).append(position)
    texts = ["Figures and tables of a study by fairfold; config.yaml is its configuration.\n"]
    texts += ["\n".join([*sorted(files), "", text, ""]) for text, files in members.items() if text]
    return "\n".join(texts)


def _description(section: Section, item: Item, config: Mapping[str, Any]) -> str:
    return f"{section.title}: {item.title}\n{plain_text(item.caption, config, item.labels_of)}"
