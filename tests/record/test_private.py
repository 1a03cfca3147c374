"""A result file is made to be passed on: it names no user."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.analysis.summary import fold
from suite.record.private import hide_home
from suite.record.schema import Failure, Outcome
from suite.record.store import Store
from tests.builders import header


def test_only_the_home_folder_is_hidden() -> None:
    assert hide_home("/home/ada/x.py and /home/ada", Path("/home/ada")) == "~/x.py and ~"
    assert hide_home("/opt/x.py", Path("/home/ada")) == "/opt/x.py"
    assert hide_home("/x", Path("/")) == "/x"


def test_what_a_failure_says_is_stored_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    head = header()
    store = Store.create(tmp_path, head, fold)
    said = "File '/home/ada/model.py' broke"
    failure = Failure(
        index=0, started_at="2026-01-01T00:00:00Z", duration_s=1.0, status="error", stage="build",
        reason=said, traceback=said, log_tail=said,
    )  # fmt: skip
    store.append(Outcome(key=head.cases[0].key, index=0, failure=failure))
    journal = next(tmp_path.rglob("*.journal")).read_text()
    store.finish("complete")
    assert "ada" not in journal
    assert "ada" not in store.path.read_text()
    assert store.path.read_text().count("~/model.py") == 4  # the row repeats the reason
