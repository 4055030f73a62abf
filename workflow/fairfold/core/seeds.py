"""Derive random streams from names.

Adding a dataset or a method changes no other result. ``seed_for(7, "yeast", "SLCForest", "fold 3")`` depends only on
its arguments, not on the order of jobs, the number of cores or Python's randomized string hash.
"""

from __future__ import annotations

import hashlib

import numpy as np


def seed_sequence(seed: int, *names: object) -> np.random.SeedSequence:
    """Compute the seed sequence of a unit of work.

    Parameters
    ----------
    seed : int
        Seed of the study.
    *names : object
        Names that identify the unit, such as dataset, missing rate, fold and method. They are converted to text and
        joined by a character that no name contains, so ``("ab", "c")`` and ``("a", "bc")`` differ.

    Returns
    -------
    SeedSequence
        Seed sequence of the unit.
    """
    text = "\x1f".join(str(part) for part in (int(seed), *names))
    return np.random.SeedSequence(np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype="<u4").tolist())


def seed_for(seed: int, *names: object) -> int:
    """Compute a 32-bit seed of a unit of work, for ``random_state`` parameters.

    Parameters
    ----------
    seed : int
        Seed of the study.
    *names : object
        Names that identify the unit. See :func:`seed_sequence`.

    Returns
    -------
    int
        Seed of the unit.

    Examples
    --------
    >>> seed_for(7, "yeast", "fold 3") == seed_for(7, "yeast", "fold 3")
    True
    >>> seed_for(7, "yeast", "fold 3") == seed_for(7, "yeast", "fold 4")
    False
    """
    return int(seed_sequence(seed, *names).generate_state(1)[0])
