"""What is written: files that appear whole or not at all, and rows as Parquet."""
