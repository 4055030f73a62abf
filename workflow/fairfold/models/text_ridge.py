"""Ridge regression of labels on the frequencies of words, with exact leave-one-out predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix, with_sparsity
from fairfold.models.many_label_ridge import ManyLabelRidge


@dataclass(eq=False, repr=False)
class TextRidge(ManyLabelRidge):
    """Ridge regression whose probabilities are dense or sparse like the training labels.

    See Also
    --------
    ManyLabelRidge : The regression, for thousands of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from fairfold.models.text_ridge import TextRidge
    >>> texts = ["green leaf", "red leaf", "green stem", "red stem"] * 5
    >>> Y = np.array([[text.startswith("red"), text.endswith("stem")] for text in texts]).astype(int)
    >>> X = CountVectorizer().fit_transform(texts)
    >>> TextRidge().fit(X, Y).predict_proba(X[:2]).round()
    array([[0., 0.],
           [1., 0.]], dtype=float32)
    """

    def fit(
        self, X: Matrix, Y: Matrix, groups: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Choose the penalty and fit the regression.

        Parameters
        ----------
        X : sparse matrix of shape (n_samples, n_terms)
            Frequencies of terms, at least 0.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Labels of 0/1.
        groups : array-like of shape (n_samples,), default=None
            Groups of samples. If given, the error leaves out one group at a time instead of one sample.
        sample_weight : array-like of shape (n_samples,), default=None
            Positive weights of the squared errors.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If labels are not 0/1, the numbers of samples differ, or the regression does not fit into memory.
        ValueError
            If features are infinite or not numeric.
        """
        super().fit(X, Y, groups, sample_weight)
        self.sparse_labels_ = sparse.issparse(Y)
        self.out_of_fold_proba_ = with_sparsity(self.out_of_fold_proba_, self.sparse_labels_)
        return self

    def predict_proba(self, X: Matrix) -> Matrix:
        """Predict the probability that each label is positive.

        Parameters
        ----------
        X : sparse matrix of shape (n_samples, n_terms)
            Frequencies of terms.

        Returns
        -------
        {ndarray, csr_array} of shape (n_samples, n_labels)
            Predictions in single precision, from 0 to 1. They are not calibrated.
        """
        return with_sparsity(super().predict_proba(X), self.sparse_labels_)
