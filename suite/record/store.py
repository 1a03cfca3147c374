"""Where a run keeps its results while it goes, and how they are read again.

    results/<device>/<UTC time>-<config>-<id>.json       the result file, always whole
    results/<device>/<UTC time>-<config>-<id>.journal    beside it while the run goes

Each finished process goes to the journal at once; the file is written anew at the end of each
round. So a kill at any moment loses no finished process: the journal has them all. When the run
ends, the file is written a last time and the journal goes.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from suite.errors import ResultFileError, StorageError
from suite.record import floors, journal, loading
from suite.record.atomic import fsync_folder, replace_file, storage_error
from suite.record.journal import Journal
from suite.record.private import without_home
from suite.record.schema import (
    Failure,
    Floor,
    JournalHeader,
    Machine,
    Outcome,
    Process,
    Result,
    ResultFile,
    State,
    to_json,
)

Fold = Callable[[JournalHeader, list[Outcome], State, str | None], ResultFile]
"""(header, outcomes, state, finished_at) -> file; `suite.analysis.summary.fold` is the one in use."""

# A run of the largest packaged config leaves about a megabyte, twice while the journal stands.
_LEAST_FREE_BYTES = 4 * 2**20


def utc_now() -> str:
    """The present time as ISO 8601 in UTC, such as '2026-01-31T12:00:00Z'."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Store:
    """The file and the journal of one run, open for writing.

    Attributes:
        path: of the result file.
        header: what the run is.
        outcomes: what has come back so far, in order.
    """

    def __init__(
        self, path: Path, log: Journal, header: JournalHeader, outcomes: list[Outcome], fold: Fold
    ) -> None:
        """Takes over an open journal; use `create` or `resume`."""
        self.path = path
        self.header = header
        self.outcomes = outcomes
        self._journal = log
        self._fold = fold

    @classmethod
    def create(cls, out_dir: Path, header: JournalHeader, fold: Fold) -> Store:
        """Starts the files of a new run, so that a folder that cannot be written is known at once.

        Args:
            out_dir: the results folder; made if it is not there.
            header: what the run is; names the files.
            fold: makes a result file of the outcomes.

        Raises:
            StorageError: the folder cannot be made or written, or its disk is full.
        """
        folder = out_dir / device_slug(header.environment.machine)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(folder).free
        except OSError as error:
            raise storage_error("make the results folder", folder, error, "Nothing was measured.") from error
        if free < _LEAST_FREE_BYTES:
            raise StorageError(
                f"The disk of {folder} has {free / 2**20:.1f} MiB free; a run may need "
                f"{_LEAST_FREE_BYTES >> 20}. Nothing was measured. "
                "Free some space, or write elsewhere with --out DIR."
            )
        path, log = _create_journal(folder, header)
        return cls(path, log, header, [], fold)

    @classmethod
    def resume(cls, path: Path, fold: Fold) -> Store:
        """Goes on with a run that was interrupted or killed.

        Args:
            path: its result file or its journal.
            fold: makes a result file of the outcomes.

        Raises:
            ResultFileError: neither can be read.
            StorageError: another program is writing it, or it cannot be written.
        """
        file_path, journal_path = _pair(path)
        try:
            if not journal_path.exists():
                header, outcomes = unfold(loading.decode(loading.read(file_path), str(file_path)))
                replace_file(journal_path, journal.dump(header, outcomes))
            log, header, outcomes = Journal.reopen(journal_path)
            return cls(file_path, log, header, outcomes, fold)
        except OSError as error:
            raise storage_error("go on writing", journal_path, error) from error

    def append(self, outcome: Outcome) -> None:
        """Keeps what came back from a worker, the home folder hidden; it is on the disk when this returns.

        Raises:
            StorageError: the disk refused it; everything before it is safe.
        """
        outcome = without_home(outcome)
        self._journal.append(outcome)
        self.outcomes.append(outcome)

    def write(self, state: State = "running") -> ResultFile:
        """Writes the result file, whole or not at all.

        Returns:
            What was written.

        Raises:
            StorageError: the disk refused it; the file is as it was before.
        """
        result = self._fold(self.header, self.outcomes, state, None if state == "running" else utc_now())
        if state != "running":
            result.floors = _floors(self.header)
        try:
            replace_file(self.path, to_json(result) + b"\n")
        except OSError as error:
            kept = f"Every finished process is safe in {self._journal.path}."
            raise storage_error("write", self.path, error, kept) from error
        return result

    def finish(self, state: State) -> ResultFile:
        """Writes the file a last time and removes the journal.

        Args:
            state: 'complete' or 'interrupted'.

        Raises:
            StorageError: the disk refused it; the journal stays.
        """
        result = self.write(state)
        self._journal.path.unlink(missing_ok=True)
        self.close()
        fsync_folder(self.path.parent)
        return result

    def close(self) -> None:
        """Leaves the files as they are, for `resume`. Closing twice is fine."""
        self._journal.close()


def load(path: Path, fold: Fold) -> ResultFile:
    """Reads a run, from its result file or its journal, whichever knows more.

    Args:
        path: of the result file or the journal.
        fold: makes a result file of a journal's outcomes.

    Raises:
        ResultFileError: says what was expected, what was found, where, and what to do.
    """
    file_path, journal_path = _pair(path)
    try:
        lines = journal_path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):  # none, or no more: it goes when the run ends
        return loading.decode(loading.read(file_path), str(file_path))
    except OSError as error:
        raise ResultFileError(f"Cannot read {journal_path}: {error.strerror or error}.") from error
    header, outcomes = journal.parse(lines, str(journal_path))
    if file_path.exists():
        file = loading.decode(loading.read(file_path), str(file_path))
        # Killed between its last write and the journal's removal: the file alone knows how it ended.
        if file.run.state != "running" and len(unfold(file)[1]) >= len(outcomes):
            return file
    return fold(header, outcomes, "running", None)


def unfold(file: ResultFile) -> tuple[JournalHeader, list[Outcome]]:
    """Takes a result file apart again; the opposite of folding."""
    header = JournalHeader(
        schema_version=file.schema_version,
        run=file.run,
        environment=file.environment,
        cases=[result.case for result in file.results],
        sources={result.key: result.source for result in file.results if result.source is not None},
    )
    outcomes = [outcome for result in file.results for outcome in _unfold_result(result)]
    return header, sorted(outcomes, key=lambda outcome: outcome.index)


def _unfold_result(result: Result) -> Iterator[Outcome]:
    items: list[Process | Failure] = [*result.processes, *result.failures]
    for item in items:
        yield Outcome(
            key=result.key,
            index=item.index,
            process=item if isinstance(item, Process) else None,
            failure=item if isinstance(item, Failure) else None,
            work=result.work,
            source_sha256=result.source_sha256,
        )


def _floors(header: JournalHeader) -> list[Floor]:
    """What is known of this machine's noise in these cases, for whoever compares the file elsewhere."""
    keys = {case.key for case in header.cases}
    try:
        return [floor for floor in floors.load(header.environment.machine) if floor.key in keys]
    except StorageError:
        return []  # the run is worth more than they are; `jaxmark noise` and `compare` say what is wrong


def device_slug(machine: Machine) -> str:
    """Names the folder of a machine's results: 'nvidia-h100-80gb-hbm3', 'cpu-amd-epyc-7b13', 'tpu-v5e-x4'."""
    name = f"cpu {machine.cpu_model}" if machine.platform == "cpu" else machine.device_kind
    count = f"-x{machine.device_count}" if (machine.device_count or 1) > 1 else ""
    return _slug(name, "device") + count


def _slug(text: str, otherwise: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].rstrip("-") or otherwise


def _create_journal(folder: Path, header: JournalHeader) -> tuple[Path, Journal]:
    run = header.run
    started = re.sub(r"[^0-9TZ]", "", run.started_at)
    name = f"{started}-{_slug(run.config, 'run')}-{_slug(run.id, 'id')[:8]}"
    path = folder / f"{name}.json"
    for attempt in range(2, 1000):
        try:
            if not path.exists():
                return path, Journal.create(path.with_suffix(".journal"), header)
        except FileExistsError:
            pass
        except OSError as error:
            raise storage_error("write in the folder", folder, error, "Nothing was measured.") from error
        path = folder / f"{name}-{attempt}.json"
    raise StorageError(f"{folder} already holds a thousand files named {name}; remove some.")


def _pair(path: Path) -> tuple[Path, Path]:
    """The result file and the journal that belong to a path that may be either."""
    if path.suffix == ".journal":
        return path.with_suffix(".json"), path
    return path, path.parent / f"{path.stem}.journal"
