"""Comparison of models by the influence of samples on their scores."""
