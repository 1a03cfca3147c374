"""Exit codes that are no error's own; those of errors stand in `suite.errors`."""

ALL_OK = 0
NOT_ALL_OK = 1
NOT_VALID = 2
NOTHING = 3
"""There was nothing to compare, to show or to write."""
INTERRUPTED = 130
"""As shells report a program that Ctrl-C ended."""
OUTPUT_CLOSED = 141
"""As shells report a program that SIGPIPE ended: what it had to tell did not arrive."""
