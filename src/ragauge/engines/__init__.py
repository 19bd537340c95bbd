"""Where work runs: here, or in local processes."""
