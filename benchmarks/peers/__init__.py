"""The peers that Ragauge is timed against, each run in a virtual environment of its own."""
