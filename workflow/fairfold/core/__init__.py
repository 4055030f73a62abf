"""Modules that all packages share: arrays, files, seeds, configuration, folds and checks of input."""
