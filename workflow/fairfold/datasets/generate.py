"""Generators of datasets that need no download: embedded, simulated, and label matrices of a given shape.

All functions depend on their arguments only. ``random_state`` is an integer, a ``SeedSequence``, a ``Generator``
(which is advanced) or None (fresh entropy). NumPy's global random state is neither read nor changed.
"""

from __future__ import annotations

import numbers

import numpy as np
import scipy
from scipy.sparse import csc_array, csr_array, eye_array, get_index_dtype, vstack

from fairfold.core.compiled import njit
from fairfold.core.hierarchy import Hierarchy
from fairfold.errors import ConfigError, check_name

Seed = int | np.random.SeedSequence | np.random.Generator | None
Labeled = tuple[np.ndarray, np.ndarray, list[str], list[str]]

# Lit segments of the digits 0 to 9: a top, b upper right, c lower right, d bottom, e lower left, f upper left,
# g middle.
_SEGMENTS = ("abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg")

# Range of densities in simulated_multilabel, and the maximum number of draws. About one draw in three passes with the
# default arguments, and the probability that all draws fail is below 1e-30.
_DENSITY_RANGE = (0.15, 0.6)
_MAX_DRAWS = 200

PATTERNS = ("equal", "difference", "one-missing")

# The parent of a label is typically this many times larger.
_PARENT_RATIO = 3.0

# Terms of gene_ontology_like have 2 parents with this probability and otherwise 1.
_SECOND_PARENT = 0.4

# Number of samples in a block of gene_ontology_large, and minimum number of positives of a label if there are enough
# samples: one for each of five folds.
BLOCK_SIZE = 8192
_LEAST_POSITIVES = 5


# Common factors of expression_like, and the share of Gaussian probes within two standard errors of the kurtosis.
_N_FACTORS, _GAUSSIAN_PASS = 20, 0.955


def digits_segments() -> Labeled:
    """Load handwritten digits, labeled with the lit segments of a seven-segment display.

    The 1,797 images of 8 × 8 pixels are those of scikit-learn's ``load_digits``. The labels are a (top), b (upper
    right), c (lower right), d (bottom), e (lower left), f (upper left) and g (middle). In this table, 6 and 9 have
    tails and 7 lights three segments.

    Returns
    -------
    X : ndarray of shape (1797, 64)
        Gray levels from 0 to 16, as float64.
    Y : ndarray of shape (1797, 7)
        1 where the segment is lit and 0 elsewhere, as int8.
    feature_names : list of str
        Names of the 64 pixels, ``pixel_<row>_<column>``.
    label_names : list of str
        Names of the segments, ``a`` to ``g``.

    Examples
    --------
    >>> X, Y, feature_names, label_names = digits_segments()
    >>> Y[1].tolist()  # the digit 1 lights the segments b and c
    [0, 1, 1, 0, 0, 0, 0]
    >>> Y.mean(axis=0).round(1).tolist()
    [0.8, 0.8, 0.9, 0.7, 0.4, 0.6, 0.7]
    """
    X, digits, feature_names, _ = _embedded("load_digits")
    names = list("abcdefg")
    table = np.array([[segment in lit for segment in names] for lit in _SEGMENTS], dtype=np.int8)
    return X, table[digits], feature_names, names


def iris() -> Labeled:
    """Load the iris dataset of scikit-learn (Fisher 1936).

    Returns
    -------
    X : ndarray of shape (150, 4)
        Lengths and widths of sepals and petals in centimeters, as float64.
    y : ndarray of shape (150,)
        Index of the species in ``label_names``, as int64.
    feature_names : list of str
        Names of the 4 features.
    label_names : list of str
        Names of the 3 species.

    Examples
    --------
    >>> X, y, feature_names, label_names = iris()
    >>> X.shape, label_names
    ((150, 4), ['setosa', 'versicolor', 'virginica'])
    """
    return _embedded("load_iris")


def breast_cancer() -> Labeled:
    """Load the breast cancer dataset of scikit-learn (Street, Wolberg & Mangasarian 1993).

    Returns
    -------
    X : ndarray of shape (569, 30)
        Measurements of cell nuclei, as float64.
    y : ndarray of shape (569,)
        0 for malignant and 1 for benign tumors, as int64.
    feature_names : list of str
        Names of the 30 features.
    label_names : list of str
        Names of the 2 classes.

    Examples
    --------
    >>> X, y, feature_names, label_names = breast_cancer()
    >>> X.shape, label_names
    ((569, 30), ['malignant', 'benign'])
    """
    return _embedded("load_breast_cancer")


def simulated_multilabel(
    n_samples: int = 600, n_features: int = 20, n_labels: int = 6, *, random_state: Seed = 0
) -> Labeled:
    """Simulate bags of words with several topics each.

    The data are draws of scikit-learn's ``make_multilabel_classification``, repeated until every label has a density
    from 0.15 to 0.6. No label is then empty or nearly empty. A sample has about a third of the labels and may have no
    label.

    Parameters
    ----------
    n_samples : int, default=600
        Number of samples. With few samples, the density range is unlikely to be met.
    n_features : int, default=20
        Number of words.
    n_labels : int, default=6
        Number of topics. With many labels, the density range is unlikely to be met.
    random_state : int, SeedSequence, Generator or None, default=0
        Source of random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Word counts, as float64.
    Y : ndarray of shape (n_samples, n_labels)
        Topics as 0 and 1, as int8.
    feature_names : list of str
        Names of the words, ``word_<i>``.
    label_names : list of str
        Names of the topics, ``topic_<i>``.

    Raises
    ------
    ConfigError
        If a size is not a positive integer, or if none of 200 draws has all densities in the range.

    Notes
    -----
    The run time of one draw is proportional to ``n_samples``. With the default arguments, about one draw in three
    passes.

    Examples
    --------
    >>> X, Y, feature_names, label_names = simulated_multilabel(n_samples=100, n_labels=3)
    >>> X.shape, Y.shape, label_names
    ((100, 20), (100, 3), ['topic_0', 'topic_1', 'topic_2'])
    """
    from sklearn.datasets import make_multilabel_classification  # The import is slow.

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
        f"densities between {lowest} and {highest}. Use 2 to 8 labels or more samples."
    )


def cross_testing_simulated(*, random_state: Seed = 0) -> tuple[np.ndarray, np.ndarray]:
    """Simulate two classes that no single feature separates.

    This is the simulated dataset of Korjus, Hebart & Vicente (2016). Six features are uniform on [0, 1). Then 0.8 is
    added to the first two features in an exclusive-or layout. Blocks of 2,000 rows follow each other: class 0 with
    neither feature shifted, class 0 with both, class 1 with the first, and class 1 with the second. The published file
    has the same order.

    Parameters
    ----------
    random_state : int, SeedSequence, Generator or None, default=0
        Source of random numbers.

    Returns
    -------
    X : ndarray of shape (8000, 6)
        Features, as float64.
    y : ndarray of shape (8000,)
        0 for class A of the paper and 1 for class B, as int64.

    Examples
    --------
    The means of the first two features in the four blocks show the exclusive-or layout.

    >>> X, y = cross_testing_simulated()
    >>> X[:, :2].reshape(4, 2000, 2).mean(axis=1).round(1).tolist()
    [[0.5, 0.5], [1.3, 1.3], [1.3, 0.5], [0.5, 1.3]]
    """
    shifted = np.array([[False, False], [True, True], [True, False], [False, True]])
    X = _generator(random_state).random((8000, 6))
    X[:, :2] += 0.8 * np.repeat(shifted, 2000, axis=0)
    return X, np.repeat([0, 1], 4000)


def cross_testing_random(n_per_class: int = 10_000, *, random_state: Seed = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw twenty uniform features and labels without any signal.

    This is the random dataset of Korjus, Hebart & Vicente (2016).

    Parameters
    ----------
    n_per_class : int, default=10_000
        Number of rows of each class. The default is that of the published file.
    random_state : int, SeedSequence, Generator or None, default=0
        Source of random numbers.

    Returns
    -------
    X : ndarray of shape (2 * n_per_class, 20)
        Features, uniform on [0, 1), as float64.
    y : ndarray of shape (2 * n_per_class,)
        All rows of class 0, then all rows of class 1, as int64.

    Raises
    ------
    ConfigError
        If ``n_per_class`` is not a positive integer.

    Examples
    --------
    >>> X, y = cross_testing_random(n_per_class=2)
    >>> X.shape, y.tolist()
    ((4, 20), [0, 0, 1, 1])
    """
    _check("cross_testing_random", n_per_class=(n_per_class, 1))
    return _generator(random_state).random((2 * n_per_class, 20)), np.repeat([0, 1], n_per_class)


def expression_like(
    class_sizes: tuple[int, int] = (33, 97),
    n_features: int = 22_283,
    n_gaussian: int = 10_404,
    *,
    n_informative: int = 0,
    effect: float = 0.0,
    spread: float = 0.0,
    random_state: Seed = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Simulate gene expression with two classes.

    Probes share 20 common factors, which explain 30 % of their variance. The defaults have the shape of endpoint A of
    Parry, Phan & Wang (2012). Without informative probes, the labels are random.

    Parameters
    ----------
    class_sizes : tuple of int, default=(33, 97)
        Number of samples in each class.
    n_features : int, default=22_283
        Number of probes.
    n_gaussian : int, default=10_404
        Expected number of probes that :func:`fairfold.win_percentage.gaussian_features` selects at two standard errors.
        The other probes are exponentials of Gaussian probes.
    n_informative : int, default=0
        Number of Gaussian probes that differ between the classes.
    effect : float, default=0.0
        Standard deviation of the differences between the class means.
    spread : float, default=0.0
        Standard deviation of the logarithm of the ratio of the class standard deviations.
    random_state : int, SeedSequence, Generator or None, default=0
        Source of random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Expression, as float64.
    y : ndarray of shape (n_samples,)
        Classes 0 and 1, the first class first.

    Raises
    ------
    ConfigError
        If a number is out of range.

    Examples
    --------
    >>> X, y = expression_like((10, 20), n_features=500, n_gaussian=200)
    >>> X.shape, np.bincount(y).tolist()
    ((30, 500), [10, 20])
    """
    first, second = class_sizes
    _check("expression_like", first=(first, 1), second=(second, 1), n_features=(n_features, 1))
    _check("expression_like", n_gaussian=(n_gaussian, 0), n_informative=(n_informative, 0))
    _check("expression_like", numbers.Real, effect=(effect, 0), spread=(spread, 0))
    drawn = round(n_gaussian / _GAUSSIAN_PASS)
    if not n_informative <= drawn <= n_features:
        found = f"n_informative = {n_informative}, n_gaussian = {n_gaussian} and n_features = {n_features}"
        raise ConfigError(f"expression_like: found {found}. Increase n_features, or decrease the other two.")
    rng, y = _generator(random_state), np.repeat([0, 1], class_sizes)
    loadings = rng.normal(size=(_N_FACTORS, n_features))
    X = rng.normal(size=(len(y), _N_FACTORS)) @ (loadings * np.sqrt(0.3 / (loadings**2).sum(axis=0)))
    X += rng.normal(scale=np.sqrt(0.7), size=X.shape)
    X[y == 1, :n_informative] *= np.exp(rng.normal(scale=spread, size=n_informative))
    X[y == 1, :n_informative] += rng.normal(scale=effect, size=n_informative)
    X[:, drawn:] = np.exp(X[:, drawn:])
    return X[:, rng.permutation(n_features)], y


def metric_behavior(
    pattern: str, *, n_samples: int = 100_000, n_labels: int = 100, n_folds: int = 10
) -> tuple[csr_array, np.ndarray]:
    """Make a label matrix whose folds have a known flaw.

    The matrix shows how a measure of split quality reacts to the class size. The patterns are those of Figure 1 of
    Tiittanen, Holm & Törönen (2021), with the published rounding.

    Parameters
    ----------
    pattern : {"equal", "difference", "one-missing"}
        The flaw, as described in the Notes.
    n_samples : int, default=100_000
        Number of samples, at least ``4 * n_folds``.
    n_labels : int, default=100
        Number of labels.
    n_folds : int, default=10
        Number of folds, at least 2.

    Returns
    -------
    Y : csr_array of shape (n_samples, n_labels)
        Labels as 0 and 1, as int8.
    fold_of : ndarray of shape (n_samples,)
        Fold of each sample, as int64.

    Raises
    ------
    ConfigError
        If the pattern is unknown or a size is too small.

    Notes
    -----
    The nominal class sizes ``s_j`` are evenly spaced from ``2 * n_folds`` to ``n_samples // 2``. With
    ``c = s_j // n_folds``, the folds have these numbers of positives:

    - ``"equal"``: every fold has ``c``.
    - ``"difference"``: fold 0 has ``c + c // 5`` (20 % more), fold 1 has ``c - c // 5``, and every other fold has
      ``c``.
    - ``"one-missing"``: fold 0 has 0, and every other fold has ``s_j // (n_folds - 1)``.

    Folds are contiguous blocks of rows, and the positives are the first rows of their block. Run time and memory grow
    with the number of ones, about ``n_samples * n_labels / 4``.

    Examples
    --------
    >>> Y, fold_of = metric_behavior("difference", n_samples=60, n_labels=2, n_folds=3)
    >>> [Y[fold_of == fold].sum(axis=0).tolist() for fold in range(3)]
    [[2, 12], [2, 8], [2, 10]]
    """
    check_name("pattern", pattern, PATTERNS, ConfigError, "metric_behavior")
    _check("metric_behavior", n_folds=(n_folds, 2), n_labels=(n_labels, 1))
    _check("metric_behavior", n_samples=(n_samples, 4 * n_folds))

    sizes = np.linspace(2 * n_folds, n_samples // 2, n_labels).astype(np.int64)
    counts = np.tile(sizes // n_folds, (n_folds, 1))  # (n_folds, n_labels)
    if pattern == "difference":
        counts[:2] += np.outer([1, -1], counts[0] // 5)
    elif pattern == "one-missing":
        counts[:] = sizes // (n_folds - 1)
        counts[0] = 0

    fold_of = np.arange(n_samples) * n_folds // n_samples
    block_starts = np.searchsorted(fold_of, np.arange(n_folds))
    runs = counts.T.ravel()  # one run of consecutive rows for each label and fold
    ends = np.cumsum(runs)
    rows = np.arange(ends[-1]) + np.repeat(np.tile(block_starts, n_labels) - (ends - runs), runs)
    return _from_columns(rows, counts.sum(axis=0), n_samples), fold_of


def label_matrix_like(
    n_samples: int,
    n_labels: int,
    *,
    density: float,
    class_sizes: tuple[int, int, int, int, int],
    hierarchical: bool = True,
    random_state: Seed = 0,
) -> csr_array:
    """Make a stand-in for a label matrix of which only the size, the density and the class sizes are known.

    The arguments are a row of Table 1 of Tiittanen, Holm & Törönen (2021). The class sizes have exactly the given
    quantiles.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    n_labels : int
        Number of labels, at least 7. The five quantiles are then five different labels.
    density : float
        Fraction of ones, above 0 and at most 1.
    class_sizes : tuple of int of length 5
        Minimum, lower quartile, median, upper quartile and maximum of the numbers of positives per label.
    hierarchical : bool, default=True
        Whether the labels form a tree and follow the true-path rule of the Gene Ontology: a row with a label also has
        the parent of the label. Otherwise, labels are independent.
    random_state : int, SeedSequence, Generator or None, default=0
        Source of random numbers.

    Returns
    -------
    csr_array of shape (n_samples, n_labels)
        Labels as 0 and 1, as int8 with sorted indices. Columns are in random order.

    Raises
    ------
    ConfigError
        If a size is out of range, or the class sizes cannot give the density.

    Notes
    -----
    The parent of a label is a random larger label, about three times larger on average. A label whose parent would be
    larger than all labels has none: the root of the ontology is in all rows and not a label. The rows of a label are a
    random subset of the rows of its parent, or of all rows if it has none.

    Class sizes between the lower quantiles are interpolated linearly. The rLD of random folds, which depends on class
    sizes only, is then close to the published one. The top quarter contains most ones. Its curve is exponential and is
    bent until the number of ones agrees with the density within 1 %.

    The run time grows with the sum of the parents' sizes, a few times the number of ones. Memory grows with the number
    of ones.

    Examples
    --------
    >>> Y = label_matrix_like(100, 9, density=0.2, class_sizes=(2, 5, 10, 20, 90))
    >>> np.quantile(Y.sum(axis=0), [0, 0.25, 0.5, 0.75, 1]).tolist()
    [2.0, 5.0, 10.0, 20.0, 90.0]
    >>> Y.nnz / (100 * 9)
    0.2
    """
    _check("label_matrix_like", n_samples=(n_samples, 1), n_labels=(n_labels, 7))
    _check_class_sizes(class_sizes, n_samples)
    ranked_sizes = _solve_class_sizes(n_samples, n_labels, density, class_sizes)
    rng = _generator(random_state)
    ranked_parents = _draw_parents(ranked_sizes, rng) if hierarchical else np.full(n_labels, -1)

    column_of = rng.permutation(n_labels)
    sizes, parents = np.empty((2, n_labels), dtype=np.int64)
    sizes[column_of] = ranked_sizes
    parents[column_of] = np.where(ranked_parents < 0, -1, column_of[ranked_parents])

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
) -> tuple[*Labeled, Hierarchy]:
    """Simulate samples annotated with terms of an ontology like the Gene Ontology.

    The features carry a signal of the terms. Labels follow the true-path rule: a sample with a term has all ancestors
    of the term.

    Parameters
    ----------
    n_samples : int, default=600
        Number of samples, at least ``n_labels``.
    n_labels : int, default=40
        Number of terms, at least 2.
    n_features : int, default=20
        Number of features.
    terms_per_sample : float, default=2.0
        Mean number of terms drawn for a sample, before their ancestors are added. At least 1.
    noise : float, default=1.0
        Standard deviation of the noise in the features.
    random_state : int, SeedSequence, Generator or None, default=0
        Source of random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Features, as float64.
    Y : csr_array of shape (n_samples, n_labels)
        Labels as 0 and 1, as int8 with sorted indices.
    feature_names : list of str
        Names of the features, ``feature_<i>``.
    label_names : list of str
        Names of the terms, ``term_<i>``. The root is ``term_0``.
    hierarchy : Hierarchy
        The ontology.

    Raises
    ------
    ConfigError
        If a size is out of range.

    Notes
    -----
    *Ontology.* The ontology has one root. Every other term has one parent, or two with probability 0.4, among the terms
    before it. It is a directed acyclic graph but not a tree.

    *Labels.* A sample is annotated with one term plus a Poisson number of further terms and with all ancestors of these
    terms. Terms are drawn in proportion to 1 / rank in a random order, because few terms of the Gene Ontology are
    frequent and most are rare. Every term is drawn for at least ``n_samples // (5 * n_labels)`` samples, and for at
    least one.

    *Features.* Every term moves the features of its samples in a random direction, and so do its ancestors. Samples
    with more common terms are closer to each other. Features are the sum of these moves, scaled to a mean variance of
    1, and of normal noise.

    Run time and memory grow with the number of annotations and with ``n_samples * n_features``.

    Examples
    --------
    >>> X, Y, feature_names, label_names, hierarchy = gene_ontology_like(n_samples=50, n_labels=4, n_features=3)
    >>> X.shape, Y.shape, label_names
    ((50, 3), (50, 4), ['term_0', 'term_1', 'term_2', 'term_3'])
    >>> int(Y[:, [0]].sum())  # all samples have the root
    50
    """
    name = "gene_ontology_like"
    _check(name, n_labels=(n_labels, 2), n_features=(n_features, 1))
    _check(name, n_samples=(n_samples, n_labels))
    _check(name, numbers.Real, terms_per_sample=(terms_per_sample, 1), noise=(noise, 0))
    rng = _generator(random_state)
    hierarchy = _draw_ontology(n_labels, rng)
    Y = hierarchy.with_ancestors(_draw_annotations(n_samples, n_labels, terms_per_sample, rng))
    Y.sort_indices()
    signal = Y @ rng.normal(size=(n_labels, n_features))
    signal -= signal.mean(axis=0)
    X = signal / signal.std() + noise * rng.normal(size=signal.shape)
    return X, Y, _numbered("feature", n_features), _numbered("term", n_labels), hierarchy


def _draw_ontology(n_labels: int, rng: np.random.Generator) -> Hierarchy:
    """Draw one or two parents of each term, uniformly among the terms before it."""
    children = np.arange(1, n_labels)
    first, second = (np.floor(rng.random(n_labels - 1) * children).astype(np.int64) for _ in range(2))
    has_second = (rng.random(n_labels - 1) < _SECOND_PARENT) & (second != first)
    edges = np.column_stack([np.append(children, children[has_second]), np.append(first, second[has_second])])
    return Hierarchy(edges, n_labels)


def _draw_annotations(n_samples: int, n_labels: int, per_sample: float, rng: np.random.Generator) -> csr_array:
    """Draw the annotations of all samples as a 0/1 matrix, without ancestors."""
    extra = rng.poisson(per_sample - 1, n_samples)
    rows = np.append(np.arange(n_samples), np.repeat(np.arange(n_samples), extra))
    shares = 1 / (1 + rng.permutation(n_labels))
    labels = rng.choice(n_labels, size=len(rows), p=shares / shares.sum())
    at_least = max(n_samples // (5 * n_labels), 1)
    sure = np.repeat(np.arange(n_labels), at_least)  # At most n_samples entries.
    labels[rng.permutation(n_samples)[: len(sure)]] = sure
    cells = csr_array((np.ones(len(rows), dtype=np.int8), (rows, labels)), shape=(n_samples, n_labels))
    cells.sum_duplicates()
    cells.data[:] = 1
    return cells


def gene_ontology_large(
    n_samples: int = 50_000,
    n_labels: int = 5_000,
    n_features: int = 100,
    *,
    terms_per_sample: float = 1.5,
    features_per_term: int = 10,
    noise: float = 2.0,
    random_state: Seed = 0,
) -> tuple[*Labeled, Hierarchy]:
    """Simulate many samples annotated with many terms of an ontology like the Gene Ontology.

    Parameters
    ----------
    n_samples : int, default=50_000
        Number of samples, at least ``n_labels``.
    n_labels : int, default=5_000
        Number of terms, at least 3.
    n_features : int, default=100
        Number of features.
    terms_per_sample : float, default=1.5
        Mean number of terms drawn for a sample, before their ancestors are added. At least 1.
    features_per_term : int, default=10
        Maximum number of features that a term moves. Features are drawn with replacement and may coincide.
    noise : float, default=2.0
        Standard deviation of the noise in the features.
    random_state : int, SeedSequence, Generator or None, default=0
        Source of random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Features, as float32.
    Y : csr_array of shape (n_samples, n_labels)
        Labels as 0 and 1, as int8 with sorted indices.
    feature_names : list of str
        Names of the features, ``feature_<i>``.
    label_names : list of str
        Names of the terms, ``term_<i>``. The root is ``term_0``.
    hierarchy : Hierarchy
        The ontology.

    Raises
    ------
    ConfigError
        If a size is out of range.

    Notes
    -----
    *Ontology.* Term 0 is the root. Every other term has a parent that is drawn uniformly among the terms before it. Its
    mean depth is about ln(n_labels). Two in five terms draw a second parent among the siblings of their parent, if
    other siblings come before the term. The two parents are therefore close to each other and share most ancestors.

    *Labels.* A sample is annotated with one term plus a Poisson number of further terms and with all ancestors of these
    terms. Terms are drawn in proportion to 1 / rank in a random order. Each term is drawn for at least five samples if
    there are enough samples. With 500,000 samples and 10,000 labels, the quartiles of the class sizes are within a
    factor of two of those of the dataset ``GO-BP-like``.

    *Features.* Every term moves some features by normal amounts, and so do its ancestors. Features are the sum of these
    moves, scaled to a mean variance of 1 and a mean of 0, and of normal noise. The direction of the move identifies a
    label, even a rare one, better than any single feature.

    Samples are drawn in blocks of ``BLOCK_SIZE`` with random numbers of their own. Run time and memory grow with the
    number of annotations and with ``n_samples * n_features``. Memory is that of the result and of one block.

    Examples
    --------
    >>> X, Y, feature_names, label_names, hierarchy = gene_ontology_large(n_samples=100, n_labels=5, n_features=3)
    >>> X.shape, Y.shape
    ((100, 3), (100, 5))
    """
    name = "gene_ontology_large"
    _check(name, n_labels=(n_labels, 3), n_features=(n_features, 1), features_per_term=(features_per_term, 1))
    _check(name, n_samples=(n_samples, n_labels))
    _check(name, numbers.Real, terms_per_sample=(terms_per_sample, 1), noise=(noise, 0))
    rng = _generator(random_state)
    entropy = rng.integers(2**32, size=8).tolist()
    hierarchy = Hierarchy(_draw_near_parents(n_labels, rng), n_labels)
    closure = csr_array(hierarchy.ancestors + eye_array(n_labels, dtype=np.int32, format="csr"))
    ranks, sure = 1 + rng.permutation(n_labels - 1), rng.permutation(np.arange(1, n_labels))
    directions = _draw_directions((n_labels, n_features), min(features_per_term, n_features), rng)
    signal = _with_ancestors(_draw_terms(BLOCK_SIZE, ranks, terms_per_sample, rng), closure) @ directions
    scale = np.sqrt(signal.var(axis=0).mean()) or 1.0
    directions, center = ((each / scale).astype(np.float32) for each in (directions, signal.mean(axis=0)))
    X, blocks = np.empty((n_samples, n_features), dtype=np.float32), []
    for number, begin in enumerate(range(0, n_samples, BLOCK_SIZE)):
        end = min(begin + BLOCK_SIZE, n_samples)
        rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(number,)))
        terms = _draw_terms(end - begin, ranks, terms_per_sample, rng, _sure_terms(sure, n_samples, begin, end))
        blocks.append(_with_ancestors(terms, closure))
        block = X[begin:end]
        rng.standard_normal(dtype=np.float32, out=block)
        block *= np.float32(noise)
        block += blocks[-1] @ directions
        block -= center
    Y = vstack(blocks, format="csr")
    return X, Y, _numbered("feature", n_features), _numbered("term", n_labels), hierarchy


def _draw_directions(shape: tuple[int, int], per_term: int, rng: np.random.Generator) -> np.ndarray:
    """Draw how each term moves the features."""
    terms, features = np.repeat(np.arange(shape[0]), per_term), rng.integers(shape[1], size=shape[0] * per_term)
    return csr_array((rng.standard_normal(len(terms)), (terms, features)), shape=shape).toarray()


def _sure_terms(sure: np.ndarray, n_samples: int, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a block that have a fixed term, and these terms.

    Every term has the same number of fixed samples. They are evenly spaced over all samples, and no other block is
    needed to find them.
    """
    n_sure = len(sure) * min(_LEAST_POSITIVES, n_samples // len(sure))
    places = np.arange(-(-begin * n_sure // n_samples), -(-end * n_sure // n_samples))
    return places * n_samples // n_sure - begin, sure[places % len(sure)]


def _draw_terms(
    n_rows: int,
    ranks: np.ndarray,
    per_sample: float,
    rng: np.random.Generator,
    sure: tuple[np.ndarray, np.ndarray] | None = None,
) -> csr_array:
    """Count how often each term is drawn for each row. Fixed terms replace the first draw.

    The term ``ranks[i]``, which is not the root, is drawn in proportion to 1 / (1 + i).
    """
    others = rng.poisson(per_sample - 1, n_rows)
    rows = np.append(np.arange(n_rows), np.repeat(np.arange(n_rows), others))
    up_to = np.cumsum(1 / np.arange(1, len(ranks) + 1))
    places = np.searchsorted(up_to, rng.random(len(rows)) * up_to[-1], side="right")
    terms = ranks[np.minimum(places, len(ranks) - 1)]
    if sure is not None:
        terms[sure[0]] = sure[1]
    return csr_array((np.ones(len(rows), dtype=np.int32), (rows, terms)), shape=(n_rows, len(ranks) + 1))


def _with_ancestors(terms: csr_array, closure: csr_array) -> csr_array:
    """Return the 0/1 matrix of the terms and all their ancestors."""
    Y = csr_array(terms @ closure)
    Y.sort_indices()
    places = Y.indices.astype(np.int32, copy=False), Y.indptr.astype(np.int32, copy=False)
    return csr_array((np.ones(Y.nnz, dtype=np.int8), *places), shape=Y.shape)


def _draw_near_parents(n_labels: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the edges of the ontology of :func:`gene_ontology_large` as pairs of a term and its parent.

    Along first parents, the second parent of a term has the same depth as the first. No edge follows from other edges.
    """
    children = np.arange(1, n_labels)
    parent = np.zeros(n_labels, dtype=np.int64)
    parent[1:] = rng.random(n_labels - 1) * children
    # Siblings are consecutive and ascending. The siblings of a parent are the children of the parent's parent.
    by_parent = 1 + np.argsort(parent[1:], kind="stable")
    place = np.empty(n_labels, dtype=np.int64)
    place[by_parent] = np.arange(n_labels - 1)
    begins = np.searchsorted(parent[by_parent], np.arange(n_labels))
    asks = children[(parent[1:] > 0) & (rng.random(n_labels - 1) < _SECOND_PARENT)]
    first = begins[parent[parent[asks]]]
    # Siblings of the parent that come before the term: those up to the parent, and some after it.
    key = parent[by_parent] * n_labels + by_parent
    n_before = np.searchsorted(key, parent[parent[asks]] * n_labels + asks) - first
    drawn = first + np.floor(rng.random(len(asks)) * (n_before - 1)).astype(np.int64)
    drawn += drawn >= place[parent[asks]]  # Skip the parent itself.
    has_second = n_before > 1
    second = np.column_stack([asks[has_second], by_parent[drawn[has_second]]])
    return np.concatenate([np.column_stack([children, parent[1:]]), second])


def _solve_class_sizes(
    n_samples: int, n_labels: int, density: float, class_sizes: tuple[int, int, int, int, int]
) -> np.ndarray:
    """Return ascending class sizes with the given quantiles and density.

    A ``ConfigError`` names the possible range of the density if it cannot be met.
    """
    if isinstance(density, bool) or not isinstance(density, numbers.Real) or not 0 < density <= 1:
        raise ConfigError(f"label_matrix_like: density must be a number above 0 and at most 1, not {density!r}.")
    wanted = density * n_samples * n_labels
    low, high = -10.0, 10.0  # logarithms of exponents that are practically 0 and infinity
    most = _class_sizes(n_labels, class_sizes, low).sum()
    least = _class_sizes(n_labels, class_sizes, high).sum()
    target = np.clip(wanted, least, most)
    exponent = scipy.optimize.bisect(lambda bend: _class_sizes(n_labels, class_sizes, bend).sum() - target, low, high)
    sizes = _class_sizes(n_labels, class_sizes, exponent)
    if abs(sizes.sum() - wanted) > 0.01 * wanted:
        cells = n_samples * n_labels
        raise ConfigError(
            f"label_matrix_like: class sizes {tuple(class_sizes)} of {n_labels} labels and {n_samples} samples cannot "
            f"give the density {density}. Choose one from {least / cells:.4g} to {most / cells:.4g}, or other class "
            "sizes."
        )
    return sizes


def _class_sizes(n_labels: int, class_sizes: tuple[int, int, int, int, int], log_exponent: float) -> np.ndarray:
    """Return ascending class sizes. A larger exponent gives fewer large classes in the top quarter.

    A quantile between two ranks is assigned to both ranks, which makes ``numpy.quantile`` return it exactly.
    """
    positions = np.linspace(0, n_labels - 1, 5)
    anchors = np.concatenate([np.floor(positions), np.ceil(positions)])
    anchors, first = np.unique(anchors, return_index=True)
    values = np.tile(class_sizes, 2)[first]
    ranks = np.arange(n_labels)
    sizes = np.interp(ranks, anchors, values)
    top = ranks >= anchors[-2]
    bent = ((ranks[top] - anchors[-2]) / (anchors[-1] - anchors[-2])) ** np.exp(log_exponent)
    sizes[top] = values[-2] * (values[-1] / values[-2]) ** bent
    return np.rint(sizes).astype(np.int64)


def _draw_parents(sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the rank of the parent of every label, -1 for none.

    ``sizes`` ascend. A parent is strictly larger than its child and therefore has a higher rank. Labels of equal size
    are equally likely.
    """
    target = sizes * np.exp(rng.exponential(np.log(_PARENT_RATIO), len(sizes)))
    first = np.searchsorted(sizes, target, side="right")
    has_parent = first < len(sizes)
    first = first[has_parent]
    parents = np.full(len(sizes), -1)
    parents[has_parent] = rng.integers(first, np.searchsorted(sizes, sizes[first], side="right"))
    return parents


@njit(cache=True, nogil=True)
def _draw_rows(
    order: np.ndarray, parents: np.ndarray, starts: np.ndarray, n_rows: int, rng: np.random.Generator, out: np.ndarray
) -> None:
    """Fill ``out[starts[j]:starts[j + 1]]`` with an ascending random subset of the rows of the parent of label j.

    ``order`` has parents before children. The method is selection sampling (Knuth, The Art of Computer Programming 2,
    Algorithm S). It takes each row of the parent with probability (rows still needed) / (rows still available), which
    keeps the rows sorted.
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
    """Return a CSR matrix of int8 ones with sorted indices, from the rows of column 0, of column 1, and so on."""
    index = get_index_dtype(maxval=max(n_samples, len(rows)))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(index)
    ones = np.ones(len(rows), dtype=np.int8)
    return csc_array((ones, rows.astype(index, copy=False), starts), shape=(n_samples, len(sizes))).tocsr()


def _embedded(loader: str) -> Labeled:
    """Load one of the datasets embedded in scikit-learn."""
    from sklearn import datasets  # The import is slow, and most generators do not need it.

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


def _check(function: str, kind: type = numbers.Integral, **arguments: tuple[float, float]) -> None:
    """Raise for arguments, each with its minimum, that are of another kind of number or too small."""
    for name, (value, least) in arguments.items():
        if isinstance(value, bool) or not isinstance(value, kind) or not least <= value < np.inf:
            wanted = "an integer" if kind is numbers.Integral else "a finite number"
            raise ConfigError(f"{function}: {name} must be {wanted} of at least {least}, not {value!r}.")


def _check_class_sizes(class_sizes: tuple[int, int, int, int, int], n_samples: int) -> None:
    sizes = np.asarray(class_sizes)
    is_sorted = sizes.shape == (5,) and sizes.dtype.kind in "iu" and (np.diff(sizes) >= 0).all()
    if not is_sorted or not 1 <= sizes[0] <= sizes[-1] <= n_samples:
        raise ConfigError(
            f"label_matrix_like: class_sizes must be five ascending integers from 1 to n_samples = {n_samples} ("
            f"minimum, lower quartile, median, upper quartile, maximum), not {class_sizes!r}."
        )


def metric_behaviors() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the labels and folds of :func:`metric_behavior` for all patterns.

    Returns
    -------
    dict of str to (ndarray, ndarray)
        Labels and folds by pattern.
    """
    return {pattern: metric_behavior(pattern) for pattern in PATTERNS}
