"""Compositions of the rooms below: each returns one Outcome."""
