"""Writers of documents, one for each format."""
