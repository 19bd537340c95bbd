"""Components evaluated: a runner for each task, and all of them over one model."""
