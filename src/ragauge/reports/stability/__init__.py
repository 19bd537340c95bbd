"""The report of `ragauge stability`, a file for each form; `story` says what they all tell."""
