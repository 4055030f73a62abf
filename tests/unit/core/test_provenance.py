"""Checksums of code change with the code and with nothing else."""

import pytest

from fairfold.core import provenance

FILES = {
    "script.py": "from helper import log\nfrom fairfold.cooking import bake\nlog(bake())\n",
    "helper.py": 'def log(text):\n    """Print."""\n    print(text)\n',
    "alone.py": "import fairfold.cold\nfrom fairfold import errors\n",
    "fairfold/__init__.py": "VERSION = 1\n",
    "fairfold/errors.py": "LEVEL = 1\n",
    "fairfold/cooking/__init__.py": "",
    "fairfold/cooking/oven.py": "def bake():\n    from fairfold.heat.degrees import HOT\n\n    return HOT\n",
    "fairfold/heat/degrees.py": '"""Degrees."""\n\nHOT = 200\n"""Temperature of an oven."""\n',
    "fairfold/heat/inner/more.py": "MORE = 300\n",
    "fairfold/cold.py": "ICE = 0\n",
    "page.html": "<p>\n",
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Working directory with a small library and scripts that use it."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(provenance, "LIBRARY", tmp_path / "fairfold")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    _code(tmp_path)


def _code(place, *read, script="script.py"):
    """Return the checksum that a new process computes."""
    for function in (provenance.code_of, provenance._files_of, provenance._read):
        function.cache_clear()
    return provenance.code_of(place / script, *read)


@pytest.mark.parametrize(
    ("file", "old", "new", "matters"),
    [
        ("script.py", "log(bake())", "log(bake(), 1)", True),
        ("helper.py", "print(text)", "print(text, 1)", True),
        ("helper.py", "Print.", "Write.", False),
        ("helper.py", "print(text)\n", "print(text)  # aloud\n\n", False),
        ("fairfold/cooking/oven.py", "return HOT", "return HOT + 1", True),
        ("fairfold/heat/degrees.py", "200", "210", True),
        ("fairfold/heat/degrees.py", '"""Degrees."""', '"""Kelvin."""', False),
        ("fairfold/heat/degrees.py", "Temperature of an oven", "Temperature of a hot oven", False),
        ("fairfold/heat/inner/more.py", "300", "310", True),
        ("fairfold/cold.py", "0", "1", False),
        ("fairfold/errors.py", "1", "2", False),
    ],
)
def test_code_of_imported_packages_counts_and_documentation_does_not(place, file, old, new, matters):
    before = _code(place)
    path = place / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert (_code(place) != before) is matters


def test_modules_at_the_root_count_for_who_imports_them(place):
    before = _code(place, script="alone.py")
    for name in ("cold", "errors"):
        path = place / f"fairfold/{name}.py"
        path.write_text(path.read_text() + "MORE = 1\n")
        after = _code(place, script="alone.py")
        assert after != before
        before = after


def test_new_modules_of_a_package_count(place):
    before = _code(place)
    (place / "fairfold/cooking/pan.py").write_text("PAN = 1\n")
    assert _code(place) != before


def test_files_that_are_read_count_byte_by_byte(place):
    before = _code(place, place / "page.html")
    assert before != _code(place)
    (place / "page.html").write_text("<p> \n")
    assert _code(place, place / "page.html") != before


def test_every_script_has_a_checksum(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scripts = sorted((root / "workflow/scripts").glob("*.py"))
    assert len({provenance.code_of(script) for script in scripts}) == len(scripts)
