"""HTML page that asks a person to check the cells of a sheet, one label at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pandas as pd
from markupsafe import Markup

from fairfold import __version__
from fairfold.core.formulas import protect_table
from fairfold.report.templates import render


def render_check_page(
    dataset: str, sheet: pd.DataFrame, names: Sequence[str], values: Mapping[int, Sequence[str]], *, file: str
) -> str:
    """Render the page as self-contained HTML.

    Parameters
    ----------
    dataset : str
        Id of the dataset.
    sheet : DataFrame
        Sheet of ``fairfold check``, with the columns ``id, label, correct_label, sample`` and others. Cells with an
        answer are not asked again.
    names : sequence of str
        Names of the values of a sample.
    values : mapping of int to sequence of str
        Values of each sample of the sheet, in the order of `names`.
    file : str
        Name of the file that the page saves.

    Returns
    -------
    str
        HTML page. It keeps answers in the storage of the browser, and saves the sheet as CSV.
    """
    text = protect_table(sheet).astype("string").fillna("")
    about = {
        "columns": list(text),
        "rows": text.to_numpy().tolist(),
        "samples": [int(sample) for sample in sheet["sample"]],
        "names": [*names],
        "values": {str(sample): [*cells] for sample, cells in values.items()},
        "labels": sheet["label"].astype(str).tolist(),
        "ids": sheet["id"].astype(str).tolist(),
        "file": file,
    }
    # A browser would end the script at such a mark inside a name.
    data = json.dumps(about, ensure_ascii=False).replace("<", "\\u003c")
    return render("check.html.jinja", version=__version__, dataset=dataset, data=Markup(data))
