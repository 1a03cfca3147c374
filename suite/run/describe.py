"""Asks users' own workloads what cases they are: `python -m suite.run.describe PLATFORM SOURCE...`.

Whether one is a pure step or a function run as it is, its version and its batch size are known
only to the user's code, and that code wants jax, which the orchestrator never imports. Like a
worker, this process leaves when its standard input closes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from suite.errors import JaxmarkError
from suite.record.schema import to_json
from suite.run.protocol import Identity


def main(platform: str, sources: Sequence[str]) -> None:
    """Prints an `Identity` for each source, one a line, in order."""
    from suite.run import worker

    with worker.take_stdout() as answers:
        worker.leave_with_parent(worker.take_stdin())
        worker.set_platform(platform)
        folder = os.getcwd()
        for index, source in enumerate(sources):
            os.chdir(folder)  # sources are relative to it, wherever the last one's code has gone
            answers.write(to_json(_identity(index, source)) + b"\n")
            answers.flush()


def _identity(index: int, source: str) -> Identity:
    from suite.workloads import own

    try:
        return Identity(index=index, case=own.describe(own.load(source), source))
    except JaxmarkError as error:
        said = str(error)
        return Identity(index=index, refusal=said if source in said else f"{source}: {said}")
    # The worker meets the same, and reports it with its traceback.
    except BaseException:
        return Identity(index=index)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
    # What the users' code has left running is not waited for.
    os._exit(0)
