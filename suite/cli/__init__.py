"""The command line: `jaxmark VERB`. Each verb is imported when it is called.

Exit codes: 0 fine; 1 a case failed or was never run; 2 bad input, a file that is not valid, or a
machine that is not what was asked for; 3 nothing comparable; 4 inconclusive, where `compare` is
strict; 130 interrupted. A run that measured nothing never exits
with 0.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from suite.cli.exits import INTERRUPTED
from suite.cli.parser import make_parser
from suite.errors import JaxmarkError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code.

    Args:
        arguments: without the program's name; those of this process by default.
    """
    asked = make_parser().parse_args(arguments)
    try:
        code: int = asked.verb(asked)
        sys.stdout.flush()
        return code
    except JaxmarkError as error:
        print(f"jaxmark: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("jaxmark: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has gone, as `head` does: nobody is left to tell. Python must
        # not try to flush into the closed pipe as it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
