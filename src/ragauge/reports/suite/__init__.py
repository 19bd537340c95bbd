"""The report of `ragauge run`, a file for each form; `story` says what they all tell."""
