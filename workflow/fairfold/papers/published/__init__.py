"""Comparisons of the study's results with published numbers, one module per part of the study."""
