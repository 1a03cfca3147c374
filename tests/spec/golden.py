"""The stock configs, resolved, as text. Write the golden files anew with:

    python -m tests.spec.golden

and look at the difference: a key that changes means that old results no longer compare.
"""

from __future__ import annotations

from pathlib import Path

from suite.spec import config

FOLDER = Path(__file__).with_name("golden")
NAMES = ("quick", "smoke", "standard")


def resolved(name: str) -> str:
    """Everything that the config of this name means."""
    found = config.load(name)
    settings = found.settings
    lines = [
        f"description      {found.description}",
        f"processes        {found.processes}",
        f"timeout_s        {found.timeout_s:g}",
        f"budget_s         {'none' if found.budget_s is None else f'{found.budget_s:g}'}",
        f"compile          {found.compile_cache}",
        f"warmup_seconds   {settings.warmup_seconds:g}",
        f"block_seconds    {settings.block_seconds:g}",
        f"latency_seconds  {settings.latency_seconds:g}",
        f"seed             {found.seed}",
        "",
        *(case.key for case in found.cases),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in NAMES:
        (FOLDER / f"{name}.txt").write_text(resolved(name), encoding="utf-8")
        print(f"wrote {FOLDER / name}.txt")


if __name__ == "__main__":
    main()
