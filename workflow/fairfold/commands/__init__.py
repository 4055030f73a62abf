"""Command line, with one module per command.

Each module adds its arguments to the parser (``add_to``) and runs the command (``run``). ``in_python`` runs a study of
arrays.
"""
