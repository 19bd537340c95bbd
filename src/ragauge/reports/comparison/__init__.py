"""The report of `ragauge compare`, a file for each form; `story` says what they all tell."""
