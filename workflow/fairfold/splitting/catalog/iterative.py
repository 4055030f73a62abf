"""Iterative stratification of first order (IS) and second order (SOIS), and IS with simulated annealing."""

from fairfold.splitting.spec import SplitterSpec

_CLASS = "fairfold.splitting.iterative:IterativeStratification"
_FIRST = "iterative stratification [@sechidis2011]"
_SECOND = "second-order iterative stratification [@szymanski2017]"
_ANNEALED = f"{_FIRST} followed by simulated annealing of the balance of labels [@fairfold]"

# The first-seen variants run as in the published comparison.
SPECS = (
    SplitterSpec("IS", _CLASS, phrase=_FIRST),
    SplitterSpec("IS-first-seen", _CLASS, {"label_order": "first-seen"}, _FIRST),
    SplitterSpec("SOIS", _CLASS, {"order": 2}, _SECOND),
    SplitterSpec("SOIS-first-seen", _CLASS, {"order": 2, "label_order": "first-seen"}, _SECOND),
    SplitterSpec("annealed", _CLASS, {"refine": "anneal"}, _ANNEALED),
)
