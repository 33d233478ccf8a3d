"""What a forked child must not inherit half done: another thread's lock, closed, and another thread's import.

Only the thread that forks lives on in the child. A lock that another one held stays closed there, and so does the lock
that Python gives each module while it is imported: the child's first use of either would wait for ever.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from types import FrameType

PATIENCE = 5_000
"""How often a fork waits a millisecond for the imports of other threads, at most."""

_MACHINERY = "<frozen importlib._bootstrap>"
"""The file of Python's own import code, as its frames name it."""
_OURS = frozenset({"assembler", "budgets"})


class ForkedLock:
    """A lock that is open in a forked child, whoever held the parent's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def renew(self) -> None:
        """Forget whoever holds it: a child has no other thread."""
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_locks: weakref.WeakSet[ForkedLock] = weakref.WeakSet()


def _frames_of(innermost: FrameType | None) -> Iterator[FrameType]:
    while innermost is not None:
        yield innermost
        innermost = innermost.f_back


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] in _OURS


def imports_for_us(innermost: FrameType) -> bool:
    """Whether a thread is inside an import that this library began. O(depth of the thread)."""
    importing = False
    for frame in _frames_of(innermost):
        if frame.f_code.co_filename == _MACHINERY:
            importing = True
        elif (importing or frame.f_code.co_name == "<module>") and _is_ours(frame):
            return True
    return False


def rest() -> None:
    """Leave the other threads a millisecond."""
    time.sleep(0.001)


def wait_for_imports() -> None:
    """Let the other threads finish what they import for this library; five seconds at most, lest a fork hang."""
    here = threading.get_ident()
    for _ in range(PATIENCE):
        others = [frame for thread, frame in sys._current_frames().items() if thread != here]  # pyright: ignore[reportPrivateUsage]
        if not any(map(imports_for_us, others)):
            return
        del others
        rest()


def _renew_locks() -> None:
    for lock in list(_locks):
        lock.renew()


def guard_forks() -> None:
    """Have every fork of this process wait for our imports, and open our locks in the child."""
    if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
        os.register_at_fork(before=wait_for_imports, after_in_child=_renew_locks)
