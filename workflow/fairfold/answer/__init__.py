"""Sentences of the answer of a study, which the terminal, the report and the publication show."""
