"""Embedders and judges, behind the protocols of contracts."""
