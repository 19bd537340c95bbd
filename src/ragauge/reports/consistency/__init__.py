"""The report of `ragauge consistency`, a file for each form; `story` says what they all tell."""
