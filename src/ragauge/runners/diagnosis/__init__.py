"""From scores, traces or a recorded run to a diagnosis."""
