"""Reports as blocks: a module for each kind, a writer for each format."""
