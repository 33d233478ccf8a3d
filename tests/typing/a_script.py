"""A user's script as people type it. `make types` holds it under pyright strict and mypy --strict; it never runs.

Each `assert_type` is what a reader's editor shows. No cast, no `type: ignore`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypedDict, assert_type

from assembler import (
    Assembler,
    Context,
    Summarize,
    TrimOldest,
    Violation,
    count_request,
    fit_request,
    register_reader,
    repair,
    verify,
)
from assembler.dialects import Dialect, openai_chat
from assembler.dialects.typed_requests import AnthropicRequest, ChatRequest
from budgets import Budget, Count


class Turn(TypedDict):
    role: str
    content: str


def write_of_dicts(dropped: list[dict[str, Any]], previous: str | None, max_tokens: int) -> str:
    return f"{len(dropped)} {previous} {max_tokens}"


def write_of_turns(dropped: list[Turn], previous: str | None, max_tokens: int) -> str:
    return dropped[0]["content"][:max_tokens] + (previous or "")


def write_of_objects(dropped: Sequence[object], previous: str | None, max_tokens: int) -> str:
    return f"{len(dropped)} {previous} {max_tokens}"


def create(
    *, model: str, max_tokens: int, messages: list[Turn], system: object = None, tools: object = None, **rest: object
) -> str:
    """Stands for an SDK's call that takes whole numbers and its own message type."""
    return f"{model}{max_tokens}{len(messages)}{system}{tools}{rest}"


def with_a_budget(history: list[Turn]) -> str:
    assembler = Assembler(
        Budget(100, max_output_tokens=10, model="claude-opus-4-6"),
        on_overflow=[Summarize(write_of_dicts), Summarize(write_of_turns), Summarize(write_of_objects), TrimOldest()],
    )
    assembler.add_instruction("Be brief.").add_messages(history)
    assert_type(assembler.fork().available_for_messages(), int)
    context = assembler.build()
    assert_type(context, Context[int])
    assert_type(context.max_output_tokens, int)
    system, messages, tools = context
    assert_type(system, str | None)
    assert_type(messages, list[Any])
    assert_type(tools, list[Any])
    first: Turn = context.messages[0]
    answer = create(model="m", max_tokens=context.max_output_tokens, **context.request("anthropic"))
    answer += create(model="m", max_tokens=context.max_output_tokens, messages=context.messages)
    return answer + create(model="m", max_tokens=context.max_output_tokens, **context.request()) + first["role"]


class Bot:
    def __init__(self, base: Assembler) -> None:
        self.base = base
        self.last: Context | None = None

    def answer(self, question: str) -> str:
        self.last = self.base.fork().add_message(("user", question)).build()
        return sent(self.last)


def sent(context: Context) -> str:
    assert_type(context.max_output_tokens, int)
    return create(model="m", max_tokens=context.max_output_tokens, **context.request("anthropic"))


def of_an_annotated_one(bot: Assembler) -> str:
    context = bot.build()
    return create(model="m", max_tokens=context.max_output_tokens, **context.request("anthropic"))


def without_a_budget() -> None:
    context = Assembler(dialect="openai_chat").build()
    assert_type(context.max_output_tokens, None)
    assert_type(context.request("openai_chat"), ChatRequest)
    assert_type(context.request("anthropic"), AnthropicRequest)
    assert_type(context.request(openai_chat), dict[str, Any])


def with_a_budget_or_none(budget: Budget | None, dialect: str | Dialect) -> None:
    context = Assembler(budget, dialect=dialect).build()
    assert_type(context.max_output_tokens, int | None)
    assert_type(context.request(dialect), dict[str, Any])
    assert_type(count_request(context.request(dialect), dialect=dialect), Count)
    verify(context.request(), dialect=context.dialect)
    any_context(context)(Assembler())
    any_context(Assembler(Budget(9)).build())


def any_context(context: Context[int | None]) -> Callable[[Assembler[int | None]], object]:
    assert_type(context.max_output_tokens, int | None)
    return lambda assembler: assembler.build().request()


class Bubble:
    def __init__(self, who: str, text: str) -> None:
        self.who, self.text = who, text


def as_dict(bubble: Bubble) -> dict[str, Any]:
    return {"role": bubble.who, "content": bubble.text}


def from_dict(fields: dict[str, Any]) -> Bubble:
    return Bubble(fields["role"], fields["content"])


def in_a_framework(history: list[Bubble], body: dict[str, Any], state: dict[str, Any] | None) -> dict[str, Any]:
    register_reader(Bubble, as_dict)
    register_reader(Bubble, as_dict, writer=from_dict)
    mended, changes = repair(history)
    assert_type([change.index for change in changes], list[int])
    base = Assembler(Budget.for_model("gpt-4o"), on_overflow=TrimOldest()).set_messages(mended).restore(state)
    assert_type(base.plan().count.upper, int)
    assert_type([row.after for row in base.build().report.rows], list[int])
    assert_type(count_request(body), Count)
    assert_type(verify(body, model="gpt-4o"), list[Violation])
    return fit_request(body, assembler=base)


class Kept(Assembler):
    """A user's own assembler: what returns the assembler returns this class."""


def of_ones_own_class(history: list[dict[str, Any]], bot: Kept) -> list[dict[str, Any]]:
    history, _ = repair(history)
    assert_type(bot.fork().set_messages(history), Kept)
    return history
