"""The dashboard: the history in a web browser, read-only; and the same views as one file."""
