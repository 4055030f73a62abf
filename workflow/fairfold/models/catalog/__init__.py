"""Built-in models, one module for each kind."""
