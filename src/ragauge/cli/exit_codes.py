"""What the commands end with; docs/decisions/0003-exit-codes.md says why."""

USAGE = 2
NOT_MEASURED = 3
INTERRUPTED = 130
BROKEN_PIPE = 141
