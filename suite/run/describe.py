"""Asks users' own workloads what cases they are: `python -m suite.run.describe SOURCE...`.

Whether one is a pure step or a function run as it is, its version and its batch size are known
only to the user's code, and that code wants jax, which the orchestrator never imports.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from suite.errors import JaxmarkError
from suite.record.schema import to_json


def main(sources: Sequence[str]) -> int:
    """Prints a line of JSON for each source: its case, or null where its own code raises.

    Returns:
        2 with a message on standard error if a source does not exist or is no workload, else 0.
    """
    from suite.run.worker import take_stdout
    from suite.workloads import own

    with take_stdout() as answers:
        for source in sources:
            try:
                case = own.describe(own.load(source), source)
            except JaxmarkError as error:
                print(error, file=sys.stderr)
                return error.exit_code
            # The worker meets the same, and reports it with its traceback.
            except (Exception, SystemExit):
                case = None
            answers.write(to_json(case) + b"\n")
            answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
