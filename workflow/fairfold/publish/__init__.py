"""Folder for a publication: methods, tables, figures, checklists, data statement, model cards and RO-Crate."""
