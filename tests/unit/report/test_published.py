import numpy as np
import pandas as pd

from fairfold.report.published import published_sentences


def test_sentences_count_by_paper():
    rows = [
        ("x", "Table 1", "a", 1.0, 2.0, -2.5, np.nan),
        ("x", "Table 1", "b", 1.0, 1.5, 2.0, np.nan),
        ("x", "Table 2", "c", 0.25, 0.125, np.nan, 3.0),
        ("x", "Table 2", "d", 0.25, 0.25, np.nan, 0.5),
        ("x", "Table 2", "e", 0.25, np.nan, np.nan, np.nan),
        ("y", "Table 1", "a", 1.0, np.nan, np.nan, np.nan),
    ]
    columns = ["paper", "place", "what", "published", "ours", "difference_in_se", "difference_in_digits"]
    table = pd.DataFrame(rows, columns=columns)
    assert published_sentences(table) == [
        "x: 5 published numbers, 4 with a counterpart here; 1 of 2 that scatter are within two standard errors; "
        "1 of 2 others have the digits that are printed; the largest distance is 3.0 units of the last digit (Table 2, "
        "c: 0.25 published, 0.125 here).",
        "y: 1 published number, none with a counterpart here.",
    ]
    assert published_sentences(table[table["paper"] == "y"])[0].startswith("None of this configuration's data")
    stand_ins = table.assign(note=["", "", "", "a stand-in of the same size", "", ""])
    assert published_sentences(stand_ins)[0].startswith("x: 5 published numbers, 4 with a counterpart here (1 of stand")
