"""Test the figures of a publication."""

import pandas as pd

from fairfold.publish.figures import write_figures


def test_figures_with_nothing_to_draw_are_left_out(make_facts, tmp_path):
    facts = make_facts()
    path = facts.results / "tables/audit_rows/plants.csv"
    path.parent.mkdir()
    rows = {"kind": ["features", "labels"] * 20, "row": [row for row in range(20) for _ in "ab"], "change": 0.5}
    table = pd.DataFrame({**rows, "of_row": None, "is_point": False, "n_rows": 120, "fold": None, "of_fold": None})
    table.loc[10, ["change", "is_point"]] = [1.2, True]
    table.to_csv(path, index=False)
    write_figures(facts, tmp_path / "figures")
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {f"audit_changes_plants{suffix}" for suffix in (".pdf", ".svg", ".png")} <= names
    assert not any("audit_copies" in name for name in names)
    captions = (tmp_path / "figures/captions.md").read_text()
    assert (
        "Changes of features before row 5. Changes along the rows. Strength of" in captions
        and "audit_copies" not in captions
    )
