"""The report of `ragauge history`, a file for each form; `story` says what they all tell."""
