"""One file a version. They say what a table was then, so they take nothing from `tables`."""
