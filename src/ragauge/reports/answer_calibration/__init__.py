"""The report of `ragauge calibrate groundedness|judge`; `story` says what all forms tell."""
