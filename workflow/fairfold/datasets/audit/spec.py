"""A check of the data, the table that it examines, and its findings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import scipy
from scipy import sparse

from fairfold.core.defaults import MIN_SAMPLES_LEAF, N_SPLITS
from fairfold.core.seeds import seed_for
from fairfold.core.validation import unmeasured_cells
from fairfold.datasets.dataset import Dataset
from fairfold.datasets.requirements import least_samples

if TYPE_CHECKING:
    from fairfold.datasets.audit.alignment import Alignment

Severity = Literal["error", "warning", "note"]
_CHANCE = 0.01  # Maximum expected number of pairs that agree by chance, for a finding.


class Finding(NamedTuple):
    """A finding of a check.

    Attributes
    ----------
    severity : {"error", "warning", "note"}
        An error makes scores meaningless. A warning needs a look by the user. A note is information.
    where : str
        Columns, labels or rows.
    message : str
        "finding; advice".
    evidence : str, default=""
        Numbers behind the finding.
    check : str, default=""
        Name of the finding, if it differs from that of its check.
    """

    severity: Severity
    where: str
    message: str
    evidence: str = ""
    check: str = ""


class Check(NamedTuple):
    """A check that a module of this package declares in ``SPECS``.

    Attributes
    ----------
    name : str
        Name in the table of findings.
    find : callable
        Function of :class:`Audited` that yields findings.
    others : tuple of str, default=()
        Names of findings of another kind that it yields.
    """

    name: str
    find: Callable[[Audited], Iterable[Finding]]
    others: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Audited:
    """A dataset under audit, with parts that several checks share.

    Parameters
    ----------
    data : Dataset
        The dataset.
    n_splits : int, default=5
        Number of folds of the study.
    random_state : int, default=0
        Seed of samples and permutations.
    about_groups : tuple of (str, str), default=()
        Kinds and sentences of warnings about groups.
    test : Dataset, default=None
        Test data in another file, with the same columns.
    columns : Dataset, default=None
        The dataset with the columns of the file, if ``data`` has features of texts instead.
    """

    data: Dataset
    n_splits: int = N_SPLITS
    random_state: int = 0
    about_groups: tuple[tuple[str, str], ...] = ()
    test: Dataset | None = None
    columns: Dataset | None = None

    @property
    def of_file(self) -> Dataset:
        """The dataset with the columns of the file."""
        return self.columns or self.data

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.data.X.shape[0]

    @property
    def least_samples(self) -> int:
        """Number of rows that a study needs."""
        return least_samples(max(self.n_splits, 2), MIN_SAMPLES_LEAF)

    @property
    def is_small(self) -> bool:
        """Whether a study refuses the table because of its number of rows."""
        return self.n_samples < self.least_samples

    def rng(self, check: str) -> np.random.Generator:
        """Return the random numbers of a check.

        Parameters
        ----------
        check : str
            Name of the check.

        Returns
        -------
        Generator
            Random numbers that do not depend on other checks.
        """
        return np.random.default_rng(seed_for(self.random_state, check))

    @cached_property
    def labels(self) -> sparse.csr_array:
        """Labels as 0/1 of shape (n_labels, n_samples). Of two classes, only the second counts. Unmeasured is 0."""
        data = self.data
        if data.task == "multilabel":
            return sparse.csr_array((data.Y == 1).T.astype(np.int64))
        classes = [1] if data.task == "binary" else range(len(data.label_names))
        return sparse.csr_array(np.array([code == data.Y for code in classes], dtype=np.int64))

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the rows of ``labels``."""
        return self.data.label_names[1:] if self.data.task == "binary" else self.data.label_names

    @cached_property
    def measured(self) -> np.ndarray | None:
        """Mask of measured labels of shape (n_labels, n_samples), or None if all labels are measured."""
        return ~unmeasured_cells(self.data.Y).T if self.data.n_unmeasured else None

    @cached_property
    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of positives and of measured samples of each label."""
        positives = np.asarray(self.labels.sum(axis=1)).ravel()
        full = np.full(len(positives), self.n_samples)
        return positives, full if self.measured is None else self.measured.sum(axis=1)

    def testable(self, n_others: int) -> np.ndarray:
        """Return the labels that no other column is expected to match by chance.

        A column without ties separates k positives of n measured samples by chance with probability 2 / C(n, k). Over
        all labels and columns, at most 0.01 such pairs are expected.

        Parameters
        ----------
        n_others : int
            Number of columns that are compared with each label.

        Returns
        -------
        ndarray of int
            Indices of the labels.
        """
        k, n = self.counts
        ways = scipy.special.gammaln(n + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k + 1)
        return np.flatnonzero((k > 0) & (k < n) & (np.log(2 * max(n_others, 1) * len(k)) - ways <= np.log(_CHANCE)))

    @cached_property
    def _alignments(self) -> dict[int, Alignment]:
        return {}

    def alignment(self, n_rows: int) -> Alignment:
        """Return low-dimensional features and labels of the first rows.

        Parameters
        ----------
        n_rows : int
            Number of rows.

        Returns
        -------
        Alignment
            Features and labels.
        """
        from fairfold.datasets.audit.alignment import Alignment

        if n_rows not in self._alignments:
            Y = sparse.csc_array(self.labels.T) if self.measured is None else self.data.Y
            self._alignments[n_rows] = Alignment(self.data.X[:n_rows], Y[:n_rows], self.rng("alignment"))
        return self._alignments[n_rows]
