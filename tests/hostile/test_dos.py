"""Inputs made to take endless time, memory or stack (area A4). Each test has its own timeout."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable, Iterator, Mapping
from time import process_time
from typing import Any

import attrs
import pytest

from assembler import Assembler, AssemblyError, ConversationError, ToolError, verify
from assembler.conversation.messages import jsonable
from assembler.dialects import anthropic, bedrock, gemini, mistral, openai_chat, openai_responses, plain
from budgets import Budget, TokenCountError, tiktoken_counter
from tests.hostile.case_file import Case, case, cases

pytestmark = pytest.mark.timeout(60)


@attrs.frozen
class Answer:
    """An object with the attributes of a message, as frameworks have them."""

    content: Any
    role: str = "user"


APIS = (openai_chat, openai_responses, anthropic, bedrock, gemini, mistral, plain)
LINEAR = 3.0
"""Doubling the input may not cost more than this factor."""


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def doubled(times: int) -> list[Any]:
    """A list that holds another one twice, which does the same, and so on: few objects, 2 ** times texts as JSON."""
    value: list[Any] = ["a", "a"]
    for _ in range(times):
        value = [value, value]
    return value


def tool(parameters: object) -> dict[str, Any]:
    return {"name": "f", "parameters": {"type": "object", "properties": {"x": {"default": parameters}}}}


def called(arguments: object) -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    answer = {"role": "tool", "tool_call_id": "c1", "content": "r"}
    return [{"role": "user", "content": "q"}, {"role": "assistant", "content": None, "tool_calls": [call]}, answer]


@cases("test_dos", having="repeat")
def test_a_long_run_is_counted_or_refused(case: Case) -> None:
    text = case["input"]["repeat"] * case["input"]["times"] + case["input"].get("then", "")
    try:
        tokens = tiktoken_counter()(text)
    except TokenCountError:
        return
    assert 0 < tokens <= len(text)


def test_a_text_without_blanks_is_counted() -> None:
    letters = case("A4-05")["input"]["letters"]
    text = "".join(random.Random(5).choices("abcdefghijklmnopqrstuvwxyz", k=letters))
    assert 0 < tiktoken_counter()(text) <= letters


def fastest(run: Callable[[], object]) -> float:
    def once() -> float:
        start = process_time()
        run()
        return process_time() - start

    return min(once() for _ in range(3))


@pytest.mark.parametrize("unit", ["a", "^", " ", "\n", "<", "e\u0301"])
def test_twice_the_text_does_not_cost_much_more_than_twice(unit: str) -> None:
    count, size = tiktoken_counter(), 60_000 // len(unit)
    assert fastest(lambda: count(unit * 2 * size)) < LINEAR * fastest(lambda: count(unit * size)) + 0.05


def test_unclosed_comments_are_read_in_one_pass() -> None:
    from assembler.prompts.html import text_of
    from assembler.prompts.marked_text import Marked

    given = case("A4-15")["input"]
    text = given["html"] * given["times"]
    marked = Marked(text, bytes(len(text)))
    assert text_of(marked).text == text


def test_unclosed_citations_are_read_in_one_pass() -> None:
    from assembler.rag import parse_citations

    given = case("A4-17")["input"]
    assert parse_citations(given["answer"] + given["then"] * given["times"]) == []
    assert len(parse_citations("[Source 1" + ", 1" * given["times"] + "]")) == 1


@cases("test_dos", having="schema")
def test_a_schema_without_end_is_refused_by_tool(case: Case) -> None:
    kind = case["input"]["schema"]
    bad: Any = {"circular": {}, "deep": deep(100_000), "long number": 10 ** case["input"].get("digits", 1)}[kind]
    if kind == "circular":
        bad["self"] = bad
    with pytest.raises(ToolError) as caught:
        Assembler().add_capability([tool(bad)])
    assert caught.value.tool == "f"
    assert kind != "circular" or "circular" in str(caught.value)


def test_a_deep_message_is_refused() -> None:
    levels = case("A4-deep-message")["input"]["levels"]
    for bad in ({"role": "user", "content": "x", "note": deep(levels)}, {"role": "user", "content": deep(levels)}):
        with pytest.raises(ConversationError):
            Assembler().add_message(bad)


STANDING_FOR_MORE = {
    "field": {"role": "user", "content": "q", "beside": doubled(40)},
    "content": {"role": "user", "content": doubled(40)},
    "part": {"role": "user", "content": [{"type": "weather", "of": doubled(40)}]},
    "response": {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"x": doubled(40)}}}]},
    "item": {"type": "new_call", "of": doubled(40)},
    "object": Answer(doubled(40)),
}


@pytest.mark.parametrize("place", STANDING_FOR_MORE)
def test_a_few_lists_that_stand_for_more_values_than_a_memory_holds_are_refused(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second is spent on a million values; that they are counted in each place, fewer show as well."""
    if place != "field":
        monkeypatch.setattr(jsonable, "MOST", 10_000)
    with pytest.raises(ConversationError, match=rf"holds more than {1_000_000 if place == 'field' else 10_000} values"):
        Assembler(Budget(1_000)).add_messages([STANDING_FOR_MORE[place]]).build()


def test_a_message_of_as_many_values_as_allowed_is_read() -> None:
    held = [None] * (jsonable.MOST - 3)
    message = {"role": "user", "content": "q", "beside": held}
    assert Assembler(Budget(10**9)).add_messages([message]).messages == [message]
    held.append(None)
    with pytest.raises(ConversationError, match="more than"):
        Assembler(Budget(10**9)).add_messages([message]).build()


def test_deep_arguments_are_refused() -> None:
    with pytest.raises(ConversationError):
        Assembler().add_messages(called({"q": deep(case("A4-deep-arguments")["input"]["levels"])}))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("dialect", APIS)
def test_verify_ends_on_a_recursive_body(dialect: Any) -> None:
    block: dict[str, Any] = {"type": "tool_result", "role": "user", "cache_control": {"type": "ephemeral"}}
    block["content"] = block["parts"] = [block, block]
    for key in ("messages", "contents", "input", "system", "tools"):
        body = {"messages": [{"role": "user", "content": "q"}], key: [block]}
        assert all(violation.rule for violation in verify(body, dialect=dialect))


def test_a_circular_message_is_refused() -> None:
    assert case("A4-circular-message")["expect"] == "ConversationError"
    bad: dict[str, Any] = {"role": "user", "content": "x"}
    bad["self"] = bad
    with pytest.raises(ConversationError):
        Assembler().add_message(bad)


def deep_json_text() -> str:
    levels = case("A4-deep-json-text")["input"]["levels"]
    return '{"q":' + "[" * levels + "]" * levels + "}"


def built(dialect: Any, messages: list[Any]) -> object:
    """A request, or an error of ours."""
    try:
        return Assembler(dialect=dialect).add_capability([{"name": "f"}]).add_messages(messages).build().request()
    except AssemblyError as error:
        return error


@pytest.mark.parametrize("dialect", APIS, ids=lambda dialect: dialect.name)
def test_arguments_of_deep_json_are_sent_as_a_text_or_refused(dialect: Any) -> None:
    request = built(dialect, called(deep_json_text()))
    assert isinstance(request, dict | ConversationError)
    json.dumps(request if isinstance(request, dict) else None)


@pytest.mark.parametrize("opened", ["[", '{"a":'], ids=["lists", "dicts"])
@pytest.mark.parametrize("levels", [150, 300, 400, 600, 900])
@pytest.mark.parametrize("dialect", APIS, ids=lambda dialect: dialect.name)
def test_arguments_that_json_reads_and_recursion_does_not_are_sent_or_refused(
    dialect: Any, levels: int, opened: str
) -> None:
    closed = {"[": "]", '{"a":': "}"}[opened] * levels
    request = built(dialect, called(f'{{"q":{opened * levels}1{closed}}}'))
    assert isinstance(request, dict | ConversationError)


@pytest.mark.parametrize("kind", ["gemini content", "object"])
def test_a_deep_message_of_another_spelling_is_refused(kind: str) -> None:
    class Spoken:
        role = "user"
        content = deep(5_000)

    bad: object = Spoken() if kind == "object" else {"role": "user", "parts": [{"text": "x"}], "note": deep(5_000)}
    with pytest.raises(ConversationError):
        Assembler().add_message(bad)


class FreshNan:
    """A message whose content is made anew at every look, and never equals itself: NaN is no number's equal."""

    role = "user"

    @property
    def content(self) -> list[dict[str, Any]]:
        return [{"type": "text", "text": "x", "score": float("nan")}]


class FreshMapping(Mapping[str, Any]):
    """A mapping that does the same."""

    def __getitem__(self, key: str) -> Any:
        return {"role": "user", "content": "x", "score": float("nan")}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(("role", "content", "score"))

    def __len__(self) -> int:
        return 3


class EndlessError(Exception):
    """The build looked at the message more often than any build needs to."""


class Growing:
    """A message that says something else at each look."""

    role = "user"
    looks = 0

    @property
    def content(self) -> str:
        self.looks += 1
        if self.looks > 200:
            raise EndlessError
        return "x" * self.looks


def test_a_message_that_never_stays_the_same_ends_in_an_error() -> None:
    assembler = Assembler(Budget(10_000, counter=len))
    with pytest.raises(ConversationError):
        assembler.add_message(Growing()).build()


@pytest.mark.parametrize("kind", [FreshNan, FreshMapping])
def test_a_message_that_never_equals_itself_is_built_or_refused(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from assembler.conversation.history import History

    forget, times = History.forget, iter(range(50))

    def counted(history: History, start: int) -> Any:
        if next(times, None) is None:
            raise EndlessError
        return forget(history, start)

    monkeypatch.setattr(History, "forget", counted)
    assert isinstance(built(plain, [kind()]), dict | ConversationError)


def test_a_hundred_thousand_messages_are_read_from_their_end() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text)

    from assembler import TrimOldest

    history = [{"role": ("user", "assistant")[i % 2], "content": f"{i:06d}"} for i in range(100_000)]
    context = Assembler(Budget(1_000, counter=count), on_overflow=TrimOldest()).add_messages(history).build()
    assert context.messages == history[-166:]
    assert len(counted) <= 170


def test_huge_numbers_are_accepted_as_numbers() -> None:
    budget = Budget(10**400, counter=len)
    context = Assembler(budget).add_messages([("user", "x")]).build()
    assert context.count.tokens == 1
    assert context.max_output_tokens == 10**400 - 1
    assert json.dumps(functools.reduce(lambda a, _: [a], range(3), 1)) == "[[[1]]]"
