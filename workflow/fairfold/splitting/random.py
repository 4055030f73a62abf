import numpy as np


class RandomSplit:
    def __init__(self, n_splits=5, *, random_state=None):
        self.n_splits, self.random_state = n_splits, random_state

    def assign(self, Y):
        return np.random.default_rng(self.random_state).permutation(np.arange(Y.shape[0]) % self.n_splits)
