"""The report of `ragauge score`, a file for each form; `story` says what they all tell."""
