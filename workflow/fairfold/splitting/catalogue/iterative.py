"""Iterative stratification of first (IS) and second order (SOIS), and with simulated annealing after it."""

from fairfold.splitting.spec import SplitterSpec

_CLASS = "fairfold.splitting.iterative:IterativeStratification"

SPECS = (
    SplitterSpec("IS", _CLASS),
    SplitterSpec("IS-first-seen", _CLASS, {"label_order": "first-seen"}),  # as the published comparison ran it
    SplitterSpec("SOIS", _CLASS, {"order": 2}),
    SplitterSpec("SOIS-first-seen", _CLASS, {"order": 2, "label_order": "first-seen"}),  # so was SOIS
    SplitterSpec("annealed", _CLASS, {"refine": "anneal"}),
)
