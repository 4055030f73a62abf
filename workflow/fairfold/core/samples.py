"""What a fitted model knows of its training samples alone, and does not take along."""

from __future__ import annotations

from typing import Any, ClassVar


class ForgetsSamples:
    """Saved, pickled or copied without attributes that are of its training samples, a row for each.

    They are of no use for other samples, some are as large as the model, and they tell the training labels. A base
    class, before scikit-learn's.
    """

    _of_samples: ClassVar[tuple[str, ...]] = ("unseen_proba_",)

    def forget_samples(self) -> None:
        """Free these attributes, as a model of others may that asks for them no more."""
        for name in self._of_samples:
            self.__dict__.pop(name, None)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in (state or {}).items() if name not in self._of_samples}
