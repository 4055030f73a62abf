"""The command line: one module for each command, which says what it takes (``add_to``) and does it (``run``)."""
