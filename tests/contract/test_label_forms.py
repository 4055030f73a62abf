"""Labels at every public function: NaN is unmeasured in any form, -1 is rejected, other input gives one clear error."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.core.hierarchy import Hierarchy
from fairfold.cross_testing import cross_validate_and_cross_test, cross_validate_and_test, nested_cross_validate
from fairfold.errors import StudyError
from fairfold.evaluation.hierarchical import hierarchical_scores, information_accretion
from fairfold.final.labels import label_scores, likely_label_errors, precision_at
from fairfold.forests.boosting import MultilabelBoosting
from fairfold.forests.diagnostics import imputation_table
from fairfold.metrics import at_k
from fairfold.metrics.registry import METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.missing_labels import scar_tests
from fairfold.missing_labels.corrected import corrected_draws, corrected_scores
from fairfold.missing_labels.plateau import frequency_distribution
from fairfold.models import make_model
from fairfold.models.kernel_ridge import KernelRidgeClassifier
from fairfold.models.many_label_ridge import ManyLabelRidge
from fairfold.splitting import (
    IterativeStratification,
    OptiSplit,
    PartitionedSampling,
    RandomSplit,
    StratifiedSampling,
    measures,
)
from fairfold.splitting.comparison import label_deviations, measure_splits
from fairfold.splitting.fold_effect import fold_effect
from fairfold.weak_labels import (
    fit_calibration,
    fitted_label_frequency,
    fluid_label_addition,
    imputation_quality,
    label_complement,
    label_frequency,
    mask_labels,
    mask_positives,
    positive_cap,
    shared_label_frequency,
    strict_label_complement,
    tice,
)
from fairfold.weak_labels.masking import hide_in_training_parts, observed_labels
from fairfold.win_percentage.multilabel_sets import evaluate_multilabel_sets

N = 48
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
COMPLETE = (X[:, :3] + 0.5 * RNG.normal(size=(N, 3)) > [0, 0.3, 0.6]).astype(np.int8)
GAPS = RNG.random(COMPLETE.shape) < 0.15
P = np.clip(RNG.random(COMPLETE.shape), 0.01, 0.99)
FOLD_OF = np.arange(N) % 3
HIERARCHY = Hierarchy([[1, 0]], 3)
TOP = tuple(name for name, metric in METRICS.items() if metric.use == "top")


def with_cells(Y, value, dtype=object):
    """Return labels with the given value in unmeasured cells."""
    changed = Y.astype(dtype)
    changed[GAPS] = value
    return changed


FULL = {
    "lists": COMPLETE.tolist(),
    "bool": COMPLETE.astype(bool),
    "objects": COMPLETE.astype(object),
    "frame": pd.DataFrame(COMPLETE, columns=list("abc")),
    "nullable frame": pd.DataFrame(COMPLETE, columns=list("abc")).astype("Int64"),
    "CSC": sparse.csc_matrix(COMPLETE),
    "stored zeros": sparse.csr_array((COMPLETE.ravel(), np.indices(COMPLETE.shape).reshape(2, -1)), COMPLETE.shape),
}
UNMEASURED = {
    "NaN": with_cells(COMPLETE, np.nan, np.float64),
    "None": with_cells(COMPLETE, None),
    "lists": with_cells(COMPLETE, None).tolist(),
    "masked": np.ma.masked_array(COMPLETE, GAPS),
    "frame": pd.DataFrame(with_cells(COMPLETE, np.nan, np.float64), columns=list("abc")),
    "nullable frame": pd.DataFrame(with_cells(COMPLETE, pd.NA), columns=list("abc")).astype("Int64"),
    "CSR": sparse.csr_array(with_cells(COMPLETE, np.nan, np.float64)),
}
MINUS_ONE = {
    "-1/1": 2 * COMPLETE - 1,
    "float": with_cells(COMPLETE, -1, np.float64),
    "lists": (2 * COMPLETE - 1).tolist(),
    "frame": pd.DataFrame(2 * COMPLETE - 1),
    "NaN, too": np.where(np.arange(3) == 0, np.nan, 2.0 * COMPLETE - 1),
    "CSR": sparse.csr_array(with_cells(COMPLETE, -1, np.int8)),
}
OTHERS = {
    "one dimension": COMPLETE[:, 0],
    "series": pd.Series(COMPLETE[:, 0]),
    "three dimensions": np.zeros((N, 3, 2)),
    "a number": 3,
    "no labels": COMPLETE[:, :0],
    "no samples": COMPLETE[:0],
    "fewer samples": COMPLETE[1:],
    "None": None,
    "text": np.where(COMPLETE, "yes", "no"),
    "lists of names": [["a"], ["a", "b"]] * (N // 2),
    "infinite": np.where(GAPS, np.inf, COMPLETE),
    "sparse vector": sparse.coo_array(COMPLETE[:, 0]),
}


def fitted(name):
    settings = {"n_trees": 3, "max_levels": 1} if name not in ("logistic", "dummy+", "joint-GB") else {}
    return lambda Y: make_model(name, **settings, random_state=0).fit(X, Y).predict_proba(X)


def at(function):
    return lambda Y: function(Y, P, 2)


def procedure(function):
    def run(Y):
        candidates = {"dummy": make_model("dummy"), "logistic": make_model("logistic")}
        return function(candidates, X, Y, n_splits=2, random_state=0, scoring="average_precision").scores

    return run


def feature_sets(Y):
    models = {"dummy": make_model("dummy"), "logistic": make_model("logistic")}
    performance, _ = evaluate_multilabel_sets(models, X, Y, FOLD_OF, lambda _: Y, [[0, 1], [2, 3]], seeds=[0, 1])
    return performance


def folds_of(splitter):
    return lambda Y: [
        splitter.assign(Y),
        *(test for _, test in splitter.split(X, Y)),
        *splitter.train_test(Y, 0.25),
    ]


def table_of_cascade(Y):
    return imputation_table(make_model("SLCForest", n_trees=3, max_levels=1, random_state=0).fit(X, Y), Y)


DOORS = {
    **{f"{name}.fit": fitted(name) for name in ("RF+ET", "SLCForest", "gcForest+", "logistic", "dummy+", "joint-GB")},
    "Stack+.fit": fitted("Stack+"),
    "MultilabelBoosting.fit": lambda Y: MultilabelBoosting(max_rounds=10).fit(X, Y).predict_proba(X),
    "OptiSplit": folds_of(OptiSplit(3, random_state=0)),
    "IterativeStratification": folds_of(IterativeStratification(3, random_state=0)),
    "StratifiedSampling": folds_of(StratifiedSampling(3, random_state=0)),
    "PartitionedSampling": folds_of(PartitionedSampling(3, random_state=0)),
    "RandomSplit": folds_of(RandomSplit(3, random_state=0)),
    "example_distribution": lambda Y: measures.example_distribution(FOLD_OF, Y),
    "label_distribution": lambda Y: measures.label_distribution(FOLD_OF, Y),
    "relative_label_distribution": lambda Y: measures.relative_label_distribution(FOLD_OF, Y, per_label=True),
    "delta_class_proportion": lambda Y: measures.delta_class_proportion(FOLD_OF, Y, per_label=True),
    "lower_bound": lambda Y: measures.lower_bound(Y, 3, "rLD", per_label=True),
    "mask_positives": lambda Y: mask_positives(Y, 0.4, wrong_positives=0.2, random_state=0),
    "mask_labels": lambda Y: mask_labels(Y, 0.4, negatives="confirmed", random_state=0),
    "multilabel_scores": lambda Y: multilabel_scores(Y, P),
    "multilabel_scores, sparse": lambda Y: multilabel_scores(Y, sparse.csr_array(np.where(P > 0.5, P, 0))),
    "metrics at k": lambda Y: multilabel_scores(Y, np.tile(P, 1), metrics=TOP, inverse_propensity=np.ones(3)),
    "corrected_scores": lambda Y: corrected_scores(Y, P, 0.7),
    "corrected_draws": lambda Y: corrected_draws(Y, P, 0.7, n_draws=3),
    "precision_at_k": at(at_k.precision_at_k),
    "recall_at_k": at(at_k.recall_at_k),
    "ndcg_at_k": at(at_k.ndcg_at_k),
    "coverage_at_k": at(at_k.coverage_at_k),
    "propensity_scored_precision_at_k": lambda Y: at_k.propensity_scored_precision_at_k(Y, P, np.ones(3), 2),
    "inverse_propensities": at_k.inverse_propensities,
    "scores_by_frequency_band": lambda Y: at_k.scores_by_frequency_band(Y, P, [1, 9, 30], k=2),
    "label_average_precisions": lambda Y: at_k.label_average_precisions(Y, P),
    "hierarchical_scores": lambda Y: hierarchical_scores(Y, P, np.ones(3)),
    "information_accretion": lambda Y: information_accretion(Y, HIERARCHY),
    "Hierarchy.with_ancestors": HIERARCHY.with_ancestors,
    "nested_cross_validate": procedure(nested_cross_validate),
    "cross_validate_and_test": procedure(cross_validate_and_test),
    "cross_validate_and_cross_test": procedure(cross_validate_and_cross_test),
    "evaluate_multilabel_sets": feature_sets,
    "label_scores": lambda Y: label_scores(Y, P, ["a", "b", "c"], seed=0),
    "likely_label_errors": lambda Y: likely_label_errors(X, Y, P, ["a", "b", "c"], range(N)),
    "precision_at": lambda Y: precision_at(Y, Y, P, depths=[5]),
    "fit_calibration": lambda Y: fit_calibration(Y, P),
    "shared_label_frequency": lambda Y: shared_label_frequency(Y, P),
    "fitted_label_frequency": lambda Y: fitted_label_frequency("estimate", Y, P),
    "frequency_distribution": lambda Y: frequency_distribution(Y, P, ask_others=False).probabilities,
    "scar_tests": lambda Y: scar_tests(Y, P, 0.7)[["estimate", "p_value"]],
    "label_deviations": lambda Y: label_deviations(FOLD_OF, Y),
    "measure_splits": lambda Y: measure_splits(FOLD_OF[np.newaxis], Y)[["value", "bound"]],
    "imputation_table": table_of_cascade,
    "KernelRidgeClassifier.fit": lambda Y: KernelRidgeClassifier().fit(X, Y).predict_proba(X),
}
NEED_COMPLETE = {
    "ManyLabelRidge.fit": lambda Y: ManyLabelRidge().fit(X, Y).predict_proba(X),
    "tice": lambda Y: tice(X, Y, random_state=0),
    "label_frequency": lambda Y: label_frequency(Y, P),
    "positive_cap": lambda Y: positive_cap(Y, np.full(3, 0.8)),
    "label_complement": lambda Y: label_complement(Y, [P, P]),
    "strict_label_complement": lambda Y: strict_label_complement(Y, P, np.full(3, 30)),
    "fluid_label_addition": lambda Y: fluid_label_addition(Y, P, np.full(3, 0.8)),
    "imputation_quality": lambda Y: imputation_quality(Y, Y, COMPLETE),
    "fold_effect": lambda Y: fold_effect({"random": lambda Y, seed: np.arange(len(Y)) % 2}, X, Y, n_splits=2),
}
ONE_DIMENSION = ("Split", "Sampling", "Stratification", "distribution", "proportion", "lower_bound")  # 1-D is one label


def plain(found):
    """Convert a result to numbers; text and None become NaN."""
    if isinstance(found, dict):
        return [plain(each) for each in found.values()]
    if isinstance(found, pd.DataFrame):
        return found.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if isinstance(found, (list, tuple)):
        return [plain(each) for each in found]
    return np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64)


FEW_FORMS = {"nullable frame", "CSC", "CSR"}  # for functions that train models; all check labels in the same way


def is_slow(door):
    return door.endswith(".fit") or "cross" in door or door in ("fold_effect", "evaluate_multilabel_sets")


def assert_same(found, expected):
    if isinstance(expected, list):
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:  # Sparse labels are summed in a different order.
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("door", [*DOORS, *NEED_COMPLETE])
def test_complete_labels_are_the_same_in_every_form(door):
    call = {**DOORS, **NEED_COMPLETE}[door]
    expected = plain(call(COMPLETE))
    for form in FEW_FORMS & FULL.keys() if is_slow(door) else FULL:
        assert_same(plain(call(FULL[form])), expected), form


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("door", DOORS)
def test_unmeasured_labels_are_the_same_in_every_form(door):
    expected = plain(DOORS[door](UNMEASURED["NaN"]))
    for form in (FEW_FORMS if is_slow(door) else {*UNMEASURED}) & UNMEASURED.keys() - {"NaN"}:
        assert_same(plain(DOORS[door](UNMEASURED[form])), expected), form


@pytest.mark.parametrize("door", NEED_COMPLETE)
def test_a_function_of_complete_labels_states_so(door):
    needed = r"unmeasured|Complete labels are needed here\. Leave out the samples or"
    for Y in UNMEASURED.values():
        with pytest.raises(StudyError, match=needed) as caught:
            NEED_COMPLETE[door](Y)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("door", [*DOORS, *NEED_COMPLETE])
def test_minus_one_is_refused(door):
    remedy = r"found -1(\.0)?\. Write 0 for negatives and NaN for unmeasured labels\.$"
    for Y in MINUS_ONE.values():
        with pytest.raises(StudyError, match=remedy):
            {**DOORS, **NEED_COMPLETE}[door](Y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("door", [*DOORS, *NEED_COMPLETE])
def test_all_else_is_one_sentence(door):
    """Some functions return a result: splitters accept 1-D labels, and some counts accept any number of samples."""
    for form, Y in OTHERS.items():
        try:
            found = {**DOORS, **NEED_COMPLETE}[door](Y)
        except StudyError as error:
            assert "\n" not in str(error) and len(str(error)) > 20
        else:
            assert found is not None
            assert form in ("one dimension", "series", "fewer samples", "no labels", "no samples")


@pytest.mark.parametrize("name", ["RF+ET", "gcForest+", "logistic", "dummy+", "joint-GB", "Stack+", "kNN", "chains"])
def test_a_model_asks_for_a_column_of_a_single_label(name):
    for y in (COMPLETE[:, 0], COMPLETE[:, 0].tolist(), pd.Series(COMPLETE[:, 0])):
        with pytest.raises(
            StudyError, match=r"Y: expected shape \(48, n_labels\), found \(48,\)\. .* Y\.reshape\(-1, 1\)"
        ):
            make_model(name).fit(X, y)


@pytest.mark.parametrize("form", UNMEASURED)
def test_masked_labels_keep_what_is_unmeasured(form):
    for masked in (
        mask_positives(UNMEASURED[form], 0.4, random_state=0),
        mask_labels(UNMEASURED[form], 0.0, negatives="confirmed", random_state=0),
    ):
        np.testing.assert_array_equal(np.isnan(plain(masked)), GAPS)


def test_labels_of_a_study_keep_nan_from_part_to_part():
    Y = UNMEASURED["NaN"]
    hidden = hide_in_training_parts(Y, FOLD_OF, 0.4, seed=0, names=("here",), negatives="confirmed")
    observed = observed_labels(Y, hidden, 0, "confirmed")
    assert np.isnan(observed[GAPS]).all() and np.isnan(observed).sum() > GAPS.sum()
    fitted("gcForest+")(observed)
