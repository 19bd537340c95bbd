"""Baselines: simple models behind the protocols a user's model has, to compare with."""
