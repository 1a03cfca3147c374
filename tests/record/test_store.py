"""The store: what is on the disk after each call, and after each way to be interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from suite.analysis.files import load
from suite.analysis.summary import fold
from suite.errors import ResultFileError, StorageError
from suite.record import atomic
from suite.record.store import Store, device_slug
from tests.builders import case, failure, header, machine, outcome, process

ONE = case()
TWO = case(batch=16)


def new_store(folder: Path, **changes: object) -> Store:
    return Store.create(folder, header(ONE, TWO, **changes), fold)


def files_in(folder: Path) -> set[str]:
    return {entry.suffix for entry in folder.rglob("*") if entry.is_file()}


def test_a_run_leaves_one_file_named_after_device_time_config_and_id(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    store.append(outcome(ONE, process(0)))
    written = store.finish("complete")
    relative = store.path.relative_to(tmp_path)
    assert str(relative) == "cpu-example-cpu-2-50ghz/20260131T120000Z-quick-0badcafe.json"
    assert files_in(tmp_path) == {".json"}
    assert load(store.path) == written
    assert written.run.state == "complete"
    assert written.run.finished_at is not None


def test_an_appended_process_is_on_the_disk_before_any_file_is_written(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    store.append(outcome(ONE, process(0)))
    assert not store.path.exists()
    file = load(store.path)
    assert file.run.state == "running"
    assert [len(result.processes) for result in file.results] == [1, 0]
    assert load(store.path.with_suffix(".journal")) == file


def test_the_journal_is_read_where_it_knows_more_than_the_file(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    store.append(outcome(ONE, process(0)))
    store.write()
    store.append(outcome(ONE, process(1)))
    assert len(load(store.path).results[0].processes) == 2


def test_a_kill_between_the_last_write_and_the_removal_of_the_journal(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    store.append(outcome(ONE, process(0)))
    written = store.write("complete")
    store.close()
    assert files_in(tmp_path) == {".json", ".journal"}
    assert load(store.path) == written


@pytest.mark.parametrize("suffix", [".json", ".journal"])
def test_resume_after_a_kill_goes_on_where_the_journal_ends(tmp_path: Path, suffix: str) -> None:
    store = new_store(tmp_path)
    store.append(outcome(ONE, process(0)))
    store.write()
    store.append(outcome(TWO, failure(0)))
    store.close()
    resumed = Store.resume(store.path.with_suffix(suffix), fold)
    assert [(o.key, o.index) for o in resumed.outcomes] == [(ONE.key, 0), (TWO.key, 0)]
    resumed.append(outcome(ONE, process(1)))
    file = resumed.finish("complete")
    assert [len(r.processes) + len(r.failures) for r in file.results] == [2, 1]
    assert files_in(tmp_path) == {".json"}


def test_resume_of_a_finished_file_keeps_what_is_in_it(tmp_path: Path) -> None:
    store = Store.create(tmp_path, header(ONE, TWO), fold)
    store.header.sources[TWO.key] = "mine.py:net"
    for index in range(2):
        store.append(outcome(ONE, process(index)))
        store.append(outcome(TWO, failure(index), source_sha256="cd" * 32))
    before = store.finish("interrupted")
    resumed = Store.resume(store.path, fold)
    assert len(resumed.outcomes) == 4
    assert resumed.header.sources == {TWO.key: "mine.py:net"}
    after = resumed.finish("interrupted")
    assert after.results == before.results


def test_resume_drops_a_torn_line_and_appends_after_it(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    store.append(outcome(ONE, process(0)))
    store.close()
    journal = store.path.with_suffix(".journal")
    with journal.open("ab") as file:
        file.write(b'{"key": "mlp/smo')
    resumed = Store.resume(store.path, fold)
    resumed.append(outcome(ONE, process(1)))
    assert [p.index for p in load(journal).results[0].processes] == [0, 1]


def test_only_one_program_at_a_time_writes_a_run(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    with pytest.raises(StorageError, match="another jaxmark that is still running"):
        Store.resume(store.path, fold)
    store.close()
    Store.resume(store.path, fold).close()


def test_two_runs_with_equal_names_in_one_folder_do_not_meet(tmp_path: Path) -> None:
    stores = [new_store(tmp_path) for _ in range(3)]
    for index, store in enumerate(stores):
        store.append(outcome(ONE, process(index)))
    for store in stores:
        store.finish("complete")
    later = new_store(tmp_path)
    later.append(outcome(ONE, process(9)))
    later.finish("complete")
    paths = [store.path for store in (*stores, later)]
    assert len(set(paths)) == 4
    assert [load(path).results[0].processes[0].index for path in paths] == [0, 1, 2, 9]


def test_a_folder_that_cannot_be_made_is_known_at_once(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StorageError) as caught:
        new_store(blocked)
    message = str(caught.value)
    assert str(blocked) in message
    assert "Not a directory" in message
    assert "--out DIR" in message
    assert "Nothing was measured" in message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_known_at_once(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StorageError, match=r"Permission denied.*--out DIR"):
        new_store(tmp_path)


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = new_store(tmp_path)
    store.append(outcome(ONE, process(0)))
    store.write()
    before = store.path.read_bytes()
    store.append(outcome(ONE, process(1)))

    def refuse(descriptor: int, data: bytes) -> None:
        os.write(descriptor, data[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic, "write_all", refuse)
    with pytest.raises(StorageError, match="No space left on device") as caught:
        store.write()
    assert str(store.path.with_suffix(".journal")) in str(caught.value)
    assert store.path.read_bytes() == before
    assert files_in(tmp_path) == {".json", ".journal"}
    monkeypatch.undo()
    assert len(store.finish("complete").results[0].processes) == 2


def test_devices_give_folder_names() -> None:
    assert device_slug(machine()) == "cpu-example-cpu-2-50ghz"
    h100 = machine(platform="cuda", device_kind="NVIDIA H100 80GB HBM3", device_count=8)
    assert device_slug(h100) == "nvidia-h100-80gb-hbm3-x8"
    assert device_slug(machine(platform="tpu", device_kind="../../etc")) == "etc"
    assert device_slug(machine(platform="tpu", device_kind="///")) == "device"


FILL = """
import resource, sys
from pathlib import Path
from suite.analysis.summary import fold
from suite.errors import StorageError
from suite.record.store import Store
from tests.builders import case, header, outcome, process

limit, ballast = {limit}, {ballast}
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
store = Store.create(Path(sys.argv[1]), header(), fold)
Path(sys.argv[1], "ballast").write_bytes(bytes(ballast))
try:
    for index in range(100_000):
        store.append(outcome(case(), process(index)))
        store.write()
        print(index, flush=True)
except StorageError as error:
    print(error)
    sys.exit(2)
"""


def start(
    folder: Path, limit: int = 0, ballast: int = 0, before: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    script = FILL.format(limit=limit, ballast=ballast)
    return subprocess.Popen(
        [*before, sys.executable, "-c", script, str(folder)], stdout=subprocess.PIPE, text=True, bufsize=1
    )


def test_sigkill_at_any_moment_loses_no_finished_process(tmp_path: Path) -> None:
    for round_number, after in enumerate((1, 4, 9)):
        folder = tmp_path / str(round_number)
        worker = start(folder)
        assert worker.stdout is not None
        for _ in range(after):
            last = int(worker.stdout.readline())
        os.kill(worker.pid, signal.SIGKILL)
        rest = [int(line) for line in worker.stdout.read().split()]
        worker.wait()
        seen = max([last, *rest])
        (journal,) = folder.rglob("*.journal")
        indices = [p.index for p in load(journal).results[0].processes]
        assert indices == list(range(len(indices)))
        assert len(indices) > seen
        resumed = Store.resume(journal, fold)
        resumed.append(outcome(case(), process(len(indices))))
        assert len(resumed.finish("complete").results[0].processes) == len(indices) + 1


def test_a_file_that_may_not_grow_ends_the_run_with_everything_before_it_safe(tmp_path: Path) -> None:
    worker = start(tmp_path, limit=20_000)
    said, _ = worker.communicate()
    assert worker.returncode == 2
    *indices, message = said.splitlines()
    assert "File too large" in message
    assert "--out DIR" in message
    (path,) = tmp_path.rglob("*.json")
    kept = [p.index for p in load(path).results[0].processes]
    assert kept[: len(indices)] == [int(index) for index in indices]
    assert not list(tmp_path.rglob("*.tmp"))


def mounted(folder: Path, options: str) -> tuple[str, ...]:
    """Words before a command that give it a small disk of its own at `folder`."""
    words = ("unshare", "-rm", "sh", "-c", f'mount -t tmpfs -o {options} none "$0" && exec "$@"', str(folder))
    if sys.platform != "linux" or subprocess.run([*words, "true"], capture_output=True).returncode:
        pytest.skip("needs a user namespace to mount a small disk in")
    return words


def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    count = (
        "import sys, pathlib; from suite.analysis.files import load; "
        "[f] = pathlib.Path(sys.argv[1]).rglob('*.json'); print(len(load(f).results[0].processes))"
    )
    both = f'"$@"; code=$?; "{sys.executable}" -c "{count}" "$4"; exit $code'
    words = (*mounted(tmp_path, "size=4352k"), "sh", "-c", both, "sh")
    worker = start(tmp_path, ballast=4_200_000, before=words)
    said, _ = worker.communicate()
    *indices, message, kept = said.splitlines()
    assert worker.returncode == 2
    assert "No space left on device" in message
    assert int(kept) >= len(indices) > 10


@pytest.mark.parametrize(
    ("options", "message"),
    [("ro", "Read-only file system"), ("size=1m", "has 1.0 MiB free; a run may need 4")],
)
def test_a_disk_that_cannot_take_a_run_is_known_at_once(tmp_path: Path, options: str, message: str) -> None:
    script = "import sys; from pathlib import Path; from suite.analysis.summary import fold\n"
    script += "from suite.record.store import Store; from tests.builders import header\n"
    script += "Store.create(Path(sys.argv[1]), header(), fold)"
    command = [*mounted(tmp_path, options), sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("suite.errors.StorageError")
    assert message in last
    assert "Nothing was measured" in last
    assert "--out DIR" in last


def test_a_missing_file_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(ResultFileError, match="No file"):
        Store.resume(tmp_path / "none.json", fold)


def test_a_journal_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    store.append(outcome(ONE, process(0)))
    store.finish("complete")
    store.path.with_suffix(".journal").mkdir()
    with pytest.raises(ResultFileError, match=r"Cannot read .*journal: Is a directory"):
        load(store.path)
