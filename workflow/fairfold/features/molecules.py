"""Features and scaffolds of molecules in SMILES, by RDKit (``pip install 'fairfold[chemistry]'``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fairfold.errors import DataError
from fairfold.features.cells import as_texts, refuse

if TYPE_CHECKING:
    from rdkit.Chem import Mol

N_FINGERPRINTS, RADIUS = 2048, 2
"""Length and radius of the fingerprint."""
PROPERTIES = (
    "exactmw",
    "NumHeavyAtoms",
    "NumHeteroatoms",
    "NumRotatableBonds",
    "NumHBD",
    "NumHBA",
    "NumAmideBonds",
    "NumRings",
    "NumAromaticRings",
    "NumAliphaticRings",
    "NumSaturatedRings",
    "NumHeterocycles",
    "NumSpiroAtoms",
    "NumBridgeheadAtoms",
    "NumAtomStereoCenters",
    "FractionCSP3",
    "labuteASA",
    "tpsa",
    "CrippenClogP",
    "CrippenMR",
    "hallKierAlpha",
    "kappa1",
    "kappa2",
    "kappa3",
)
"""RDKit's names of the properties."""
_MOST_KEPT = 100_000  # molecules whose features are kept, because each fold and model encodes them again
_ATOM = r"\[[^\]\s]+\]|Br|Cl|[BCNOPSFI]|[bcnops]"
_SMILES = re.compile(rf"(?:{_ATOM})(?:{_ATOM}|[-=#$:/\\.()]|%\d\d|\d)*", re.ASCII)
_STRUCTURE = re.compile(r"[()=#\[]|(\d).*\1")  # a branch, a bond, a bracket or a ring
_SHARE_WITH_STRUCTURE = 0.5  # Codes and words such as C1 and COOP have the same characters.


def look_like_molecules(values: list[str]) -> bool:
    """Return whether texts have the characters of SMILES. RDKit is not needed.

    Parameters
    ----------
    values : list of str
        Different cells of a column.

    Returns
    -------
    bool
        Whether all cells have these characters, and at least half of them a ring, branch, bond or bracket.

    Examples
    --------
    >>> look_like_molecules(["CCO", "c1ccccc1O", "CC(=O)O"]), look_like_molecules(["COOP", "BIN"])
    (True, False)
    """
    n_structured = sum(bool(_STRUCTURE.search(value)) for value in values)
    return n_structured >= _SHARE_WITH_STRUCTURE * len(values) and all(map(_SMILES.fullmatch, map(str.strip, values)))


@dataclass
class MoleculeEncoder:
    """Encoder of molecules as a fingerprint and properties. A missing cell is a molecule without atoms.

    The fingerprint counts circular substructures up to two bonds around each atom (ECFP4; Rogers and Hahn 2010), as
    log(1 + count) in 2,048 places. The properties are weight, rings, hydrogen bonds, polar surface, lipophilicity and
    the like. Nothing is learned from training samples.

    References
    ----------
    Rogers, D. and Hahn, M. (2010). Extended-connectivity fingerprints. *Journal of Chemical Information and Modeling*
    50, 742-754.

    Examples
    --------
    >>> encoder = MoleculeEncoder()
    >>> features = encoder.fit_transform(pd.Series(["CCO", "c1ccccc1"]))
    >>> features.shape, encoder.names("smiles")[-1]
    ((2, 2072), 'smiles: kappa3')
    """

    def fit_transform(self, column: pd.Series) -> np.ndarray:
        """Encode the training samples."""
        return self.transform(column)

    def transform(self, column: pd.Series) -> np.ndarray:
        """Encode a column as the fingerprint, followed by the properties."""
        found = [_described(text.strip()) for text in as_texts(column)]
        for row, each in enumerate(found):
            if each is None:
                raise _refused(column, row)
        features = np.zeros((len(found), N_FINGERPRINTS + len(PROPERTIES)))
        for row, (places, counts, properties) in enumerate(filter(None, found)):
            features[row, places] = counts
            features[row, N_FINGERPRINTS:] = properties
        return features

    def names(self, column: str) -> list[str]:
        """Return a name for each place of the fingerprint, and the names of the properties."""
        substructures = [f"substructure {place}" for place in range(N_FINGERPRINTS)]
        return [f"{column}: {name}" for name in (*substructures, *PROPERTIES)]


def check_molecules(column: pd.Series) -> None:
    """Check that RDKit is installed and reads all cells.

    Parameters
    ----------
    column : Series
        Molecules in SMILES. Cells may be empty.

    Raises
    ------
    DataError
        If RDKit is missing, or a cell is not a molecule.

    Examples
    --------
    >>> check_molecules(pd.Series(["CCO", ""]))
    """
    for row, text in enumerate(as_texts(column)):
        if _molecule(text.strip()) is None:
            raise _refused(column, row)


def scaffolds(column: pd.Series) -> np.ndarray:
    """Return the Bemis-Murcko scaffold of each molecule: its rings and the chains that link them.

    Parameters
    ----------
    column : Series
        Molecules in SMILES.

    Returns
    -------
    ndarray of object of shape (n_samples,)
        Scaffolds in canonical SMILES; ``"no ring"`` for molecules without a ring.

    Raises
    ------
    DataError
        If RDKit is missing, or a cell is not a molecule.

    References
    ----------
    Bemis, G. W. and Murcko, M. A. (1996). The properties of known drugs. 1. Molecular frameworks. *Journal of
    Medicinal Chemistry* 39, 2887-2893.

    Examples
    --------
    >>> scaffolds(pd.Series(["OCc1ccccc1", "Cc1ccccc1", "CCO"])).tolist()
    ['c1ccccc1', 'c1ccccc1', 'no ring']
    """
    check_molecules(column)
    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    texts = [text.strip() for text in as_texts(column)]
    different = {text: MurckoScaffoldSmiles(mol=_molecule(text)) or "no ring" for text in {*texts}}
    return np.array([different[text] for text in texts], dtype=object)


def _refused(column: pd.Series, row: int) -> DataError:
    return refuse(column, row, "a molecule (SMILES)")


def _molecule(text: str) -> Mol | None:
    """Return a molecule, or None if RDKit cannot read it."""
    try:
        from rdkit.Chem import MolFromSmiles
        from rdkit.rdBase import BlockLogs
    except ImportError:
        raise DataError("Molecules need RDKit. Install it with pip install 'fairfold[chemistry]'.") from None
    with BlockLogs():  # RDKit writes the reason to the standard error.
        return MolFromSmiles(text)


@lru_cache(_MOST_KEPT)
def _described(text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the places and counts of the fingerprint, and the properties; None if the text is not a molecule."""
    if (molecule := _molecule(text)) is None:
        return None
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.Chem.rdMolDescriptors import Properties

    counts = GetMorganGenerator(radius=RADIUS, fpSize=N_FINGERPRINTS).GetCountFingerprint(molecule).GetNonzeroElements()
    places = np.array(sorted(counts), dtype=np.int32)
    properties = np.array(Properties(PROPERTIES).ComputeProperties(molecule))
    return places, np.log1p([counts[place] for place in places.tolist()]), properties
