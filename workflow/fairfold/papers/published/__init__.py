"""Comparisons of the study's results with published numbers, one module for each part of the study."""
