"""Cache marks: at most four, at the most useful places, only where the API takes them, and free."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from assembler import Assembler, ConversationError, count_request
from assembler.dialects import Dialect, anthropic, bedrock, gemini, mistral, openai_chat, openai_responses, plain
from assembler.report.cache import CacheMarks, marked
from assembler.verify import verify
from budgets import Budget
from tests.assembler.dialects.spoken import TOOLS, Conversation, conversations, spelled

MARKING = [anthropic, bedrock]
HOUR = {"type": "ephemeral", "ttl": "1h"}


def marks_in(value: Any) -> list[Any]:
    """Every mark, wherever it stands, in the order of the JSON."""
    if isinstance(value, dict):
        own = [value[key] for key in ("cache_control", "cachePoint") if key in value]
        return own + [mark for inner in value.values() for mark in marks_in(inner)]
    return [mark for inner in value for mark in marks_in(inner)] if isinstance(value, list) else []


def unmarked(value: Any) -> Any:
    """The request without marks, in which a single text block is written as a string."""
    if isinstance(value, dict):
        rest = {key: unmarked(inner) for key, inner in value.items() if key != "cache_control"}
        return rest["text"] if rest.keys() == {"type", "text"} else rest
    if isinstance(value, list):
        kept = [unmarked(inner) for inner in value if not (isinstance(inner, dict) and "cachePoint" in inner)]
        return kept[0] if len(kept) == 1 and isinstance(kept[0], str) else kept
    return value


def built(conversation: Conversation, dialect: Dialect) -> dict[str, Any]:
    assembler = Assembler(dialect=dialect).add_instruction("Be brief.").add_capability(TOOLS)
    return assembler.add_messages(spelled(conversation)).build().request()


@st.composite
def requests(draw: st.DrawFn) -> tuple[dict[str, Any], Dialect]:
    """A request that the API takes, with up to four marks of the caller's on blocks that take them."""
    dialect = draw(st.sampled_from(MARKING))
    try:
        request = built(draw(conversations()), dialect)
    except ConversationError:  # all of it blank: nothing can be sent
        reject()
    if draw(st.booleans()):
        request.pop("system")
    for _ in range(draw(st.integers(0, 4))):
        message = draw(st.sampled_from(request["messages"]))
        if dialect is bedrock:
            if "cachePoint" not in message["content"][-1]:
                message["content"].append({"cachePoint": {"type": "default"}})
        elif isinstance(message["content"], list) and message["content"][-1]["type"] in ("text", "tool_result"):
            message["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return request, dialect


@given(requests(), st.sampled_from(["5m", "1h"]))
def test_marks_are_four_at_most_and_the_request_stays_valid_and_the_same(
    drawn: tuple[dict[str, Any], Dialect], ttl: Any
) -> None:
    request, dialect = drawn
    untouched = copy.deepcopy(request)
    done = marked(request, dialect, CacheMarks(ttl)).request
    assert request == untouched
    assert len(marks_in(done)) <= 4
    assert len(marks_in(done)) == 4 or len(marks_in(done)) >= len(marks_in(request))
    assert verify(done, dialect=dialect) == verify(request, dialect=dialect) == []
    assert unmarked(done) == unmarked(request)


@given(requests(), st.sampled_from(["5m", "1h"]))
def test_marking_twice_is_marking_once(drawn: tuple[dict[str, Any], Dialect], ttl: Any) -> None:
    request, dialect = drawn
    once = marked(request, dialect, CacheMarks(ttl)).request
    assert marked(once, dialect, CacheMarks(ttl)).request == once


@given(requests())
def test_marks_cost_no_tokens(drawn: tuple[dict[str, Any], Dialect]) -> None:
    request, dialect = drawn
    model = "claude-sonnet-4-5"
    done = marked(request, dialect, CacheMarks()).request
    if dialect is bedrock:  # its price list takes a point inside a message for a block that it cannot read
        done["messages"] = request["messages"]
    assert count_request(done, dialect=dialect, model=model) == count_request(request, dialect=dialect, model=model)


@given(requests(), st.sampled_from(["5m", "1h"]), st.booleans())
def test_a_mark_for_an_hour_never_follows_one_for_five_minutes(
    drawn: tuple[dict[str, Any], Dialect], ttl: Any, theirs_first: bool
) -> None:
    request, dialect = drawn
    theirs = marks_in(request)
    for mark in theirs[:1] if theirs_first else []:
        mark["ttl"] = "1h"
    done = marked(request, dialect, CacheMarks(ttl)).request
    parts = [done.get("tools") or done.get("toolConfig", {}), done.get("system", []), done["messages"]]
    lives = [mark.get("ttl", "5m") for part in parts for mark in marks_in(part)]
    given_lives = [mark.get("ttl", "5m") for mark in theirs]
    if given_lives == sorted(given_lives):
        assert lives == sorted(lives)


def test_each_mark_is_where_a_stable_part_ends() -> None:
    history = [("user", "a"), ("assistant", "b"), ("user", "c")]
    context = Assembler(dialect=anthropic).add_instruction("i").add_capability(TOOLS).add_messages(history).build()
    control = {"type": "ephemeral"}
    request = context.request(cache_marks=CacheMarks())
    assert [tool.get("cache_control") for tool in request["tools"]] == [None, None, control]
    assert request["system"] == [{"type": "text", "text": "i", "cache_control": control}]
    assert request["messages"] == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [{"type": "text", "text": "b", "cache_control": control}]},
        {"role": "user", "content": [{"type": "text", "text": "c", "cache_control": control}]},
    ]
    point = {"cachePoint": {"type": "default", "ttl": "1h"}}
    spoken = context.request(bedrock, cache_marks=CacheMarks("1h"))
    assert spoken["toolConfig"]["tools"][-1] == spoken["system"][-1] == point
    assert [message["content"][-1] == point for message in spoken["messages"]] == [False, True, True]


def test_the_newest_turn_begins_before_its_results() -> None:
    call = {"type": "tool_use", "id": "t", "name": "search", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "t", "content": "r"}
    history: list[Any] = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [answer]},
    ]
    request = marked({"messages": history}, anthropic, CacheMarks()).request
    assert [bool(marks_in(message)) for message in request["messages"]] == [False, True, False, False, True]


@pytest.mark.parametrize(
    ("free", "marked_messages", "system"), [(3, [1, 2], True), (2, [1, 2], False), (1, [2], False), (0, [], False)]
)
def test_the_most_useful_places_get_the_marks_that_are_left(
    free: int, marked_messages: list[int], system: bool
) -> None:
    tools = [{"name": f"t{n}", "input_schema": {"type": "object"}} for n in range(5)]
    for tool in tools[: 4 - free]:
        tool["cache_control"] = {"type": "ephemeral"}
    turns = [{"role": role, "content": "x"} for role in ("user", "assistant", "user")]
    request = marked({"tools": tools, "system": "s", "messages": turns}, anthropic, CacheMarks()).request
    assert [n for n, message in enumerate(request["messages"]) if marks_in(message)] == marked_messages
    assert bool(marks_in(request["system"])) is system
    assert len(marks_in(request)) == 4


def test_reasoning_and_blank_texts_take_no_mark() -> None:
    thinking = {"type": "thinking", "thinking": "t", "signature": "s"}
    turns = [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": " "}]},
        {"role": "assistant", "content": [{"type": "text", "text": "b"}, thinking]},
        {"role": "user", "content": [7, {"type": "text", "text": "c"}]},
    ]
    request = marked({"system": "", "messages": turns}, anthropic, CacheMarks()).request
    assert [[bool(marks_in(b)) for b in m["content"]] for m in request["messages"]] == [
        [False, False],
        [True, False],
        [False, True],
    ]
    assert request["system"] == ""


def test_a_mark_on_the_whole_request_is_one_of_the_four_and_the_last() -> None:
    turns = [{"role": role, "content": "x"} for role in ("user", "assistant", "user")]
    request = {"cache_control": {"type": "ephemeral"}, "system": "s", "messages": turns}
    done = marked(request, anthropic, CacheMarks()).request
    assert [bool(marks_in(message)) for message in done["messages"]] == [False, True, False]
    assert len(marks_in(done)) == 3


def test_a_mark_inside_a_result_counts() -> None:
    inner = [{"type": "text", "text": "r", "cache_control": HOUR}]
    turn = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": inner}]}
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, turn]
    done = marked({"system": "s", "messages": turns}, anthropic, CacheMarks()).request
    assert marks_in(done["messages"][2]) == [HOUR]
    assert marks_in(done["system"]) == [HOUR]


def test_marks_inside_the_search_results_of_a_result_count() -> None:
    """Marks two levels deep were not counted, so five were sent, and the API takes four."""
    blocks = [{"type": "text", "text": text, "cache_control": HOUR} for text in "ab"]
    found = [{"type": "search_result", "source": "s", "title": "t", "content": blocks, "cache_control": HOUR}]
    turn = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": found}]}
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, turn]
    done = marked({"system": "s", "messages": turns}, anthropic, CacheMarks()).request
    assert str(done).count("cache_control") == 4


@pytest.mark.parametrize("dialect", [gemini, mistral, openai_chat, openai_responses, plain], ids=lambda d: d.name)
def test_a_dialect_without_marks_gets_none_and_the_report_says_so(dialect: Dialect) -> None:
    assembler = Assembler(dialect=dialect, cache_marks=CacheMarks()).add_message(("user", "a"))
    context = assembler.build()
    assert context.request() == Assembler(dialect=dialect).add_message(("user", "a")).build().request()
    assert f"{dialect.name} takes no cache marks: none set" in context.report.notes
    assert marked(context.request(), dialect, CacheMarks()).notes


@pytest.mark.parametrize(
    ("model", "marks"),
    [
        ("us.anthropic.claude-opus-4-1-20250805-v1:0", [True, True, True]),
        (None, [True, True, True]),
        ("us.amazon.nova-pro-v1:0", [False, True, True]),
        ("meta.llama3-3-70b-instruct-v1:0", [False, False, False]),
    ],
)
def test_bedrock_marks_what_the_model_takes(model: str | None, marks: list[bool]) -> None:
    request = Assembler(dialect=bedrock).add_instruction("i").add_capability(TOOLS).add_message(("user", "a")).build()
    done = marked(request.request(), bedrock, CacheMarks("1h"), model=model)
    assert [bool(marks_in(done.request[key])) for key in ("toolConfig", "system", "messages")] == marks
    assert bool(done.notes) is not any(marks)
    assert any("ttl" in mark for mark in marks_in(done.request)) is (any(marks) and "nova" not in str(model))


def test_marks_asked_for_once_hold_for_every_request_fork_and_copy() -> None:
    budget = Budget(1_000, model="claude-sonnet-4-5")
    base = Assembler(budget, cache_marks=CacheMarks()).add_instruction("i").add_message(("user", "a"))
    plainly = Assembler(budget).add_instruction("i").add_message(("user", "a"))
    expected = plainly.build().request(cache_marks=CacheMarks())
    assert base.build().request() == base.fork().build().request() == expected
    assert base.build().count == plainly.build().count
    assert base != plainly
    assert pickle.loads(pickle.dumps(base)) == base
    assert not [note for note in base.build().report.notes if "mark" in note]
    hour = base.build().request(cache_marks=CacheMarks("1h"))
    assert marks_in(hour) == [HOUR, HOUR]


def test_a_prompt_that_just_fits_still_fits_with_marks() -> None:
    def sized(tokens: int, marks: CacheMarks | None) -> Assembler:
        assembler = Assembler(Budget(tokens), dialect=anthropic, cache_marks=marks).add_instruction("i")
        return assembler.add_capability(TOOLS).add_message(("user", "a"))

    least = sized(100_000, None).build().count.upper
    assert json.dumps(sized(least, CacheMarks()).build().request()).count("cache_control") == 3


def test_no_other_lifetime_of_a_mark_is_accepted() -> None:
    with pytest.raises(ValueError, match="ttl"):
        CacheMarks("2h")  # type: ignore[arg-type]
