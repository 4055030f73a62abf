"""The nine deep forests of Ilidio, Cerri, Vens & Nakano (2024), and five on out-of-bag features."""

from fairfold.forests.models import OUT_OF_BAG_MODELS, PUBLISHED_MODELS
from fairfold.models.spec import OUT_OF_BAG, SINGLE, ModelSpec

# The order matches the palette. Yellow, which is too light for thin lines, falls on CaFE-OS.
_FAMILIES = ("RF+ET", "gcForest", "SLCForest", "FLAForest", "LCForest", "CaFE", "CaFE-OS", "CaFE-SLC", "CaFE-FLA")
_SETTINGS = ("n_trees", "max_levels", "min_samples_leaf", "threshold")
_PASSING = "a deep forest whose levels pass on out-of-bag predictions,"
_PHRASES = {
    "RF+ET": "one level of random forests and extra trees [@breiman2001; @geurts2006]",
    "gcForest": "a deep forest without label imputation [@zhou2017; @ilidio2024]",
    "LCForest": "a deep forest with imputation by label complement (LC) [@ilidio2024]",
    "SLCForest": "a deep forest with imputation by strict label complement (SLC) [@ilidio2024]",
    "FLAForest": "a deep forest with imputation by fluid label addition (FLA) [@ilidio2024]",
    "CaFE": "a deep forest with tree embeddings [@ilidio2024]",
    "CaFE-OS": "a deep forest with tree embeddings and predictions of each level [@ilidio2024]",
    "CaFE-SLC": "a deep forest with tree embeddings and imputation by strict label complement (SLC) [@ilidio2024]",
    "CaFE-FLA": "a deep forest with tree embeddings and imputation by fluid label addition (FLA) [@ilidio2024]",
    "gcForest+": f"{_PASSING} without label imputation [@zhou2017; @ilidio2024]",
    "SLCForest+": f"{_PASSING} with imputation by strict label complement (SLC) [@ilidio2024]",
    "FLAForest+": f"{_PASSING} with imputation by fluid label addition (FLA) [@ilidio2024]",
    "CaFE-SLC+": "a deep forest with out-of-bag tree embeddings and imputation by strict label complement (SLC) "
    "[@ilidio2024]",
    "CaFE-FLA+": "a deep forest with out-of-bag tree embeddings and imputation by fluid label addition (FLA) "
    "[@ilidio2024]",
}


def _traits(name: str, *, is_published: bool) -> tuple[str, ...]:
    steps = ("placed gaps", SINGLE)
    if name == "RF+ET":
        return ("one-level forest", *steps)
    return ("deep forest", *steps, "levels by labels") if is_published else ("deep forest", *steps, *OUT_OF_BAG)


def _spec(name: str, *, is_published: bool) -> ModelSpec:
    family = name.removesuffix("+")
    return ModelSpec(
        name,
        make="fairfold.forests.models:make_model",
        parameters={"name": name},
        settings=(*_SETTINGS, "percentile" if is_published else "shape"),
        variants=is_published,
        family=family,
        palette_index=_FAMILIES.index(family),
        imputes="imputation" in (PUBLISHED_MODELS | OUT_OF_BAG_MODELS)[name],
        shares_first_level=True,
        phrase=_PHRASES[name],
        traits=_traits(name, is_published=is_published),
    )


SPECS = (
    *(_spec(name, is_published=True) for name in PUBLISHED_MODELS),
    *(_spec(name, is_published=False) for name in OUT_OF_BAG_MODELS),
)
