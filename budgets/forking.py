"""Makes forks safe: a child must inherit no lock and no import that another thread holds.

Only the forking thread survives in the child. A lock held by another thread would stay locked there, and so would the
import lock of a module that it was importing. The child would wait forever at its first use of either.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from types import FrameType
from typing import Protocol

PATIENCE = 5_000
"""The most milliseconds that a fork waits for the imports of other threads."""

_MACHINERY = "<frozen importlib._bootstrap>"
"""The file name in the frames of Python's import system."""
_OURS = frozenset({"assembler", "budgets"})


class Locked(Protocol):
    """Anything with a lock."""

    def renew(self) -> None:
        """Open the lock in a child, which has no other thread."""
        ...


class ForkedLock:
    """A lock that is always open in a forked child.

    A thread may take it again while it holds it: a signal handler or a finalizer runs in the midst of anything.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        renew_in_children(self)

    def renew(self) -> None:
        """Open the lock in a child, which has no other thread."""
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_locks: weakref.WeakSet[Locked] = weakref.WeakSet()


def renew_in_children(owner: Locked) -> None:
    """Call `owner.renew()` in every forked child, for as long as the owner lives."""
    _locks.add(owner)


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] in _OURS


def imports_for_us(innermost: FrameType) -> bool:
    """Whether a thread is inside an import that this library started. O(stack depth)."""
    importing = False
    frame: FrameType | None = innermost
    while frame is not None:
        if frame.f_code.co_filename == _MACHINERY:
            importing = True
        elif (importing or frame.f_code.co_name == "<module>") and _is_ours(frame):
            return True
        frame = frame.f_back
    return False


def sleep_briefly() -> None:
    """Sleep for a millisecond."""
    time.sleep(0.001)


def wait_for_imports() -> None:
    """Wait until other threads have finished this library's imports, at most five seconds."""
    here = threading.get_ident()
    for _ in range(PATIENCE):
        others = [frame for thread, frame in sys._current_frames().items() if thread != here]  # pyright: ignore[reportPrivateUsage]
        if not any(map(imports_for_us, others)):
            return
        del others
        sleep_briefly()


def _replace_locks() -> None:
    for lock in list(_locks):
        lock.renew()


def guard_forks() -> None:
    """Make every fork of this process wait for our imports, and open our locks in the child."""
    if hasattr(os, "register_at_fork"):  # Windows has no fork
        os.register_at_fork(before=wait_for_imports, after_in_child=_replace_locks)
