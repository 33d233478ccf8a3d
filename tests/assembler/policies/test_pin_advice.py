"""An error says to pin fewer turns at every window where that helps, and at no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from assembler import Assembler
from assembler.policies import Policy, Refuse, TrimOldest
from budgets import Budget, ContextLengthError
from tests.assembler.dialects.test_chat_template import DIALECTS

TOOL: dict[str, Any] = {"name": "f", "description": "d " * 20, "parameters": {"type": "object", "properties": {}}}


def error_of(name: str, window: int, policies: list[Policy], **pinned: bool) -> ContextLengthError | None:
    made = Assembler(Budget(window), dialect=DIALECTS[name], on_overflow=policies).set_tools([TOOL])
    first = {"role": "user", "content": "alpha " * 30, **pinned}
    try:
        made.add_messages([first, ("assistant", "beta " * 5), ("user", "gamma " * 30)]).build()
    except ContextLengthError as error:
        return error
    return None


@pytest.mark.parametrize("nearby", [(-20, -1, 0, 19), pytest.param(range(-20, 20), marks=pytest.mark.slow)], ids=len)
@pytest.mark.parametrize("policy", [TrimOldest(), Refuse()])
@pytest.mark.parametrize("name", ["llama", "no system", "chatml"])
def test_pins_are_named_where_the_template_writes_a_request_that_fits_without_them(
    name: str, policy: Policy, nearby: Sequence[int]
) -> None:
    """By the prices of the parts, which a template may exceed or fall short of, it said so at other windows."""
    refused = error_of(name, 10, [policy, TrimOldest()])
    assert refused is not None
    assert refused.smallest_window is not None
    for more in nearby:
        error = error_of(name, refused.smallest_window + more, [policy], pinned=True)
        assert error is not None
        assert ("pin fewer of them" in error.advice) == (more >= 0)
