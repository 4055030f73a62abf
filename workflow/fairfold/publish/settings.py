"""Settings of the folder for a publication."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fairfold.core.settings import Settings, SparseSettings, Text

Checklist = Literal["reforms", "tripod-ai"]


class Author(SparseSettings):
    """An author of the study."""

    name: Text
    """Full name."""

    affiliation: Text | None = None
    """Institution."""

    orcid: Annotated[str, Field(pattern=r"^\d{4}-\d{4}-\d{4}-\d{3}[\dX]$")] | None = None
    """ORCID iD, such as 0000-0002-1825-0097."""


class Publish(Settings):
    """The folder `results/publication`, written by `fairfold publish` and the target `publish`."""

    authors: list[Author] = []
    """Authors, as named in model cards and the RO-Crate."""

    with_data: bool = False
    """Whether the folder contains copies of your data files and the final models. Some models contain training
    samples."""

    data_address: Text | None = None
    """DOI or address where readers get the data."""

    data_license: Text | None = None
    """License of the data, such as `CC-BY-4.0`."""

    answers: dict[Checklist, dict[str, Text]] = {}
    """Your answers to items of a checklist, by the number of the item, such as `1a`."""
