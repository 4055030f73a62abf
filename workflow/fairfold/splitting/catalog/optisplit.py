"""OptiSplit with the two objectives of the published comparison."""

from fairfold.splitting.spec import SplitterSpec

_CLASS = "fairfold.splitting.optisplit:OptiSplit"

SPECS = (
    SplitterSpec("OptiSplit-DCP", _CLASS, {"objective": "dcp"}, "OptiSplit with the objective DCP [@tiittanen2021]"),
    SplitterSpec("OptiSplit-rLD", _CLASS, {"objective": "rld"}, "OptiSplit with the objective rLD [@tiittanen2021]"),
)
