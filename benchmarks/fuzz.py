"""Damage archives of `fairfold publish` and saved models at random, and check that each is refused or read unchanged.

    python benchmarks/fuzz.py [--n 1000] [--seed 0]

Half of the mutations change bytes of the file. The others change one of the files inside it and its checksums, as an
author with bad intentions could. The archive must be unpacked unchanged or refused in one sentence, and no other file
may be written. The model must predict what it did or be refused in one sentence. The script prints the number of each
outcome, and ends with an error at the first other one.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import shutil
import sys
import tempfile
import zipfile
from collections import Counter
from hashlib import sha256
from pathlib import Path

import numpy as np
import yaml

from fairfold.console.rerun import unpack
from fairfold.errors import StudyError
from fairfold.forests import load_model, make_model

DATA = "data/t/t.csv"


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Change, remove, repeat or nest up to eight pieces of the content."""
    found = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        at, length = chance.randrange(len(found) + 1), chance.randint(1, 30)
        kind = chance.randrange(4)
        piece = bytes(chance.randrange(256) for _ in range(length)) if kind < 2 else bytes(found[at : at + length])
        found[at : at + (length if kind % 2 else 0)] = piece * (chance.randint(0, 3) if kind > 1 else 1)
    return bytes(found)


def with_changed_member(content: bytes, chance: random.Random) -> bytes:
    """Mutate one file of an archive, so that its checksum in the archive is right."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as other:
        chosen = chance.choice(archive.namelist())
        for name in archive.namelist():
            member = archive.read(name)
            other.writestr(name, mutated(member, chance) if name == chosen else member)
    return stream.getvalue()


def example_archive(path: Path) -> bytes:
    """Write a small archive and return its content."""
    table = b"height,label_a\n" + b"1,0\n2,1\n" * 9
    config = {"seed": 1, "data": {"own": {"t": {"path": DATA, "labels": {"prefix": "label_"}}}}}
    entity = {"@id": DATA, "sha256": sha256(table).hexdigest(), "exampleOfWork": {"@id": "#input-1"}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("study.yaml", yaml.safe_dump({**config, "weak_labels": {"datasets": ["t"]}}))
        archive.writestr("ro-crate-metadata.json", json.dumps({"@graph": [entity]}))
        archive.writestr(DATA, table)
    return path.read_bytes()


def outcome_of_archive(path: Path, folder: Path) -> str:
    """Unpack an archive and return what happened."""
    try:
        unpack(path, folder)
        outcome = "unpacked"
    except StudyError as error:
        if "\n" in str(error):
            raise SystemExit(f"more than one sentence: {error}") from None
        outcome = "refused"
    written = {each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()}
    # Another table with its own checksum in the metadata is another study, not damage.
    if not all(name.startswith("data/") and "/." not in name for name in written):
        raise SystemExit(f"unexpected files: {written}")
    shutil.rmtree(folder, ignore_errors=True)
    return outcome


def outcome_of_model(path: Path, X: np.ndarray, expected: np.ndarray) -> str:
    """Load a model, predict and return what happened."""
    try:
        model = load_model(path)
    except StudyError as error:
        if "\n" in str(error):
            raise SystemExit(f"more than one sentence: {error}") from None
        return "refused"
    if not np.array_equal(model.predict_proba(X), expected):
        raise SystemExit("other predictions")
    return "same predictions"


def main() -> None:
    """Run the mutations and print the outcomes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = make_model("RF+ET", n_trees=3, random_state=0).fit(X, X[:, :2] > 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive = example_archive(folder / "a.zip")
        model.save(folder / "model.fairfold")
        saved, expected = (folder / "model.fairfold").read_bytes(), model.predict_proba(X)
        outcomes: Counter[tuple[str, str]] = Counter()
        for number in range(options.n):
            chance = random.Random(f"{options.seed}-{number}")
            change = with_changed_member if number % 2 else mutated
            (folder / "b.zip").write_bytes(change(archive, chance))
            outcomes["archive", outcome_of_archive(folder / "b.zip", folder / "study")] += 1
            (folder / "b.fairfold").write_bytes(change(saved, chance))
            outcomes["model", outcome_of_model(folder / "b.fairfold", X, expected)] += 1
    for (kind, outcome), n in sorted(outcomes.items()):
        print(f"{kind}: {n} {outcome}")


if __name__ == "__main__":
    sys.exit(main())
