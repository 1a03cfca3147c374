"""The command line: `jaxmark VERB`. Each verb is imported when it is called.

Exit codes: 0 fine; 1 a case failed or was never run; 2 bad input, a file that is not valid, or a
machine that is not what was asked for; 3 nothing comparable; 4 inconclusive, where `compare` is
strict; 130 interrupted; 141 nobody reads the output any more. A run that measured nothing never
exits with 0.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence

from suite.cli.exits import INTERRUPTED, OUTPUT_CLOSED
from suite.cli.flags import tell
from suite.cli.parser import make_parser
from suite.errors import JaxmarkError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code.

    Args:
        arguments: without the program's name; those of this process by default.
    """
    _ready_streams()
    asked = make_parser().parse_args(arguments)
    try:
        code: int = asked.verb(asked)
        sys.stdout.flush()
        return code
    except JaxmarkError as error:
        tell(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        print("jaxmark: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has gone, as `head` does: nobody is left to tell.
        _drop_output()
        return OUTPUT_CLOSED
    except OSError as error:
        # Results have errors of their own; what is left is a disk that the output goes to.
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        _drop_output()
        print(f"jaxmark: cannot write the output: {error.strerror}.", file=sys.stderr)
        return JaxmarkError.exit_code


def _ready_streams() -> None:
    """Has every standard stream take what is printed, whatever the caller made of it.

    One that the caller has closed is opened on nothing: otherwise the next files to be opened,
    results among them, would be taken for it.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        # File names hold what the output's encoding may not; an escape tells more than an exception.
        sys.stdout.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Sends what is not yet written to nowhere: Python must not fail on it again as it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
