"""The exit statuses of every command."""

SCORED = 0
BELOW_BAR = 1
NOT_SCORED = 2
INTERRUPTED = 130
