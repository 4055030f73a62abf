"""The report: tables and pictures in, self-contained HTML out."""
