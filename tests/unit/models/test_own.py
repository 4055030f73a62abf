"""Test custom models: they equal manual results, and each failure has a one-sentence reason."""

import json
import multiprocessing
import sys
import time
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import ParameterGrid
from sklearn.multioutput import ClassifierChain
from sklearn.preprocessing import StandardScaler

from fairfold.core import usage
from fairfold.errors import ConfigError, ModelError
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.models import make_model
from fairfold.models.correction import CorrectedClassifier
from fairfold.models.isolated import stop_worker, try_out
from fairfold.models.one_level import OneLevelModel
from fairfold.models.own import make_estimator
from fairfold.models.own_sources import checksum_of
from fairfold.models.registry import register_own, spec_of
from fairfold.planning.check import check_study
from fairfold.splitting import IterativeStratification

LIBRARY = Path(__file__).resolve().parents[3] / "workflow"
RNG = np.random.default_rng(0)
X = RNG.random((80, 5))
Y = np.column_stack([X[:, 0] + 0.3 * RNG.random(80) > 0.7, X[:, 1] > 0.8, X[:, 2] > X[:, 3]]).astype(int)
TEST = RNG.random((20, 5))

WHATEVER = """
import ctypes, os, random, sys, time
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression


class Whatever(ClassifierMixin, BaseEstimator):
    def __init__(self, how="well", random_state=None):
        self.how, self.random_state = how, random_state

    def fit(self, X, Y):
        self.shares = Y.mean(axis=0)
        getattr(self, self.how.replace(" ", "_"), lambda: None)()
        return self

    def predict_proba(self, X):
        P = np.tile(self.shares, (len(X), 1))
        if self.how == "writes NaN":
            P[0, 0] = np.nan
        if self.how == "has negatives":
            P[0] -= 1
        if self.how == "loses a row":
            P = P[1:]
        if self.how == "draws from NumPy, Python and C":
            P = np.random.random(P.shape) * random.random() * (ctypes.CDLL(None).rand() % 97 / 97)
        return P

    def raises(self):
        raise RuntimeError("no such luck.\\nAnd more of it")

    def prints(self):
        os.write(1, b"by the descriptor\\n" * 5000)
        print("printed " * 50000)

    def reads(self):
        input()

    def exits(self):
        sys.exit("enough")

    def exits_at_once(self):
        os._exit(7)

    def is_killed(self):
        os.kill(os.getpid(), 9)

    def takes_long(self):
        time.sleep(1000)


def make_whatever(how="well"):
    return Whatever(how)


class WithoutFit(BaseEstimator):
    pass


class WithoutParameters:
    def fit(self, X, y):
        return self


class WithoutProbabilities(BaseEstimator):
    def fit(self, X, y):
        return self


SOMETHING = 7
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(WHATEVER)
    return tmp_path


def entry(name, *, file="mine.py", **changes):
    defaults = {"parameters": {}, "labels": "together", "scale": False, "tune": {}, "minutes": 5}
    tuning = {"n_splits": 3, "n_candidates": 20, "scoring": "average_precision"}
    return {"class": name, "file": file, **defaults, "tuning": tuning, **changes}


def own(name, plus="", **changes):
    """Return a custom model under a name that no other test uses."""
    made = entry(name, **changes)
    known_as = f"own-{abs(hash(json.dumps(made)))}"
    register_own({known_as: made})
    return make_model(known_as + plus, random_state=3)


# --- the same as by hand ----------------------------------------------------------------------------------------------

LOGISTIC = {"file": None, "parameters": {"C": 0.5}}


def test_a_model_of_ours_gives_the_same_bytes(folder):
    parameters = {"name": "RF+ET", "n_trees": 7}
    mine = own("fairfold.models.make_model", file=None, parameters=parameters).fit(X, Y)
    ours = make_model("RF+ET", n_trees=7, random_state=3).fit(X, Y)
    assert mine.predict_proba(TEST).tobytes() == ours.predict_proba(TEST).tobytes()


def test_a_classifier_of_one_label_is_fitted_to_each(folder):
    made = own("sklearn.linear_model.LogisticRegression", labels="one-per-label", scale=True, **LOGISTIC).fit(X, Y)
    scaler = StandardScaler().fit(X)
    machines = [LogisticRegression(C=0.5, random_state=3).fit(scaler.transform(X), y) for y in Y.T]
    by_hand = np.column_stack([machine.predict_proba(scaler.transform(TEST))[:, 1] for machine in machines])
    np.testing.assert_array_equal(made.predict_proba(TEST), by_hand)


def test_a_chain_is_that_of_scikit_learn(folder):
    made = own("sklearn.linear_model.LogisticRegression", labels="chain", **LOGISTIC).fit(X, Y)
    seeds = np.random.RandomState(3).randint(np.iinfo(np.int32).max, size=10)
    machine = LogisticRegression(C=0.5, random_state=3)
    chains = [ClassifierChain(machine, order="random", random_state=seed).fit(X, Y) for seed in seeds]
    np.testing.assert_allclose(made.predict_proba(TEST), np.mean([c.predict_proba(TEST) for c in chains], axis=0))


def test_several_labels_at_once_and_sparse_features(folder):
    parameters = {"n_estimators": 5}
    made = own("sklearn.ensemble.ExtraTreesClassifier", file=None, parameters=parameters).fit(sparse.csr_array(X), Y)
    trees = ExtraTreesClassifier(5, random_state=3).fit(sparse.csr_array(X), Y)
    by_hand = np.column_stack([P[:, 1] for P in trees.predict_proba(TEST)])
    np.testing.assert_array_equal(made.predict_proba(sparse.csr_array(TEST)), by_hand)


SPARSE = """
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors


class Neighbors(ClassifierMixin, BaseEstimator):
    def __init__(self, sparse=False, k=5, seed=0):
        self.sparse, self.k, self.seed = sparse, k, seed

    def fit(self, X, Y):
        if sparse.issparse(Y) != self.sparse:
            raise TypeError(f"labels are {type(Y).__name__}")
        self.Y, self.index = sparse.csr_array(Y), NearestNeighbors(n_neighbors=self.k).fit(X)
        return self

    def predict_proba(self, X):
        P = sparse.csr_array(self.index.kneighbors_graph(X)) @ self.Y / self.k
        P.data *= np.random.default_rng(self.seed).random(P.nnz)
        return P if self.sparse else P.toarray()
"""
MANY = (RNG.random((80, 150)) < RNG.random((80, 1)) / 3).astype(np.int8)
WITH_GAPS = np.where(RNG.random(Y.shape) < 0.2, np.nan, Y)


@pytest.mark.parametrize(
    ("labels", "plus"),
    [(Y, ""), (Y, "+"), (MANY, ""), (WITH_GAPS, ""), (WITH_GAPS, "+")],
    ids=["few", "few+", "many", "gaps", "gaps+"],
)
def test_sparse_labels_give_what_dense_ones_do(folder, labels, plus):
    (folder / "mine.py").write_text(SPARSE)
    dense = own("Neighbors", plus).fit(X, labels).predict_proba(TEST)
    for given in (labels, sparse.csr_array(labels)):
        made = own("Neighbors", plus, labels="together-sparse", parameters={"sparse": True}).fit(X, given)
        found = made.predict_proba(TEST)
        assert sparse.issparse(found) == sparse.issparse(given)
        np.testing.assert_array_equal(sparse.csr_array(found).toarray(), dense)


def test_sparse_probabilities_are_corrected(folder):
    (folder / "mine.py").write_text(SPARSE)
    changes = {"labels": "together-sparse", "parameters": {"sparse": True}}
    many = sparse.csr_array(MANY)
    plain, corrected = (own("Neighbors", plus, **changes).fit(X, many).predict_proba(TEST) for plus in ("", "+"))
    assert (plain.data > 0).all() and plain.nnz == corrected.nnz
    for before, after in zip(plain.toarray().T, corrected.toarray().T, strict=True):  # keeps the order within labels
        assert (np.diff(after[np.argsort(before, kind="stable")]) >= 0)[np.diff(np.sort(before)) > 0].all()
    assert (corrected.data != plain.data).any()


@pytest.mark.parametrize("labels", [Y, MANY], ids=["few", "many"])
def test_models_of_sparse_labels_are_tuned_and_scored(folder, labels):
    (folder / "mine.py").write_text(SPARSE)
    changes = {"labels": "together-sparse", "parameters": {"sparse": True}, "tune": {"k": [2, 9]}, "scale": True}
    make = own("Neighbors", **changes)
    tables = score_on_folds(lambda fold: make, X, labels, np.arange(80) % 2, lambda fold: labels)
    assert (tables.scores["reason"] == "").all()
    assert tables.scores["value"].notna().any()


def test_sparse_labels_may_be_more_than_fit_in_an_array(folder):
    (folder / "mine.py").write_text(SPARSE)
    many = sparse.random_array((1000, 60_000), density=1e-4, rng=np.random.default_rng(1)).ceil()
    features = np.random.default_rng(2).random((1000, 3))
    made = own("Neighbors", labels="together-sparse", parameters={"sparse": True}).fit(features, many)
    assert made.predict_proba(features[:9]).shape == (9, 60_000)
    with pytest.raises(ModelError, match="60,000 cells"):
        own("Neighbors").fit(features, many)


def test_with_a_plus_it_is_corrected(folder):
    changes = {"labels": "one-per-label", "scale": True, **LOGISTIC}
    made = own("sklearn.linear_model.LogisticRegression", "+", **changes).fit(X, Y)
    plain = own("sklearn.linear_model.LogisticRegression", **changes)
    by_hand = OneLevelModel(CorrectedClassifier(plain.estimator), random_state=3).fit(X, Y)
    np.testing.assert_array_equal(made.predict_proba(TEST), by_hand.predict_proba(TEST))


def test_with_a_plus_it_decides_for_a_score(folder):
    changes = {"labels": "one-per-label", "scale": True, **LOGISTIC}
    model = own("sklearn.linear_model.LogisticRegression", "+", **changes).fit(X, Y)
    threshold = model.estimator_.thresholds_["f1_micro"]["label"]
    np.testing.assert_array_equal(model.predict(TEST, objective="f1_macro"), model.predict_proba(TEST) > threshold)
    assert model.predict(TEST, objective="subset").shape == (len(TEST), Y.shape[1])


def test_it_chooses_what_is_best_inside_the_training_part(folder, capfd):
    grid = {"C": [1e-4, 0.1, 10], "fit_intercept": [True, False]}
    changes = {"labels": "one-per-label", "file": None}
    made = own("sklearn.linear_model.LogisticRegression", tune=grid, **changes).fit(X, Y)

    def probabilities(parameters, rows, new):
        machines = [LogisticRegression(**parameters, random_state=3).fit(X[rows], y) for y in Y[rows].T]
        return np.column_stack([machine.predict_proba(new)[:, 1] for machine in machines])

    fold_of = IterativeStratification(3, random_state=3).assign(Y)

    def score(parameters):
        parts = [(fold_of != fold, fold_of == fold) for fold in range(3)]
        scores = [
            average_precision_score(Y[test].ravel(), probabilities(parameters, train, X[test]).ravel())
            for train, test in parts
        ]
        return np.mean(scores)

    best = max(ParameterGrid(grid), key=score)
    np.testing.assert_array_equal(made.predict_proba(TEST), probabilities(best, np.arange(80), TEST))
    assert spec_of(made.estimator.name).is_tuned


def test_the_configuration_states_how_it_is_tuned(folder):
    changes = {"labels": "one-per-label", "file": None, "tune": {"C": [0.1, 1, 10]}}
    one = {"n_splits": 2, "n_candidates": 1, "scoring": "mcc"}
    search = make_estimator("mine", entry("sklearn.linear_model.LogisticRegression", tuning=one, **changes)).fit(X, Y)
    assert (search.n_splits_, len(search.cv_results_["params"]), search.scoring.metric) == (2, 1, "mcc")


# --- failures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["well", "prints", "draws from NumPy, Python and C"])
def test_what_does_no_harm(folder, how):
    probabilities = [own("Whatever", parameters={"how": how}).fit(X, Y).predict_proba(TEST) for _ in range(2)]
    assert probabilities[0].shape == (20, 3)
    np.testing.assert_array_equal(*probabilities)
    if how != "draws from NumPy, Python and C":
        np.testing.assert_allclose(probabilities[0], np.tile(Y.mean(axis=0), (20, 1)))


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("raises", "failed: RuntimeError: no such luck."),
        ("reads", "failed: EOFError: EOF when reading a line."),
        ("exits", "failed: SystemExit: enough."),
        ("exits at once", "terminated its process. It crashed or"),
        ("is killed", "terminated its process. It crashed or ran out of memory."),
        ("takes long", "exceeded its time limit of 0.05 minutes."),
        ("writes NaN", "1 values that are not finite"),
        ("loses a row", "gives shape (39, 3)"),
        ("has negatives", "probabilities are numbers from 0 to 1."),
    ],
)
def test_what_goes_wrong_is_a_row_with_its_reason(folder, how, reason):
    minutes = 0.05 if how == "takes long" else 5
    make = own("Whatever", parameters={"how": how}, minutes=minutes)
    name = make.estimator.name
    tables = score_on_folds(lambda fold: make, X, Y, np.arange(80) % 2, lambda fold: Y)
    assert tables.scores["value"].isna().all()
    assert tables.scores["reason"].str.startswith(name).all()
    assert tables.scores["reason"].str.contains(reason, regex=False).all()
    # Other models of the same class still work.
    assert own("Whatever", parameters={"how": "well"}).fit(X, Y).predict_proba(TEST).shape == (20, 3)


def test_the_worker_stops_on_demand(folder):
    """A process of joblib waits for its child processes when it ends."""
    stop_worker()
    others = {*multiprocessing.active_children()}  # started by other tests
    own("make_whatever").fit(X, Y)
    workers = {*multiprocessing.active_children()} - others
    assert workers
    stop_worker()
    assert not workers & {*multiprocessing.active_children()}


def test_models_do_not_draw_from_each_other(folder):
    drawing = {"parameters": {"how": "draws from NumPy and Python"}}
    alone = own("Whatever", **drawing).fit(X, Y).predict_proba(TEST)
    first = own("Whatever", **drawing).fit(X, Y)
    other = own("Whatever", **drawing).fit(X, Y)
    other.predict_proba(TEST)
    np.testing.assert_array_equal(first.predict_proba(TEST), alone)


def test_its_time_and_memory_are_counted(folder):
    made, before, start = (
        own("sklearn.ensemble.ExtraTreesClassifier", file=None),
        usage.cpu_seconds(),
        time.process_time(),
    )
    made.fit(X, Y)
    assert usage.cpu_seconds() - before > time.process_time() - start + 0.05
    assert usage.max_rss() > 50


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"class": "Nobody"}, ".class: 'Nobody' of mine.py cannot be imported: AttributeError: "),
        (
            {"class": "nowhere.Nobody", "file": None},
            "cannot be imported: ModuleNotFoundError: No module named 'nowhere'",
        ),
        ({"class": "sklearn.svm.SVCC", "file": None}, "cannot be imported: AttributeError: "),
        ({"class": "SOMETHING"}, ".class: 'SOMETHING' is of type int. Use a class, or a function that returns"),
        ({"class": "WithoutFit"}, ".class: WithoutFit has no method fit. Inherit from"),
        ({"class": "WithoutParameters"}, "has no method get_params. Inherit from sklearn.base.BaseEstimator."),
        ({"class": "WithoutProbabilities"}, "has no method predict_proba. Choose parameters"),
        ({"class": "LinearRegression"}, ".class: LinearRegression is a regressor. Use a classifier."),
        (
            {"parameters": {"hwo": 1}},
            ".parameters: Whatever has no parameter 'hwo'. Its parameters: how, random_state.",
        ),
        ({"tune": {"hwo": [1]}}, ".tune: Whatever has no parameter 'hwo'. Its parameters: how, random_state."),
    ],
)
def test_mistakes(folder, monkeypatch, changes, sentence):
    monkeypatch.setattr(sys, "path", [*sys.path])  # the code under test extends it
    with pytest.raises(ConfigError) as caught:
        make_estimator("my-net", {**entry("Whatever"), **changes})
    assert str(caught.value).startswith("config.models.own.my-net")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"hwo": 1}, ".parameters: Whatever has no parameter 'hwo'. Its parameters: how, random_state."),
        ({"how": "has negatives"}, ": predict_proba gives -1; probabilities are numbers from 0 to 1."),
    ],
)
def test_mistakes_are_reported_when_it_is_tried_out(folder, parameters, sentence):
    with pytest.raises(ConfigError) as caught:
        try_out("my-net", entry("Whatever", parameters=parameters))
    assert str(caught.value) == f"config.models.own.my-net{sentence}"


def test_what_may_be_otherwise_on_other_data_is_a_warning(folder):
    messages = "my-net failed: RuntimeError: no such luck."
    assert try_out("my-net", entry("Whatever", parameters={"how": "raises"})) == messages
    assert try_out("my-net", entry("Whatever")) == ""
    assert type(make_estimator("my-net", entry("make_whatever"))[-1]).__name__ == "Whatever"


def study_of(**changes):
    weak_labels = {"datasets": ["simulated-multilabel"], "models": ["my-net", "my-net+", "RF+ET"]}
    return {"seed": 1, "models": {"own": {"my-net": {"class": "Whatever", "file": "mine.py", **changes}}}} | {
        "weak_labels": weak_labels
    }


def test_a_configuration_may_name_it(folder):
    check_study(study_of(minutes=3))
    assert spec_of("my-net+").family == "my-net"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"file": "gone.py"}, "my-net.file: found no Python file gone.py in "),
        ({"file": "../mine.py"}, "my-net.file: ../mine.py is outside the folder of the study, "),
        ({"file": "/etc/passwd"}, "my-net.file: /etc/passwd is outside the folder of the study, "),
        ({"file": None}, "my-net.class: expected package.module.Class without a file, found 'Whatever'."),
        ({"labels": "all"}, "config.models.own.my-net.labels: unknown value 'all'"),
        ({"minutes": 0}, "config.models.own.my-net.minutes: found 0"),
        ({"tune": {"C": []}}, "config.models.own.my-net.tune.C: "),
        ({"clas": "x"}, "config.models.own.my-net"),
        ({"parameters": {"since": date(2020, 1, 1)}}, "my-net: Object of type date is not JSON serializable. "),
    ],
)
def test_a_configuration_with_a_mistake(folder, changes, sentence):
    with pytest.raises(ConfigError) as caught:
        check_study(study_of(**changes))
    assert sentence in str(caught.value)


def test_a_name_that_is_taken(folder):
    with pytest.raises(ModelError, match="the name 'RF\\+ET' is taken by another model"):
        register_own({"RF+ET": entry("Whatever")})


# --- dependencies of results ------------------------------------------------------------------------------------------


def test_its_code_and_entry_are_what_results_depend_on(folder, monkeypatch):
    before = checksum_of(entry("Whatever"))
    assert checksum_of(entry("Whatever")) == before
    assert checksum_of(entry("Whatever", scale=True)) != before
    assert checksum_of(entry("Whatever", tuning={"n_splits": 9})) == before
    searched = entry("Whatever", tune={"how": ["well"]})
    assert checksum_of({**searched, "tuning": {"n_splits": 9}}) != checksum_of(searched)
    (folder / "helper.py").write_text("A = 1\n")
    assert checksum_of(entry("Whatever")) != before
    package = folder / "mypackage" / "inner"
    package.mkdir(parents=True)
    (package / "nets.py").write_text("class Net: ...\n")
    monkeypatch.syspath_prepend(folder)
    of_package = checksum_of(entry("mypackage.inner.nets.Net", file=None))
    (package / "layers.py").write_text("class Layer: ...\n")
    assert checksum_of(entry("mypackage.inner.nets.Net", file=None)) != of_package
