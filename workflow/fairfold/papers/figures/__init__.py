"""Figures of published works, redrawn from our numbers."""
