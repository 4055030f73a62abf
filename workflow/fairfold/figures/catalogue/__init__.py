"""Figures that say themselves where they stand in the report: one more file here is one more figure.

Those of the project stand in ``workflow/report/contents.yaml``, which has their order.
"""
