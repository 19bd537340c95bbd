"""Parts of the reports of `ragauge eval`."""
