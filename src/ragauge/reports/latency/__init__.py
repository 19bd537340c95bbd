"""The report of `ragauge latency`, a file for each form; `story` says what they all tell."""
