"""The report of `ragauge gold agreement`, a file for each form; `story` says what they all tell."""
