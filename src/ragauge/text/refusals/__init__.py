"""How answers refuse in their own words: rules as data, a file for each language."""
