"""Folds of whole clusters, whose test samples are unlike the training samples."""

from fairfold.splitting.spec import SplitterSpec

SPECS = (
    SplitterSpec(
        "clusters",
        "fairfold.splitting.similarity:SimilarityFolds",
        phrase="bisecting k-means of the features [@steinbach2000], which keeps clusters of similar samples whole",
        compares_features=True,
    ),
)
