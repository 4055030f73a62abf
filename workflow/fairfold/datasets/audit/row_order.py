"""Find labels that stand in another order than the features.

The strength of the relation between features and labels is compared for the given order and for re-orderings: circular
shifts, the reversed order, moved blocks and exchanged blocks. Chance gains are those of the same search in permuted
rows. Permutations keep the relation and remove the order: either labels are permuted among rows with similar features,
or features among rows with equal labels. The second way keeps runs of labels and is sharper. It is used if
these features do not drift along the rows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import fft

from fairfold.core.arrays import rows_of
from fairfold.datasets.audit.alignment import Alignment
from fairfold.datasets.audit.changes import change_points, changes
from fairfold.datasets.audit.spec import Audited, Check, Finding
from fairfold.datasets.catalog import load_catalog
from fairfold.errors import shortened

_N_DRAWS, _FEW_DRAWS, _CLEAR = 20, 8, 15.0  # Fewer draws suffice for a gain of 15 standard deviations.
_MORE_DRAWS, _MOST_ROWS_FOR_MORE = 60, 1000  # Searches in small tables are fast.
_N_CLUSTERS = 10
_LEAST_ALIKE = 8  # mean number of rows with equal labels, to permute their features
_LEAST = 0.02  # Smaller relative gains are ignored.
_WORTH = 1.05  # least factor of a further move
_SIMPLE = 0.9  # least share of the largest gain
_LEVEL, _LEVEL_OF_FEW, _FEW_ROWS = 1e-3, 5e-3, 100  # Small tables have little power.
_MOST_ROWS = 30_000
_MOST_RANGES, _CLEAR_RANGES = 12, 5  # of a search for a repair, and of a repair to show
_MOST_SEGMENTS = 12
_FEWEST_ROWS = 20
_NONE, _STRONG, _EXPECTED = 3.0, 5.0, 8.0  # standard deviations of a relation
_ORDERED, _SORTED = 10.0, 15.0  # of features and of labels with the row number, where the relation is weaker


class Order(NamedTuple):
    """Order of the label rows and the strength of its relation with the features."""

    strength: float
    rows: np.ndarray


Search = Callable[[Alignment, np.ndarray], Order]
"""Search for the best order of label rows."""


def find(table: Audited) -> Iterator[Finding]:
    """Find labels in another order than the features.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        At most one error.
    """
    n = min(table.n_samples, _MOST_ROWS)
    if n < _FEWEST_ROWS:
        return
    aligned, rng = table.alignment(n), table.rng("row_order")
    if not (aligned.features.shape[1] and aligned.labels.shape[1]):
        return
    part = f" (first {n:,} rows)" if n < table.n_samples else ""
    as_read, (found, p) = aligned.strength(aligned.labels), best_order(aligned, rng)
    if p < _level(n):
        found = simplest(aligned, found)
        ranges = ranges_of(found.rows)
        advice = _repaired(table) or "check how the table was made"
        if len(ranges) <= _CLEAR_RANGES and not part and not _repaired(table):
            shown = ", ".join(f"[{start}, {stop}]" for start, stop in ranges)
            advice += f", or re-order the labels with label_rows: [{shown}] of data.variants"
        evidence = f"explained variance {as_read:.3f} as given, {found.strength:.3f} re-ordered, p = {p:.1g}{part}"
        message = f"features and labels are in different row orders{_about(ranges)}; {advice}"
        yield Finding("error", "labels", message, evidence + _changes(aligned, rng))
    elif where := shuffled_part(aligned, rng):
        first, last, evidence = where
        message = (
            f"the labels of rows {first + 1} to {last + 1} are unrelated to the features, while both agree elsewhere "
            "and the features follow an order; restore the row order of these labels"
        )
        yield Finding("error", f"rows {first + 1} to {last + 1}", message, evidence + _changes(aligned, rng))
    else:
        yield from _one_side(aligned, rng, _repaired(table))


def _level(n_rows: int) -> float:
    return _LEVEL_OF_FEW if n_rows < _FEW_ROWS else _LEVEL


def _repaired(table: Audited) -> str:
    """Return the advice to use a repaired variant of the catalog, or an empty text."""
    name = f"{table.data.id}-repaired"
    return f"use the dataset {name}" if name in load_catalog() else ""


def _changes(aligned: Alignment, rng: np.random.Generator) -> str:
    """List the rows with the strongest changes of features and of labels."""
    texts = []
    for kind, values in (("features", aligned.scores), ("labels", aligned.labels)):
        if points := change_points(changes(values, rng), len(aligned)):
            texts.append(f"{kind} change before rows {shortened([str(row + 1) for row in points], 6)}")
    return "".join(f"; {text}" for text in texts)


def _one_side(aligned: Alignment, rng: np.random.Generator, advice: str) -> Iterator[Finding]:
    """Find labels or features that were sorted alone: one side depends on the row number, and nothing else does."""
    whole = _Part(aligned, np.arange(len(aligned)), rng)
    one, other = ("labels", "features") if whole.labels > whole.features else ("features", "labels")
    sides = whole.features, whole.labels
    if whole.relation < _NONE and max(sides) > max(_STRONG, 5 * min(sides)):
        message = f"the {one} are sorted, the {other} are not, and both are unrelated; "
        message += advice or "check whether one side was sorted"
        yield Finding("warning", one, message, f"relation {whole.relation:.1f} standard deviations above chance")


def _rows(number: int) -> str:
    return f"{number} row{'s' if number > 1 else ''}"


def _about(ranges: list[tuple[int, int]]) -> str:
    """Describe simple re-orderings."""
    if len(ranges) == 1:
        return ": the labels are reversed"
    if len(ranges) == 2 and all(start < stop for start, stop in ranges):
        return f": the labels are shifted by {_rows(min(stop - start for start, stop in ranges))}"
    return f": {len(ranges)} blocks of labels changed places" if len(ranges) <= _CLEAR_RANGES else ""


def best_order(aligned: Alignment, rng: np.random.Generator) -> tuple[Order, float]:
    """Search for a better order of the labels.

    Parameters
    ----------
    aligned : Alignment
        Features and labels.
    rng : Generator
        Random numbers.

    Returns
    -------
    tuple of (Order, float)
        Best order and the probability of its gain by chance, from a Gumbel distribution.
    """
    best, p = Order(aligned.strength(aligned.labels), np.arange(len(aligned))), 1.0
    shifted, level = 0.0, _level(len(aligned))
    if _persistence(aligned.features) > 0.75 and _persistence(aligned.labels) > 0.5:
        return best, p  # Both drift along the rows: many orders fit well.
    for search in _SEARCHES:
        found = search(aligned, aligned.labels)
        gain, shifted = found.strength - best.strength, found.strength if search is _shifted else shifted
        is_shift = search is _shifted or (search is _rearranged and found.strength <= _WORTH * shifted)
        if gain <= _LEAST * best.strength or (is_shift and _is_locally_aligned(aligned)):
            continue
        draw = _chance_orders(aligned, found.rows, rng)
        p = min(p, its_p := len(_SEARCHES) * _chance(search, gain, draw))
        if its_p < level:  # Further searches must improve on this order.
            best = Order(found.strength, best.rows[found.rows])
            aligned = aligned.reordered(labels=found.rows)
    return best, p


def _persistence(rows: np.ndarray) -> float:
    """Return the correlation of neighboring rows, from 0 to 0.99."""
    return float(np.clip((rows[1:] * rows[:-1]).sum() / max((rows**2).sum(), 1e-12), 0, 0.99))


def _is_locally_aligned(aligned: Alignment) -> bool:
    """Return whether small shifts of sorted labels weaken the relation.

    Sorted labels have few changes, so a large shift may fit better by chance. Then changes coincide as given.
    """
    Y, n = aligned.labels, len(aligned)
    if _persistence(Y) < 0.5:
        return False
    by = max(n // 40, 2)
    return all(
        bool((np.diff([aligned.strength(np.roll(Y, sign * by * times, axis=0)) for times in range(4)]) < 0).all())
        for sign in (1, -1)
    )


def _chance(search: Search, gain: float, draw: Callable[[], tuple[Alignment, np.ndarray]]) -> float:
    gains: list[float] = []
    n_draws = _N_DRAWS
    while len(gains) < n_draws:
        aligned, labels = draw()
        n_draws = _MORE_DRAWS if len(labels) <= _MOST_ROWS_FOR_MORE else _N_DRAWS
        gains.append(search(aligned, labels).strength - aligned.strength(labels))
        if len(gains) >= _FEW_DRAWS:
            z = (gain - np.mean(gains)) / max(float(np.std(gains, ddof=1)), 1e-12)
            if z > _CLEAR or z < 1:
                break
    return float(-np.expm1(-np.exp(-(np.pi / np.sqrt(6) * z + np.euler_gamma))))


def _chance_orders(
    aligned: Alignment, found: np.ndarray, rng: np.random.Generator
) -> Callable[[], tuple[Alignment, np.ndarray]]:
    """Return a function that permutes rows and keeps the relation, to compare the gain of an order with chance."""
    labels = aligned.labels
    equal = np.unique(labels.round(9), axis=0, return_inverse=True)[1].ravel()
    sizes = np.bincount(equal)
    if len(sizes) <= len(labels) // _LEAST_ALIKE and not _is_locally_aligned(aligned):
        means = np.stack([np.bincount(equal[found], column) / sizes for column in aligned.features.T], axis=1)
        inside = aligned.reordered()
        inside.features = aligned.features - means[equal[found]]
        if _Part(inside, np.arange(len(labels)), rng).features < _EXPECTED:
            return lambda: (aligned.reordered(_permuted_within(equal, rng)), labels)
    similar = _similar_rows(aligned)
    return lambda: (aligned, labels[_permuted_within(similar, rng)])


def _similar_rows(aligned: Alignment) -> np.ndarray:
    from sklearn.cluster import MiniBatchKMeans

    # Features that drift along the rows need more clusters.
    n_clusters = max(min(int(_N_CLUSTERS / (1 - _persistence(aligned.features))), len(aligned) // 8), 1)
    return MiniBatchKMeans(n_clusters, n_init=3, random_state=0, batch_size=2048).fit_predict(aligned.features)


def _permuted_within(groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    order = np.arange(len(groups))
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        order[members] = rng.permutation(members)
    return order


# --- search -----------------------------------------------------------------------------------------------------------


def _nearby(aligned: Alignment, labels: np.ndarray) -> Order:
    """Return the best circular shift by at most three rows; chance finds less among few candidates."""
    rows = np.arange(len(aligned))
    orders = [np.roll(rows, -shift) for shift in (-3, -2, -1, 1, 2, 3)]
    return max((Order(aligned.strength(labels[each]), each) for each in orders), key=lambda each: each.strength)


def _shifted(aligned: Alignment, labels: np.ndarray) -> Order:
    """Return the best circular shift of the labels or of the reversed labels, other than the given order."""
    rows, found = np.arange(len(aligned)), []
    for order in (rows, rows[::-1]):
        strengths = aligned.profile(labels[order])
        strengths[: int(order[0] == 0)] = 0  # the given order
        shift = int(np.argmax(strengths))
        found.append(Order(float(strengths[shift]), np.roll(order, -shift)))
    return max(found, key=lambda each: each.strength)


def _rearranged(aligned: Alignment, labels: np.ndarray) -> Order:
    """Return the best order after two moves of blocks, starting from the given order and from the best shift."""
    starts = np.arange(len(aligned)), _shifted(aligned, labels).rows
    return max((_moves(aligned, labels, start) for start in starts), key=lambda each: each.strength)


def _moves(aligned: Alignment, labels: np.ndarray, start: np.ndarray, n_moves: int = 2) -> Order:
    best = Order(aligned.strength(labels[start]), start)
    for _ in range(n_moves):
        rows, before = best.rows, best.strength
        for first, last, shift in _segments(aligned, labels[rows]):
            for moved in _with_block(len(rows), first, last, shift):
                strength = aligned.strength(labels[rows[moved]])
                if strength > best.strength:
                    best = Order(strength, rows[moved])
        if best.strength <= _WORTH * before:
            return Order(before, rows)
    return best


def _segments(aligned: Alignment, labels: np.ndarray) -> list[tuple[int, int, int]]:
    """Find segments of rows whose predictions fit the labels of other rows better than their own.

    Candidate shifts are peaks of the correlation between the predictions of a window and all labels.
    """
    n, predicted = len(labels), aligned.predictions(labels)
    own, width, size = (predicted * labels).sum(axis=1), max(n // 6, 8), fft.next_fast_len(2 * n)
    spectrum, shifts = fft.rfft(labels, size, axis=0), set()
    for start in range(0, n - width + 1, max(width // 2, 1)):
        window = np.zeros_like(predicted)
        window[start : start + width] = predicted[start : start + width]
        correlation = fft.irfft((fft.rfft(window, size, axis=0).conj() * spectrum).sum(axis=1), size)
        inside = np.arange(8 - start - width, n - start - 8)
        shifts |= set(inside[_largest(correlation[inside % size], 3)].tolist())
    found = []
    for shift in sorted(shifts - {0}):
        low, high = max(0, -shift), min(n, n - shift)
        gains = (predicted[low:high] * labels[low + shift : high + shift]).sum(axis=1) - own[low:high]
        total = np.concatenate([[0], np.cumsum(gains)])
        last = int(np.argmax(total - np.minimum.accumulate(total)))
        first = int(np.argmin(total[: last + 1]))
        if last - first >= 4:
            found.append((total[last] - total[first], low + first, low + last, shift))
    return [each[1:] for each in sorted(found, reverse=True)[:_MOST_SEGMENTS]]


def _largest(values: np.ndarray, n: int) -> np.ndarray:
    """Return the indices of the largest values, without sorting all of them. Of equal values, the first are taken."""
    if len(values) > n:
        candidates = np.flatnonzero(values >= np.partition(values, -n)[-n])
        return candidates[np.argsort(-values[candidates], kind="stable")[:n]]
    return np.argsort(-values, kind="stable")


def _with_block(n: int, first: int, last: int, shift: int) -> Iterator[np.ndarray]:
    """Yield orders that give rows ``first`` to ``last`` the labels of the rows shifted by ``shift``.

    The block is moved, or exchanged with the block in its place.
    """
    rows, a, b = np.arange(n), first + shift, last + shift
    moved = rows.copy()
    if shift > 0:
        moved[first:b] = np.concatenate([rows[a:b], rows[first:a]])
    else:
        moved[a:last] = np.concatenate([rows[b:last], rows[a:b]])
    yield moved
    if abs(shift) >= last - first:
        moved = rows.copy()
        moved[first:last], moved[a:b] = rows[a:b], rows[first:last]
        yield moved


_SEARCHES = (_nearby, _shifted, _rearranged)

# --- repair -----------------------------------------------------------------------------------------------------------


def ranges_of(rows: np.ndarray) -> list[tuple[int, int]]:
    """Describe an order of rows by ranges.

    Parameters
    ----------
    rows : ndarray of int of shape (n_samples,)
        The order.

    Returns
    -------
    list of tuple of (int, int)
        Start and stop of each range, as in :func:`rows_of`.

    Examples
    --------
    >>> ranges_of(np.array([2, 3, 0, 1]))
    [(2, 4), (0, 2)]
    >>> ranges_of(np.array([3, 2, 1, 0]))
    [(4, 0)]
    """
    ranges: list[tuple[int, int]] = []
    steps = np.diff(rows)
    begin = 0
    while begin < len(rows):
        step = int(steps[begin]) if begin < len(steps) and abs(steps[begin]) == 1 else 1
        others = np.flatnonzero(steps[begin:] != step)
        end = begin + int(others[0]) if others.size else len(rows) - 1
        first, last = int(rows[begin]), int(rows[end])
        ranges.append((first, last + 1) if step == 1 else (first + 1, last))
        begin = end + 1
    return ranges


def simplest(aligned: Alignment, found: Order) -> Order:
    """Return the simplest order, of a shift, one move and the given order, with nearly the largest gain.

    Parameters
    ----------
    aligned : Alignment
        Features and labels.
    found : Order
        Best order.

    Returns
    -------
    Order
        The order, with refined borders.
    """
    labels, rows = aligned.labels, np.arange(len(aligned))
    orders = [_shifted(aligned, labels), _moves(aligned, labels, rows, n_moves=1), found]
    orders = [refined(aligned, each) for each in orders]
    least = _SIMPLE * orders[-1].strength + (1 - _SIMPLE) * aligned.strength(labels)
    return next(each for each in orders if each.strength >= least)


def refined(aligned: Alignment, order: Order) -> Order:
    """Move the borders of the ranges of an order as long as the strength grows.

    Parameters
    ----------
    aligned : Alignment
        Features and labels.
    order : Order
        Order of the labels.

    Returns
    -------
    Order
        An order that is at least as strong.
    """
    ranges, best = ranges_of(order.rows), order
    if not 1 < len(ranges) <= _MOST_RANGES:
        return order
    borders = sorted({border for each in ranges for border in each})
    places = [tuple(borders.index(border) for border in each) for each in ranges]
    steps = [sign * 2**power for power in range(6) for sign in (1, -1)]
    is_better = True
    while is_better:
        is_better = False
        for k in range(1, len(borders) - 1):
            for step in steps:
                moved = borders.copy()
                moved[k] += step
                if not moved[k - 1] < moved[k] < moved[k + 1]:
                    continue
                rows = rows_of([(moved[a], moved[b]) for a, b in places])
                if (strength := aligned.strength(aligned.labels[rows])) > best.strength + 1e-9:
                    best, borders, is_better = Order(strength, rows), moved, True
    return best


# --- parts without a relation -----------------------------------------------------------------------------------------


class _Part:
    """Standardized relations of a part: features and labels with each other, and each with the row number."""

    def __init__(self, aligned: Alignment, rows: np.ndarray, rng: np.random.Generator) -> None:
        n = len(rows)
        self._X, self._Y = (each[rows] - each[rows].mean(axis=0) for each in (aligned.features, aligned.labels))
        self._waves = np.cos(np.pi * np.outer(np.arange(n) + 0.5, np.arange(1, 13)) / n)
        self._draws = [rng.permutation(n) for _ in range(3 * _N_DRAWS)]

    @functools.cached_property
    def relation(self) -> float:
        """Relation of features and labels."""
        return self._standardized(self._X, self._Y, (None,))

    @functools.cached_property
    def features(self) -> float:
        """Relation of the features and the row number."""
        return self._standardized(self._X, self._waves, (3, None))

    @functools.cached_property
    def labels(self) -> float:
        """Relation of the labels and the row number."""
        return self._standardized(self._Y, self._waves, (3, None))

    def _standardized(self, A: np.ndarray, B: np.ndarray, bands: Sequence[int | None]) -> float:
        """Return the largest relation of A and the first columns of B, compared with permuted rows."""
        if A.shape[1] <= B.shape[1]:  # Permuting fewer columns is faster.
            chance = np.array([A[order].T @ B for order in self._draws])
        else:
            chance = np.array([A.T @ _permuted(B, order) for order in self._draws])
        relation, found = A.T @ B, []
        for band in bands:
            strengths = (chance[:, :, :band] ** 2).sum(axis=(1, 2))
            strength = (relation[:, :band] ** 2).sum()
            found.append(float((strength - np.mean(strengths)) / max(np.std(strengths, ddof=1), 1e-12)))
        return max(found)


def _permuted(rows: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the rows such that their product with others equals that of these rows with ``others[order]``."""
    permuted = np.empty_like(rows)
    permuted[order] = rows
    return permuted


def shuffled_part(aligned: Alignment, rng: np.random.Generator) -> tuple[int, int, str] | None:
    """Find a part where only the features depend on the row number, while features and labels agree elsewhere.

    Parameters
    ----------
    aligned : Alignment
        Features and labels.
    rng : Generator
        Random numbers.

    Returns
    -------
    tuple of (int, int, str) or None
        First row, last row and evidence, or None.
    """
    rows, n = np.arange(len(aligned)), len(aligned)
    candidates, whole = [], _Part(aligned, rows, rng).relation
    for cut in sorted({n * share // 20 for share in range(4, 17)}):
        for part, rest in ((rows[:cut], rows[cut:]), (rows[cut:], rows[:cut])):
            share = (aligned.labels[part] - aligned.labels[part].mean(axis=0)) ** 2
            if min(len(part), len(rest)) < _FEWEST_ROWS or share.sum() < len(part) / n / 4:  # a single class
                continue
            inside = _Part(aligned, part, rng)
            if inside.labels < _NONE and inside.relation < _NONE and inside.features > _STRONG:
                outside = _Part(aligned, rest, rng)
                expected = min(outside.relation, outside.labels) * min(len(part) / len(rest), 1)
                # Labels outside may be sorted or of one class, so that little of their relation is left.
                has_one_class = np.ptp(aligned.labels[rest], axis=0).max() < 1e-9 and whole > _EXPECTED
                is_sorted = outside.labels > _SORTED and outside.relation > _NONE
                if expected > _EXPECTED or (inside.features > _ORDERED and (has_one_class or is_sorted)):
                    evidence = f"standard deviations above chance: relation {inside.relation:.1f}"
                    candidates.append((outside.relation + inside.features, int(part[0]), int(part[-1]), evidence))
    return max(candidates)[1:] if candidates else _unsorted_part(aligned, rng)


def _unsorted_part(aligned: Alignment, rng: np.random.Generator) -> tuple[int, int, str] | None:
    """Find a part whose labels fit the features only if they are sorted."""
    as_read, found = aligned.strength(aligned.labels), _sorted_part(aligned, aligned.labels)
    moved, gain = np.flatnonzero(found.rows != np.arange(len(aligned))), found.strength - as_read
    if gain <= _LEAST * as_read or moved[-1] - moved[0] + 1 < _FEWEST_ROWS:
        return None
    first, last = int(moved[0]), int(moved[-1])
    inside, rest = np.arange(first, last + 1), np.delete(np.arange(len(aligned)), np.arange(first, last + 1))
    part = _Part(aligned, inside, rng)
    if max(part.relation, part.labels) >= _NONE or part.features < _NONE:
        return None
    if np.ptp(aligned.labels[rest], axis=0).max() > 1e-9 and _Part(aligned, rest, rng).labels < _EXPECTED:
        return None  # The other labels are not sorted, so there is no reason to sort these.
    p = _chance(_sorted_part, gain, _chance_orders(aligned, found.rows, rng))
    evidence = f"explained variance {as_read:.3f} as given, {found.strength:.3f} with sorted labels, p = {p:.1g}"
    return (first, last, evidence) if p < _level(len(aligned)) else None


def _sorted_part(aligned: Alignment, labels: np.ndarray) -> Order:
    """Return the best order after the labels of the first or last rows are sorted. Few rows are preferred."""
    n, rows, best = len(labels), np.arange(len(labels)), Order(0.0, np.arange(len(labels)))
    ranks = np.unique(labels.round(9), axis=0, return_inverse=True)[1].ravel()
    for size in sorted({n * share // 20 for share in range(4, 17)}):
        for part in (rows[:size], rows[n - size :]):
            for keys in (ranks[part], -ranks[part]):
                order = rows.copy()
                order[part] = part[np.argsort(keys, kind="stable")]
                if (strength := aligned.strength(labels[order])) > best.strength + 1e-9:
                    best = Order(strength, order)
    return best


SPECS = (Check("row_order", find),)
