"""How answers refuse in their own words: rules as data, a TOML file for each language."""
