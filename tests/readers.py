"""Readers of a file in a known format, with all options of the classes that :func:`fairfold.tables.read` uses."""

from pathlib import Path

from fairfold.tables.arff import ArffFile
from fairfold.tables.delimited import RowFile


def read_csv(path, *, text_columns=(), categorical=(), labels=(), **options):
    """Read a delimited, columnar or Excel file."""
    source = RowFile(Path(path), text=[*text_columns, *categorical, *labels], **options)
    return source.table(categorical=categorical, labels=labels)


def read_arff(path, *, text_columns=(), **texts):
    """Read an ARFF file."""
    return ArffFile(Path(path), text=text_columns).table(**texts)
