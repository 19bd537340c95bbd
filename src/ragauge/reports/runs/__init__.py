"""Recorded runs as a person reads them: the list, and who a run is."""
