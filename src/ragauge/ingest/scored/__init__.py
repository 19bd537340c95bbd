"""Scores of samples for diagnosis, in our form and in those of other tools."""
