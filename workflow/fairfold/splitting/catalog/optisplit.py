"""OptiSplit with the two objectives of the published comparison."""

from fairfold.splitting.spec import SplitterSpec

_CLASS = "fairfold.splitting.optisplit:OptiSplit"

SPECS = (
    SplitterSpec("OptiSplit-DCP", _CLASS, {"objective": "dcp"}),
    SplitterSpec("OptiSplit-rLD", _CLASS, {"objective": "rld"}),
)
