"""Splitters that are available by name. Each module declares the methods of one class."""
