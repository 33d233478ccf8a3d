"""A fork equals an assembler that got the same calls, in every field, whatever its siblings got."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, AssemblyError, ClearToolResults, Policy, TrimOldest, Truncate, calibrate
from assembler.dialects import anthropic, openai_chat, plain
from budgets import Budget

Call: TypeAlias = tuple[str, Any]
TOOLS = [{"name": f"tool_{name}", "description": "x" * 9, "parameters": {"type": "object"}} for name in "ab"]
SCHEMA = {"title": "answer", "type": "object", "properties": {"a": {"type": "string"}}}


LADDERS: dict[str, Callable[[], Policy | list[Policy]]] = {
    "trim": TrimOldest,
    "low water": lambda: TrimOldest(0.5),
    "clear": lambda: [ClearToolResults(keep=1), TrimOldest(note="gone")],
    "clear down to a mark": lambda: [ClearToolResults(keep=1), TrimOldest(0.5)],
    "truncate": lambda: [Truncate(15), TrimOldest()],
}
"""None of them writes a summary: a fork takes over what its sibling asked for (`policies/test_summarize.py`)."""
SIZES = st.integers(1, 60)
ROLES = st.sampled_from(["user", "user", "assistant"])
SPOKEN = st.builds(lambda role, size: {"role": role, "content": "u" * size}, ROLES, SIZES)
CALLS: st.SearchStrategy[Call] = st.one_of(
    st.tuples(st.just("say"), SPOKEN),
    st.tuples(st.just("say"), SPOKEN),
    st.tuples(st.just("use a tool"), SIZES),
    st.tuples(st.just("say all"), st.lists(SPOKEN, max_size=4)),
    st.tuples(st.just("take back"), st.none()),
    st.tuples(st.just("instruct"), st.sampled_from([None, "a", "i" * 30])),
    st.tuples(st.just("tools"), st.integers(0, 2)),
    st.tuples(st.just("learn"), SIZES),
    st.tuples(st.just("forget"), st.none()),
    st.tuples(st.just("schema"), st.sampled_from([None, SCHEMA])),
    st.tuples(st.just("hold"), st.sampled_from([None, 7])),
    st.tuples(st.just("bill"), st.integers(-3, 9)),
    st.tuples(st.just("build"), st.none()),
    st.tuples(st.just("plan"), st.none()),
)


def use_a_tool(assembler: Assembler[Any], size: int) -> None:
    asked = {"id": "c", "type": "function", "function": {"name": "tool_a", "arguments": "{}"}}
    assembler.add_message({"role": "assistant", "content": None, "tool_calls": [asked]})
    assembler.add_message({"role": "tool", "tool_call_id": "c", "content": "r" * size})


def bill(assembler: Assembler[Any], more: int) -> None:
    context = assembler.build()
    assembler.anchor(calibrate(context, max(1, context.count.tokens + more)))


DEEDS: dict[str, Callable[[Assembler[Any], Any], object]] = {
    "say": Assembler.add_message,
    "use a tool": use_a_tool,
    "say all": Assembler.add_messages,
    "take back": lambda made, _: made.pop_message(),
    "instruct": Assembler.add_instruction,
    "tools": lambda made, some: made.add_capability(TOOLS[:some], choice="required" if some == 2 else None),
    "learn": lambda made, size: made.add_knowledge("k" * size, type="t", source="s"),
    "forget": lambda made, _: made.clear_knowledge(),
    "schema": Assembler.add_output_schema,
    "hold": Assembler.hold,
    "bill": bill,
    "build": lambda made, _: made.build(),
    "plan": lambda made, _: made.plan(),
    "report": lambda made, _: made.build().report,
}


def do(assembler: Assembler[Any], call: Call) -> None:
    """Makes one call, and ignores the errors of this library."""
    name, given = call
    with contextlib.suppress(AssemblyError, IndexError):
        DEEDS[name](assembler, given)


def fields_of(value: object) -> dict[str, Any]:
    """Every public field of a value, the later ones of this list too, and what it says as JSON and as text."""
    names = [name for name in dir(value) if not name.startswith("_") and name not in ("inside", "budget", "invisible")]
    read = {name: getattr(value, name) for name in names}
    found = {name: held for name, held in read.items() if not callable(held)}
    found["warnings"] = [repr(each) for each in found.get("warnings", ())]
    found["dropped"] = [(each.id, each.index, each.outcome, each.message) for each in found.get("dropped", ())]
    return found | {"text": str(value)}


def everything(assembler: Assembler[Any]) -> dict[str, Any]:
    """What an assembler says of itself and of what it builds, or why it does not."""

    def answer(ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except AssemblyError as error:
            return type(error), str(error)

    def built() -> dict[str, Any]:
        context = assembler.build()
        asked = (context.request, context.manifest, context.state, context.unmarked, context.report.to_dict)
        return {"report's": fields_of(context.report)} | fields_of(context) | {ask.__name__: ask() for ask in asked}

    def planned() -> dict[str, Any]:
        plan = assembler.plan()
        return fields_of(plan) | {"manifest": plan.manifest(), "report": plan.report.to_dict()}

    asked = {"status": assembler.status, "costs": assembler.costs, "left": assembler.available_for_messages}
    answers = {name: answer(ask) for name, ask in asked.items()} | {"plan": answer(planned), "build": answer(built)}
    return answers | fields_of(assembler)


@pytest.mark.parametrize("dialect", [plain, openai_chat, anthropic], ids=lambda dialect: dialect.name)
@given(
    ladder=st.sampled_from(sorted(LADDERS)),
    window=st.integers(40, 140),
    begun=st.lists(SPOKEN, min_size=2, max_size=5),
    script=st.lists(st.tuples(st.integers(0, 4), st.none() | CALLS), max_size=30),
)
def test_a_fork_equals_in_every_field_a_fresh_assembler_with_the_same_calls(
    dialect: Any, ladder: str, window: int, begun: list[Any], script: list[tuple[int, Call | None]]
) -> None:
    budget = Budget(window, counter=len, max_output_tokens=20)

    def fresh(calls: Sequence[Call]) -> Assembler[Any]:
        made = Assembler(budget, dialect=dialect, on_overflow=LADDERS[ladder]())
        for call in calls:
            do(made, call)
        return made

    first: list[Call] = [("say all", begun)]
    family: list[tuple[Assembler[Any], list[Call]]] = [(fresh(first), first)]
    for which, call in script:
        assembler, calls = family[which % len(family)]
        if call is None:
            family.append((assembler.fork(), [*calls]))
        else:
            do(assembler, call)
            calls.append(call)
    for assembler, calls in family:
        found = everything(assembler)
        assert found == everything(fresh(calls)), calls
        assert found == everything(fresh([call for call in calls if call[0] not in ("build", "plan", "report")])), calls
