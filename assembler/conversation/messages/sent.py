"""What is sent for one message or one tool: found at the first request, and the same for every later one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Sent:
    """The Chat Completions spelling of one frozen value, once it is known. Threads that look at once find the same."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: Mapping[str, Any] | None = None
