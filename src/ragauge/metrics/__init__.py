"""The table of metrics, one file a family, and the facts they read."""
