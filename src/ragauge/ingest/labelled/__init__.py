"""Labelled items, and the sets their labels are from."""
