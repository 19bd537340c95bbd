"""A report in the form its reader wants: console, JSON, Markdown, JUnit, GitHub, CSV."""
