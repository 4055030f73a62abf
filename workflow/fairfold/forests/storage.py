"""Save fitted models as skops archives and load them.

An archive contains arrays, JSON and type names. Loading creates only scikit-learn's estimators and the types in
``TRUSTED``, and never unpickles data.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfold import __version__
from fairfold.core.files import atomic_open
from fairfold.core.limits import expands
from fairfold.errors import ModelError, first_sentence

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

# Types in the package's models. skops already trusts scikit-learn's estimators and plain types.
_TRUSTED = {  # A partial is trusted only if its function is.
    "collections": "OrderedDict",
    "fairfold.core": "missing_values.MissingValueFiller hierarchy.Hierarchy precision.DistinctValues",
    "fairfold.features": "columns.CategoryEncoder columns.DateEncoder columns.NumberEncoder columns.OrderEncoder "
    "columns.TextColumnEncoder columns.named encoder.TableEncoder molecules.MoleculeEncoder roles.ColumnRole "
    "text.Components text.Terms text.TextEncoder",
    "fairfold.final": "unlike.TrainingSketch",
    "fairfold.forests": "boosting.MultilabelBoosting cascade.CascadeForest embedding.TreeEmbedding levels.Encoder "
    "levels.Level out_of_bag.OutOfBagCascade sketched.SketchedForest trees.MultilabelForest trees.TreeShape",
    "fairfold.models": "binary.BinaryClassifier binary.ChainEnsemble binary.OnePerLabel binary.Standardized "
    "binary.Steps binary.as_csr_matrix binary.as_dense categories.CategoryCodes "
    "correction.CorrectedClassifier exact_forests.MissingValueBoosting joint_labels.JointLabels "
    "kernel_ridge.KernelRidgeClassifier "
    "many_label_ridge.ManyLabelRidge measured.MeasuredRows ml_knn.MLkNN one_level.OneLevelModel "
    "stacking.StackedClassifier text_ridge.TextRidge tuning.Score tuning._TuningFolds",
    "functools": "partial",
    "lightgbm": "basic.Booster sklearn.LGBMClassifier",
    "sklearn": "calibration._CalibratedClassifier calibration._SigmoidCalibration "
    "ensemble._hist_gradient_boosting.predictor.TreePredictor metrics._dist_metrics.EuclideanDistance64 "
    "model_selection._split.StratifiedKFold neighbors._kd_tree.KDTree tree._tree.Tree "
    "utils.validation.check_array",
    "xgboost": "core.Booster sklearn.XGBClassifier",
}
TRUSTED = frozenset(f"{module}.{name}" for module, names in _TRUSTED.items() for name in names.split())
_SCHEMA = "schema.json"  # Written by skops: the types and the file of each array.
_HEADER = "fairfold.json"  # Written by this module.
FORMAT = 3  # Format 2 stored each deep forest in a separate file.
_MADE_ON = (1980, 1, 1, 0, 0, 0)  # The earliest date that a zip archive can store.


def save_model(model: ClassifierMixin, path: str | Path) -> None:
    """Save a fitted model. The same model always gives the same bytes.

    Parameters
    ----------
    model : ClassifierMixin
        Fitted model.
    path : str or Path
        Path of the file.

    Raises
    ------
    ModelError
        If the model contains objects of types that are not in ``TRUSTED``, such as user-defined code.
    """
    from skops import io as skops

    try:
        data = skops.dumps(model)
    except Exception as error:  # Methods of the objects can raise any exception.
        raise ModelError(f"{_called(model)} cannot be saved ({first_sentence(error)}).") from error
    foreign = sorted(set(skops.get_untrusted_types(data=data)) - TRUSTED)
    if foreign:
        raise ModelError(
            f"{_called(model)} cannot be saved, because it contains your own code, {foreign[0]}. Keep this code and "
            "refit the model where you need it."
        )
    with atomic_open(path) as stream:
        stream.write(_without_traces(data))


def load_model(path: str | Path) -> ClassifierMixin:
    """Load a model saved with ``save_model``.

    Parameters
    ----------
    path : str or Path
        Path of the file.

    Returns
    -------
    ClassifierMixin
        Fitted classifier of the class that was saved.

    Raises
    ------
    ModelError
        If the file is missing, is not a saved model, or was written by an incompatible version of fairfold or
        scikit-learn.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from fairfold.forests import load_model, make_model
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> model = make_model("RF+ET", n_trees=5, random_state=0).fit(X, X[:, :2] > 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder, "model.skops"))
    ...     loaded = load_model(Path(folder, "model.skops"))
    >>> np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    True
    """
    from sklearn.exceptions import InconsistentVersionWarning
    from skops import io as skops

    if Path(path).is_dir():
        raise ModelError(f"{path} is a folder. Name the file of the model, or use fairfold.final.load_final.")
    try:
        data = Path(path).read_bytes()
        _check_size(data)
        with warnings.catch_warnings():
            warnings.simplefilter("error", InconsistentVersionWarning)
            foreign = sorted(set(skops.get_untrusted_types(data=data)) - TRUSTED)
            if not foreign:
                _check_format(data)
                model = skops.loads(data, trusted=sorted(TRUSTED))
                _check_content(data)
    except InconsistentVersionWarning as error:
        raise ModelError(
            f"{path} was saved with scikit-learn {error.original_sklearn_version}, but "
            f"{error.current_sklearn_version} is installed. Install the former, or refit the model."
        ) from None
    except Exception as error:  # An unknown file can cause any exception.
        raise ModelError(f"{path} is not a saved model ({first_sentence(error)}). Fit and save it again.") from None
    if foreign:
        raise ModelError(f"{path} contains {foreign[0]}, which no model of fairfold uses. Load only files of fairfold.")
    if not hasattr(model, "predict_proba"):
        raise ModelError(f"{path} contains {type(model).__name__}, which is not a model. Fit and save the model again.")
    return model


def _check_size(data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if expands(archive, len(data)):
            raise ValueError("it expands to many times its size")


def _check_format(data: bytes) -> None:
    found = _contents(data).get(_HEADER, b"{}")
    if (stored := json.loads(found).get("format")) != FORMAT:
        raise ValueError(f"its format is {stored!r}, not {FORMAT}")


def _check_content(data: bytes) -> None:
    """Raise if an array was changed, which compiled code would not notice. Earlier versions stored no checksum."""
    contents = _contents(data)
    wanted = json.loads(contents.pop(_HEADER)).get("sha256")
    if wanted is not None and wanted != _checksum(contents):
        raise ValueError("its content does not fit its checksum")


def _contents(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _checksum(contents: Mapping[str, bytes]) -> str:
    parts = [(name, hashlib.sha256(content).hexdigest()) for name, content in sorted(contents.items())]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _called(model: Any) -> str:
    return type(getattr(model, "estimator_", model)).__name__


def _without_traces(data: bytes) -> bytes:
    """Replace memory addresses by numbers and remove the creation time from an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        schema = archive.read(_SCHEMA).decode()
        contents = {name: archive.read(name) for name in archive.namelist() if name != _SCHEMA}
    number_of = {address: str(n) for n, address in enumerate(dict.fromkeys(re.findall(r'"__id__": (\d+)', schema)))}
    schema = re.sub(r'"__id__": (\d+)', lambda found: f'"__id__": {number_of[found[1]]}', schema)
    order = [*dict.fromkeys(re.findall(r'"file": "([^"]+)"', schema))]
    name_of = {name: f"{n}{Path(name).suffix}" for n, name in enumerate(order)}
    schema = re.sub(r'"file": "([^"]+)"', lambda found: f'"file": "{name_of[found[1]]}"', schema)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        stored = {_SCHEMA: schema.encode(), **{name_of[name]: contents[name] for name in order}}
        header = json.dumps({"format": FORMAT, "fairfold": __version__, "sha256": _checksum(stored)})
        for name, content in {_HEADER: header.encode(), **stored}.items():
            archive.writestr(zipfile.ZipInfo(name, _MADE_ON), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()
