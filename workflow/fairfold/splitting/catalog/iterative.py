"""Iterative stratification of first order (IS) and second order (SOIS), and IS with simulated annealing."""

from fairfold.splitting.spec import SplitterSpec

_CLASS = "fairfold.splitting.iterative:IterativeStratification"

# The first-seen variants run as in the published comparison.
SPECS = (
    SplitterSpec("IS", _CLASS),
    SplitterSpec("IS-first-seen", _CLASS, {"label_order": "first-seen"}),
    SplitterSpec("SOIS", _CLASS, {"order": 2}),
    SplitterSpec("SOIS-first-seen", _CLASS, {"order": 2, "label_order": "first-seen"}),
    SplitterSpec("annealed", _CLASS, {"refine": "anneal"}),
)
