"""Make terminal.svg and report.png from one run: `make pictures`.

The run needs the dataset emotions, which is downloaded or comes from a mirror, and a Chromium.
"""

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from fairfold.datasets import load_catalog, prepare

STATIC = Path(__file__).parent / "_static"
COMMAND = ("study", "songs.csv", "--labels", "label_")
WIDTH, HEIGHT, SPACING = 1300, 965, 19  # of the report, and between the lines of the terminal, in pixels
COLUMNS = 100
PROGRESS = r"\[\d+/\d+ jobs"
TEXT = (
    '<text x="18" y="{y:.1f}" textLength="{length}" lengthAdjust="spacingAndGlyphs" '
    'style="white-space:pre"{look}>{text}</text>'
)


def run(folder: Path) -> list[str]:
    """Study the songs, and return the command and the lines that it prints, without those of its progress."""
    data = prepare(load_catalog()["emotions"])
    labels = [*data.label_names]  # They start with label_.
    table = pd.DataFrame(np.hstack([data.X, data.Y]), columns=[*data.feature_names, *labels])
    table.astype(dict.fromkeys(labels, int)).to_csv(folder / "songs.csv", index=False)
    environment = {**os.environ, "COLUMNS": str(COLUMNS)}
    command = [sys.executable, "-m", "fairfold", *COMMAND]
    merged = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=folder, env=environment, text=True, check=True, **merged)
    lines = [line for line in done.stdout.rstrip().splitlines() if not re.match(PROGRESS, line)]
    return [f"$ fairfold {' '.join(COMMAND)}", *lines]


def terminal(lines: list[str]) -> str:
    """Draw the lines of a terminal."""
    width, height = 36 + 8 * max(COLUMNS, *map(len, lines)), 60 + SPACING * len(lines)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="Terminal with the answer of a study">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#1d2430"/>',
        *(
            f'<circle cx="{x}" cy="19" r="5.5" fill="{color}"/>'
            for x, color in ((20, "#e0665c"), (38, "#e3b44c"), (56, "#63b562"))
        ),
        '<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="13.3" '
        'fill="#e3e8ef" xml:space="preserve">',
    ]
    for number, line in enumerate(lines):
        look = ' fill="#8fd3ff"' if line.startswith("$ ") else ""
        look = ' font-weight="bold" fill="#ffffff"' if line.startswith("Use ") else look
        if line:
            y, text = 55.3 + SPACING * number, html.escape(line, quote=False)
            drawn.append(TEXT.format(y=y, length=8 * len(line), look=look, text=text))
    return "\n".join([*drawn, "</g>", "</svg>", ""])


def photograph(report: Path, lines: list[str], folder: Path) -> None:
    """Save the first screen of a report with few colors, and the lines of the terminal in its metadata."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    shot = folder / "report.png"
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--screenshot={shot}"]
    subprocess.run([browser, *options, f"--window-size={WIDTH},{HEIGHT}", report.as_uri()], check=True, timeout=300)
    facts = PngInfo()
    facts.add_itxt("terminal", "\n".join(filter(None, lines)))
    with Image.open(shot) as image:
        image.convert("RGB").quantize(256).save(STATIC / "report.png", pnginfo=facts, optimize=True)


def main() -> None:
    """Make both pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        lines = run(folder)
        (STATIC / "terminal.svg").write_text(terminal(lines), encoding="utf-8")
        photograph(folder / "songs-study/results/report.html", lines, folder)


if __name__ == "__main__":
    main()
