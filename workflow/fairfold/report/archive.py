"""Archive with all figures and tables of a study."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fairfold.core.files import atomic_open
from fairfold.report.contents import Item, Section, load_contents, owner
from fairfold.report.templates import plain_text

if TYPE_CHECKING:
    from fairfold.settings import Study

_EPOCH = (1980, 1, 1, 0, 0, 0)  # The earliest date that ZIP supports. A fixed date makes archives reproducible.


def pack(files: Iterable[str | os.PathLike[str]], target: str | os.PathLike[str], study: Study) -> None:
    """Write figures, tables, configuration and a README with captions to a ZIP archive in the folder of results.

    Parameters
    ----------
    files : iterable of str
        Files below the folder of the archive: figures (PDF, PNG), tables (CSV) and the configuration.
    target : str or path-like
        Path of the archive.
    study : Study
        Checked configuration, used in captions.
    """
    results = Path(target).parent
    names = sorted(Path(path).relative_to(results).as_posix() for path in files)
    # All figures go to one folder, including those stored next to run times.
    positions = {f"figures/{Path(name).name}" if name.endswith((".pdf", ".png")) else name: name for name in names}
    content = {position: (results / name).read_bytes() for position, name in positions.items()}
    content["README.txt"] = _readme(positions, study).encode()
    write_zip(content, target)


def write_zip(content: Mapping[str, bytes], target: str | os.PathLike[str]) -> None:
    """Write files to a ZIP archive whose bytes depend on their names and content only.

    Parameters
    ----------
    content : mapping of str to bytes
        Content of each file by its path in the archive.
    target : str or path-like
        Path of the archive.
    """
    with atomic_open(target) as stream, zipfile.ZipFile(stream, "w") as archive:
        for position in sorted(content):
            entry = zipfile.ZipInfo(position, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content[position])


def _readme(positions: Mapping[str, str], study: Study) -> str:
    """List the files of each report entry with title and caption."""
    contents = load_contents()
    members: dict[str, list[str]] = {}
    for position, file in positions.items():
        found = owner(re.sub(r"\.pdf$", ".png", file), contents)  # The report shows the picture.
        members.setdefault("" if found is None else _description(*found, study), []).append(position)
    texts = ["Figures and tables of a study by fairfold; config.yaml is its configuration.\n"]
    texts += ["\n".join([*sorted(files), "", text, ""]) for text, files in members.items() if text]
    return "\n".join(texts)


def caption_of(file: str, study: Study, contents: Iterable[Section]) -> str:
    """Return the title and the caption of a figure or table.

    Parameters
    ----------
    file : str
        Path of the PNG or CSV file, relative to the folder of results.
    study : Study
        Checked configuration.
    contents : iterable of Section
        Sections of the report.

    Returns
    -------
    str
        Title and caption in reStructuredText; empty if the report does not show the file.
    """
    found = owner(file, contents)
    return "" if found is None else _description(*found, study).replace("\n", ". ", 1)


def _description(section: Section, item: Item, study: Study) -> str:
    return f"{section.title}: {item.title}\n{plain_text(item.caption, study, item.labels_of)}"
