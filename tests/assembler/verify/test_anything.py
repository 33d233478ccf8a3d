"""The checker accepts any value: it never raises, never recurses, takes linear time and quotes nothing."""

from __future__ import annotations

import copy
import math
import sys
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler.verify import DIALECTS, Violation, verify
from tests.assembler.verify.conversations import SPELLINGS, STEPPED, TURNS, Request
from tests.scaled import scaled

WORDS = """
role user assistant tool system content type text tool_calls id function name arguments messages tools
tool_use input tool_use_id tool_result parts function_call function_response args response contents toolUse
toolResult toolUseId toolConfig toolSpec inputSchema json call_id output reasoning summary cache_control
thinking signature prompt prompt_token_ids tool_choice config system_instruction function_declarations
parameters object enabled
""".split()  # noqa: SIM905  a list of forty literals reads worse


def stepped(dialect: str) -> Request:
    """A valid request that a test may change: it shares nothing with another."""
    assert dialect in SPELLINGS, f"give {dialect} a file assembler/dialects/{dialect}/drawn.py that says SPELLING"
    return copy.deepcopy(SPELLINGS[dialect](STEPPED))


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(max_size=4)
    | st.sampled_from(["\ud800", "", " "])
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=40,
)
REQUESTS = st.dictionaries(st.sampled_from(["messages", "input", "contents", "tools", "system", "config"]), JSON)


@pytest.mark.parametrize("dialect", DIALECTS)
@scaled(0.3)
@given(request=REQUESTS)
def test_no_json_value_makes_the_checker_raise(dialect: str, request: Request) -> None:
    for model in (None, "claude-opus-4-8", "gemini-3-pro"):
        found = verify(request, dialect=dialect, model=model)
        assert all(isinstance(violation, Violation) for violation in found)


@st.composite
def bent(draw: st.DrawFn, dialect: str) -> Request:
    """A valid request in which one value, anywhere, was replaced by anything."""
    request = stepped(dialect)
    holders: list[tuple[Any, Any]] = []
    stack: list[Any] = [request]
    while stack:
        value = stack.pop()
        keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        holders += [(value, key) for key in keys]
        stack += [value[key] for key in keys]
    holder, key = draw(st.sampled_from(holders))
    holder[key] = draw(JSON | st.sampled_from([b"x", {1}, object(), {1: 2}, (1, 2), len]))
    return request


@pytest.mark.parametrize("dialect", DIALECTS)
@scaled(0.3)
@given(data=st.data())
def test_no_single_wrong_value_makes_the_checker_raise(dialect: str, data: st.DataObject) -> None:
    verify(data.draw(bent(dialect)), dialect=dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("wrong", [None, [], "messages", 3, pytest.param(object(), id="an object"), b"{}"], ids=repr)
def test_a_request_that_is_not_an_object_is_a_shape_violation(dialect: str, wrong: Any) -> None:
    assert "S1" in {violation.rule for violation in verify(wrong, dialect=dialect)}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_mapping_is_a_request(dialect: str) -> None:
    assert verify(MappingProxyType(stepped(dialect)), dialect=dialect) == []


@pytest.mark.parametrize(
    ("value", "where", "expected"),
    [
        ({"a": math.nan}, "extra.a", "NaN"),
        ([-math.inf], "extra[0]", "infinity"),
        ({"a": {1: 2}}, "extra.a", "key 0"),
        ({"\udfff": 2}, "extra", "key 0"),
        ({"a": b"x"}, "extra.a", "bytes"),
        ({"a": {1, 2}}, "extra.a", "set"),
        ({"a b": "\ud800"}, "extra{0}", "character 0"),
        ("xy\ud83dz", "extra", "character 2"),
    ],
    ids=range(8),
)
def test_the_violation_for_a_value_that_json_cannot_carry_names_its_path(value: Any, where: str, expected: str) -> None:
    request = {"messages": [{"role": "user", "content": "hi"}], "extra": value}
    (violation,) = verify(request, dialect="openai_chat")
    assert (violation.rule, violation.where) == ("S2", where)
    assert expected in violation.problem


def test_a_value_that_contains_itself_is_reported_once() -> None:
    loop: list[Any] = []
    loop.append([loop])
    request = {"messages": [{"role": "user", "content": "hi"}], "extra": loop}
    assert [(found.rule, found.where) for found in verify(request, dialect="openai_chat")] == [("S2", "extra[0][0]")]


def test_a_value_that_is_shared_a_thousand_ways_is_looked_at_once() -> None:
    shared: Any = "x"
    for _ in range(200):  # written out, this is 2**200 values
        shared = [shared, shared]
    assert verify({"messages": [{"role": "user", "content": "hi"}], "extra": shared}, dialect="openai_chat") == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nesting_deeper_than_the_stack_is_verified(dialect: str) -> None:
    deep: Any = math.nan
    for _ in range(5 * sys.getrecursionlimit()):
        deep = {"a": deep} if isinstance(deep, list) else [deep]
    request = stepped(dialect)
    (violation,) = verify({**request, "extra": deep}, dialect=dialect)
    assert violation.rule == "S2"
    assert len(violation.where) < 100


@pytest.mark.parametrize("key", ["arguments", "input", "args"])
@pytest.mark.parametrize("dialect", ["anthropic", "bedrock", "chat_template", "gemini"])
def test_deeply_nested_arguments_are_verified(dialect: str, key: str) -> None:
    deep: Any = {}
    for _ in range(5 * sys.getrecursionlimit()):
        deep = {"a": deep}
    stack: list[Any] = [request := stepped(dialect)]
    while stack:
        value = stack.pop()
        if isinstance(value, dict) and isinstance(value.get(key), dict):
            value[key] = deep
        elif isinstance(value, dict | list):
            stack += value.values() if isinstance(value, dict) else value
    assert verify(request, dialect=dialect) == []


def lines_run(request: Request, dialect: str) -> int:
    """How many lines of the checker run: a measure of its work that does not depend on the machine's load."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        if "verify" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        verify(request, dialect=dialect)
    finally:
        sys.settrace(previous)
    return count


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("part", ["whole", "answers_only", "calls_only"])
def test_twice_the_history_takes_twice_the_work(dialect: str, part: str) -> None:
    def request(times: int) -> Request:
        base = stepped(dialect)
        key = TURNS.get(dialect, "messages")
        turns = base[key]
        kept = {"whole": turns, "answers_only": turns[2:3], "calls_only": turns[1:2]}[part]
        return {**base, key: kept * times}

    assert lines_run(request(30), dialect) <= 2.2 * lines_run(request(15), dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@scaled(0.3)
@given(data=st.data())
def test_no_violation_quotes_a_message(dialect: str, data: st.DataObject) -> None:
    secret = "SECRET-of-the-user"
    request = stepped(dialect)
    stack: list[Any] = [request]
    while stack:
        value = stack.pop()
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            if value[key] in ("q1", "q2", "r1", "r2", "r3", "a1", "s"):
                broken = [secret, secret + " ", secret + "\ud800", {secret: secret}, [secret], {"text": [secret]}, b"x"]
                value[key] = data.draw(st.sampled_from(broken))
            else:
                stack.append(value[key])
    found = verify(request, dialect=dialect)
    assert secret not in "".join(f"{violation!r}{violation}" for violation in found)


def test_a_dialect_is_known_by_its_name_or_by_a_value_that_has_one() -> None:
    request = {"messages": []}
    by_value = verify(request, dialect=SimpleNamespace(name="openai_chat"))
    assert by_value == verify(request, dialect="openai_chat") != []
    with pytest.raises(ValueError, match=r"dialect: expected one of .*anthropic, bedrock"):
        verify(request, dialect="cohere")


def test_long_ids_are_clipped_and_many_are_counted() -> None:
    calls = [
        {"id": f"{index}" + "x" * 5000, "type": "function", "function": {"name": "a", "arguments": "{}"}}
        for index in range(50)
    ]
    request = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": calls}]}
    (unanswered,) = [found for found in verify(request, dialect="openai_chat") if found.rule == "O2"]
    assert "50 of 50 calls" in unanswered.problem
    assert "and 45 more" in unanswered.problem
    assert len(unanswered.problem) < 600
    assert unanswered.provider_says is not None
    assert str(unanswered) == f"O2 at messages[1].tool_calls: {unanswered.problem}"


@pytest.mark.parametrize(("dialect", "key"), [("gemini", "data"), ("bedrock", "bytes")])
def test_bytes_pass_only_where_the_sdk_takes_them(dialect: str, key: str) -> None:
    spelled: dict[str, Any] = {
        "gemini": {"inline_data": {"mime_type": "image/png", "data": b"x"}},
        "bedrock": {"image": {"format": "png", "source": {"bytes": b"x"}}},
    }[dialect]
    request = stepped(dialect)
    turn = request[TURNS.get(dialect, "messages")][0]
    turn["parts" if dialect == "gemini" else "content"].append(spelled)
    assert verify(request, dialect=dialect) == []
    request["extra"] = {"other": b"x"}
    assert {found.rule for found in verify(request, dialect=dialect)} == {"S2"}
