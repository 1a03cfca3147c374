"""Asks a fresh process what case a user's own workload is: `python -m suite.run.describe SOURCE`.

Whether it is a pure step or a function run as it is, its version and its batch size are known
only to the user's code, and that code wants jax, which the orchestrator never imports.
"""

from __future__ import annotations

import sys

import msgspec

from suite.errors import JaxmarkError


def main(source: str) -> int:
    """Prints the case of `source` as one line of JSON; 2 with a message if it cannot be loaded."""
    from suite.run.worker import take_stdout
    from suite.workloads import own

    stream = take_stdout()
    try:
        case = own.describe(own.load(source), source)
    except JaxmarkError as error:
        print(error, file=sys.stderr)
        return 2
    stream.write(msgspec.json.encode(case) + b"\n")
    stream.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
