"""Partitioned sampling distributes each stratum of equally common labels evenly."""

import numpy as np

from fairfold.splitting import PartitionedSampling


def test_each_stratum_is_spread_evenly():
    rng = np.random.default_rng(0)
    Y = (rng.random((200, 6)) < np.geomspace(0.05, 0.6, 6)).astype(int)
    Y = Y[Y.any(axis=1)]
    folds = PartitionedSampling(4, random_state=0).assign(Y)
    product = np.prod(np.where(Y == 1, Y.mean(axis=0), 1.0), axis=1)
    order = np.argsort(np.log(product).round(9), kind="stable")
    sums = np.log(product)[order]
    for stratum in np.array_split(order, 4):
        # Rows with a product on the border of two strata may belong to either. Count only the rows inside.
        values = np.log(product)[stratum]
        inside = stratum[(values > values.min() + 1e-6) & (values < values.max() - 1e-6)]
        border = len(stratum) - len(inside)
        assert np.ptp(np.bincount(folds[inside], minlength=4)) <= 1 + border
    assert np.all(np.diff(sums) > -1e-6)


def test_products_of_many_frequencies_do_not_underflow():
    Y = np.zeros((40, 400), dtype=int)
    Y[:20] = 1  # frequency 1/2 each, product 2 ** -400
    Y[20:, 0] = 1
    Y[:20, 1:] &= np.random.default_rng(0).random((20, 399)) < 0.9
    folds = PartitionedSampling(2, random_state=0).assign(Y)
    assert np.bincount(folds[:20]).tolist() == [10, 10]


def test_left_over_rows_go_to_the_smallest_folds():
    Y = np.eye(29, dtype=int)
    folds = PartitionedSampling(5, random_state=0).assign(Y)
    assert np.ptp(np.bincount(folds)) == 1


def test_the_order_of_the_labels_decides_nothing():
    """The product of frequencies does not depend on the order of the labels.

    The sum of logarithms does, in the last bit.
    """
    rng = np.random.default_rng(0)
    half = (rng.random((100, 9)) < np.linspace(0.2, 0.6, 9)).astype(int)
    nothing = np.zeros_like(half)
    expected = None
    for _ in range(5):  # lower rows equal upper rows, with labels of the same frequency
        Y = np.block([[half, nothing], [nothing, half[:, rng.permutation(9)]]])
        folds = PartitionedSampling(5, random_state=0).assign(Y)
        expected = folds if expected is None else expected
        np.testing.assert_array_equal(folds, expected)
