"""Evaluation: scores, procedures that estimate them, and comparisons of methods."""
