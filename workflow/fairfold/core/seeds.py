"""Random streams derived from names, so that adding a dataset or a method changes no other result.

``seed_for(7, "yeast", "SLCForest", "fold 3")`` depends on nothing but its arguments: not on the order in which jobs
run, not on the number of cores, not on Python's randomised string hash.
"""

from __future__ import annotations

import hashlib

import numpy as np


def seed_sequence(seed: int, *names: object) -> np.random.SeedSequence:
    """Seed sequence for the unit of work that the names describe.

    Parameters
    ----------
    seed : the study's seed, any integer.
    *names : what identifies the unit (dataset, missing rate, fold, method, ...); each is turned into text. The parts
        are separated by a character that no name holds, so ``("ab", "c")`` and ``("a", "bc")`` differ.
    """
    text = "\x1f".join(str(part) for part in (int(seed), *names))
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.SeedSequence(np.frombuffer(digest, dtype="<u4").tolist())


def seed_for(seed: int, *names: object) -> int:
    """The same as a 32-bit integer, for ``random_state`` parameters."""
    return int(seed_sequence(seed, *names).generate_state(1)[0])
