"""The report of `ragauge audit --drift`, a file for each form; `story` says what they all tell."""
