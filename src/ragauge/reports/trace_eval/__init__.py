"""The report of `ragauge trace-eval`, a file for each form; `story` says what they all tell."""
