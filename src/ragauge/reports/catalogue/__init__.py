"""The catalogue of causes for readers, a file for each form; `story` says what they all tell."""
