"""Figures that are embedded in HTML pages."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path
from typing import Any

from PIL import Image

from fairfold.errors import DamagedFileError, first_sentence

_SCALE = 96 / 200  # Pixels per inch of the page, divided by those of a figure.
_COLORS = 128  # They keep the edges of letters smooth in half the bytes.


def embedded_image(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a figure for embedding in an HTML page.

    Parameters
    ----------
    path : str or path-like
        PNG file written by :func:`fairfold.figures.save_figure`.

    Returns
    -------
    dict
        Values for the page template: the data URI ``uri``, ``width`` and ``height`` in pixels, and the description of
        ``points``.

    Raises
    ------
    DamagedFileError
        If the file is not a complete PNG file.
    """
    png = Path(path).read_bytes()
    try:
        with Image.open(io.BytesIO(png)) as image:
            image.verify()
    except (OSError, SyntaxError, ValueError) as error:  # Pillow raises SyntaxError for a broken chunk.
        raise DamagedFileError(str(path), "a figure", first_sentence(error)) from None
    with Image.open(io.BytesIO(png)) as image:
        (width, height), points = image.size, image.info.get("Points")
        small = io.BytesIO()
        image.convert("RGB").quantize(_COLORS, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return {
        "uri": f"data:image/png;base64,{base64.b64encode(small.getvalue()).decode('ascii')}",
        "width": round(width * _SCALE),
        "height": round(height * _SCALE),
        "points": points,
    }
