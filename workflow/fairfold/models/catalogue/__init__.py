"""The models, a module for each kind: one more file here is one more model."""
