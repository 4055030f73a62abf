from fairfold.figures import PALETTE
from fairfold.figures.models import FAMILIES, MARKERS, colours_of, families_of, markers_of
from fairfold.forests import MODEL_NAMES


def test_every_family_has_a_look_of_its_own():
    assert set(families_of(MODEL_NAMES)) == set(FAMILIES)
    assert len(set(colours_of(FAMILIES))) == len(set(markers_of(FAMILIES))) == len(FAMILIES)


def test_a_model_looks_the_same_in_any_company():
    for look_of in (colours_of, markers_of):
        whole = dict(zip(MODEL_NAMES, look_of(MODEL_NAMES), strict=True))
        assert look_of(["FLAForest+", "RF+ET", "CaFE"]) == [whole["FLAForest+"], whole["RF+ET"], whole["CaFE"]]


def test_a_plus_changes_neither_colour_nor_marker():
    assert len(set(colours_of(["CaFE-SLC", "CaFE-SLC+"]))) == len(set(markers_of(["CaFE-SLC", "CaFE-SLC+"]))) == 1


def test_other_names_take_what_is_left_and_then_begin_anew():
    assert colours_of(["mine", "gcForest", "yours", "mine+"]) == [PALETTE[0], PALETTE[1], PALETTE[2], PALETTE[0]]
    many = [f"model {number}" for number in range(12)]
    assert colours_of(many) == [*PALETTE, *PALETTE[:3]]
    assert markers_of(many) == [*MARKERS, *MARKERS[:3]]
