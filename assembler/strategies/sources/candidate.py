"""A source as a rule of choice sees it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

import attrs

from budgets import Tokens

Heading: TypeAlias = Callable[[int], Tokens]
"""What the heading of the k-th source costs, k from 1."""


@attrs.frozen(slots=True)
class Candidate:
    """A source as a rule of choice sees it: what its body costs, its score, its document, its vector if it has one."""

    cost: Tokens
    score: float
    origin: Hashable = None
    vector: Any = attrs.field(default=None, eq=False, repr=False)
