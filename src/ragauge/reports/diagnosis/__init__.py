"""The report of `ragauge diagnose`, a file for each form; `story` says what they all tell."""
