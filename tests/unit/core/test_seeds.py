import hashlib

import numpy as np

from fairfold.core.seeds import seed_for, seed_sequence


def test_streams_depend_on_every_name():
    seeds = {
        seed_for(1, "yeast", "fold", 0),
        seed_for(1, "yeast", "fold", 1),
        seed_for(1, "scene", "fold", 0),
        seed_for(2, "yeast", "fold", 0),
        seed_for(1, "yeastfold", 0),
    }
    assert len(seeds) == 5


def test_names_are_kept_apart():
    assert seed_for(1, "ab", "c") != seed_for(1, "a", "bc")


def test_seed_is_the_documented_hash():
    digest = hashlib.sha256(b"7\x1fyeast\x1f3").digest()
    entropy = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 32, 4)]
    expected = np.random.SeedSequence(entropy).generate_state(4)
    np.testing.assert_array_equal(seed_sequence(7, "yeast", 3).generate_state(4), expected)
