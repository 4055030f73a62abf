"""Procedures that choose a classifier and estimate its performance on the same data, with permutation tests."""
