"""The report of `ragauge eval all`, a file for each form; `story` says what they all tell."""
