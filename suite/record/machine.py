"""Which machine this is: a random id of its own, kept between runs.

Two runs get a verdict on a change only when they come from one machine. Hardware that looks the
same is not the same: two rented GPUs of one kind differ. Hence an id that nothing else has; it
is random, so it says nothing about its owner.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

from suite.errors import ConfigError

VARIABLE = "JAXMARK_MACHINE"
UNSAVED_PREFIX = "unsaved-"
"""Begins an id that could not be kept: the next run will count as another machine."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def machine_id(name: str | None = None) -> str:
    """Identifies this machine.

    Args:
        name: as given with --machine; else the environment variable JAXMARK_MACHINE; else the
            random id in the user's cache folder, made on first use.

    Returns:
        The name, or the id. An id that cannot be kept begins with 'unsaved-'.

    Raises:
        ConfigError: the name is no word of letters, digits, '.', '_' and '-'.
    """
    given = name if name is not None else os.environ.get(VARIABLE)
    if not given:
        return _kept_id(cache_folder() / "machine-id")
    if not _NAME.fullmatch(given):
        source = "--machine" if name is not None else VARIABLE
        raise ConfigError(
            f"{source}: expected up to 64 letters, digits, '.', '_' and '-', found {given!r}. "
            "For example: ci-runner-a100"
        )
    return given


def cache_folder(variables: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder for what jaxmark keeps between runs; it need not exist yet.

    The XDG rules, where a relative XDG_CACHE_HOME counts as not set; ~/Library/Caches on macOS.
    """
    base = Path(variables.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        base = Path.home() / ("Library/Caches" if platform == "darwin" else ".cache")
    return base / "jaxmark"


def _kept_id(path: Path) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        kept = path.read_text(encoding="ascii").strip()
        if _NAME.fullmatch(kept):
            return kept
    fresh = f"m-{secrets.token_hex(8)}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{fresh}")
        temporary.write_text(f"{fresh}\n", encoding="ascii")
        temporary.replace(path)
        # Two first runs at once: both end up with the id of whoever came last.
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return f"{UNSAVED_PREFIX}{fresh}"
