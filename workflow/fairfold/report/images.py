"""Figures within a page, which then needs no other file."""

from __future__ import annotations

import base64
import io
from typing import Any

from PIL import Image

_SCALE = 96 / 200  # pixels per inch of a page and of a figure


def embedded_image(png: bytes) -> dict[str, Any]:
    """What a page has of a figure: its address ``uri``, ``width`` and ``height``, and what its ``points`` are.

    Parameters
    ----------
    png : content of a file that :func:`fairfold.figures.save_figure` wrote.
    """
    with Image.open(io.BytesIO(png)) as image:  # its header only
        (width, height), points = image.size, image.info.get("Points")
    return {
        "uri": f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}",
        "width": round(width * _SCALE),
        "height": round(height * _SCALE),
        "points": points,
    }
