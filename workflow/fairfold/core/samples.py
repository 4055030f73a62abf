"""Remove attributes that describe training samples from fitted models."""

from __future__ import annotations

from typing import Any, ClassVar


class DropTrainingDataMixin:
    """Mixin that drops per-sample attributes when an estimator is saved, pickled or copied.

    These attributes have a row for each training sample. They are useless for other samples, can be as large as the
    model, and reveal the training labels. The mixin must precede the base classes of scikit-learn.
    """

    _of_samples: ClassVar[tuple[str, ...]] = ("out_of_fold_proba_",)

    def drop_training_data(self) -> None:
        """Delete the per-sample attributes to free memory."""
        for name in self._of_samples:
            self.__dict__.pop(name, None)

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in (state or {}).items() if name not in self._of_samples}
