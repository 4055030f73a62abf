"""The examples in all docstrings run and produce the documented output."""

import doctest
import importlib
import pkgutil

import fairfold

FEWEST = 120  # minimum number of docstrings with examples


def test_examples_of_docstrings_give_their_output():
    finder, runner = doctest.DocTestFinder(exclude_empty=True), doctest.DocTestRunner(verbose=False)
    n_docstrings = 0
    for module in pkgutil.walk_packages(fairfold.__path__, "fairfold."):
        for example in finder.find(importlib.import_module(module.name)):
            if example.examples:
                runner.run(example)
                n_docstrings += 1
    assert runner.summarize(verbose=False).failed == 0
    assert n_docstrings >= FEWEST
