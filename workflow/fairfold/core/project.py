"""Location of the project's files: around the library in a checkout, inside it after an installation from a wheel."""

from __future__ import annotations

from pathlib import Path

_AROUND = Path(__file__).resolve().parents[3]
IS_CHECKOUT = (_AROUND / "workflow" / "Snakefile").is_file()
PROJECT = _AROUND if IS_CHECKOUT else Path(__file__).resolve().parents[1] / "project"
"""Folder with ``Snakefile``, ``workflow``, ``config``, ``resources`` and ``envs``."""

REPORT = PROJECT / "workflow" / "report"
"""Folder of the templates of pages."""
