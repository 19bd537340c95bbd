"""Annotated texts: one file a format, and what tells them apart."""
