"""The report of `ragauge audit`, a file for each form; `story` says what they all tell."""
