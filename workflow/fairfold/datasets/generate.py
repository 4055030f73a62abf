"""Datasets that need no download: embedded, simulated, and label matrices of a wanted shape.

Everything here is a pure function of its arguments. ``random_state`` is an integer, a ``SeedSequence``, a
``Generator`` (which is advanced) or None (fresh entropy); NumPy's global random state is neither read nor changed.
"""

from __future__ import annotations

import numbers

import numpy as np
import scipy
from numba import njit
from scipy.sparse import csc_array, csr_array, eye_array, get_index_dtype, vstack

from fairfold.core.hierarchy import Hierarchy
from fairfold.errors import ConfigError, unknown_name

Seed = int | np.random.SeedSequence | np.random.Generator | None
Labelled = tuple[np.ndarray, np.ndarray, list[str], list[str]]

# Lit segments: a top, b upper right, c lower right, d bottom, e lower left, f upper left, g middle.
_SEGMENTS = ("abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg")

# Densities that simulated_multilabel promises, and how often it draws before it gives up. About one draw in three
# passes with the default arguments, so they fail with probability below 1e-30.
_DENSITY_RANGE = (0.15, 0.6)
_MAX_DRAWS = 200

PATTERNS = ("equal", "difference", "one-missing")

# The parent of a label is typically this many times larger.
_PARENT_RATIO = 3.0

# Terms of gene_ontology_like have 1 parent, or 2 with this probability: 1.4 on average.
_SECOND_PARENT = 0.4

# Samples that GeneOntologyBlocks draws together, and positives that each of its labels has where there are enough
# samples: one in each of five folds.
BLOCK_SIZE = 8192
_LEAST_POSITIVES = 5


def digits_segments() -> Labelled:
    """Handwritten digits, labelled with the segments that a seven-segment display lights for them.

    The 1,797 images of 8 × 8 pixels are scikit-learn's ``load_digits``. The labels are a (top), b (upper right),
    c (lower right), d (bottom), e (lower left), f (upper left) and g (middle), in the common table where 6 and 9 have
    tails and 7 lights three segments. Their densities are about 0.8, 0.8, 0.9, 0.7, 0.4, 0.6 and 0.7.

    Returns
    -------
    X : ndarray of shape (1797, 64), float64
        Grey levels from 0 to 16.
    Y : ndarray of shape (1797, 7), int8
        1 where the segment is lit.
    feature_names : list of 64 str
        ``pixel_<row>_<column>``.
    label_names : list of 7 str
        ``a`` to ``g``.
    """
    X, digits, feature_names, _ = _embedded("load_digits")
    names = list("abcdefg")
    table = np.array([[segment in lit for segment in names] for lit in _SEGMENTS], dtype=np.int8)
    return X, table[digits], feature_names, names


def iris() -> Labelled:
    """Fisher's (1936) irises, as scikit-learn embeds them.

    Returns
    -------
    X : ndarray of shape (150, 4), float64
        Lengths and widths in centimetres.
    y : ndarray of shape (150,), int64
        The species, as an index into ``label_names``.
    feature_names, label_names : lists of 4 and 3 str
    """
    return _embedded("load_iris")


def breast_cancer() -> Labelled:
    """Breast tumours of Street, Wolberg & Mangasarian (1993), as scikit-learn embeds them.

    Returns
    -------
    X : ndarray of shape (569, 30), float64
        Measurements of cell nuclei.
    y : ndarray of shape (569,), int64
        0 malignant, 1 benign.
    feature_names, label_names : lists of 30 and 2 str
    """
    return _embedded("load_breast_cancer")


def simulated_multilabel(
    n_samples: int = 600, n_features: int = 20, n_labels: int = 6, *, random_state: Seed = 0
) -> Labelled:
    """Simulated bags of words with several topics each.

    Draws from scikit-learn's ``make_multilabel_classification`` until every label has a density from 0.15 to 0.6, so
    that none is empty or nearly so. A sample has about a third of the labels, possibly none. One draw takes
    time proportional to ``n_samples`` (about 25 ms for 600), and about one draw in three passes with the defaults.

    Parameters
    ----------
    n_samples, n_features, n_labels : int
        The shape. Many labels or few samples make the density range unlikely.
    random_state : int, SeedSequence, Generator or None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Word counts.
    Y : ndarray of shape (n_samples, n_labels), int8
        Topics.
    feature_names, label_names : list of str
        ``word_<i>`` and ``topic_<i>``.

    Raises
    ------
    ConfigError
        When a size is not a positive integer, or no draw in 200 has all densities in the range.
    """
    from sklearn.datasets import make_multilabel_classification  # here, as it takes a second

    _check("simulated_multilabel", n_samples=(n_samples, 1), n_features=(n_features, 1), n_labels=(n_labels, 1))
    lowest, highest = _DENSITY_RANGE
    labels_per_sample = max(1, round(n_labels / 3))
    rng = _generator(random_state)
    for seed in rng.integers(2**32, size=_MAX_DRAWS):
        X, Y = make_multilabel_classification(
            n_samples, n_features, n_classes=n_labels, n_labels=labels_per_sample, random_state=int(seed)
        )
        density = Y.mean(axis=0)
        if density.min() >= lowest and density.max() <= highest:
            return X, Y.astype(np.int8), _numbered("word", n_features), _numbered("topic", n_labels)
    raise ConfigError(
        f"simulated_multilabel: none of {_MAX_DRAWS} draws of {n_samples} samples and {n_labels} labels has all label "
        f"densities between {lowest} and {highest}; ask for 2 to 8 labels or for more samples."
    )


def cross_testing_simulated(*, random_state: Seed = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that no single feature tells apart (Korjus, Hebart & Vicente 2016, simulated dataset).

    Six features are uniform on [0, 1); 0.8 is then added to the first two in an exclusive-or layout, in blocks of
    2,000 rows: class 0 to neither, class 0 to both, class 1 to the first, class 1 to the second. Rows come in that
    order, as in the published file.

    Parameters
    ----------
    random_state : int, SeedSequence, Generator or None
        Seed.

    Returns
    -------
    X : ndarray of shape (8000, 6), float64
    y : ndarray of shape (8000,), int64
        0 for the paper's class A, 1 for class B.
    """
    shifted = np.array([[False, False], [True, True], [True, False], [False, True]])
    X = _generator(random_state).random((8000, 6))
    X[:, :2] += 0.8 * np.repeat(shifted, 2000, axis=0)
    return X, np.repeat([0, 1], 4000)


def cross_testing_random(n_per_class: int = 10_000, *, random_state: Seed = 0) -> tuple[np.ndarray, np.ndarray]:
    """Twenty uniform features and labels without any signal (Korjus, Hebart & Vicente 2016, random dataset).

    Parameters
    ----------
    n_per_class : int
        Rows of each class; the published file has 10,000.
    random_state : int, SeedSequence, Generator or None
        Seed.

    Returns
    -------
    X : ndarray of shape (2 * n_per_class, 20), float64
        Uniform on [0, 1).
    y : ndarray of shape (2 * n_per_class,), int64
        Class 0, then class 1.

    Raises
    ------
    ConfigError
        When ``n_per_class`` is not a positive integer.
    """
    _check("cross_testing_random", n_per_class=(n_per_class, 1))
    return _generator(random_state).random((2 * n_per_class, 20)), np.repeat([0, 1], n_per_class)


def metric_behaviour(
    pattern: str, *, n_samples: int = 100_000, n_labels: int = 100, n_folds: int = 10
) -> tuple[csr_array, np.ndarray]:
    """Label matrix with a known flaw in its folds, to show how a measure of split quality reacts to class size.

    The patterns of Tiittanen, Holm & Törönen (2021), Figure 1, with the published rounding. Label j is meant to have
    s_j positives, where s is evenly spaced from ``2 * n_folds`` to ``n_samples // 2``; with c = s_j // n_folds:

    - ``"equal"``: every fold has c positives;
    - ``"difference"``: fold 0 has c + c // 5 (20 % more), fold 1 has c - c // 5, every other fold c;
    - ``"one-missing"``: fold 0 has none, every other fold s_j // (n_folds - 1).

    Folds are contiguous blocks of rows, and the positives are the first rows of their block. Time and memory grow
    with the number of ones, about ``n_samples * n_labels / 4``.

    Parameters
    ----------
    pattern : {"equal", "difference", "one-missing"}
    n_samples, n_labels : int
        The shape; at least ``4 * n_folds`` samples.
    n_folds : int
        At least 2.

    Returns
    -------
    Y : csr_array of shape (n_samples, n_labels), int8
    fold_of : ndarray of shape (n_samples,), int64

    Raises
    ------
    ConfigError
        When the pattern is unknown or a size is too small.
    """
    if pattern not in PATTERNS:
        raise ConfigError(f"metric_behaviour: {unknown_name('pattern', pattern, PATTERNS)}")
    _check("metric_behaviour", n_folds=(n_folds, 2), n_labels=(n_labels, 1))
    _check("metric_behaviour", n_samples=(n_samples, 4 * n_folds))

    sizes = np.linspace(2 * n_folds, n_samples // 2, n_labels).astype(np.int64)
    counts = np.tile(sizes // n_folds, (n_folds, 1))  # (n_folds, n_labels)
    if pattern == "difference":
        counts[:2] += np.outer([1, -1], counts[0] // 5)
    elif pattern == "one-missing":
        counts[:] = sizes // (n_folds - 1)
        counts[0] = 0

    fold_of = np.arange(n_samples) * n_folds // n_samples
    block_starts = np.searchsorted(fold_of, np.arange(n_folds))
    runs = counts.T.ravel()  # label by label, fold by fold: one run of consecutive rows each
    ends = np.cumsum(runs)
    rows = np.arange(ends[-1]) + np.repeat(np.tile(block_starts, n_labels) - (ends - runs), runs)
    return _from_columns(rows, counts.sum(axis=0), n_samples), fold_of


def go_like(
    n_samples: int,
    n_labels: int,
    *,
    density: float,
    class_sizes: tuple[int, int, int, int, int],
    random_state: Seed = 0,
) -> csr_array:
    """Hierarchical label matrix with the size, density and class sizes of a Gene Ontology dataset.

    Labels form a tree that keeps the ontology's true-path rule: a row with a label has the label's parent too. The
    root is the largest label. The parent of another label is a random larger one, about three times as large on
    average, and the rows of the label are a random subset of its parent's rows. Columns are in random order.

    Class sizes have exactly the wanted quantiles. They are interpolated on a logarithmic scale between them; in the
    top quarter, where most ones are, the curve is bent until the number of ones agrees with the density within 1 %.

    Time grows with the sum of the parents' sizes, a few times the number of ones, and memory with the number of ones,
    about 10 bytes each at the peak: the matrix ``go-like-bp`` of the catalog, 21 million ones, takes about 1 s on one
    core and 210 MB.

    Parameters
    ----------
    n_samples, n_labels : int
        The shape; at least 7 labels, so that the five quantiles are different labels.
    density : float
        Fraction of ones.
    class_sizes : tuple of 5 int
        Minimum, lower quartile, median, upper quartile and maximum of the labels' numbers of positives.
    random_state : int, SeedSequence, Generator or None
        Seed.

    Returns
    -------
    Y : csr_array of shape (n_samples, n_labels), int8, with sorted indices

    Raises
    ------
    ConfigError
        When a size is out of range, or the density cannot be had with these class sizes.
    """
    _check("go_like", n_samples=(n_samples, 1), n_labels=(n_labels, 7))
    _check_class_sizes(class_sizes, n_samples)
    ranked_sizes = _solve_class_sizes(n_samples, n_labels, density, class_sizes)
    rng = _generator(random_state)
    ranked_parents = _draw_parents(ranked_sizes, rng)

    column_of = rng.permutation(n_labels)
    sizes = np.empty_like(ranked_sizes)
    sizes[column_of] = ranked_sizes
    parents = np.full(n_labels, -1)
    parents[column_of[:-1]] = column_of[ranked_parents]

    largest_first = column_of[::-1]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.empty(starts[-1], dtype=get_index_dtype(maxval=max(n_samples, starts[-1])))
    _draw_rows(largest_first, parents, starts, n_samples, rng, rows)
    return _from_columns(rows, sizes, n_samples)


def gene_ontology_like(
    n_samples: int = 600,
    n_labels: int = 40,
    n_features: int = 20,
    *,
    terms_per_sample: float = 2.0,
    noise: float = 1.0,
    random_state: Seed = 0,
) -> tuple[*Labelled, Hierarchy]:
    """Samples annotated with terms of an ontology like the Gene Ontology, with features that tell of the terms.

    The ontology has one root; every other term has one parent, or two (four in ten), among the terms before it, so that
    it is a directed graph without cycles, and no tree. A sample is annotated with one term and a Poisson number of
    others, drawn in proportion to 1 / rank in a random order, as few terms are known of many genes and most of few;
    and, by the true-path rule, with all that is above them. No term is rarer than a fifth of what it would be if all
    were as frequent.

    A term moves the features of a sample in a direction of its own, and so do all above it: samples are the nearer the
    more they share. Features are sums of these, of variance 1 on average, and of normal noise.

    Time and memory grow with the annotations and with ``n_samples * n_features``: 100,000 samples, 2,000 labels and 50
    features take a few seconds.

    Parameters
    ----------
    n_samples, n_labels, n_features : int
        The shape; at least as many samples as labels.
    terms_per_sample : float
        Mean number of terms that a sample is annotated with, besides those above them; at least 1.
    noise : float
        Standard deviation of the noise.
    random_state : int, SeedSequence, Generator or None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
    Y : csr_array of shape (n_samples, n_labels), int8, with sorted indices
    feature_names, label_names : list of str
        ``feature_<i>`` and ``term_<i>``; term_0 is the root.
    hierarchy : Hierarchy

    Raises
    ------
    ConfigError
        When a size is out of range.
    """
    name = "gene_ontology_like"
    _check(name, n_labels=(n_labels, 2), n_features=(n_features, 1))
    _check(name, n_samples=(n_samples, n_labels))
    _check(name, numbers.Real, terms_per_sample=(terms_per_sample, 1), noise=(noise, 0))
    rng = _generator(random_state)
    hierarchy = _draw_ontology(n_labels, rng)
    direct = _draw_annotations(n_samples, n_labels, terms_per_sample, rng)
    Y = hierarchy.with_ancestors(direct)
    Y.sort_indices()
    signal = Y @ rng.normal(size=(n_labels, n_features))
    signal -= signal.mean(axis=0)
    X = signal / signal.std() + noise * rng.normal(size=signal.shape)
    return X, Y, _numbered("feature", n_features), _numbered("term", n_labels), hierarchy


def _draw_ontology(n_labels: int, rng: np.random.Generator) -> Hierarchy:
    """Terms whose parents come before them, each term as likely; the first is above all."""
    children = np.arange(1, n_labels)
    first, second = (np.floor(rng.random(n_labels - 1) * children).astype(np.int64) for _ in range(2))
    has_second = (rng.random(n_labels - 1) < _SECOND_PARENT) & (second != first)
    edges = np.column_stack([np.append(children, children[has_second]), np.append(first, second[has_second])])
    return Hierarchy(edges, n_labels)


def _draw_annotations(n_samples: int, n_labels: int, per_sample: float, rng: np.random.Generator) -> csr_array:
    """(n_samples, n_labels) of 0/1, without the terms that follow."""
    extra = rng.poisson(per_sample - 1, n_samples)
    rows = np.append(np.arange(n_samples), np.repeat(np.arange(n_samples), extra))
    shares = 1 / (1 + rng.permutation(n_labels))
    labels = rng.choice(n_labels, size=len(rows), p=shares / shares.sum())
    at_least = max(n_samples // (5 * n_labels), 1)
    sure = np.repeat(np.arange(n_labels), at_least)  # no more than there are samples
    labels[rng.permutation(n_samples)[: len(sure)]] = sure
    cells = csr_array((np.ones(len(rows), dtype=np.int8), (rows, labels)), shape=(n_samples, n_labels))
    cells.sum_duplicates()
    cells.data[:] = 1
    return cells


class GeneOntologyBlocks:
    """Samples annotated with terms of an ontology like the Gene Ontology, of any number, in independent blocks.

    A block of ``BLOCK_SIZE`` samples is drawn from the seed and its own number, so that each can be had alone, in any
    order and by any process, and the memory is that of a block. The dataset ``gene-ontology-large`` has them all.

    *Ontology.* Term 0 is the root. Every other term has a parent among the terms before it, each as likely, so that it
    is about ln(n_labels) below the root. Two in five draw a second parent among its parent's siblings, where there are
    other ones before it: terms with two parents have these near each other, and little more above them.

    *Labels.* A sample is annotated with one term and a Poisson number of others, drawn in proportion to 1 / rank in a
    random order, and, by the true-path rule, with all that is above them. Each term is drawn for five samples at least,
    where there are as many. With the defaults, of 500,000 samples and 10,000 labels, a sample has 17 labels on average,
    and the quartiles of the labels' frequencies are .00004, .00011 and .00038, where those of ``go-like-bp`` are
    .00006, .00018 and .00074.

    *Features.* A term moves some features, ten by default, by normal amounts of its own, and all above it do as well;
    features are sums of these, of variance 1 on average and mean 0, and of normal noise. So a label is told by the
    direction in which it moves samples, however rare it is, and less by single features. With the defaults, ridge
    regression learned from 40,000 of 50,000 samples has average precisions of .29, .47, .71 and .91 on the rest, for
    labels with 6 to 20 positives there, 21 to 100, 101 to 1,000, and more (means over 60 labels each, but 33 of the
    last); by chance these are .001, .004, .026 and .24.

    Parameters
    ----------
    n_samples, n_labels, n_features : int
        The shape; at least as many samples as labels, and 3 labels.
    terms_per_sample : float
        Mean number of terms that a sample is annotated with, besides those above them; at least 1.
    features_per_term : int
        Features that a term moves, at most: of those that are drawn for it, some may be the same.
    noise : float
        Standard deviation of the noise.
    random_state : int, SeedSequence, Generator or None
        Seed.

    Attributes
    ----------
    hierarchy : Hierarchy
    n_blocks : int

    Raises
    ------
    ConfigError
        When a size is out of range.
    """

    def __init__(
        self,
        n_samples: int = 50_000,
        n_labels: int = 5_000,
        n_features: int = 100,
        *,
        terms_per_sample: float = 1.5,
        features_per_term: int = 10,
        noise: float = 2.0,
        random_state: Seed = 0,
    ) -> None:
        name = "gene_ontology_large"
        _check(name, n_labels=(n_labels, 3), n_features=(n_features, 1), features_per_term=(features_per_term, 1))
        _check(name, n_samples=(n_samples, n_labels))
        _check(name, numbers.Real, terms_per_sample=(terms_per_sample, 1), noise=(noise, 0))
        self.n_samples, self.n_labels, self.n_features = n_samples, n_labels, n_features
        self.terms_per_sample, self.noise = terms_per_sample, noise
        self.n_blocks = -(-n_samples // BLOCK_SIZE)
        rng = _generator(random_state)
        self._entropy = rng.integers(2**32, size=8).tolist()
        self.hierarchy = Hierarchy(_draw_near_parents(n_labels, rng), n_labels)
        self._closure = csr_array(self.hierarchy.ancestors + eye_array(n_labels, dtype=np.int32, format="csr"))
        # Of the terms below the root, ranks[i] is the one that is drawn in proportion to 1 / (1 + i).
        self._ranks = 1 + rng.permutation(n_labels - 1)
        self._up_to = np.cumsum(1 / np.arange(1, n_labels))
        self._sure = rng.permutation(np.arange(1, n_labels))
        self._set_directions(min(features_per_term, n_features), rng)

    def _set_directions(self, per_term: int, rng: np.random.Generator) -> None:
        """How terms move features, scaled and centred by what a block of samples that nobody sees has."""
        shape = self.n_labels, self.n_features
        terms, features = np.repeat(np.arange(shape[0]), per_term), rng.integers(shape[1], size=shape[0] * per_term)
        directions = csr_array((rng.standard_normal(len(terms)), (terms, features)), shape=shape).toarray()
        signal = self._with_ancestors(self._draw_terms(BLOCK_SIZE, rng)) @ directions
        scale = np.sqrt(signal.var(axis=0).mean()) or 1.0
        self._directions = (directions / scale).astype(np.float32)
        self._centre = (signal.mean(axis=0) / scale).astype(np.float32)

    def block(self, number: int) -> tuple[np.ndarray, csr_array]:
        """Features and labels of the samples from ``number * BLOCK_SIZE`` on.

        Parameters
        ----------
        number : of the block, from 0.

        Returns
        -------
        X : ndarray of shape (n_rows, n_features), float32
        Y : csr_array of shape (n_rows, n_labels), int8, with sorted indices

        Raises
        ------
        ConfigError
            When there is no such block.
        """
        if isinstance(number, bool) or not isinstance(number, numbers.Integral) or not 0 <= number < self.n_blocks:
            raise ConfigError(f"gene_ontology_large: there are blocks 0 to {self.n_blocks - 1}, not {number!r}.")
        begin, end = number * BLOCK_SIZE, min((number + 1) * BLOCK_SIZE, self.n_samples)
        rng = np.random.default_rng(np.random.SeedSequence(self._entropy, spawn_key=(int(number),)))
        Y = self._with_ancestors(self._draw_terms(end - begin, rng, self._sure_terms(begin, end)))
        X = rng.standard_normal((end - begin, self.n_features), dtype=np.float32)
        X *= np.float32(self.noise)
        X += Y @ self._directions
        X -= self._centre
        return X, Y

    def _sure_terms(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Samples of a block, counted from its first, and the terms that they have whatever is drawn.

        Each term has as many among all samples, which are evenly spaced; that needs no other block.
        """
        n_terms = self.n_labels - 1
        n_sure = n_terms * min(_LEAST_POSITIVES, self.n_samples // n_terms)
        places = np.arange(-(-begin * n_sure // self.n_samples), -(-end * n_sure // self.n_samples))
        return places * self.n_samples // n_sure - begin, self._sure[places % n_terms]

    def _draw_terms(
        self, n_rows: int, rng: np.random.Generator, sure: tuple[np.ndarray, np.ndarray] | None = None
    ) -> csr_array:
        """(n_rows, n_labels) number of times that each term is drawn; sure ones take the place of the first drawn."""
        others = rng.poisson(self.terms_per_sample - 1, n_rows)
        rows = np.append(np.arange(n_rows), np.repeat(np.arange(n_rows), others))
        places = np.searchsorted(self._up_to, rng.random(len(rows)) * self._up_to[-1], side="right")
        terms = self._ranks[np.minimum(places, self.n_labels - 2)]
        if sure is not None:
            terms[sure[0]] = sure[1]
        return csr_array((np.ones(len(rows), dtype=np.int32), (rows, terms)), shape=(n_rows, self.n_labels))

    def _with_ancestors(self, terms: csr_array) -> csr_array:
        """0/1 of terms and all above them."""
        Y = csr_array(terms @ self._closure)
        Y.sort_indices()
        places = Y.indices.astype(np.int32, copy=False), Y.indptr.astype(np.int32, copy=False)
        return csr_array((np.ones(Y.nnz, dtype=np.int8), *places), shape=Y.shape)


def gene_ontology_large(
    n_samples: int = 50_000,
    n_labels: int = 5_000,
    n_features: int = 100,
    *,
    terms_per_sample: float = 1.5,
    features_per_term: int = 10,
    noise: float = 2.0,
    random_state: Seed = 0,
) -> tuple[*Labelled, Hierarchy]:
    """The blocks of :class:`GeneOntologyBlocks` together.

    Time and memory grow with the annotations and with ``n_samples * n_features``, and memory is that of the result and
    of a block: 50,000 samples, 5,000 labels and 100 features took 0.4 s and 175 MB on one core, 500,000 samples and
    10,000 labels 4 s and 425 MB, the interpreter and its libraries included.

    Parameters
    ----------
    n_samples, n_labels, n_features, terms_per_sample, features_per_term, noise, random_state
        See :class:`GeneOntologyBlocks`.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float32
    Y : csr_array of shape (n_samples, n_labels), int8, with sorted indices
    feature_names, label_names : list of str
        ``feature_<i>`` and ``term_<i>``; term_0 is the root.
    hierarchy : Hierarchy

    Raises
    ------
    ConfigError
        When a size is out of range.
    """
    options = {"terms_per_sample": terms_per_sample, "features_per_term": features_per_term, "noise": noise}
    source = GeneOntologyBlocks(n_samples, n_labels, n_features, **options, random_state=random_state)
    X = np.empty((n_samples, n_features), dtype=np.float32)
    blocks = []
    for number in range(source.n_blocks):
        X_block, Y_block = source.block(number)
        X[number * BLOCK_SIZE : number * BLOCK_SIZE + len(X_block)] = X_block
        blocks.append(Y_block)
    Y = vstack(blocks, format="csr")
    return X, Y, _numbered("feature", n_features), _numbered("term", n_labels), source.hierarchy


def _draw_near_parents(n_labels: int, rng: np.random.Generator) -> np.ndarray:
    """(n_edges, 2) terms and their parents, as :class:`GeneOntologyBlocks` says.

    A second parent is as far below the root as the first, by first parents: no edge follows from others.
    """
    children = np.arange(1, n_labels)
    parent = np.zeros(n_labels, dtype=np.int64)
    parent[1:] = rng.random(n_labels - 1) * children
    # Siblings stand together, ascending; those of a term's parent are the children of the parent's parent.
    by_parent = 1 + np.argsort(parent[1:], kind="stable")
    place = np.empty(n_labels, dtype=np.int64)
    place[by_parent] = np.arange(n_labels - 1)
    begins = np.searchsorted(parent[by_parent], np.arange(n_labels))
    asks = children[(parent[1:] > 0) & (rng.random(n_labels - 1) < _SECOND_PARENT)]
    first = begins[parent[parent[asks]]]
    # Its parent's siblings that come before the term: those up to its parent, and some after it.
    key = parent[by_parent] * n_labels + by_parent
    n_before = np.searchsorted(key, parent[parent[asks]] * n_labels + asks) - first
    drawn = first + np.floor(rng.random(len(asks)) * (n_before - 1)).astype(np.int64)
    drawn += drawn >= place[parent[asks]]  # the parent itself is passed over
    has_second = n_before > 1
    second = np.column_stack([asks[has_second], by_parent[drawn[has_second]]])
    return np.concatenate([np.column_stack([children, parent[1:]]), second])


def _solve_class_sizes(
    n_samples: int, n_labels: int, density: float, class_sizes: tuple[int, int, int, int, int]
) -> np.ndarray:
    """Ascending class sizes (n_labels,) with the given quantiles and density, or a ConfigError with the range."""
    if isinstance(density, bool) or not isinstance(density, numbers.Real) or not 0 < density <= 1:
        raise ConfigError(f"go_like: density must be a number above 0 and at most 1, not {density!r}.")
    wanted = density * n_samples * n_labels
    low, high = -10.0, 10.0  # logarithms of exponents that are as good as 0 and infinity
    most = _class_sizes(n_labels, class_sizes, low).sum()
    least = _class_sizes(n_labels, class_sizes, high).sum()
    target = np.clip(wanted, least, most)
    exponent = scipy.optimize.bisect(lambda bend: _class_sizes(n_labels, class_sizes, bend).sum() - target, low, high)
    sizes = _class_sizes(n_labels, class_sizes, exponent)
    if abs(sizes.sum() - wanted) > 0.01 * wanted:
        cells = n_samples * n_labels
        raise ConfigError(
            f"go_like: class sizes {tuple(class_sizes)} of {n_labels} labels and {n_samples} samples cannot give the "
            f"density {density}; choose one from {least / cells:.4g} to {most / cells:.4g}, or other class sizes."
        )
    return sizes


def _class_sizes(n_labels: int, class_sizes: tuple[int, int, int, int, int], log_exponent: float) -> np.ndarray:
    """Ascending class sizes (n_labels,); the larger the exponent, the fewer large classes in the top quarter.

    A quantile that falls between two ranks is given to both, so that ``numpy.quantile`` returns it exactly.
    """
    positions = np.linspace(0, n_labels - 1, 5)
    anchors = np.concatenate([np.floor(positions), np.ceil(positions)])
    anchors, first = np.unique(anchors, return_index=True)
    logs = np.tile(np.log(class_sizes), 2)[first]
    ranks = np.arange(n_labels)
    sizes = np.interp(ranks, anchors, logs)
    top = ranks >= anchors[-2]
    bent = ((ranks[top] - anchors[-2]) / (anchors[-1] - anchors[-2])) ** np.exp(log_exponent)
    sizes[top] = logs[-2] + (logs[-1] - logs[-2]) * bent
    return np.rint(np.exp(sizes)).astype(np.int64)


def _draw_parents(sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rank of the parent of every label but the last, which is the root; ``sizes`` ascend.

    A parent is strictly larger than its child, but for labels as large as the root: those hang from the root itself.
    So parents always have a higher rank. Equal sizes are equally likely.
    """
    children = sizes[:-1]
    target = children * np.exp(rng.exponential(np.log(_PARENT_RATIO), len(children)))
    first = np.searchsorted(sizes, target, side="right").clip(max=len(sizes) - 1)
    return rng.integers(first, np.searchsorted(sizes, sizes[first], side="right"))


@njit(cache=True, nogil=True)
def _draw_rows(
    order: np.ndarray, parents: np.ndarray, starts: np.ndarray, n_rows: int, rng: np.random.Generator, out: np.ndarray
) -> None:
    """Fill ``out[starts[j]:starts[j + 1]]`` with a random subset of the rows of label j's parent, ascending.

    ``order`` has parents before children. Selection sampling (Knuth, The Art of Computer Programming 2, Algorithm S):
    each row of the parent is taken with probability (still needed) / (still left), which keeps rows sorted.
    """
    for label in order:
        parent = parents[label]
        offset = starts[parent] if parent >= 0 else 0
        population = starts[parent + 1] - offset if parent >= 0 else n_rows
        position, stop = starts[label], starts[label + 1]
        for i in range(population):
            if position == stop:
                break
            if rng.random() * (population - i) < stop - position:
                out[position] = out[offset + i] if parent >= 0 else i
                position += 1


def _from_columns(rows: np.ndarray, sizes: np.ndarray, n_samples: int) -> csr_array:
    """CSR matrix of int8 ones with sorted indices, from the rows of column 0, of column 1, and so on."""
    index = get_index_dtype(maxval=max(n_samples, len(rows)))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(index)
    ones = np.ones(len(rows), dtype=np.int8)
    return csc_array((ones, rows.astype(index, copy=False), starts), shape=(n_samples, len(sizes))).tocsr()


def _embedded(loader: str) -> Labelled:
    """One of scikit-learn's embedded datasets."""
    from sklearn import datasets  # here, as it takes a second to import that most generators can spare

    data = getattr(datasets, loader)()
    feature_names, label_names = (list(map(str, names)) for names in (data.feature_names, data.target_names))
    return data.data, data.target.astype(np.int64), feature_names, label_names


def _numbered(stem: str, count: int) -> list[str]:
    return [f"{stem}_{i}" for i in range(count)]


def _generator(random_state: Seed) -> np.random.Generator:
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"random_state must be a non-negative integer, a SeedSequence, a Generator or None, not {random_state!r}."
        ) from error


def _check(function: str, kind: type = numbers.Integral, **given: tuple[float, float]) -> None:
    """Raise for arguments, each with its least value, that are not of a kind of number, or too small."""
    for name, (value, least) in given.items():
        if isinstance(value, bool) or not isinstance(value, kind) or not least <= value < np.inf:
            wanted = "an integer" if kind is numbers.Integral else "a finite number"
            raise ConfigError(f"{function}: {name} must be {wanted} of at least {least}, not {value!r}.")


def _check_class_sizes(class_sizes: tuple[int, int, int, int, int], n_samples: int) -> None:
    sizes = list(class_sizes) if np.iterable(class_sizes) else []
    whole = all(isinstance(size, numbers.Integral) and not isinstance(size, bool) for size in sizes)
    if len(sizes) != 5 or not whole or sizes != sorted(sizes) or not 1 <= sizes[0] <= sizes[-1] <= n_samples:
        raise ConfigError(
            f"go_like: class_sizes must be five ascending integers from 1 to n_samples = {n_samples} (minimum, lower "
            f"quartile, median, upper quartile, maximum), not {class_sizes!r}."
        )
