"""The report of `ragauge calibrate deltas`, a file for each form; `story` says what all tell."""
