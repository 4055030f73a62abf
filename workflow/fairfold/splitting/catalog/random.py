"""Random folds."""

from fairfold.splitting.spec import SplitterSpec

SPECS = (SplitterSpec("random", "fairfold.splitting.random:RandomSplit", phrase="random assignment"),)
