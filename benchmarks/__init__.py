"""Benchmarks of Ragauge: scripts run from the repository root, as `python -m benchmarks.score`."""
