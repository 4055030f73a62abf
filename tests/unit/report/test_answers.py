"""Test how sentences are grouped."""

import pandas as pd

from fairfold.report.answers import group_sentences


def test_sentences_keep_their_order():
    rows = [("b", "ranking", "1"), ("b", "new", "2"), ("a", "ranking", "3"), ("b", "ranking", "4")]
    groups = group_sentences(pd.DataFrame(rows, columns=["dataset", "use", "sentence"]))
    ranking = "To rank labels by their probability"
    assert groups == {"b": {ranking: ["1", "4"], "new": ["2"]}, "a": {ranking: ["3"]}}
    assert list(groups) == ["b", "a"]
