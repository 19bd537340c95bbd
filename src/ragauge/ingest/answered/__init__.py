"""Answers to be measured, in our shape and in those of other tools."""
