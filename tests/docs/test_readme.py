"""The README shows what jaxmark prints of a result that lies in this repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import suite
from suite.analysis.files import problems
from suite.report.show import show_text

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = sorted((ROOT / "results/published").rglob("*.json"))


def test_the_output_on_the_front_page_is_produced_and_not_typed() -> None:
    blocks = re.findall(r"```text\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    printed = [show_text(suite.load(path)) for path in PUBLISHED]
    for block in blocks:
        assert any(block in text for text in printed)


@pytest.mark.parametrize("path", PUBLISHED, ids=[path.name for path in PUBLISHED])
def test_a_published_result_is_valid_and_lies_where_jaxmark_puts_it(path: Path) -> None:
    assert problems(path) == []
    result = suite.load(path)
    assert all(one.status == "ok" for one in result.results)
    assert result.environment.machine.hostname is None


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"
