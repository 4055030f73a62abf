import pytest

from fairfold.core.config import validated
from fairfold.core.settings import ForestChanges, Names, SplitterNames
from fairfold.errors import ConfigError


def test_keys_that_are_left_out_stay_out():
    changes = validated({"n_trees": 3}, ForestChanges, "forest")
    assert changes.max_levels is None
    assert changes.model_dump() == {"n_trees": 3}


def test_a_key_without_a_value_is_refused():
    with pytest.raises(ConfigError, match=r"^forest\.n_trees: found no value\. Give one or leave the key out\.$"):
        validated({"n_trees": None}, ForestChanges, "forest")


def test_names_are_plain_and_differ():
    assert validated(["a", "b.c+"], Names, "datasets") == ["a", "b.c+"]
    with pytest.raises(ConfigError, match=r"^datasets: found a value twice in \['a', 'a'\]; name each once\.$"):
        validated(["a", "a"], Names, "datasets")
    with pytest.raises(ConfigError, match=r"^datasets\[1\]: found '\.\.', which is not allowed here \(a plain name"):
        validated(["a", ".."], Names, "datasets")


def test_names_are_those_that_are_known():
    names = {"splitters": ("random", "annealed")}
    assert validated(["random"], SplitterNames, "methods", names=names) == ["random"]
    with pytest.raises(ConfigError, match=r"^methods\[0\]: unknown value 'randm': did you mean 'random'\?$"):
        validated(["randm"], SplitterNames, "methods", names=names)
