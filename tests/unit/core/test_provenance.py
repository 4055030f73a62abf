"""What a checksum of code depends on, and what it does not."""

import shutil
from pathlib import Path

import pytest

from fairfold.core import provenance
from fairfold.errors import ConfigError

FILES = {
    "script.py": "from helper import log\nfrom fairfold.cooking import bake\nlog(bake())\n",
    "helper.py": 'def log(text):\n    """Print."""\n    print(text)\n',
    "fairfold/__init__.py": "VERSION = 1\n",
    "fairfold/cooking/__init__.py": "from fairfold.cooking.oven import bake\nfrom fairfold.cooking.pan import fry\n",
    "fairfold/cooking/oven.py": "def bake():\n    from fairfold.heat import DEGREES\n\n    return DEGREES\n",
    "fairfold/cooking/pan.py": "def fry():\n    return 1\n",
    "fairfold/heat.py": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    import fairfold.cold\nDEGREES = 200\n",
    "fairfold/cold.py": "ICE = 0\n",
    "by_name.py": 'HOW = "fairfold.cooking.pan:fry"\n',
    "all_of.py": 'MENU = "fairfold.menu"\n',
    "fairfold/menu/__init__.py": "",
    "fairfold/menu/soup.py": 'MAKE = "fairfold.heat:DEGREES"\n',
    "fairfold/menu/salad.py": "import fairfold.cold\n",
    "lazily.py": "from fairfold.pantry import rice\nfrom fairfold import errands\n",
    "fairfold/pantry/__init__.py": "",
    "fairfold/pantry/__init__.pyi": "from .shelf import rice as rice\n",
    "fairfold/pantry/shelf.py": "rice = 1\n",
    "fairfold/errands.py": "",
    "attributes.py": "from fairfold import pantry, cooking as kitchen\npantry.rice\nkitchen.pan.fry()\n",
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A small library and scripts that use it."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(provenance, "LIBRARY", tmp_path / "fairfold")
    _forget()
    yield tmp_path
    _forget()


def _forget():
    for function in vars(provenance).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def _used(place, script, *chosen):
    return {path.relative_to(place).as_posix() for path in provenance.modules_of(place / script, *chosen)}


def test_imports_are_followed_lazy_ones_too_and_those_for_types_are_not(place):
    assert _used(place, "script.py") == {"script.py", "helper.py", "fairfold/cooking/oven.py", "fairfold/heat.py"}


def test_names_that_a_package_loads_on_first_use(place):
    assert _used(place, "lazily.py") == {"lazily.py", "fairfold/pantry/shelf.py", "fairfold/errands.py"}


def test_attributes_of_a_package_are_followed_and_nothing_else_of_it_is(place):
    assert _used(place, "attributes.py") == {"attributes.py", "fairfold/pantry/shelf.py", "fairfold/cooking/pan.py"}


def test_imports_by_name(place):
    assert _used(place, "by_name.py") == {"by_name.py", "fairfold/cooking/pan.py"}
    assert _used(place, "helper.py", "fairfold.cooking.pan:fry") == {"helper.py", "fairfold/cooking/pan.py"}


def test_a_package_by_name_is_all_of_it_or_what_is_chosen(place):
    menu = {"all_of.py", "fairfold/menu/__init__.py", "fairfold/menu/soup.py", "fairfold/menu/salad.py"}
    assert _used(place, "all_of.py") == menu | {"fairfold/heat.py", "fairfold/cold.py"}
    soup = {"all_of.py", "fairfold/menu/soup.py", "fairfold/heat.py"}
    assert _used(place, "all_of.py", "fairfold.menu.soup") == soup


@pytest.mark.parametrize(
    ("file", "old", "new", "matters"),
    [
        ("helper.py", "Print.", "Print it on the screen.", False),
        ("helper.py", "    print", "    # why not\n\n    print", False),
        ("fairfold/heat.py", "200", "(\n    200\n)", False),
        ("fairfold/heat.py", "200", "201", True),
        ("fairfold/heat.py", "import fairfold.cold", "import fairfold.errands", True),  # a tree of its own
        ("fairfold/cold.py", "0", "1", False),
        ("fairfold/cooking/pan.py", "1", "2", False),
        ("fairfold/cooking/__init__.py", "fry", "fry as roast", False),
        ("script.py", "log(bake())", "log(2 * bake())", True),
    ],
)
def test_what_changes_the_checksum(place, file, old, new, matters):
    before = provenance.code_of(place / "script.py")
    text = (place / file).read_text()
    assert old in text
    (place / file).write_text(text.replace(old, new))
    _forget()
    assert (provenance.code_of(place / "script.py") != before) is matters


def test_the_checksum_is_that_of_the_code_and_not_of_its_place(place, tmp_path_factory, monkeypatch):
    before = provenance.code_of(place / "script.py")
    other = tmp_path_factory.mktemp("other") / "place"
    shutil.copytree(place, other)
    monkeypatch.setattr(provenance, "LIBRARY", other / "fairfold")
    _forget()
    assert provenance.code_of(other / "script.py") == before


def test_files_that_are_read_count_byte_by_byte(place):
    page = place / "pages" / "page.html"
    page.parent.mkdir()
    page.write_text("one")
    checksums = {provenance.code_of(place / "script.py", *chosen) for chosen in ((), (page,))}
    assert provenance.code_of(place / "script.py", page) == provenance.code_of(place / "script.py", page.parent)
    page.write_text("two")
    checksums.add(provenance.code_of(place / "script.py", page.parent))
    assert len(checksums) == 3


@pytest.mark.parametrize("chosen", ["fairfold.cooking.wok", "numpy", Path("missing")])
def test_what_is_not_there(place, chosen):
    with pytest.raises(ConfigError, match=r"names no module of the library|there is no missing"):
        provenance.code_of(place / "script.py", chosen)


def test_scripts_of_the_study_reach_what_they_run(root):
    train = provenance.modules_of(root / "workflow" / "scripts" / "train_model.py")
    names = {path.stem for path in train}
    assert {"growth", "embedding", "imputation", "scores", "dataset", "adapter"} <= names
    assert not names & {"recommendation_text", "ranking", "page", "posterior", "formats", "gaussians"}
