"""The nine deep forests of Ilidio, Cerri, Vens & Nakano (2024), and five on out-of-bag features."""

from fairfold.forests.models import OUT_OF_BAG_MODELS, PUBLISHED_MODELS
from fairfold.models.spec import ModelSpec

# The order matches the palette. Yellow, which is too light for thin lines, falls on CaFE-OS.
_FAMILIES = ("RF+ET", "gcForest", "SLCForest", "FLAForest", "LCForest", "CaFE", "CaFE-OS", "CaFE-SLC", "CaFE-FLA")
_SETTINGS = ("n_trees", "max_levels", "min_samples_leaf", "threshold")


def _spec(name: str, *, is_published: bool) -> ModelSpec:
    family = name.removesuffix("+")
    return ModelSpec(
        name,
        make="fairfold.forests.models:make_model",
        parameters={"name": name},
        settings=(*_SETTINGS, *(["percentile"] if is_published else ["shape"])),
        variants=is_published,
        family=family,
        palette_index=_FAMILIES.index(family),
        imputes="imputation" in (PUBLISHED_MODELS | OUT_OF_BAG_MODELS)[name],
        shares_first_level=True,
    )


SPECS = (
    *(_spec(name, is_published=True) for name in PUBLISHED_MODELS),
    *(_spec(name, is_published=False) for name in OUT_OF_BAG_MODELS),
)
