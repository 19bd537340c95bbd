"""Judgements, runs and queries: one file a format, and what tells them apart."""
