"""Self-contained HTML reports of tables and figures."""
