"""Call ids follow their plain definition, and each is hashed once."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler
from assembler.conversation.messages import Call, Result
from assembler.dialects import anthropic, bedrock, gemini, openai_responses
from assembler.dialects.blocks import ids as block_ids
from assembler.dialects.blocks.ids import CallIds, IdRule
from assembler.errors import ConversationError
from tests.calls import calls_of

LEGAL = re.compile("[a-z0-9_]+")
IDS = ["call_0", "a", "a b", "é", "call_1", "", None]
calls = st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(["search", "poll"])), max_size=12)


def made(seed: str) -> str:
    return f"call_{hashlib.sha256(seed.encode()).hexdigest()[:24]}"


@given(calls, st.booleans())
def test_a_new_id_is_the_first_free_one_of_its_own_sequence(asked: list[tuple[str | None, str]], needed: bool) -> None:
    ids, taken = CallIds(IdRule(LEGAL, needed)), set[str]()
    for call_id, name in asked:
        found = ids.ask(Call(call_id, name, "{}"), 0)
        if call_id is None and not needed:
            assert found is None
            continue
        wanted = f"\0{0}\0{name}\0{{}}" if call_id is None else call_id
        own = wanted if call_id is not None and LEGAL.fullmatch(wanted) else made(wanted)
        row = [own, *(made(f"{wanted}\0{again}") for again in range(2, len(asked) + 3))]
        assert found == next(one for one in row if one not in taken)
        taken.add(str(found))


@given(calls, st.data())
def test_a_result_answers_the_first_open_call_of_its_id_or_name_or_the_next(
    asked: list[tuple[str | None, str]], data: Any
) -> None:
    ids = CallIds(IdRule(LEGAL, needed=True))
    waiting = [(call := Call(call_id, name, "{}"), ids.ask(call, 0)) for call_id, name in asked]
    for _ in range(len(asked) + 2):
        call_id, name = data.draw(st.sampled_from(IDS)), data.draw(st.sampled_from(["search", "poll", None]))
        fits = [pair for pair in waiting if pair[0].id == call_id]
        if call_id is None:  # a name that no open call has is ignored
            fits = [pair for pair in fits if pair[0].name == name] or fits
        if not fits:
            with pytest.raises(ConversationError):
                ids.answer(Result(call_id, (), name), 0)
            continue
        assert ids.answer(Result(call_id, (), name), 0) == fits[0]
        waiting.remove(fits[0])
        assert ids.open == tuple(call for call, _ in waiting)


TOOL = {"name": "poll", "description": "Ask again.", "parameters": {"type": "object", "properties": {}}}


UNIQUE = pytest.mark.parametrize(
    "dialect", [anthropic, bedrock, gemini, openai_responses], ids=lambda dialect: dialect.name
)


def polling(dialect: Any, steps: int) -> Assembler:
    assembler = Assembler(dialect=dialect).add_capability([TOOL]).add_message({"role": "user", "content": "Wait."})
    for _ in range(steps):
        step(assembler)
    return assembler


def step(assembler: Assembler, call_id: str = "call_0") -> None:
    call = {"id": call_id, "type": "function", "function": {"name": "poll", "arguments": "{}"}}
    assembler.add_message({"role": "assistant", "content": None, "tool_calls": [call]})
    assembler.add_message({"role": "tool", "tool_call_id": call_id, "content": "not yet"})


@UNIQUE
@given(st.lists(st.sampled_from(["call_0", "a", "a b", "é", made("call_0\x002"), made("a b")]), max_size=9))
def test_a_session_whose_ids_repeat_sends_what_a_fresh_assembler_sends(dialect: Any, ids: list[str]) -> None:
    lived, fresh = polling(dialect, 0), polling(dialect, 0)
    for call_id in ids:
        step(lived, call_id)
        step(fresh, call_id)
        assert lived.build().request() == fresh.fork().build().request()


@UNIQUE
def test_a_step_whose_id_repeats_takes_as_many_calls_however_many_came_before(dialect: Any) -> None:
    """The whole request was written again at each step, so that such a session took seven times as long."""

    def calls_after(steps: int) -> int:
        assembler = polling(dialect, steps)
        assembler.build().request()
        step(assembler)
        return calls_of(lambda: assembler.build().request())

    assert calls_after(120) <= calls_after(40) + 40


@UNIQUE
def test_an_id_that_repeats_at_every_step_is_hashed_once_a_step(dialect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    sha256 = hashlib.sha256

    def counted(seed: bytes = b"", **more: Any) -> Any:
        hashed.append(seed[:40].decode(errors="replace"))
        return sha256(seed, **more)

    block_ids._remembered.cache_clear()
    monkeypatch.setattr("hashlib.sha256", counted)
    assembler = polling(dialect, 60)
    assembler.build().request()
    ours = [seed for seed in hashed if seed.startswith("call_0")]
    assert len(ours) <= 60
    step(assembler)
    assembler.build().request()
    assert len([seed for seed in hashed if seed.startswith("call_0")]) <= len(ours) + 1
