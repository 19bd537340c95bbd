"""Inflection: the light rules by which two forms of a word meet, a file for each language."""
