"""Text as frequencies of words and characters, weighted by inverse document frequency (TF-IDF)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.threads import one_thread_each
from fairfold.features.reuse import reused

_WORDS: dict[str, Any] = {"analyzer": "word", "token_pattern": r"(?u)\w+"}
SETTINGS: dict[str, dict[str, Any]] = {
    "words": {**_WORDS, "ngram_range": (1, 2)},
    "single words": {**_WORDS, "ngram_range": (1, 1)},
    "characters": {"analyzer": "char_wb", "ngram_range": (2, 4)},
}
"""Settings of scikit-learn's vectorizer for each kind of terms."""
MOST_PAIRED = 20_000_000
"""Number of characters of a column up to which word pairs are terms."""
MOST_READ = 5_000_000
"""Number of characters of a column that give n-grams. In longer columns, only the start of each cell does."""
_RARE_FROM = 100  # training samples from which terms of a single sample are left out
_SEED = 0  # of the randomized decomposition


class Terms(NamedTuple):
    """Terms of a training part, separated by line breaks, which no term contains, with their weights."""

    kind: str  # a key of SETTINGS
    terms: str
    idf: np.ndarray


@dataclass
class TextEncoder:
    """Encoder of one column of text.

    Parameters
    ----------
    most : int, default=20000
        Maximum number of words and word pairs, and of n-grams of characters. The most frequent ones are kept.
    with_words : bool, default=True
        Whether words and word pairs are counted. Names and codes need only the n-grams of characters.

    Attributes
    ----------
    parts_ : list
        Words and n-grams of characters with their inverse document frequencies.
    reach_ : int
        Number of characters from the start of a cell from which n-grams are made.

    Notes
    -----
    N-grams of characters represent languages without spaces, inflected words, typing errors and emoji. Terms are lower
    case and in Unicode normal form C. A term of ``t`` occurrences in a cell has the frequency ``1 + log(t)``. Each kind
    of terms has Euclidean length 1 in each cell.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.features.text import TextEncoder
    >>> encoder = TextEncoder(with_words=False)
    >>> encoder.fit_transform(np.array(["oak", "oaks"], dtype=object)).shape
    (2, 15)
    """

    most: int = 20_000
    with_words: bool = True
    parts_: list[Terms] = field(default_factory=list, init=False)
    reach_: int = field(default=0, init=False)

    def fit_transform(self, texts: np.ndarray) -> Matrix:
        """Choose the terms, and encode the training samples.

        Parameters
        ----------
        texts : ndarray of object of shape (n_samples,)
            Cells; ``""`` is missing.

        Returns
        -------
        csr_array of shape (n_samples, n_terms)
            Frequencies.
        """
        self.parts_, self.reach_, frequencies = reused(_fitted)(texts, self.most, self.with_words)
        return frequencies

    def transform(self, texts: np.ndarray) -> Matrix:
        """Encode cells with the terms of the training samples.

        Parameters
        ----------
        texts : ndarray of object of shape (n_samples,)
            Cells; ``""`` is missing.

        Returns
        -------
        csr_array of shape (n_samples, n_terms)
            Frequencies.
        """
        return reused(_transformed)(texts, self.parts_, self.reach_)

    def names(self) -> list[str]:
        """Return the names of the features, without the name of the column.

        Returns
        -------
        list of str
            Words, and n-grams of characters in quotation marks.
        """
        terms = ((part.kind, term) for part in self.parts_ for term in part.terms.split("\n"))
        return [f"'{term}'" if kind == "characters" else term for kind, term in terms]


@dataclass
class Components:
    """Dense features of texts, by truncated singular value decomposition of the frequencies [1]_.

    Parameters
    ----------
    most : int, default=100
        Maximum number of components. Texts with no more terms keep the frequencies.

    Attributes
    ----------
    directions_ : ndarray of shape (n_components, n_terms) or None
        Directions of the decomposition; None if the frequencies are kept.

    References
    ----------
    .. [1] Deerwester, Dumais, Furnas, Landauer & Harshman (1990). "Indexing by latent semantic analysis".

    Examples
    --------
    >>> from scipy import sparse
    >>> from fairfold.features.text import Components
    >>> frequencies = sparse.csr_array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> abs(Components(1).fit(frequencies).transform(frequencies).round(6)).tolist()
    [[0.0], [0.0], [2.0]]
    """

    most: int = 100
    directions_: np.ndarray | None = field(default=None, init=False)

    def fit(self, frequencies: Matrix) -> Self:
        """Decompose the frequencies of the training samples.

        Parameters
        ----------
        frequencies : csr_array of shape (n_samples, n_terms)
            Frequencies.

        Returns
        -------
        Components
            The fitted decomposition.
        """
        self.directions_ = reused(_directions)(frequencies, self.most)
        return self

    def transform(self, frequencies: Matrix) -> np.ndarray:
        """Project frequencies on the directions.

        Parameters
        ----------
        frequencies : csr_array of shape (n_samples, n_terms)
            Frequencies.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Components.
        """
        if self.directions_ is None:
            return frequencies.toarray()
        with one_thread_each():
            return frequencies @ self.directions_.T

    def names(self, terms: list[str]) -> list[str]:
        """Return the names of the components, or the terms if they are kept.

        Parameters
        ----------
        terms : list of str
            Names of the terms.

        Returns
        -------
        list of str
            Names such as ``component 1``.
        """
        if self.directions_ is None:
            return terms
        return [f"component {number}" for number in range(1, len(self.directions_) + 1)]


def reach(texts: np.ndarray) -> int:
    """Choose the number of characters per cell that keeps the characters of a column below ``MOST_READ``.

    Parameters
    ----------
    texts : ndarray of object of shape (n_samples,)
        Cells.

    Returns
    -------
    int
        Number of characters: the length of the longest cell, or less.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.features.text import reach
    >>> reach(np.array(["short", "a longer text"], dtype=object))
    13
    """
    lengths = np.sort([len(text) for text in texts])
    n_shorter = np.arange(len(lengths))
    totals = np.cumsum(lengths) - lengths + lengths * (len(lengths) - n_shorter)  # if cells end at this length
    fitting = np.searchsorted(totals, MOST_READ, side="right")
    if fitting == len(lengths):
        return int(lengths[-1]) if len(lengths) else 0
    rest = MOST_READ - int(lengths[:fitting].sum())
    return rest // (len(lengths) - int(fitting))


def _fitted(texts: np.ndarray, most: int, with_words: bool) -> tuple[list[Terms], int, Matrix]:
    """Return the terms of training samples, the number of characters read, and the frequencies."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = _prepared(texts)
    length, parts, found = reach(texts), [], []
    least = 2 if len(texts) >= _RARE_FROM else 1
    words = "words" if sum(map(len, texts)) <= MOST_PAIRED else "single words"
    for kind in [words, "characters"] if with_words else ["characters"]:
        vectorizer = TfidfVectorizer(**_settings(kind), min_df=least, max_features=most)
        try:
            found.append(_unit_rows(vectorizer.fit_transform(_read(texts, kind, length))))
        except ValueError:  # No term is left.
            continue
        parts.append(Terms(kind, "\n".join(vectorizer.get_feature_names_out()), vectorizer.idf_))
    return parts, length, _joined(found, len(texts))


def _transformed(texts: np.ndarray, parts: list[Terms], length: int) -> Matrix:
    """Return the frequencies of the terms of training samples."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = _prepared(texts)
    found = []
    for part in parts:
        vectorizer = TfidfVectorizer(**_settings(part.kind), vocabulary=part.terms.split("\n"))
        vectorizer.idf_ = part.idf
        found.append(_unit_rows(vectorizer.transform(_read(texts, part.kind, length))))
    return _joined(found, len(texts))


def _directions(frequencies: Matrix, most: int) -> np.ndarray | None:
    """Return the directions of a decomposition; None if frequencies of so few terms are kept."""
    from sklearn.decomposition import TruncatedSVD

    n_samples, n_terms = frequencies.shape
    if n_terms <= most or n_samples <= 1:
        return None
    # Equal texts have no variance.
    with one_thread_each(), np.errstate(divide="ignore", invalid="ignore"):
        return TruncatedSVD(min(most, n_samples - 1), random_state=_SEED).fit(frequencies).components_


def _read(texts: np.ndarray, kind: str, length: int) -> list[str]:
    """Return the parts of the cells from which terms of a kind are made."""
    return [text[:length] for text in texts] if kind == "characters" else list(texts)


def _settings(kind: str) -> dict[str, Any]:
    return {**SETTINGS[kind], "sublinear_tf": True, "norm": None}


def _unit_rows(frequencies: Matrix) -> Matrix:
    """Scale rows to length 1. Sums in the order of the terms have the same last bits in training and later."""
    from sklearn.preprocessing import normalize

    frequencies.sort_indices()
    return normalize(frequencies, copy=False)


def _prepared(texts: np.ndarray) -> np.ndarray:
    return np.array([text if text.isascii() else unicodedata.normalize("NFC", text) for text in texts], dtype=object)


def _joined(found: list[Matrix], n_samples: int) -> Matrix:
    return sparse.hstack(found, format="csr") if found else sparse.csr_array((n_samples, 0))
