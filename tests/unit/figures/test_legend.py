"""Colors and markers by name."""

import pandas as pd
import pytest

from fairfold.figures import PALETTE
from fairfold.figures.legend import MARKERS, Legend
from fairfold.forests import MODEL_NAMES
from fairfold.models import ModelSpec
from fairfold.models import registry as models
from fairfold.models.legend import legend_table


@pytest.fixture
def others(monkeypatch):
    """Models without a reserved color or marker, including a variant of another model."""
    names = ["mine", "yours", *(f"model {number}" for number in range(12))]
    specs = {name: ModelSpec(name, "somewhere:else") for name in names}
    specs["mine+"] = ModelSpec("mine+", "somewhere:else", family="mine")
    monkeypatch.setattr(models, "_SPECS", {**models._SPECS, **specs})


def looks(*names):
    legend = Legend(legend_table(names))
    return [(legend.color(name), legend.marker(name)) for name in names]


def test_every_family_has_a_look_of_its_own():
    families = [name for name in MODEL_NAMES if not name.endswith("+")]
    assert len(set(looks(*families))) == len(families) == 9


def test_a_model_looks_the_same_in_any_company():
    whole = dict(zip(MODEL_NAMES, looks(*MODEL_NAMES), strict=True))
    assert looks("FLAForest+", "RF+ET", "CaFE") == [whole["FLAForest+"], whole["RF+ET"], whole["CaFE"]]


def test_a_variation_has_the_look_of_its_family():
    legend = Legend(legend_table(["CaFE-SLC", "CaFE-SLC+"]))
    assert len(set(looks("CaFE-SLC", "CaFE-SLC+"))) == 1
    assert legend.is_variation("CaFE-SLC+") and not legend.is_variation("CaFE-SLC")


def test_others_take_what_is_left_and_then_begin_anew(others):
    assert looks("mine", "gcForest", "yours", "mine+") == [(PALETTE[place], MARKERS[place]) for place in (0, 1, 2, 0)]
    many = [f"model {number}" for number in range(12)]
    assert [color for color, _ in looks(*many)] == [*PALETTE, *PALETTE[:3]]
    assert [marker for _, marker in looks(*many)] == [*MARKERS, *MARKERS[1:4]]  # each look is unique
    assert Legend(legend_table(["mine+"])).is_variation("mine+")


def test_metrics_have_labels_and_directions(tmp_path):
    legend_table(["RF+ET"]).to_csv(tmp_path / "legend.csv", index=False)
    for table in (legend_table(["RF+ET"]), pd.read_csv(tmp_path / "legend.csv")):
        legend = Legend(table)
        assert (legend.label("mcc"), legend.text("mcc")) == ("micro MCC", "Matthews correlation")
        assert legend.is_loss("hamming_loss") and not legend.is_loss("mcc")
        assert legend.color("RF+ET") == PALETTE[0]


def test_without_a_table_names_stand_for_themselves():
    legend = Legend(None, ["a", "b"])
    assert [legend.color(name) for name in "ab"] == list(PALETTE[:2])
    assert (legend.label("mcc"), legend.text("mcc"), legend.is_loss("mcc")) == ("mcc", "mcc", False)
