"""Figures within a page, which then needs no other file."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path
from typing import Any

from PIL import Image

from fairfold.errors import DamagedFileError, first_sentence

_SCALE = 96 / 200  # pixels per inch of a page and of a figure


def embedded_image(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a figure for a page: its address ``uri``, ``width``, ``height``, and the meaning of its ``points``.

    Parameters
    ----------
    path : str or path-like
        A PNG file that :func:`fairfold.figures.save_figure` wrote.

    Returns
    -------
    dict
        Values for the template of the page.

    Raises
    ------
    DamagedFileError
        If the file is no whole PNG.
    """
    png = Path(path).read_bytes()
    try:
        with Image.open(io.BytesIO(png)) as image:
            image.verify()
    except (OSError, SyntaxError, ValueError) as error:  # Pillow raises SyntaxError for a broken chunk.
        raise DamagedFileError(str(path), "a figure", first_sentence(error)) from None
    with Image.open(io.BytesIO(png)) as image:  # its header only
        (width, height), points = image.size, image.info.get("Points")
    return {
        "uri": f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}",
        "width": round(width * _SCALE),
        "height": round(height * _SCALE),
        "points": points,
    }
