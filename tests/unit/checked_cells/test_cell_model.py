"""The model of the true labels weights checked cells by their draw probabilities."""

import numpy as np
import pytest

from fairfold.checked_cells.cell_model import Cells, fit_cells


def test_cells_that_were_rarely_drawn_count_more():
    """Half of the cells are drawn ten times as often, and the scores do not tell the halves apart."""
    rng = np.random.default_rng(0)
    n = 4000
    is_rare = np.arange(n) % 2 == 1
    pi = np.where(is_rare, 0.05, 0.5)
    truth = (rng.random(n) < np.where(is_rare, 0.6, 0.1)).astype(float)
    observed = np.zeros(n, dtype=bool)
    observed[:40], truth[:40] = True, 1.0
    cells = Cells(observed, np.arange(n), np.zeros(n, dtype=int), [np.full(n, 0.3)], 0.0)
    checked = np.flatnonzero((rng.random(n) < pi) & ~observed)
    found = fit_cells(cells, checked, truth[checked], pi[checked], 0.5).probabilities().mean()
    weighted = np.average(truth[checked], weights=1 / pi[checked])
    unweighted = truth[checked].mean()
    error = np.sqrt((truth[checked] / pi[checked] ** 2).sum()) / n
    assert found == pytest.approx(weighted, abs=2 * error)
    assert abs(found - unweighted) > 3 * error


def test_few_decisive_cells_lower_the_degrees_of_freedom():
    """Most of the variance of average precision is due to the few checked cells with a large influence."""
    rng = np.random.default_rng(0)
    n = 4000
    score = rng.beta(0.5, 5, n)
    observed = rng.random(n) < score / 2
    truth = observed | (rng.random(n) < score / 2)
    cells = Cells(observed, np.arange(n), np.zeros(n, dtype=int), [score], 0.05)
    checked = rng.choice(n, 200, replace=False)
    fit = fit_cells(cells, checked, truth[checked], np.full(200, 200 / n), 0.5, ("average_precision",))
    slopes = rng.normal(size=(fit.H.shape[1], 3))
    found = fit.degrees(slopes)
    for slope, degrees in zip(slopes.T, found, strict=True):
        of_cells = [float(share @ slope) ** 2 for share in fit.shares]
        assert degrees == pytest.approx(sum(of_cells) ** 2 / sum(each**2 for each in of_cells))
    assert 1 <= found.min() < found.max() < 200
    covariance = fit.shares.T @ fit.shares
    assert np.linalg.eigvalsh(covariance).max() < 1  # The rest is empirical or due to shrinkage.
    assert fit.degrees(np.zeros((fit.H.shape[1], 1))) == 1
