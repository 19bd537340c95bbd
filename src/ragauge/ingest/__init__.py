"""Readers: one file an outside format. What is wrong comes back as words with a place."""
