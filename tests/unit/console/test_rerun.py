"""Archives of unknown origin: only listed data files are unpacked, and no code without consent."""

import hashlib
import json
import os
import random
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from fairfold.__main__ import main
from fairfold.console.rerun import unpack
from fairfold.core import limits
from fairfold.errors import StudyError

CASES = Path(__file__).parents[2] / "cases/archives"
TABLE = b"height,label_a\n" + b"1,0\n2,1\n" * 9
NAME = "data/t/t.csv"
CONFIG = {
    "seed": 1,
    "data": {"own": {"t": {"path": NAME, "labels": {"prefix": "label_"}}}},
    "weak_labels": {"datasets": ["t"], "models": ["kNN"], "missing_rates": [0]},
}
OWN = {"models": {"own": {"net": {"class": "Net", "file": "nets/net.py"}, "shell": {"class": "os.system"}}}}
CODE = {"nets/net.py": b"class Net: pass\n", "nets/help.py": b""}


def entity(name, content, number=1):
    work = {"exampleOfWork": {"@id": f"#input-{number}"}}
    return {"@id": name, "@type": "File", "sha256": hashlib.sha256(content).hexdigest(), **work}


def write(path, *, config=CONFIG, files=None, graph=None, **more):
    """Write an archive as ``fairfold publish`` does, or with changes."""
    files = {NAME: TABLE, **(files or {})}
    graph = [entity(name, content) for name, content in files.items()] if graph is None else graph
    texts = {"study.yaml": yaml.safe_dump(config), "ro-crate-metadata.json": json.dumps({"@graph": graph}), **more}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**texts, **files}.items():
            archive.writestr(name, content)
    return path


def files_of(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() or path.is_symlink()}


def refuse(tmp_path, sentence, archive=None, **changes):
    archive = archive or write(tmp_path / "a.zip", **changes)
    with pytest.raises(StudyError) as caught:
        unpack(archive, tmp_path / "study")
    assert sentence in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 600
    assert not files_of(tmp_path / "study") - {NAME}


def test_data_are_unpacked(tmp_path):
    assert unpack(write(tmp_path / "a.zip", files={"checks/t.csv": b"cell\n"}), tmp_path / "study") == CONFIG
    assert files_of(tmp_path / "study") == {NAME, "checks/t.csv"}
    assert (tmp_path / "study" / NAME).read_bytes() == TABLE


def test_a_hierarchy_is_found_next_to_the_table(tmp_path):
    labels = {"prefix": "label_", "hierarchy": "data/t/above.csv"}
    config = {**CONFIG, "data": {"own": {"t": {"path": NAME, "labels": labels}}}}
    graph = [entity(NAME, TABLE), entity("data/t/above.csv", b"a,\n", 2)]
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as stream:
        stream.writestr("study.yaml", yaml.safe_dump(config))
        stream.writestr("ro-crate-metadata.json", json.dumps({"@graph": graph}))
    (table := tmp_path / "copy.csv").write_bytes(TABLE)
    with pytest.raises(StudyError, match=r"copy.csv is not the published .* or put above.csv next to it\.$"):
        unpack(archive, tmp_path / "study", table)
    (tmp_path / "above.csv").write_bytes(b"a,\n")
    unpack(archive, tmp_path / "study", table)
    assert files_of(tmp_path / "study") == {NAME, "data/t/above.csv"}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("baddyaml.zip", "baddyaml.zip/study.yaml is not valid YAML: line 2, column 1: "),
        ("badtypes.zip", "ro-crate-metadata.json is not an RO-Crate, a @graph of objects with @id."),
        ("listgraph.zip", "ro-crate-metadata.json is not an RO-Crate"),
        ("emptyyaml.zip", "emptyyaml.zip/study.yaml: expected the configuration of a study. Use another archive."),
    ],
)
def test_damaged_archives_are_refused_in_one_sentence(name, sentence, tmp_path):
    refuse(tmp_path, sentence, CASES / name)


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (BOMB, "the aliases (*) repeat too many values, or contain themselves; write the values out."),
        ("seed: &a [*a]", "the aliases (*) repeat too many values"),
        ("{a: " * 200_000, "is not valid YAML"),
        ("- 1", "expected the configuration of a study"),
        ("{}", "expected the configuration of a study"),
        ("data: 5", "config: missing 'seed'; add it."),
        ("seed: 1", "config: missing 'weak_labels'"),
        (
            yaml.safe_dump(CONFIG).replace(NAME, "[1]"),
            "config.data.own.t.path: found [1]: input should be a valid string",
        ),
        ("#" * 2**20 + "\n", "study.yaml has more than 1 MB"),
        (yaml.safe_dump({**CONFIG, "data": {**CONFIG["data"], "cache": "/tmp"}}), "data.cache names a place outside"),
        (
            yaml.safe_dump({**CONFIG, "data": {**CONFIG["data"], "mirrors": ["x"]}}),
            "data.mirrors names a place outside",
        ),
        (yaml.safe_dump(CONFIG).replace(NAME, "/etc/passwd"), "lists no data file /etc/passwd with its checksum"),
        (yaml.safe_dump(CONFIG).replace(NAME, "../x.csv"), "lists no data file ../x.csv"),
    ],
)
def test_wrong_configurations_are_refused(text, sentence, tmp_path):
    refuse(tmp_path, sentence, **{"study.yaml": text})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[" * 200_000, "is not valid JSON"),
        ('{"a":' * 200_000, "is not valid JSON"),
        ("{}", "is not an RO-Crate"),
        ('{"@graph": 5}', "is not an RO-Crate"),
        ('{"@graph": [{"@id": ["a"]}]}', "is not an RO-Crate"),
        (json.dumps({"@graph": [{**entity(NAME, TABLE), "sha256": 5}]}), f"no SHA-256 of the data file {NAME}"),
        (json.dumps({"@graph": [{**entity(NAME, TABLE), "exampleOfWork": [5]}]}), f"lists no data file {NAME}"),
        (json.dumps({"@graph": [entity(NAME, b"other")]}), "t.csv is not the published data file: its SHA-256 is "),
    ],
)
def test_wrong_metadata_are_refused(text, sentence, tmp_path):
    refuse(tmp_path, sentence, **{"ro-crate-metadata.json": text})


@pytest.mark.parametrize(
    "name",
    [
        *("../t.csv", "/tmp/t.csv", "data/../../t.csv", "data/t/.hidden.csv", ".snakemake/fairfold-cache/output.pkl"),
        *(
            "profiles/default/config.yaml",
            "random.py",
            "data/random.py",
            "checks/random.py",
            "study.yaml",
            "data/\0.csv",
        ),
        *("results/final/t/model.fairfold", "data/t/other.csv"),
    ],
)
def test_no_other_file_is_unpacked(name, tmp_path):
    refuse(tmp_path, "Use another archive.", graph=[entity(NAME, TABLE), entity(name, b"x", 2)], files={name: b"x"})


def test_code_needs_consent(tmp_path, capsys):
    archive = write(tmp_path / "a.zip", config={**CONFIG, **OWN}, files=CODE)
    what = "models net (Net of nets/net.py), shell (os.system of an installed package); files nets/help.py, nets/net.py"
    refuse(tmp_path, f"would run code that is not part of fairfold: {what}. Read it first.", archive)
    assert unpack(archive, tmp_path / "study", allow_own_code=True)["models"] == OWN["models"]
    assert files_of(tmp_path / "study") == {NAME, *CODE}
    assert what in capsys.readouterr().err


def test_only_the_code_of_the_models_is_unpacked(tmp_path):
    archive = write(tmp_path / "a.zip", config={**CONFIG, **OWN}, files={**CODE, "random.py": b""})
    with pytest.raises(StudyError, match=r"does not need the file random\.py"):
        unpack(archive, tmp_path / "study", allow_own_code=True)


def test_links_are_not_followed(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "study").mkdir()
    (tmp_path / "study/data").symlink_to(tmp_path / "outside")
    archive = write(tmp_path / "a.zip")
    with pytest.raises(StudyError, match=r"is a link, or in a linked folder"):
        unpack(archive, tmp_path / "study")
    assert not files_of(tmp_path / "outside")
    link = zipfile.ZipInfo(NAME)
    link.external_attr = 0o120777 << 16  # A link inside the archive is a file with its target as text.
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as other:
        other.writestr("study.yaml", yaml.safe_dump(CONFIG))
        other.writestr("ro-crate-metadata.json", json.dumps({"@graph": [entity(NAME, TABLE)]}))
        other.writestr(link, "/etc/passwd")
    with pytest.raises(StudyError, match="is not the published data file"):
        unpack(tmp_path / "b.zip", tmp_path / "other")
    assert not files_of(tmp_path / "other")


def test_pipes_and_other_archives_are_refused(tmp_path):
    (crate := tmp_path / "crate").mkdir()
    os.mkfifo(crate / "ro-crate-metadata.json")
    refuse(tmp_path, "is not an archive of `fairfold publish` (ro-crate-metadata.json: there is no such file)", crate)
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        link = tarfile.TarInfo("study.yaml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    refuse(tmp_path, "is not an archive of `fairfold publish`", tmp_path / "a.tar.gz")


def test_the_data_of_another_study_are_kept(tmp_path, capsys):
    unpack(write(tmp_path / "a.zip"), study := tmp_path / "study")
    (study / "study.yaml").write_text(yaml.safe_dump(CONFIG))
    other = write(tmp_path / "b.zip", config={**CONFIG, "seed": 2}, files={NAME: b"height,label_a\n3,1\n"})
    assert main(["study", "--from", str(other), "-d", str(study)]) == 1
    assert "belongs to a study with other options" in capsys.readouterr().err
    assert (study / NAME).read_bytes() == TABLE
    (study / NAME).write_bytes(b"mine")
    with pytest.raises(StudyError, match=r"differs from the published file\. Choose another --directory"):
        unpack(tmp_path / "a.zip", study)
    assert (study / NAME).read_bytes() == b"mine"


def test_a_compressed_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "_UNPACKED", (1000, 10))
    refuse(tmp_path, "is many times larger than the archive", files={NAME: b"0,0\n" * 10**6})


def test_an_archive_does_not_start_another_study(tmp_path, capsys):
    assert main(["study", "--from", str(CASES / "emptyyaml.zip"), "-d", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.startswith("ConfigError: ") and not (tmp_path / "out").exists()


def test_mutated_archives_are_refused_or_unpacked_unchanged(tmp_path):
    """The benchmark `fuzz_archives.py` tries a thousand."""
    content = write(tmp_path / "a.zip", files={"checks/t.csv": b"cell\n"}).read_bytes()
    chance = random.Random(0)
    for _ in range(60):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 8)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        (tmp_path / "b.zip").write_bytes(changed)
        try:
            unpack(tmp_path / "b.zip", tmp_path / "study")
        except StudyError as error:
            assert "\n" not in str(error)
        if (tmp_path / "study").exists():
            assert files_of(tmp_path / "study") <= {NAME, "checks/t.csv"}
            shutil.rmtree(tmp_path / "study")
