"""Gates: rules, presets and decisions."""
