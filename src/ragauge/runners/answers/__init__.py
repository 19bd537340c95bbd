"""Evaluations of finished answers."""
