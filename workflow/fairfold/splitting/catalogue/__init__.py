"""The splitters, a module for each class: one more file here is one more splitter."""
