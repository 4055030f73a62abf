"""The model of the true labels weights checked cells by their draw probabilities."""

import numpy as np
import pytest

from fairfold.evaluation.cell_model import Cells, fit_cells


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
