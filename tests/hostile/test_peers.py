"""Faults that users of other assemblers met (cases D). The oracle is a brute force over every cut."""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from assembler import (
    Assembler,
    ContextLengthError,
    ConversationError,
    MessageTypeError,
    TrimOldest,
    UnsupportedContentError,
    count_request,
)
from assembler.conversation.pins import first_user
from assembler.dialects import anthropic, gemini, mistral, openai_chat, openai_responses, plain
from budgets import Budget, BudgetError, Grade, provider_counter, tiktoken_counter
from tests.assembler.by_hand import pairs_hold
from tests.budgets.raw_engines import tokens_of
from tests.hostile.case_file import Case, case, cases

Message = dict[str, Any]


def spoken(pattern: str) -> list[Message]:
    """A history by its letters: s system, u user, a assistant, c or C one or two calls, t and T results, 0 no text."""
    history: list[Message] = []
    waiting: list[str] = []
    for place, letter in enumerate(pattern):
        text = f"{letter}{place}" * (1 + place % 3)
        if letter in "cC":
            waiting = [f"call{place}{number}" for number in range(1 + (letter == "C"))]
            calls = [{"id": each, "type": "function", "function": {"name": "f", "arguments": "{}"}} for each in waiting]
            history.append({"role": "assistant", "content": None, "tool_calls": calls})
        elif letter in "tT":
            answered = waiting.pop(0) if waiting else "nobody"
            history.append({"role": "tool", "tool_call_id": answered, "content": text})
        else:
            role = {"s": "system", "u": "user", "a": "assistant", "0": "user"}[letter]
            history.append({"role": role, "content": "" if letter == "0" else text})
    return history


def cost(messages: list[Message]) -> int:
    """Characters of texts, call names and arguments: what `len` makes of them in the plain dialect."""
    calls = [call["function"] for message in messages for call in message.get("tool_calls", ())]
    return sum(len(m["content"] or "") for m in messages) + sum(len(c["name"]) + len(c["arguments"]) for c in calls)


def cuts(history: list[Message]) -> Iterator[list[Message]]:
    """The head with every suffix of whole turns, longest first; the newest turn is in each."""
    head = next((i for i, m in enumerate(history) if m["role"] != "system"), len(history))
    starts = [i for i in range(head, len(history)) if i == head or history[i]["role"] == "user"]
    for start in starts or [len(history)]:
        yield history[:head] + history[start:]


@cases("test_peers", having="pattern")
def test_every_cut_is_the_longest_that_fits_and_keeps_its_pairs(case: Case) -> None:
    history = spoken(case["input"]["pattern"])
    if not pairs_hold(history):
        with pytest.raises(ConversationError):
            Assembler().add_messages(history)
        return
    snapshot = json.dumps(history)
    for limit in range(1, cost(history) + 2):
        assembler = Assembler(Budget(limit, counter=len), on_overflow=TrimOldest(), dialect=plain).add_messages(history)
        wanted = next((kept for kept in cuts(history) if cost(kept) <= limit), None)
        if wanted is None:
            with pytest.raises(ContextLengthError) as caught:
                assembler.build()
            assert caught.value.required == min(map(cost, cuts(history))) > caught.value.available == limit
            continue
        context = assembler.build()
        assert context.request()["messages"] == wanted
        assert context.count.tokens == cost(wanted) <= limit
        assert pairs_hold(wanted)
        assert all(any(kept is raw for raw in history) for kept in context.messages)
    assert json.dumps(history) == snapshot


@cases("test_peers", having="pattern")
def test_a_history_under_budget_is_not_changed(case: Case) -> None:
    history = spoken(case["input"]["pattern"])
    if not pairs_hold(history):
        return
    context = Assembler(Budget(100_000, model="gpt-4o"), on_overflow=TrimOldest()).add_messages(history).build()
    assert [id(each) for each in context.messages] == [id(each) for each in history]
    assert context.request()["messages"] == history


@cases("test_peers", having="pattern")
def test_every_low_water_mark_leaves_pairs_and_the_question(case: Case) -> None:
    history = spoken(case["input"]["pattern"])
    if not pairs_hold(history):
        return
    allowed = list(cuts(history))
    for limit, low_water in zip(range(1, cost(history) + 2), itertools.cycle((0.3, 0.6, 1.0)), strict=False):
        policy = TrimOldest(low_water=low_water)
        assembler = Assembler(Budget(limit, counter=len), on_overflow=policy, dialect=plain).add_messages(history)
        try:
            context = assembler.build()
        except ContextLengthError:
            assert min(map(cost, allowed)) > limit
            continue
        kept = context.request()["messages"]
        assert kept in allowed
        assert cost(kept) <= limit


def test_a_counter_of_messages_is_refused_at_construction() -> None:
    def count_message(messages: list[Message], model: str) -> int:
        return len(messages) + len(model)

    assert case("D-03")["expect"].startswith("BudgetError")
    with pytest.raises(BudgetError, match="one text"):
        Budget(100, counter=count_message)  # type: ignore[arg-type]


def test_a_system_message_in_parts_is_counted() -> None:
    """D-07."""
    history = [{"role": "system", "content": [{"type": "text", "text": "sys"}]}, {"role": "user", "content": "u"}]
    costs = Assembler(Budget(100, counter=len), dialect=plain).add_messages(history).build().costs
    assert (costs.instruction, costs.conversation) == (3, 1)


@cases("test_peers", having="part")
@pytest.mark.parametrize("dialect", [plain, openai_chat, openai_responses, gemini], ids=lambda dialect: dialect.name)
def test_a_part_without_a_price_is_not_free(case: Case, dialect: Any) -> None:
    text = {"type": "text", "text": "x" * 90}
    alone = Assembler(dialect=dialect).add_messages([{"role": "user", "content": [text]}]).build()
    try:
        context = Assembler(dialect=dialect).add_messages([{"role": "user", "content": [text, case["input"]["part"]]}])
        count = context.build().count
    except (UnsupportedContentError, ConversationError):
        return
    assert (count.tokens, count.upper) > (alone.count.tokens, alone.count.upper)
    assert count.grade is Grade.ESTIMATED


@pytest.mark.parametrize("dialect", [openai_chat, openai_responses], ids=lambda dialect: dialect.name)
def test_an_image_part_without_an_image_is_refused(dialect: Any) -> None:
    bare = case("D-21")["input"]["part"]
    for odd in ({}, {"image_url": None}, {"image_url": {}}, {"image_url": {"url": None}}, {"image_url": 5}):
        parts = [{**bare, **odd}]
        with pytest.raises((UnsupportedContentError, ConversationError)):
            Assembler(dialect=dialect).add_messages([{"role": "user", "content": parts}]).build()


@pytest.mark.parametrize("odd", [object(), 5, None, "text", b"text", {"role"}, lambda: None])
def test_a_value_that_is_not_a_message_raises_type_error(odd: object) -> None:
    """D-17."""
    assembler = Assembler().add_messages([("user", "x")])
    with pytest.raises(MessageTypeError) as caught:
        assembler.add_message(odd)
    assert isinstance(caught.value, TypeError)
    assert caught.value.index == 1
    assert len(assembler.build().messages) == 1


def test_one_message_that_is_too_long_raises() -> None:
    limit = case("D-19")["input"]["limit"]
    with pytest.raises(ContextLengthError) as caught:
        Assembler(Budget(limit, counter=len), on_overflow=TrimOldest()).add_messages([("user", "x" * 3_000)]).build()
    assert (caught.value.required, caught.value.available, caught.value.excess) == (3_000, limit, 3_000 - limit)
    assert "TrimOldest" not in str(caught.value)


def test_the_grade_shows_a_fallback_counter() -> None:
    """D-23."""

    def rate_limited(_subject: object) -> int:
        raise RuntimeError("429")

    counter = provider_counter(rate_limited, fallback=len)
    assert counter("four") >= 4
    assert counter.grade is not Grade.EXACT


def test_a_request_at_the_limit_fits_and_one_token_more_does_not() -> None:
    size = case("D-25")["input"]["limit"]
    system = "x" * size
    assert Assembler(Budget(size, counter=len)).add_instruction(system).build().count.tokens == size
    with pytest.raises(ContextLengthError) as caught:
        Assembler(Budget(size - 1, counter=len)).add_instruction(system).build()
    assert caught.value.costs.instruction == size
    assert caught.value.smallest_window == size


def test_old_messages_are_not_counted_and_kept_ones_are_counted_once() -> None:
    given = case("D-27")["input"]
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return 217

    history = [{"role": ("user", "assistant")[i % 2], "content": str(i)} for i in range(given["messages"])]
    assembler = Assembler(Budget(given["limit"], counter=count), on_overflow=TrimOldest()).add_messages(history)
    kept = len(assembler.build().messages)
    assert kept == given["limit"] // 217 // 2 * 2
    assert len(counted) == len(set(counted)) <= kept + 3
    assert len(assembler.build().messages) == kept
    assert len(counted) <= kept + 3


def test_the_error_for_a_prompt_above_the_limit_states_the_numbers() -> None:
    given = case("D-29")["input"]
    budget = Budget(given["window"], max_output_tokens=given["num_output"], counter=len)
    with pytest.raises(ContextLengthError, match="2100 tokens but only 1536") as caught:
        Assembler(budget).add_messages([("user", "x" * given["prompt"])]).build()
    assert caught.value.smallest_window == given["prompt"] + given["num_output"]


def test_a_value_that_is_not_a_model_name_raises_budget_error() -> None:
    for odd in case("D-no-name")["input"]["models"]:
        with pytest.raises(BudgetError, match="not a name"):
            Budget.for_model(odd)


def test_other_scripts_cost_what_their_own_text_costs() -> None:
    text = case("D-31")["input"]["text"]
    context = Assembler(Budget(1_000, counter=tiktoken_counter())).add_messages([("user", text)]).build()
    assert context.count.tokens == tokens_of("o200k_base", context.request()["messages"][0]["content"])


def test_a_huge_tool_result_is_in_the_budget() -> None:
    """D-35."""
    history = spoken("uct")
    history[-1]["content"] = json.dumps({f"/path/{i}": {"get": {}} for i in range(300)})
    with pytest.raises(ContextLengthError):
        Assembler(Budget(1_000, counter=len), on_overflow=TrimOldest()).add_messages(history).build()
    grown = [*history, {"role": "assistant", "content": "done"}, {"role": "user", "content": "next"}]
    kept = Assembler(Budget(1_000, counter=len), on_overflow=TrimOldest()).add_messages(grown).build().messages
    assert kept == grown[-1:]


def test_a_target_of_one_token_is_an_error_of_this_library() -> None:
    """D-39."""
    for pattern in ("su", "s", "uaua", "suct"):
        with pytest.raises(ContextLengthError):
            Assembler(Budget(1, counter=len), on_overflow=TrimOldest()).add_messages(spoken(pattern)).build()


def test_every_way_to_make_a_request_checks_the_budget() -> None:
    """D-41."""
    assembler = Assembler(Budget(12, counter=len), on_overflow=TrimOldest(), dialect=plain)
    assembler.add_messages(spoken("uauaua"))
    plan, context = assembler.plan(), assembler.build()
    assert plan.count == context.count
    assert context.count.upper <= 12
    assert cost(context.request()["messages"]) == cost(list(context)[1]) == context.count.tokens


def test_an_answer_that_came_as_json_keeps_its_structure() -> None:
    """D-45."""
    answer = {"toolUseId": "c1", "content": [{"json": case("D-45")["input"]["tool_result"]}]}
    history = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "f", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": answer}]},
    ]
    from assembler.dialects import bedrock

    assembler = Assembler(dialect=bedrock).add_capability([{"name": "f"}]).add_messages(history)
    assert assembler.build().request()["messages"][2]["content"][0]["toolResult"]["content"] == answer["content"]


def test_pins_survive_a_pickle() -> None:
    """D-47."""
    for pins in (first_user, {0, 1}):
        policy = TrimOldest(pins=pins)  # type: ignore[arg-type]
        assembler = Assembler(Budget(16, counter=len), on_overflow=policy, dialect=plain)
        assembler.add_messages(spoken("uauaua"))
        again = pickle.loads(pickle.dumps(assembler))
        assert again == assembler
        assert again.build().request() == assembler.build().request()
        assert again.build().messages[0]["content"].startswith("u0")


def test_dropped_messages_are_still_there_and_named() -> None:
    """D-53."""
    history = spoken("uauaua")
    context = Assembler(Budget(10, counter=len), on_overflow=TrimOldest(), dialect=plain).add_messages(history).build()
    assert [each.index for each in context.dropped] == list(range(len(history) - len(context.messages)))
    assert all(each.message is history[each.index] for each in context.dropped)
    assert len(history) == 6


FITS = [openai_chat, openai_responses, anthropic, gemini, mistral, plain]
FULL = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}


@pytest.mark.parametrize("dialect", FITS, ids=lambda dialect: dialect.name)
def test_a_request_costs_no_more_than_its_build_counted(dialect: Any) -> None:
    """D-57: counting what is emitted and emitting what was counted are one path."""
    assembler = Assembler(dialect=dialect).add_capability([FULL]).add_instruction("be brief")
    for pattern in ("u", "uau", "uctau", "uCTTau"):
        context = assembler.add_messages([*spoken(pattern), {"role": "user", "content": "next"}]).build()
        sent = count_request(context.request(), dialect=dialect)
        assert sent.upper <= context.count.upper
        if dialect not in (anthropic, gemini):  # estimates: what a result costs depends on the spelling it came in
            assert sent == context.count


def test_a_tool_without_parameters_costs_what_is_emitted_for_it() -> None:
    context = Assembler(dialect=anthropic).add_capability([{"name": "f"}]).add_messages([("user", "x")]).build()
    assert count_request(context.request(), dialect=anthropic).upper <= context.count.upper


@pytest.mark.parametrize("name", ["D-61", "D-63"])
def test_a_long_run_on_every_bundled_encoding_is_a_count(name: str) -> None:
    given = case(name)["input"]
    assert 0 < tiktoken_counter(given["encoding"])(given["repeat"] * given["times"]) < given["times"]


def test_one_token_more_changes_the_result() -> None:
    """D-71: the framing is in the number that is checked."""
    history = spoken("uau")
    assert case("D-71")["expect"] == "raises, fits, fits"
    exact = Assembler(Budget(1_000, model="gpt-4o")).add_messages(history).build().count.upper
    for window, fits in ((exact - 1, False), (exact, True), (exact + 1, True)):
        assembler = Assembler(Budget(window, model="gpt-4o")).add_messages(history)
        if fits:
            assert assembler.build().count.upper == exact
        else:
            with pytest.raises(ContextLengthError):
                assembler.build()


def test_counts_before_and_after_a_cut_use_the_same_rule() -> None:
    """D-73."""
    history = spoken("uauaua")
    report = (
        Assembler(Budget(10, counter=len), on_overflow=TrimOldest(), dialect=plain).add_messages(history).build().report
    )
    rows = [row for row in report.rows if row.region == "conversation"]
    assert sum(row.before or 0 for row in rows) == cost(history)
    assert sum(row.after for row in rows) == report.count.tokens
    assert {row.outcome for row in rows} == {"kept", "dropped"}


def test_nothing_looks_a_name_up_before_the_first_count() -> None:
    """D-65: sockets are shut in a fresh process, and the exact count answers all the same."""
    import subprocess
    import sys

    program = (
        "import socket, sys\n"
        "def shut(*_, **__): raise AssertionError('network')\n"
        "socket.socket = socket.create_connection = socket.getaddrinfo = shut\n"
        "from assembler import Assembler\n"
        "from budgets import Budget\n"
        "print(Assembler(Budget.for_model('gpt-4o')).add_messages([('user', 'hi')]).build().count.tokens)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert int(done.stdout) == 8
