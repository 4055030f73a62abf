"""Test the correction for missing labels against its definition, and its benefit on labels hidden at random."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from fairfold.metrics.scores import multilabel_scores
from fairfold.models import make_model
from fairfold.models.correction import CorrectedClassifier
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives
from fairfold.weak_labels.calibration import calibrate, fit_calibration, posterior, shared_label_frequency


def simulated(n_samples, seed):
    """Return features and six labels that are nearly a function of them, with 10 to 40 % positives."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 6))
    scores = X @ rng.normal(size=(6, 6)) + 0.3 * rng.normal(size=(n_samples, 6))
    return X, (scores > np.quantile(scores, np.linspace(0.6, 0.9, 6), axis=0).diagonal()).astype(int)


def test_it_is_what_its_parts_state():
    X, Y = simulated(150, 0)
    estimator = MultiOutputClassifier(LogisticRegression())
    model = CorrectedClassifier(estimator, n_splits=3, label_frequency="estimate", random_state=4).fit(X, Y)
    fold_of = IterativeStratification(3, random_state=4).assign(Y)
    P = np.empty(Y.shape)
    for fold in range(3):
        for label in range(6):
            one = LogisticRegression().fit(X[fold_of != fold], Y[fold_of != fold, label])
            P[fold_of == fold, label] = one.predict_proba(X[fold_of == fold])[:, 1]
    whole = np.column_stack([LogisticRegression().fit(X, y).predict_proba(X)[:, 1] for y in Y.T])
    expected = posterior(calibrate(whole, fit_calibration(Y, P)), shared_label_frequency(Y, P))
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    assert model.label_frequency_ == shared_label_frequency(Y, P)


def test_it_brings_most_of_what_the_true_frequency_brings():
    """Half of the labels are hidden. The score is the Matthews correlation on complete labels of new samples."""
    X, Y = simulated(1600, 1)
    train, test = slice(800), slice(800, 1600)
    plain, oracle, corrected = (np.empty(3) for _ in range(3))
    for seed in range(3):
        observed = mask_positives(Y[train], 0.5, random_state=seed)
        P, P_corrected = (
            make_model(each, label_frequency="estimate", random_state=0).fit(X[train], observed).predict_proba(X[test])
            for each in ("logistic", "logistic+")
        )
        for scores, probabilities in ((plain, P), (oracle, np.minimum(1, P / 0.5)), (corrected, P_corrected)):
            scores[seed] = multilabel_scores(Y[test], probabilities)["mcc"]
    assert (corrected > plain).all()
    assert corrected.mean() > plain.mean() + 0.5 * (oracle.mean() - plain.mean())
    assert oracle.mean() > plain.mean() + 0.1


def test_it_changes_little_where_nothing_is_hidden():
    """The change is below two standard errors of a correlation over 4,800 pairs of sample and label, 2 / √4800."""
    X, Y = simulated(1600, 2)
    options = {"label_frequency": "estimate", "random_state": 0}
    plain, corrected = (
        multilabel_scores(Y[800:], make_model(name, **options).fit(X[:800], Y[:800]).predict_proba(X[800:]))
        for name in ("logistic", "logistic+")
    )
    assert corrected["mcc"] > plain["mcc"] - 2 / np.sqrt(4800)
    assert corrected["average_precision"] > plain["average_precision"] - 2 / np.sqrt(4800)
