"""The status of a conversation in any state, cheap enough for every keystroke."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from assembler import (
    Assembler,
    AssemblyError,
    ContextLengthError,
    Overflow,
    Refuse,
    Summarize,
    TrimOldest,
    calibrate,
)
from assembler.dialects import DIALECTS, openai_chat, plain
from budgets import Budget, Limit
from tests.calls import IN_C_TOO, calls_of


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
STATES: dict[str, list[dict[str, Any]]] = {
    "empty": [],
    "system alone": [{"role": "system", "content": "x"}],
    "a question": [user("x")],
    "an answer last": [user("x"), {"role": "assistant", "content": "y"}],
    "waiting": [user("x"), {"role": "assistant", "content": None, "tool_calls": [CALL]}],
    "too long": [user("x" * 500)],
    "long": [user("x" * 30) for _ in range(20)],
}


def never(*_: Any) -> str:
    raise AssertionError("a status line asks no model")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    "policy", [Refuse(), TrimOldest(), TrimOldest(0.5), Summarize(never), Summarize(None)], ids=str
)
@pytest.mark.parametrize("dialect", [plain, openai_chat], ids=["plain", "chat"])
def test_an_assembler_in_any_state_has_a_status_without_asking_a_policy(state: str, policy: Any, dialect: Any) -> None:
    assembler = Assembler(Budget(100, counter=len), dialect=dialect, on_overflow=policy).add_messages(STATES[state])
    status = assembler.status()
    assert status.limit == 100
    assert status.free is not None
    assert status.free <= 100 - status.used
    assert 0 <= status.cached_share <= 1
    assert (status.free < 0) == (state == "too long" or (state == "long" and not isinstance(policy, TrimOldest)))


def test_the_status_says_what_the_build_will_cost() -> None:
    assembler = Assembler(Budget(100, counter=len), dialect=plain, on_overflow=TrimOldest())
    for number in range(12):
        assembler.add_message(user("x" * (5 + number)))
        assert assembler.status().used == assembler.build().count.tokens
        assert str(assembler.status()).startswith(f"{assembler.build().count.tokens} of 100 tokens, ")


def test_the_used_and_the_free_tokens_add_up_to_the_limit() -> None:
    status = Assembler(Budget(4_000, model="claude-opus-4-8")).add_messages([user("How are you? " * 20)]).status()
    most, free = (
        int(number.replace(",", "")) for number in re.findall(r"at most ([\d,]+)\), ([\d,]+) free", str(status))[0]
    )
    assert most + free == 4_000
    assert most > status.used


def too_large_after_a_bill() -> Assembler:
    """30 counted and 60 billed, then twice as much: at least 30 more than 60 counted, at most twice as many."""
    assembler = Assembler(Budget(100, counter=len)).set_instruction("x" * 28).add_message(user("hi"))
    return assembler.anchor(calibrate(assembler.build(), 60)).set_instruction("y" * 58)


def refused_by_the_provider() -> Assembler:
    assembler = Assembler(Budget(100, counter=len)).add_message(user("x" * 40))
    return assembler.anchor(calibrate(assembler.build(), Overflow(used=95, limit=90)))


def over_the_limit_of_a_region() -> Assembler:
    budget = Budget(100, counter=len, limits={"instruction": Limit(cap=10)})
    return Assembler(budget).set_instruction("x" * 30).add_message(user("hi"))


@pytest.mark.parametrize(
    ("made", "limit", "free"),
    [(too_large_after_a_bill, 100, -20), (refused_by_the_provider, 90, -5), (over_the_limit_of_a_region, 12, -20)],
)
def test_free_is_below_0_by_what_the_error_says_is_too_many(
    made: Callable[[], Assembler], limit: int, free: int
) -> None:
    with pytest.raises(ContextLengthError) as error:
        made().build()
    status = made().status()
    assert (status.limit, status.free) == (error.value.available, -error.value.excess) == (limit, free)


def test_what_fits_after_a_refusal_leaves_free_what_the_provider_accepts() -> None:
    assembler = Assembler(Budget(100, counter=len), on_overflow=TrimOldest()).add_messages([user("x" * 40), user("y")])
    assembler.anchor(calibrate(assembler.build(), Overflow(used=85, limit=80)))
    status, context = assembler.status(), assembler.build()
    assert (context.messages, status.limit, status.free) == ([user("y")], 80, 80 - context.count.upper)


def test_no_upper_bound_is_printed_if_every_token_is_exact() -> None:
    status = Assembler(Budget(100, counter=len), dialect=plain).add_messages([user("x" * 30)]).status()
    assert str(status) == "30 of 100 tokens, 70 free, 0% cached"


def test_without_a_budget_the_status_states_the_used_tokens() -> None:
    status = Assembler(dialect=plain).add_messages([user("hello")]).status()
    assert (status.limit, status.free) == (None, None)
    assert status.used > 0


def test_a_long_prefix_is_said_to_be_cached() -> None:
    assembler = Assembler(Budget.for_model("gpt-4o")).add_instruction("be brief " * 2000)
    status = assembler.add_messages([user("hi")]).status()
    assert status.cached_share > 0.9


PICTURE: dict[str, Any] = {"type": "image_url", "image_url": {"url": "https://a.example/x.png"}}
SOUND: dict[str, Any] = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
FAULTS: dict[str, list[dict[str, Any]]] = {
    "a picture of unknown size": [{"role": "user", "content": [PICTURE]}],
    "a sound of unknown length": [{"role": "user", "content": [SOUND]}],
    "a picture that may go": [{"role": "user", "content": [PICTURE]}, user("x" * 30), user("y")],
}


@pytest.mark.parametrize("window", [40, 100_000])
@pytest.mark.parametrize("policy", [Refuse(), TrimOldest(), TrimOldest(0.5)], ids=str)
@pytest.mark.parametrize("state", [*STATES, *FAULTS])
@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_status_raises_what_a_plan_raises_except_for_an_overflow(
    dialect: str, state: str, policy: Any, window: int
) -> None:
    """A part without a price has no bound. An overflow is no error of `status`: it returns the excess."""

    def raised(ask: Callable[[Assembler[Any]], object]) -> type[Exception] | None:
        made = Assembler(Budget(window), dialect=dialect, on_overflow=policy).add_messages((STATES | FAULTS)[state])
        try:
            ask(made)
        except ContextLengthError:
            return None
        except AssemblyError as error:
            return type(error)
        return None

    assert raised(Assembler.status) == raised(Assembler.plan)


def test_a_keystroke_counts_the_typed_text_and_costs_the_same_in_a_long_history() -> None:
    texts: list[str] = []

    def counter(text: str) -> int:
        texts.append(text)
        return len(text)

    def keystroke(messages: int) -> int:
        base = Assembler(Budget(300, counter=counter), dialect=plain, on_overflow=TrimOldest())
        base.add_messages([user(f"{number:04}" + "x" * 16) for number in range(messages)])
        base.status()
        base.fork().add_message(user("t")).status()
        texts.clear()
        calls = calls_of(base.fork().add_message(user("ty")).status, IN_C_TOO)
        assert texts == ["ty"]
        return calls

    assert keystroke(1_600) <= 1.5 * keystroke(100)


def test_a_repeated_status_counts_nothing() -> None:
    texts: list[str] = []
    assembler = Assembler(Budget(300, counter=lambda text: texts.append(text) or len(text)), dialect=plain)
    assembler.add_messages([user("x" * 20) for _ in range(10)]).status()
    texts.clear()
    assembler.status()
    assert texts == []
