"""Systems under test: an endpoint, a function, a command, recorded traces."""
