"""Files of other tools, as they are: spans and samples in thin envelopes."""
