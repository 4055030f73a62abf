"""Base classes and types that the settings of all packages share."""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
)

from fairfold.errors import check_name


class Settings(BaseModel):
    """A section of the configuration: each key with its type, default and description."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe each key by its docstring, which pydantic's own option reads whenever the class is imported."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema)["properties"]
        for name, text in _docstrings(cls).items():
            properties[cls.model_fields[name].alias or name].setdefault("description", text)
        return schema


def _docstrings(cls: type[Settings]) -> dict[str, str]:
    """Return the docstrings below the keys of a section."""
    found = {}
    for each in reversed(cls.__mro__[: cls.__mro__.index(Settings)]):
        (section,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        for key, text in itertools.pairwise(getattr(section, "body", ())):
            if isinstance(key, ast.AnnAssign) and isinstance(text, ast.Expr):
                found[ast.unparse(key.target)] = inspect.cleandoc(ast.literal_eval(text.value))
    return found


def _without_null(schema: dict[str, Any]) -> None:
    """Remove null from the JSON schema of optional keys."""
    for node in schema["properties"].values():
        if node.get("default", ...) is None:
            del node["default"]
        if "anyOf" in node:
            node["anyOf"] = [each for each in node["anyOf"] if each != {"type": "null"}]


class SparseSettings(Settings):
    """A section whose missing keys stay missing in the dictionary. Such keys are `None` here, but null is refused."""

    model_config = ConfigDict(json_schema_extra=_without_null)

    @field_validator("*", mode="before")
    @classmethod
    def _require_value(cls, value: Any) -> Any:
        if value is None:
            raise ValueError("found no value. Give one or leave the key out.")
        return value

    @model_serializer(mode="wrap")
    def _leave_out(self, serialize: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {key: value for key, value in serialize(self).items() if value is not None}


def _unique(values: list) -> list:
    if any(value in values[:place] for place, value in enumerate(values)):
        raise ValueError(f"found a value twice in {values}; name each once.")
    return values


def _known(kind: Literal["models", "splitters", "metrics", "scores"]) -> AfterValidator:
    """Check that the validation context lists a name under ``kind``."""

    def check(name: str, info: ValidationInfo) -> str:
        names = (info.context or {})[kind]
        check_name("value", name, names, ValueError)
        return name

    return AfterValidator(check)


Unique = AfterValidator(_unique)
NonEmpty = Field(min_length=1)
Text = Annotated[str, NonEmpty]
_MEANING = 'a plain name (letters, digits, "_", "-", "+" and "."), because files and folders are named after it'
Name = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_+-]*(\.[A-Za-z0-9_+-]+)*$", json_schema_extra={"meaning": _MEANING})
]
Names = Annotated[list[Name], Unique]
ModelName = Annotated[str, _known("models"), Field(json_schema_extra={"names_of": "models"})]
SplitterName = Annotated[str, _known("splitters"), Field(json_schema_extra={"names_of": "splitters"})]
MetricName = Annotated[str, _known("metrics"), Field(json_schema_extra={"names_of": "metrics"})]
ScoreName = Annotated[str, _known("scores"), Field(json_schema_extra={"names_of": "scores"})]
ModelNames = Annotated[list[ModelName], Unique, NonEmpty]
SplitterNames = Annotated[list[SplitterName], Unique, NonEmpty]

NonNegative = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
TwoOrMore = Annotated[int, Field(ge=2)]
TenOrMore = Annotated[int, Field(ge=10)]
Proportion = Annotated[float, Field(gt=0, lt=1)]
MissingRate = Annotated[int, Field(ge=0, le=99)]
MissingRates = Annotated[list[MissingRate], Unique, NonEmpty]

NTrees = Annotated[int, Field(ge=1, description="Trees per forest. A cascade level has two forests.")]
MaxLevels = Annotated[int, Field(ge=1, description="Maximum number of cascade levels above level 0.")]


class ForestChanges(SparseSettings):
    """Forest settings of this part. A missing key takes its value from `weak_labels.forest`."""

    n_trees: NTrees | None = None
    max_levels: MaxLevels | None = None


class DatasetsPart(Settings):
    """A part of the study that runs on the datasets that it lists."""

    datasets: Names = []
    """IDs of datasets from the catalog, `data.own` or `data.variants`. An empty list skips this part."""


class ForestPart(DatasetsPart):
    """A part that trains models and can change the size of their forests."""

    forest: ForestChanges = ForestChanges()


class PermutedModelsPart(ForestPart):
    """A part that hides labels, trains models and repeats this with permuted labels."""

    missing_rate: MissingRate = 50
    """Percentage of each label's training positives that are hidden."""

    exchange: Literal["groups", "within"] = "groups"
    """Unit of permutation for data with `groups`. `groups` exchanges whole groups of the same size, for labels that
    belong to a group, such as a patient. `within` exchanges samples of one group, for labels that vary in it."""
