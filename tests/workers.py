"""Runs the tests in parallel processes: `python -m pytest -p tests.workers --workers 2`.

The tests are collected once, and every worker is a fork of the process that did. So neither what collection costs (the
imports, 13,000 items: 19 s of processor time) nor what it leaves in memory is paid for twice. pytest-xdist collects in
each worker and sends five messages a test: 3,000 empty tests took it 15 s of processor time, and 8 s are taken here
(2026-11, two workers on two busy cores). `make coverage` still runs with xdist: pytest-cov follows it.

A worker takes the next block of tests when it has none left, so that no worker waits for another. What its tests did is
told by the process that collected. Where forks cannot be had, the tests run one after the other.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import struct
import traceback
from collections.abc import Iterator
from typing import Any, Literal, NoReturn, cast

import attrs
import pytest
from _pytest.capture import CaptureManager
from _pytest.runner import runtestprotocol

BLOCK = 8
"""Tests that a worker takes at once. Their neighbours share fixtures; the last block is what the others wait for."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--workers`."""
    parser.addoption("--workers", type=int, default=0, help="processes to run the tests in")


def pytest_configure(config: pytest.Config) -> None:
    """Take pytest's loop over, if asked to."""
    if _workers(config) > 1 and hasattr(os, "fork"):
        config.pluginmanager.register(_Loop(), "loop of workers")


def _workers(config: pytest.Config) -> int:
    return cast("int", config.getoption("workers"))


class _Loop:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Literal[True] | None:
        """Run all tests in workers; None leaves a run with errors, or without tests, to pytest."""
        if session.testsfailed or session.config.option.collectonly or not session.items:
            return None
        # The folder for temporary files is made here, or each worker would make one of its own and leave it locked.
        getattr(session.config, "_tmp_path_factory").getbasetemp()  # noqa: B009
        gc.collect()
        gc.freeze()  # no worker walks over what was collected, nor copies its pages
        blocks = _Blocks(range(0, len(session.items), BLOCK))
        workers = [_Worker(session, blocks) for _ in range(_workers(session.config))]
        try:
            _tell(session, workers)
        finally:
            for worker in workers:
                worker.end()
        return True


class _Blocks:
    """A queue that processes share: a pipe with the number of each block, out of which every reader takes the next."""

    def __init__(self, starts: range) -> None:
        self._out, into = os.pipe()
        written = b"".join(struct.pack("=I", start) for start in starts)
        if os.fork() == 0:  # a pipe holds 64 KiB, and there may be more
            while written:
                written = written[os.write(into, written) :]
            os._exit(0)
        os.close(into)

    def __iter__(self) -> Iterator[int]:
        while taken := os.read(self._out, 4):
            yield from range(start := struct.unpack("=I", taken)[0], start + BLOCK)


class _Worker:
    """A fork that runs blocks of tests until none is left, seen by the process that collected them."""

    running: int | None = None
    """The place of a test."""
    is_done = False

    def __init__(self, session: pytest.Session, blocks: _Blocks) -> None:
        self.out, into = os.pipe()
        self._process, self._unread = os.fork(), b""
        if self._process == 0:
            _Inside(session, into).run(blocks)
        os.close(into)

    def messages(self) -> list[Any] | None:
        """The messages since the last call; None after its end."""
        read = os.read(self.out, 1 << 16)
        self._unread, found = self._unread + read, list[Any]()
        while len(self._unread) >= 4 and len(self._unread) >= 4 + (size := struct.unpack_from("=I", self._unread)[0]):
            found.append(pickle.loads(self._unread[4 : 4 + size]))
            self._unread = self._unread[4 + size :]
        return found if read else None

    def end(self) -> None:
        """End it, wherever it is."""
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self.out)


@attrs.frozen
class _Inside:
    """Inside a worker: a plugin that writes reports into a pipe."""

    _session: pytest.Session
    _into: int

    def run(self, blocks: _Blocks) -> NoReturn:
        config, items = self._session.config, self._session.items
        config.pluginmanager.register(self, "inside of a worker")
        captured = cast("CaptureManager | None", config.pluginmanager.getplugin("capturemanager"))
        if captured:  # its files were opened before the fork: another worker writes into them
            captured.stop_global_capturing()
            captured.start_global_capturing()
        try:
            places = (place for place in blocks if place < len(items))
            place = next(places, None)
            while place is not None:
                self._write(place)
                following = next(places, None)
                nextitem = None if following is None else items[following]
                config.hook.pytest_runtest_protocol(item=items[place], nextitem=nextitem)
                place = following
        except BaseException:  # an interruption, say: pytest takes everything else for the outcome of a test
            traceback.print_exc()
            os._exit(1)
        self._write(None)
        os._exit(0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test like pytest, without its reports."""
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            self._write(item.config.hook.pytest_report_to_serializable(config=item.config, report=report))
        return True

    def _write(self, message: object) -> None:
        packed = pickle.dumps(message)
        packed = struct.pack("=I", len(packed)) + packed
        while packed:
            packed = packed[os.write(self._into, packed) :]


def _tell(session: pytest.Session, workers: list[_Worker]) -> None:
    """Report what the workers write, until all have ended or the run is to stop."""
    hook, alive = session.config.hook, {worker.out: worker for worker in workers}
    while alive:
        for out in select.select(list(alive), [], [])[0]:
            for message in (messages := alive[out].messages()) or ():
                _hear(session, alive[out], message)
            if messages is None and not (worker := alive.pop(out)).is_done:
                item = session.items[worker.running or 0]
                lost = f"the process that ran this test ended in the midst of it; up to {BLOCK} more were not run"
                hook.pytest_runtest_logreport(
                    report=pytest.TestReport(item.nodeid, item.location, {}, "failed", lost, "call")
                )
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)


def _hear(session: pytest.Session, worker: _Worker, message: Any) -> None:
    """Tell of a report, of the place of the test that begins, or of None: all are done."""
    config, before = session.config, worker.running
    if message is not None and not isinstance(message, int):
        report = config.hook.pytest_report_from_serializable(config=config, data=message)
        config.hook.pytest_runtest_logreport(report=report)
        return
    if before is not None:
        item = session.items[before]
        config.hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    worker.is_done, worker.running = message is None, message
    if message is not None:
        item = session.items[message]
        config.hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
