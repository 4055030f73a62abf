"""The generators follow their docstrings: shapes, densities, exact counts and the true-path rule."""

from __future__ import annotations

import hashlib
import itertools
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.io import loadmat
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from fairfold.datasets import generate, load_catalog, prepare
from fairfold.errors import ConfigError
from fairfold.splitting.comparison import describe_labels
from fairfold.win_percentage import gaussian_features

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "resources" / "published"
SMALL_GO = {"n_samples": 5000, "n_labels": 300, "density": 0.1, "class_sizes": (4, 41, 123, 493, 4990)}
LARGE = {"n_samples": generate.BLOCK_SIZE + 100, "n_labels": 300, "n_features": 30}
# Standard deviation of a uniform variable on an interval of length one.
UNIFORM_SD = 1 / np.sqrt(12)


def go_like(**changes):
    return generate.label_matrix_like(**(SMALL_GO | changes))


def as_bytes(result) -> bytes:
    """Return all bytes of an array, a CSR matrix, or a tuple of those and of lists of names."""
    if isinstance(result, csr_array):
        return as_bytes((result.indptr, result.indices, result.data))
    if isinstance(result, tuple):
        return b"|".join(map(as_bytes, result))
    return np.asarray(result).tobytes()


def ontology(**changes):
    """Return the output of gene_ontology_like with edges instead of the hierarchy."""
    *made, hierarchy = generate.gene_ontology_like(**changes)
    return *made, hierarchy.edges


def large_ontology(**changes):
    """Return the output of gene_ontology_large in two blocks, with edges instead of the hierarchy."""
    *made, hierarchy = generate.gene_ontology_large(**(LARGE | changes))
    return *made, hierarchy.edges


RANDOM = {
    "simulated_multilabel": generate.simulated_multilabel,
    "cross_testing_simulated": generate.cross_testing_simulated,
    "cross_testing_random": generate.cross_testing_random,
    "expression_like": lambda random_state: generate.expression_like(
        (20, 30), 200, 90, n_informative=20, effect=1.0, spread=0.5, random_state=random_state
    ),
    "label_matrix_like": lambda random_state: go_like(random_state=random_state),
    "gene_ontology_like": lambda random_state: ontology(random_state=random_state),
    "gene_ontology_large": lambda random_state: large_ontology(random_state=random_state),
}


@pytest.mark.parametrize("make", RANDOM.values(), ids=RANDOM)
class TestSeeds:
    def test_same_seed_same_bytes(self, make):
        first = as_bytes(make(random_state=7))
        assert first == as_bytes(make(random_state=7))
        assert first == as_bytes(make(random_state=np.random.default_rng(7)))
        assert first == as_bytes(make(random_state=np.random.SeedSequence(7)))

    def test_other_seed_other_bytes(self, make):
        assert as_bytes(make(random_state=7)) != as_bytes(make(random_state=8))

    def test_none_is_fresh_entropy(self, make):
        assert as_bytes(make(random_state=None)) != as_bytes(make(random_state=None))

    def test_global_state_is_left_alone(self, make):
        before = np.random.get_state()[1].tobytes(), np.random.get_state()[2]  # noqa: NPY002
        make(random_state=7)
        assert before == (np.random.get_state()[1].tobytes(), np.random.get_state()[2])  # noqa: NPY002

    @pytest.mark.parametrize("seed", [-1, 1.5, "seven"])
    def test_bad_seed(self, make, seed):
        with pytest.raises(ConfigError, match="random_state must be"):
            make(random_state=seed)


class TestDigitsSegments:
    def test_shapes_and_names(self):
        X, Y, feature_names, label_names = generate.digits_segments()
        assert X.shape == (1797, 64) and Y.shape == (1797, 7)
        assert (feature_names[0], feature_names[8], len(feature_names)) == ("pixel_0_0", "pixel_1_0", 64)
        assert label_names == list("abcdefg")
        assert Y.dtype == np.int8

    def test_labels_are_the_usual_display_codes(self):
        # These bytes gfedcba for digits 0 to 9 are from display driver data sheets, not from the module's table.
        codes = [0x3F, 0x06, 0x5B, 0x4F, 0x66, 0x6D, 0x7D, 0x07, 0x7F, 0x6F]
        from sklearn.datasets import load_digits

        _, Y, _, _ = generate.digits_segments()
        np.testing.assert_array_equal(Y @ (1 << np.arange(7)), np.array(codes)[load_digits().target])

    def test_densities(self):
        # Digits are nearly equally frequent: each class is within 0.004 of one tenth, so a density is off by < 0.03.
        density = generate.digits_segments()[1].mean(axis=0)
        np.testing.assert_allclose(density, [0.8, 0.8, 0.9, 0.7, 0.4, 0.6, 0.7], atol=0.03)


class TestEmbedded:
    @pytest.mark.parametrize(
        ("make", "shape", "first_feature", "per_class"),
        [
            (generate.iris, (150, 4), "sepal length (cm)", {"setosa": 50, "versicolor": 50, "virginica": 50}),
            (generate.breast_cancer, (569, 30), "mean radius", {"malignant": 212, "benign": 357}),
        ],
    )
    def test_shapes_names_and_class_sizes(self, make, shape, first_feature, per_class):
        X, y, feature_names, label_names = make()
        assert X.shape == shape and y.dtype == np.int64
        assert feature_names[0] == first_feature and len(feature_names) == shape[1]
        assert dict(zip(label_names, np.bincount(y), strict=True)) == per_class
        assert {type(name) for name in feature_names + label_names} == {str}  # no NumPy strings


class TestExpression:
    def test_sizes_and_gaussian_probes(self):
        X, y = generate.expression_like((40, 60), 2000, 800)
        assert X.shape == (100, 2000) and np.bincount(y).tolist() == [40, 60]
        # The share of selected probes varies by 1.6 standard deviations of a binomial, because probes share factors.
        assert len(gaussian_features(X, 2)) == pytest.approx(800, abs=60)

    def test_informative_probes_differ_in_mean_and_spread(self):
        X, y = generate.expression_like((2000, 2000), 60, 40, n_informative=40, effect=1.0, spread=0.5)
        gaussian = X.min(axis=0) < 0
        first, second = X[y == 0][:, gaussian], X[y == 1][:, gaussian]
        assert np.std(second.mean(axis=0) - first.mean(axis=0)) == pytest.approx(1, rel=0.4)
        assert np.std(np.log(second.std(axis=0) / first.std(axis=0))) == pytest.approx(0.5, rel=0.4)

    def test_too_many_gaussian_probes(self):
        with pytest.raises(ConfigError, match="n_gaussian = 99 and n_features = 100"):
            generate.expression_like((5, 5), 100, 99)

    @pytest.mark.parametrize("panel", ["A", "C", "G"])
    def test_stand_ins_have_the_printed_sizes(self, panel):
        printed = pd.read_csv(PUBLISHED / "win_percentage_table5.csv").query("panel == @panel")
        values = printed.set_index("quantity")["value"]
        entry = load_catalog()[f"{printed['dataset'].iloc[0]}-like"]
        parameters = entry.generator["parameters"]
        assert [parameters[name] for name in ("n_features", "n_gaussian")] == [*values[["n_features", "n_gaussian"]]]
        assert sum(parameters["class_sizes"]) == entry.expected["n_samples"]


class TestSimulatedMultilabel:
    def test_shapes_and_names(self):
        X, Y, feature_names, label_names = generate.simulated_multilabel(200, 12, 4)
        assert X.shape == (200, 12) and Y.shape == (200, 4)
        assert feature_names[-1] == "word_11" and label_names[-1] == "topic_3"
        assert len(feature_names) == 12 and len(label_names) == 4
        assert set(np.unique(Y)) == {0, 1} and Y.dtype == np.int8

    @pytest.mark.parametrize("seed", range(5))
    def test_densities(self, seed):
        density = generate.simulated_multilabel(random_state=seed)[1].mean(axis=0)
        assert density.min() >= 0.15 and density.max() <= 0.6

    def test_every_label_can_be_learnt(self):
        X, Y, _, _ = generate.simulated_multilabel()
        forest = RandomForestClassifier(100, random_state=0).fit(X[:300], Y[:300])
        for truth, votes in zip(Y[300:].T, forest.predict_proba(X[300:]), strict=True):
            positives, negatives = truth.sum(), (1 - truth).sum()
            # Standard deviation of the area under the curve of random scores (Mann-Whitney).
            chance = np.sqrt((positives + negatives + 1) / (12 * positives * negatives))
            assert roc_auc_score(truth, votes[:, 1]) > 0.5 + 4 * chance

    def test_densities_out_of_reach(self):
        with pytest.raises(ConfigError, match="2 to 8 labels or more samples"):
            generate.simulated_multilabel(5, 3, 40)

    @pytest.mark.parametrize("name", ["n_samples", "n_features", "n_labels"])
    @pytest.mark.parametrize("value", [0, -3, 2.5, "9", True])
    def test_bad_sizes(self, name, value):
        with pytest.raises(ConfigError, match=f"{name} must be an integer of at least 1"):
            generate.simulated_multilabel(**{name: value})


def assert_simulated_layout(X, y):
    """Check blocks of 2,000 rows shifted by 0.8 as in the paper; means are within 5 standard errors."""
    assert X.shape == (8000, 6)
    np.testing.assert_array_equal(y, np.repeat([0, 1], 4000))
    tolerance = 5 * UNIFORM_SD / np.sqrt(2000)
    for block, shift in enumerate([(0, 0), (0.8, 0.8), (0.8, 0), (0, 0.8)]):
        uniform = X[2000 * block : 2000 * (block + 1)] - [*shift, 0, 0, 0, 0]
        assert uniform.min() >= -1e-12 and uniform.max() <= 1 + 1e-12  # rounding error of the sum
        np.testing.assert_allclose(uniform.mean(axis=0), 0.5, atol=tolerance)


def assert_random_layout(X, y, n_per_class):
    assert X.shape == (2 * n_per_class, 20)
    np.testing.assert_array_equal(y, np.repeat([0, 1], n_per_class))
    assert X.min() >= 0 and X.max() <= 1
    # The difference of two means, each over n_per_class rows, is small because labels carry no signal.
    difference = X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)
    np.testing.assert_allclose(difference, 0, atol=5 * UNIFORM_SD * np.sqrt(2 / n_per_class))
    np.testing.assert_allclose(X.mean(axis=0), 0.5, atol=5 * UNIFORM_SD / np.sqrt(2 * n_per_class))


def published_file(name: str):
    """Return X and y of one of the paper's files."""
    mirror = os.environ.get("FAIRFOLD_MIRROR")
    if not mirror:
        pytest.skip("FAIRFOLD_MIRROR is not set, so the published file is not at hand")
    path = Path(mirror) / f"cross_testing_{name}" / f"data_{name}.mat"
    if not path.exists():
        pytest.skip(f"{path} is not at hand")
    classes = [loadmat(path)[f"data_class{k}"] for k in (0, 1)]
    return np.concatenate(classes), np.repeat([0, 1], [len(rows) for rows in classes])


class TestCrossTesting:
    def test_simulated(self):
        assert_simulated_layout(*generate.cross_testing_simulated(random_state=3))

    def test_random(self):
        assert_random_layout(*generate.cross_testing_random(500, random_state=3), 500)

    def test_published_simulated_file_has_the_same_layout(self):
        assert_simulated_layout(*published_file("gen"))

    def test_published_random_file_has_the_same_layout(self):
        assert_random_layout(*published_file("random"), 10_000)

    def test_random_has_the_published_size_by_default(self):
        assert generate.cross_testing_random()[0].shape == (20_000, 20)

    def test_bad_size(self):
        with pytest.raises(ConfigError, match="n_per_class must be an integer of at least 1, not 0"):
            generate.cross_testing_random(0)


def counts_per_fold(Y, fold_of):
    return np.array([Y[fold_of == fold].sum(axis=0) for fold in range(fold_of.max() + 1)])


def metric_behavior_reference(pattern, n_samples, n_labels, n_folds):
    """Return the three patterns, computed cell by cell."""
    Y = np.zeros((n_samples, n_labels), dtype=int)
    block = n_samples // n_folds
    for label, size in enumerate(np.linspace(2 * n_folds, n_samples // 2, n_labels)):
        for fold in range(n_folds):
            ones = int(size) // n_folds
            if pattern == "difference" and fold < 2:
                ones += (1 - 2 * fold) * int(0.2 * ones)
            if pattern == "one-missing":
                ones = 0 if fold == 0 else int(size) // (n_folds - 1)
            for row in range(ones):
                Y[fold * block + row, label] = 1
    return Y


class TestMetricBehavior:
    @pytest.mark.parametrize("pattern", generate.PATTERNS)
    def test_published_size(self, pattern):
        Y, fold_of = generate.metric_behavior(pattern)
        sizes = np.linspace(20, 50_000, 100).astype(int)
        expected = np.tile(sizes // 10, (10, 1))
        if pattern == "difference":
            expected[0], expected[1] = (
                expected[2] + (0.2 * expected[2]).astype(int),
                expected[2] - (0.2 * expected[2]).astype(int),
            )
        if pattern == "one-missing":
            expected = np.vstack([np.zeros_like(sizes), np.tile(sizes // 9, (9, 1))])
        assert Y.shape == (100_000, 100) and Y.dtype == np.int8 and Y.has_sorted_indices
        np.testing.assert_array_equal(fold_of, np.arange(100_000) // 10_000)
        np.testing.assert_array_equal(counts_per_fold(Y, fold_of), expected)
        assert Y.nnz == expected.sum()  # no explicit zeros or duplicate cells

    @pytest.mark.parametrize("pattern", generate.PATTERNS)
    @pytest.mark.parametrize("shape", [(400, 17, 8), (60, 1, 2), (120, 5, 30)])
    def test_cell_by_cell(self, pattern, shape):
        n_samples, n_labels, n_folds = shape
        Y, _ = generate.metric_behavior(pattern, n_samples=n_samples, n_labels=n_labels, n_folds=n_folds)
        np.testing.assert_array_equal(Y.toarray(), metric_behavior_reference(pattern, *shape))

    def test_folds_that_do_not_divide_the_rows(self):
        _, fold_of = generate.metric_behavior("equal", n_samples=103, n_labels=4, n_folds=10)
        assert (np.diff(fold_of) >= 0).all()
        assert set(np.bincount(fold_of)) == {10, 11} and len(np.bincount(fold_of)) == 10

    def test_unknown_pattern(self):
        with pytest.raises(ConfigError, match="unknown pattern 'one_missing': did you mean 'one-missing'"):
            generate.metric_behavior("one_missing")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n_folds": 1}, "n_folds must be an integer of at least 2, not 1"),
            ({"n_labels": 0}, "n_labels must be an integer of at least 1, not 0"),
            ({"n_samples": 39}, "n_samples must be an integer of at least 40, not 39"),
            ({"n_samples": 1e5}, "n_samples must be an integer of at least 40, not 100000.0"),
        ],
    )
    def test_bad_sizes(self, arguments, message):
        with pytest.raises(ConfigError, match=message):
            generate.metric_behavior("equal", **arguments)


def draw_rows_reference(order, parents, starts, n_samples, rng):
    """Draw rows by selection sampling on lists, one label after the other."""
    members = {}
    for label in order:
        candidates = list(members[parents[label]]) if parents[label] >= 0 else list(range(n_samples))
        needed = int(starts[label + 1] - starts[label])
        chosen = []
        for seen, row in enumerate(candidates):
            if len(chosen) == needed:
                break
            if rng.random() * (len(candidates) - seen) < needed - len(chosen):
                chosen.append(row)
        members[label] = chosen
    return np.concatenate([members[label] for label in range(len(order))])


class TestGeneOntologyLike:
    @pytest.mark.parametrize("shape", [(600, 40, 20), (2, 2, 1), (50, 50, 3), (300, 7, 1)])
    def test_shapes_and_form(self, shape):
        X, Y, features, labels, hierarchy = generate.gene_ontology_like(*shape)
        assert X.shape == (shape[0], shape[2]) and Y.shape == shape[:2] and X.dtype == np.float64
        assert Y.dtype == np.int8 and Y.has_sorted_indices and set(Y.data) == {1}
        assert features == [f"feature_{j}" for j in range(shape[2])] and hierarchy.n_labels == shape[1]
        assert labels == [f"term_{j}" for j in range(shape[1])]

    @pytest.mark.parametrize("seed", range(5))
    def test_labels_keep_the_true_path_rule(self, seed):
        _, Y, _, _, hierarchy = generate.gene_ontology_like(random_state=seed)
        dense, above = Y.toarray(), hierarchy.ancestors.toarray()
        for label in range(40):  # plain reference
            assert dense[dense[:, label] == 1][:, above[label] == 1].all()
        assert dense[:, 0].all()  # the root is an ancestor of all terms, and each sample has a term

    def test_terms_have_one_or_two_parents_before_them_under_one_root(self):
        hierarchies = [generate.gene_ontology_like(40, random_state=seed)[-1] for seed in range(50)]
        depths = np.zeros((50, 40))
        for depth, hierarchy in zip(depths, hierarchies, strict=True):
            for child, parent in hierarchy.edges:  # sorted, and parents come before their children
                depth[child] = max(depth[child], depth[parent] + 1)
        assert (depths[:, 0] == 0).all() and (depths[:, 1:] > 0).all()
        for hierarchy in hierarchies:
            n_parents = np.bincount(hierarchy.edges[:, 0], minlength=40)
            assert n_parents[0] == 0 and set(n_parents[1:]) == {1, 2}
            assert (hierarchy.edges[:, 1] < hierarchy.edges[:, 0]).all()
        # With one uniform parent, term j has mean depth 1 + 1/2 + ... + 1/j. Second parents increase it.
        alone = np.cumsum(1 / np.arange(1, 40)).mean()
        error = depths[:, 1:].mean(axis=1).std(ddof=1) / np.sqrt(50)
        assert depths[:, 1:].mean() > alone + 3 * error

    def test_terms_are_as_frequent_as_one_over_their_rank(self):
        n, q = 20_000, 20
        _, Y, _, _, hierarchy = generate.gene_ontology_like(n, q, 1, terms_per_sample=1)
        of_term = hierarchy.ancestors.toarray() + np.eye(q, dtype=int)  # labels of a sample with one term
        is_own = (Y.toarray()[:, np.newaxis] == of_term).all(axis=2)
        assert (is_own.sum(axis=1) == 1).all()
        drawn = n - q * (n // (5 * q))  # other samples guarantee positives of rare terms
        shares = 1 / np.arange(1, q + 1) / (1 / np.arange(1, q + 1)).sum()
        expected = n // (5 * q) + drawn * shares
        found = np.sort(is_own.sum(axis=0))[::-1]
        assert (abs(found - expected) < 5 * np.sqrt(drawn * shares * (1 - shares))).all()

    @pytest.mark.parametrize("seed", range(5))
    def test_no_term_is_rarer_than_a_fifth_of_equal_shares(self, seed):
        Y = generate.gene_ontology_like(2000, 100, 1, terms_per_sample=1, random_state=seed)[1]
        assert Y.sum(axis=0).min() >= 2000 // 500
        assert generate.gene_ontology_like(60, 60, 1, terms_per_sample=1, random_state=seed)[1].sum(axis=0).min() >= 1

    def test_features_are_those_of_terms_and_noise(self):
        X, Y, *_ = generate.gene_ontology_like(noise=0)
        assert X.std() == pytest.approx(1) and X.mean(axis=0) == pytest.approx(0, abs=1e-12)
        dense = np.column_stack([np.ones(600), Y.toarray()])
        np.testing.assert_allclose(dense @ np.linalg.lstsq(dense, X, rcond=None)[0], X, atol=1e-9)
        noisy = generate.gene_ontology_like(noise=2)[0]
        assert (noisy - X).std() == pytest.approx(2, abs=5 * 2 / np.sqrt(2 * X.size))  # five standard errors

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"n_labels": 1}, "n_labels must be an integer of at least 2, not 1."),
            ({"n_labels": 40.0}, "n_labels must be an integer of at least 2, not 40.0."),
            ({"n_samples": 39}, "n_samples must be an integer of at least 40, not 39."),
            ({"n_features": 0}, "n_features must be an integer of at least 1, not 0."),
            ({"terms_per_sample": 0.9}, "terms_per_sample must be a finite number of at least 1, not 0.9."),
            ({"terms_per_sample": True}, "terms_per_sample must be a finite number of at least 1, not True."),
            ({"terms_per_sample": np.inf}, "terms_per_sample must be a finite number of at least 1, not inf."),
            ({"noise": -1}, "noise must be a finite number of at least 0, not -1."),
            ({"noise": np.nan}, "noise must be a finite number of at least 0, not nan."),
            ({"noise": "loud"}, "noise must be a finite number of at least 0, not 'loud'."),
        ],
    )
    def test_bad_arguments(self, changes, message):
        with pytest.raises(ConfigError) as error:
            generate.gene_ontology_like(**changes)
        assert str(error.value) == f"gene_ontology_like: {message}"


@pytest.mark.parametrize(
    ("changes", "digest", "value"),
    [
        ({}, "fad91ac7a025dd2c", 1.4581261534347427),
        (
            {"n_samples": 90, "n_labels": 17, "n_features": 3, "noise": 0.5, "random_state": 5},
            "49d801513d6b5f2e",
            2.095591088697568,
        ),
    ],
)
def test_gene_ontology_like_is_what_it_was_before_there_was_one_for_any_size(changes, digest, value):
    X, Y, _, _, edges = ontology(**changes)
    assert hashlib.sha256(as_bytes((Y, edges))).hexdigest()[:16] == digest
    assert X[-1, -1] == pytest.approx(value, rel=1e-12)  # drawn last; the rounding of sums differs between processors


class TestGeneOntologyLarge:
    @pytest.mark.parametrize("shape", [(8292, 300, 30), (8192, 3, 1), (20_000, 40, 7), (50, 50, 4)])
    def test_shapes_and_form(self, shape):
        X, Y, features, labels, hierarchy = generate.gene_ontology_large(*shape)
        assert X.shape == (shape[0], shape[2]) and X.dtype == np.float32 and np.isfinite(X).all()
        assert Y.shape == shape[:2] and Y.dtype == np.int8 and Y.has_canonical_format and set(Y.data) == {1}
        assert Y.indices.dtype == np.int32
        assert features == [f"feature_{j}" for j in range(shape[2])] and hierarchy.n_labels == shape[1]
        assert labels == [f"term_{j}" for j in range(shape[1])]

    def test_blocks_have_random_numbers_of_their_own(self):
        X = generate.gene_ontology_large(**LARGE)[0]
        assert not np.isin(X[:100], X[generate.BLOCK_SIZE :]).all(axis=1).any()

    @pytest.mark.parametrize("seed", range(5))
    def test_labels_keep_the_true_path_rule(self, seed):
        _, Y, _, _, hierarchy = generate.gene_ontology_large(500, 60, 2, random_state=seed)
        parents = {label: set() for label in range(60)}
        for child, parent in hierarchy.edges.tolist():
            parents[child].add(parent)
        for has in (set(np.flatnonzero(row)) for row in Y.toarray()):  # plain reference
            assert 0 in has and len(has) > 1
            assert all(parents[label] <= has for label in has)

    @pytest.mark.parametrize("seed", range(5))
    def test_labels_are_the_terms_drawn_and_all_above_them(self, seed):
        hierarchy = generate.gene_ontology_large(80, 80, 1, random_state=seed)[4]
        rng = np.random.default_rng(seed)
        sure = generate._sure_terms(1 + rng.permutation(79), 3000, 0, 3000)
        terms = generate._draw_terms(3000, 1 + rng.permutation(79), 1.5, rng, sure)
        parents = [hierarchy.edges[hierarchy.edges[:, 0] == label, 1] for label in range(80)]
        expected = np.zeros((3000, 80), dtype=np.int8)
        for row, drawn in enumerate(terms.toarray()):
            waiting = list(np.flatnonzero(drawn))
            while waiting:
                label = waiting.pop()
                expected[row, label] = 1
                waiting += parents[label].tolist()
        closure = csr_array(hierarchy.ancestors.toarray() + np.eye(80, dtype=np.int32))
        np.testing.assert_array_equal(generate._with_ancestors(terms, closure).toarray(), expected)

    def test_second_parents_are_siblings_of_the_first_that_come_before_the_term(self):
        n_second = []
        for seed in range(20):
            edges = generate._draw_near_parents(500, np.random.default_rng(seed))
            first, second = edges[:499], edges[499:]
            parent = dict(first.tolist())
            assert list(parent) == list(range(1, 500)) and all(above < term for term, above in parent.items())
            for term, other in second.tolist():  # plain reference
                siblings = {each for each in range(1, term) if parent[each] == parent[parent[term]]}
                assert other in siblings - {parent[term]}
            assert len(np.unique(second[:, 0])) == len(second)
            assert len(generate.Hierarchy(edges, 500).edges) == len(edges)  # no edge is implied by others
            n_second.append(len(second))
        assert 0.2 * 499 < np.mean(n_second) < generate._SECOND_PARENT * 499

    def test_second_parents_are_all_as_likely(self):
        class Draws:
            """Draws with terms 1 to 4 under the root, and 5 under 3 with a second parent: 1, 2 or 4."""

            def __init__(self, seed):
                self.fixed = [np.array([0, 0, 0, 0, 3.5]) / np.arange(1, 6), np.zeros(5)]
                self.rng = np.random.default_rng(seed)

            def random(self, size):
                return self.fixed.pop(0) if self.fixed else self.rng.random(size)

        n = 600
        found = [generate._draw_near_parents(6, Draws(seed))[5:].tolist() for seed in range(n)]
        counts = [sum(each == [[5, other]] for each in found) for other in (1, 2, 4)]
        assert sum(counts) == n and (abs(np.array(counts) - n / 3) < 5 * np.sqrt(n * 2 / 9)).all()

    @pytest.mark.parametrize(("n", "q"), [(60, 60), (150, 51), (8400, 1700), (3000, 400)])
    def test_no_label_is_without_positives(self, n, q):
        Y = generate.gene_ontology_large(n, q, 1, terms_per_sample=1)[1]
        least = min(5, n // (q - 1))
        assert Y.sum(axis=0).min() >= least
        sure = np.arange(1, q)
        rows, terms = generate._sure_terms(sure, n, 0, n)
        assert len(np.unique(rows)) == len(rows) and rows.max() < n
        assert set(np.bincount(terms, minlength=q)[1:]) == {least}
        cuts = [0, 7, n // 3, n]  # the result does not depend on the block size
        parts = [generate._sure_terms(sure, n, *ends) for ends in itertools.pairwise(cuts)]
        assert np.concatenate([part[0] + cut for part, cut in zip(parts, cuts, strict=False)]).tolist() == rows.tolist()
        assert np.concatenate([part[1] for part in parts]).tolist() == terms.tolist()

    def test_terms_are_drawn_in_proportion_to_one_over_their_rank(self):
        n, q = 20_000, 20
        ranks = 1 + np.random.default_rng(1).permutation(q - 1)
        counts = generate._draw_terms(n, ranks, 2, np.random.default_rng(0)).sum(axis=0)
        shares = 1 / np.arange(1, q) / (1 / np.arange(1, q)).sum()
        assert counts[0] == 0 and abs(counts.sum() - 2 * n) < 5 * np.sqrt(n)  # a Poisson number of mean n, plus n
        drawn = counts[ranks]
        assert (abs(drawn - counts.sum() * shares) < 5 * np.sqrt(counts.sum() * shares * (1 - shares))).all()

    def test_frequencies_have_the_long_tail_of_the_gene_ontology(self):
        n = 200_000
        Y = generate.gene_ontology_large(n, 10_000, 1)[1]
        assert 5 < Y.nnz / n < 20
        found = np.quantile(Y.sum(axis=0, dtype=np.int64), [0.25, 0.5, 0.75]) / n
        shape = load_catalog()["GO-BP-like"].generator["parameters"]
        ratio = found / (np.array(shape["class_sizes"][1:4]) / shape["n_samples"])
        assert (ratio > 1 / 2).all() and (ratio < 2).all()  # frequencies span five orders of magnitude

    def test_features_are_those_of_terms_and_noise(self):
        X, Y, *_ = generate.gene_ontology_large(**LARGE, noise=0)
        dense = np.column_stack([np.ones(len(X)), Y.toarray()]).astype(float)
        # About 20 numbers of a few units are added in single precision, with a rounding error of 1e-7 each.
        np.testing.assert_allclose(dense @ np.linalg.lstsq(dense, X, rcond=None)[0], X, atol=1e-4)
        # A different sample of the same size sets center and scale, so the sampling error of a block remains.
        assert X.var(axis=0).mean() == pytest.approx(1, rel=0.1) and abs(X.mean(axis=0)).max() < 0.1
        noisy = generate.gene_ontology_large(**LARGE, noise=3)[0]
        assert (noisy - X).std() == pytest.approx(3, abs=5 * 3 / np.sqrt(2 * X.size))  # five standard errors

    def test_a_linear_model_beats_chance_on_rare_and_frequent_labels(self):
        X, Y, *_ = generate.gene_ontology_large(12_000, 300, 60)
        train, test = slice(9000), slice(9000, None)
        A = np.column_stack([X, np.ones(len(X))]).astype(float)
        W = np.linalg.solve(A[train].T @ A[train] + np.eye(61), A[train].T @ Y[train])
        scores, truth = A[test] @ W, Y[test].toarray()
        positives = truth.sum(axis=0)
        for few, many in [(5, 20), (20, 200), (200, 2000)]:
            labels = np.flatnonzero((positives >= few) & (positives < many))[:20]
            areas = np.array([roc_auc_score(truth[:, label], scores[:, label]) for label in labels])
            # Standard deviation of the area under the curve of random scores (Mann-Whitney).
            chance = np.sqrt(3001 / (12 * positives[labels] * (3000 - positives[labels])))
            assert len(labels) > 5 and np.median((areas - 0.5) / chance) > 3 and areas.mean() > 0.8

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"n_labels": 2}, "n_labels must be an integer of at least 3, not 2."),
            ({"n_samples": 299}, "n_samples must be an integer of at least 300, not 299."),
            ({"n_features": 0}, "n_features must be an integer of at least 1, not 0."),
            ({"features_per_term": 0}, "features_per_term must be an integer of at least 1, not 0."),
            ({"terms_per_sample": 0.9}, "terms_per_sample must be a finite number of at least 1, not 0.9."),
            ({"noise": np.nan}, "noise must be a finite number of at least 0, not nan."),
        ],
    )
    def test_bad_arguments(self, changes, message):
        with pytest.raises(ConfigError) as error:
            large_ontology(**changes)
        assert str(error.value) == f"gene_ontology_large: {message}"


class TestLabelMatrixLike:
    def test_shape_and_form(self):
        Y = go_like()
        assert isinstance(Y, csr_array) and Y.shape == (5000, 300)
        assert Y.dtype == np.int8 and Y.indices.dtype == Y.indptr.dtype == np.int32
        assert (Y.data == 1).all()
        rows = np.repeat(np.arange(5000), np.diff(Y.indptr))
        assert (np.diff(rows * 300 + Y.indices) > 0).all()  # sorted, without duplicate cells

    @pytest.mark.parametrize("n_labels", [7, 8, 9, 10, 300, 301])
    def test_quantiles_are_exact(self, n_labels):
        sizes = go_like(n_labels=n_labels, density=0.1).sum(axis=0) if n_labels >= 300 else self.few(n_labels)
        np.testing.assert_array_equal(np.quantile(sizes, [0, 0.25, 0.5, 0.75, 1]), SMALL_GO["class_sizes"])

    @staticmethod
    def few(n_labels):
        """Return the class sizes of a few labels, where the quantiles nearly determine the sizes and the density."""
        fixed = generate._class_sizes(n_labels, SMALL_GO["class_sizes"], 0.0)
        return go_like(n_labels=n_labels, density=fixed.sum() / (5000 * n_labels)).sum(axis=0)

    @pytest.mark.parametrize("density", [0.06, 0.1, 0.2])
    def test_density(self, density):
        wanted = density * 5000 * 300
        assert abs(go_like(density=density).nnz - wanted) <= 0.01 * wanted

    @pytest.mark.parametrize(
        ("class_sizes", "density"),
        [
            (SMALL_GO["class_sizes"], 0.1),
            ((4, 4, 4, 493, 4990), 0.1),  # many labels of one size
            ((1, 41, 123, 4990, 4990), 0.3825),  # many labels as large as the root
        ],
    )
    def test_true_path_rule(self, class_sizes, density):
        Y = go_like(class_sizes=class_sizes, density=density).toarray().astype(int)
        sizes = Y.sum(axis=0)
        is_below = (sizes[:, np.newaxis] == Y.T @ Y) & (sizes > sizes[:, np.newaxis])
        # A label has no parent with this probability, and a rare one may lie within a larger label by chance.
        without = (sizes / sizes.max()) ** (1 / np.log(generate._PARENT_RATIO))
        assert (~is_below.any(axis=1)).sum() < without.sum() + 5 * np.sqrt(without.sum())

    def test_labels_without_a_hierarchy_are_independent(self):
        Y = go_like(hierarchical=False).toarray().astype(int)
        sizes, both = Y.sum(axis=0), Y.T @ Y
        expected = np.outer(sizes, sizes) / 5000
        frequent = np.flatnonzero(sizes > 200)
        chosen = np.ix_(frequent, frequent)
        # The variance of the hypergeometric distribution is below its mean. Six deviations allow for all pairs.
        excess = np.abs(both - expected)[chosen] / np.sqrt(expected[chosen])
        assert excess[~np.eye(len(frequent), dtype=bool)].max() < 6

    def test_tree_has_several_levels(self):
        Y = go_like().toarray().astype(int)
        sizes = Y.sum(axis=0)
        is_below = (sizes[:, np.newaxis] == Y.T @ Y) & (sizes > sizes[:, np.newaxis])
        # Each step up is a factor of three on average: log(4990 / 123) / log(3) = 3.4 steps for a median label.
        assert np.median(is_below.sum(axis=1)) >= 3
        assert (is_below.sum(axis=1) == 1).sum() < 300 / 4  # the tree is not a star

    def test_columns_are_in_random_order(self):
        # The rank correlation of position and size has standard deviation 1 / sqrt(299) under a random order.
        sizes = go_like().sum(axis=0)
        ranks = np.argsort(np.argsort(sizes, kind="stable"))
        assert abs(np.corrcoef(np.arange(300), ranks)[0, 1]) < 5 / np.sqrt(299)

    def test_kernel_equals_plain_reference(self):
        parents = np.array([2, 0, -1, 2, 3])
        starts = np.concatenate([[0], np.cumsum([40, 7, 90, 40, 39])])
        order = np.array([2, 0, 3, 4, 1])
        rows = np.empty(starts[-1], dtype=np.int32)
        generate._draw_rows(order, parents, starts, 100, np.random.default_rng(5), rows)
        expected = draw_rows_reference(order, parents, starts, 100, np.random.default_rng(5))
        np.testing.assert_array_equal(rows, expected)

    def test_rows_are_equally_likely(self):
        # 200 labels under one root of all rows take 20 rows out of 100 each: a row's count is binomial(200, 0.2).
        parents = np.array([-1] + [0] * 200)
        starts = np.concatenate([[0], np.cumsum([100] + [20] * 200)])
        rows = np.empty(starts[-1], dtype=np.int32)
        generate._draw_rows(np.arange(201), parents, starts, 100, np.random.default_rng(1), rows)
        np.testing.assert_array_equal(rows[:100], np.arange(100))
        counts = np.bincount(rows[100:], minlength=100)
        np.testing.assert_allclose(counts, 40, atol=5 * np.sqrt(200 * 0.2 * 0.8))

    @pytest.mark.parametrize("name", ["mediamill", "GO-CC", "GO-MF", "GO-BP"])
    def test_stand_ins_have_the_row_of_table_1(self, name):
        table = pd.read_csv(ROOT / "resources/published/splitting_table1.csv").query("dataset == @name")
        found = describe_labels(prepare(f"{name}-like").Y)
        for quantity, printed in zip(table["quantity"], table["value"], strict=True):
            assert found[quantity] == pytest.approx(printed, rel=0.01 if quantity == "density" else 0), quantity

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"n_samples": 0}, "n_samples must be an integer of at least 1, not 0"),
            ({"n_labels": 6}, "n_labels must be an integer of at least 7, not 6"),
            ({"density": 0}, "density must be a number above 0 and at most 1, not 0"),
            ({"density": 1.01}, "density must be a number above 0 and at most 1"),
            ({"density": float("nan")}, "density must be a number above 0 and at most 1, not nan"),
            ({"density": "0.1"}, "density must be a number above 0 and at most 1, not '0.1'"),
            ({"density": True}, "density must be a number above 0 and at most 1, not True"),
            ({"class_sizes": (4, 41, 123, 493)}, "class_sizes must be five ascending integers"),
            ({"class_sizes": (4, 41, 123, 93, 4990)}, "class_sizes must be five ascending integers"),
            ({"class_sizes": (0, 41, 123, 493, 4990)}, "class_sizes must be five ascending integers"),
            ({"class_sizes": (4, 41, 123, 493, 5001)}, "from 1 to n_samples = 5000"),
            ({"class_sizes": (4, 41.5, 123, 493, 4990)}, "class_sizes must be five ascending integers"),
            ({"class_sizes": None}, "class_sizes must be five ascending integers"),
        ],
    )
    def test_bad_arguments(self, changes, message):
        with pytest.raises(ConfigError, match=message):
            go_like(**changes)

    @pytest.mark.parametrize("density", [0.01, 0.9])
    def test_density_out_of_reach_names_the_range(self, density):
        with pytest.raises(ConfigError, match=r"Choose one from ([\d.]+) to ([\d.]+)") as caught:
            go_like(density=density)
        low, high = (float(word) for word in str(caught.value).split("from ")[1].split(", or")[0].split(" to "))
        for outside in (0.97 * low, 1.03 * high):
            with pytest.raises(ConfigError, match="Choose one from"):
                go_like(density=outside)
        for end in (low, high):  # the limits given in the message are accepted
            assert abs(go_like(density=end).nnz - end * 5000 * 300) <= 0.01 * end * 5000 * 300
