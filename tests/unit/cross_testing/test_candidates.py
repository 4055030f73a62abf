import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from fairfold.cross_testing.candidates import check_candidates, make_candidates
from fairfold.errors import ModelError, StudyError


def test_one_candidate_per_parameter_set():
    estimator = KNeighborsClassifier(7)
    one, two = make_candidates(estimator, [{"n_neighbors": 1}, {"n_neighbors": 2, "p": 1}])
    assert (one.parameters, two.parameters) == ({"n_neighbors": 1}, {"n_neighbors": 2, "p": 1})
    assert (one.estimator.n_neighbors, two.estimator.n_neighbors, two.estimator.p) == (1, 2, 1)
    assert estimator.n_neighbors == 7


def test_parameter_sets_that_share_an_object_do_not_change_it_for_each_other():
    pca = PCA(1)
    sets = [{"pca": "passthrough"}, {"pca": pca, "pca__n_components": 2}, {"pca": pca, "pca__n_components": 3}]
    candidates = make_candidates(Pipeline([("pca", PCA()), ("nc", NearestCentroid())]), sets)
    assert [candidate.estimator.get_params().get("pca__n_components") for candidate in candidates] == [None, 2, 3]
    assert pca.n_components == 1


def test_names_of_candidates():
    pairs = [("b", GaussianNB()), ("a", NearestCentroid())]
    assert [tuple(candidate) for candidate in check_candidates(pairs)] == pairs
    assert [tuple(candidate) for candidate in check_candidates(dict(pairs))] == pairs
    unnamed = check_candidates([GaussianNB(), *make_candidates(NearestCentroid(), [{"metric": "manhattan"}])])
    assert [candidate.parameters for candidate in unnamed] == [GaussianNB().get_params(), {"metric": "manhattan"}]


def test_different_classifiers_may_have_the_same_parameters():
    sets = [{"max_depth": 1}, {"max_depth": 2}]
    both = [*make_candidates(RandomForestClassifier(), sets), *make_candidates(DecisionTreeClassifier(), sets)]
    assert check_candidates(both) == both


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([], "candidates: the list is empty"),
        ({}, "candidates: the list is empty"),
        (GaussianNB(), "Give a list"),
        (RandomForestClassifier(), "Give a list"),
        (None, "Give a list"),
        ("SVC", "Give a list"),
        ([KMeans()], r"candidate 0: found KMeans\(\)"),
        ([LinearRegression(), GaussianNB()], "found classifiers and regressors"),
        ([GaussianNB(), "SVC"], "candidate 1: found 'SVC'"),
        ([GaussianNB()] * 2, "candidate 1: .* is repeated"),
        ([("a", GaussianNB()), ("a", NearestCentroid())], "candidate 1: 'a' is repeated"),
    ],
)
def test_bad_candidates(candidates, message):
    with pytest.raises(ModelError, match=message):
        check_candidates(candidates)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([], "candidates: the list is empty"),
        ([{"n_neighbors": 1}, {"n_neighbors": 1}], "candidate 1: {'n_neighbors': 1} is repeated"),
        ([{"n_neighbors": 1, "p": 2}, {"p": 2, "n_neighbors": 1}], "candidate 1: .* is repeated"),
        ([{"neighbors": 1}], "is not valid: Invalid parameter 'neighbors' .* Valid parameters are: .*n_neighbors"),
        ([[("n_neighbors", 1), ("n_neighbors", 2)]], "Give a dict of parameter names"),
    ],
)
def test_bad_parameter_sets(sets, message):
    with pytest.raises(StudyError, match=message):
        make_candidates(KNeighborsClassifier(), sets)
