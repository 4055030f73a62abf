"""Recommend models for each dataset, with the evidence."""
