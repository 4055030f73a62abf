"""Which models to trust on each dataset, and why."""
