"""Assembles chunks of rows in one process or several, in order.

Each worker has one end of a pipe and one chunk at a time. It ends when the other end closes, however the parent died,
and no chunk is lost in a queue. Workers are spawned, never forked, because tokenizers hold threads and locks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import attrs

from assembler.assembler import Assembler
from assembler.batch.errors import BatchError
from assembler.batch.formats import OWN, Format
from assembler.batch.lines import answer

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

ROWS = 64
"""The most rows of a chunk: enough that the pipe's cost is negligible, and few enough that the progress bar moves."""

BYTES = 1024 * 1024
"""The most bytes of a chunk, unless its first row alone has more."""

AHEAD = 4
"""The chunks for each worker that may be read ahead, so that the others can work while one is slow."""

Chunk: TypeAlias = list[tuple[int, bytes]]


class Pipe(Protocol):
    """One end of a pipe, on any system."""

    def send(self, obj: Any, /) -> None:
        """Send a value to the other end."""
        ...

    def recv(self) -> Any:
        """The next value from the other end. Raises EOFError if it is closed."""
        ...

    def close(self) -> None:
        """Close this end."""
        ...


def split_rows(rows: Iterable[bytes], first: int) -> Iterator[Chunk]:
    """Split rows, numbered from `first`, into chunks."""
    chunk: Chunk = []
    size = 0
    for number, line in enumerate(rows, first):
        if chunk and (len(chunk) == ROWS or size + len(line) > BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append((number, line))
        size += len(line)
    if chunk:
        yield chunk


def answer_chunk(base: Assembler, kind: Format, chunk: Chunk) -> list[bytes]:
    """The output lines of a chunk."""
    return [answer(base, number, line, kind) for number, line in chunk]


def in_order(
    base: Assembler, rows: Iterable[bytes], first: int, workers: int, kind: Format = OWN
) -> Generator[list[bytes], None, None]:
    """The output lines of all rows, chunk by chunk, in order. At most `AHEAD` chunks a worker are in memory."""
    if workers == 1:
        return (answer_chunk(base, kind, chunk) for chunk in split_rows(rows, first))
    return _spread_work(base, kind, split_rows(rows, first), workers)


@attrs.frozen(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Pipe

    @classmethod
    def started(cls, base: Assembler, kind: Format) -> _Worker:
        import multiprocessing  # not needed with one process

        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve_chunks, args=(theirs, base, kind), daemon=True)
        process.start()
        theirs.close()  # otherwise the worker's end would never show as closed
        return cls(process, ours)

    def answer(self) -> list[bytes]:
        """The lines of the worker's chunk. Raises its error if that is not a row's."""
        try:
            found: list[bytes] | Exception = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            raise BatchError(
                f"a worker ended by itself (exit code {self.process.exitcode}); what is written stays: run again to go "
                "on, with fewer workers if memory ran out"
            ) from None
        if isinstance(found, Exception):
            raise found
        return found


def _spread_work(
    base: Assembler, kind: Format, bundles: Iterator[Chunk], number: int
) -> Generator[list[bytes], None, None]:
    workers = [_Worker.started(base, kind) for _ in range(number)]
    try:
        yield from _share_out(workers, bundles)
    finally:
        for worker in workers:
            worker.pipe.close()
        for worker in workers:
            worker.process.join()


def _share_out(workers: list[_Worker], bundles: Iterator[Chunk]) -> Generator[list[bytes], None, None]:
    from multiprocessing.connection import wait

    idle, busy = list(workers), dict[Pipe, tuple[_Worker, int]]()
    answers: dict[int, list[bytes]] = {}
    given = wanted = 0
    while True:
        while idle and given - wanted < AHEAD * len(workers) and (chunk := next(bundles, None)) is not None:
            worker = idle.pop()
            with contextlib.suppress(BrokenPipeError):  # reading the answer will raise the error
                worker.pipe.send(chunk)
            busy[worker.pipe] = worker, given
            given += 1
        if not busy:
            return
        for pipe in cast("list[Pipe]", wait(list[Any](busy))):
            worker, place = busy.pop(pipe)
            answers[place] = worker.answer()
            idle.append(worker)
        while wanted in answers:
            yield answers.pop(wanted)
            wanted += 1


def _serve_chunks(pipe: Pipe, base: Assembler, kind: Format) -> None:
    import signal  # not needed with one process, as multiprocessing

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and closes the pipe
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            chunk: Chunk = pipe.recv()
            try:
                found: list[bytes] | Exception = answer_chunk(base, kind, chunk)
            except Exception as error:
                found = error
            pipe.send(found)
