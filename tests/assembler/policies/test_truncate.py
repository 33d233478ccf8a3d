"""`Truncate` shortens the longest texts first, between graphemes, with a marker, to the limit at most."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler
from assembler.policies import Truncate
from assembler.policies.truncate import EMPTIED, MARKER, cut_json, cut_text, graphemes
from budgets import Budget, tiktoken_counter
from tests.assembler import by_hand
from tests.assembler.by_hand import History, Message

from .build import built, check, left, sent
from .drawn import EMOJI, any_session

places = st.sampled_from(["ends", "head", "tail"])
hard = st.lists(
    st.sampled_from(
        ["a", "word ", "\n", "\r\n", "e\u0301", "\u0301", "\U0001f1e9\U0001f1ea", "\U0001f1e9", EMOJI, "漢字"]
    ),
    max_size=40,
).map("".join)
counters: list[Callable[[str], int]] = [
    len,
    lambda text: len(text.encode()),
    tiktoken_counter("o200k_base"),
    tiktoken_counter("cl100k_base"),
    lambda text: (len(text) * 7) % 13 + len(text) // 2,  # not monotone
]


def boundaries(text: str) -> set[int]:
    return {0, len(text), *(match.end() for match in regex.finditer(r"\X", text))}


def halves(shorter: str, where: str) -> tuple[str, str]:
    head, _, tail = shorter.partition(MARKER)
    assert where != "head" or not tail
    assert where != "tail" or not head
    return head, tail


@given(st.one_of(hard, st.text(max_size=80)), st.integers(1, 60), places, st.sampled_from(counters))
def test_a_shortened_text_costs_no_more_than_asked_and_splits_no_character(
    text: str, limit: int, where: Any, count: Callable[[str], int]
) -> None:
    shorter = cut_text(text, limit, count, where)
    if count(text) <= limit:
        assert shorter == text
    elif shorter is None:
        assert count(MARKER) > limit
    else:
        assert count(shorter) <= limit
        head, tail = halves(shorter, where)
        assert text.startswith(head)
        assert text.endswith(tail)
        assert {len(head), len(text) - len(tail)} <= boundaries(text)


@pytest.mark.parametrize(("where", "head", "tail"), [("head", 13, 0), ("tail", 0, 13), ("ends", 7, 6)])
def test_the_kept_ends_of_a_text_keep_their_places(where: Any, head: int, tail: int) -> None:
    text = "".join(chr(ord("A") + place % 50) for place in range(100))
    assert cut_text(text, 13 + len(MARKER), len, where) == text[:head] + MARKER + text[len(text) - tail :]


@pytest.mark.parametrize(
    ("where", "kept"), [("head", f"abc{MARKER}"), ("tail", f"{MARKER}abc"), ("ends", f"ab{MARKER}c")]
)
def test_a_text_stays_whole_beside_a_marker_that_makes_it_cheaper(where: Any, kept: str) -> None:
    assert cut_text("abc", 2, lambda text: 3 if text == "abc" else 2, where) == kept


@given(hard, st.integers(len(MARKER), 60), places)
def test_one_character_more_would_exceed_the_limit(text: str, limit: int, where: Any) -> None:
    shorter = cut_text(text, limit, len, where)
    assert shorter is not None
    if shorter == text:
        return
    head, tail = halves(shorter, where)
    pieces = regex.findall(r"\X", text)
    kept = len(regex.findall(r"\X", head)) + len(regex.findall(r"\X", tail))
    at_head = where == "head" or (where == "ends" and kept % 2 == 0)
    more = pieces[len(regex.findall(r"\X", head))] if at_head else pieces[-len(regex.findall(r"\X", tail)) - 1]
    assert len(shorter) + len(more) > limit


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=50), hard),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=8), json_values, max_size=4), st.integers(1, 80), places, st.booleans())
def test_shortened_arguments_are_json_of_the_same_shape_or_emptied(
    given_: dict[str, Any], limit: int, where: Any, ascii_only: bool
) -> None:
    text = json.dumps(given_, ensure_ascii=ascii_only)
    shorter = cut_json(text, limit, len, where)
    if shorter is None:
        assert limit < 2
        return
    assert len(shorter) <= limit
    shorter.encode()
    read = json.loads(shorter)
    assert shorter in (EMPTIED, "{}") or shape(read) == shape(given_)


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "text" if isinstance(value, str) else value


HOSTILE = json.loads((Path(__file__).parent / "hostile_arguments.json").read_text())


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case["id"])
def test_difficult_arguments_stay_json_that_can_be_sent(case: dict[str, Any]) -> None:
    text = case["before"] + case.get("middle", "x" * 100) * case.get("times", 1) + case["after"]
    for limit in (2, 18, 40):
        shorter = cut_json(text, limit, len)
        assert shorter is not None
        assert len(shorter) <= limit
        shorter.encode()
        assert isinstance(json.loads(shorter, parse_constant=pytest.fail), dict)


def strings(message: Message) -> list[str]:
    """The texts that may be shortened: never names, never thinking."""
    content = message.get("content")
    found = [content] if isinstance(content, str) else []
    for block in by_hand.blocks(message):
        match block["type"]:
            case "tool_use":
                found.append(json.dumps(block["input"], ensure_ascii=False, separators=(",", ":")))
            case "tool_result":
                found.append(block["content"])
            case "text":
                found.append(block["text"])
    return found + [call["function"]["arguments"] for call in message.get("tool_calls", [])]


@given(any_session, st.integers(1, 60), places, st.data())
def test_the_longest_texts_are_shortened_and_no_more_of_them_than_needed(
    history: History, most: int, where: Any, data: st.DataObject
) -> None:
    before = copy.deepcopy(history)
    whole = by_hand.cost(history)
    limit = max(whole - data.draw(st.integers(1, 200)), 1)
    context = built(history, limit, Truncate(most, where=where))
    assert history == before
    if context is None:
        return
    check(context, history, limit)
    messages = sent(context)
    assert all(
        not given.get("pinned") or shortened == by_hand.public([given])[0]
        for given, shortened in zip(history, messages, strict=True)
    )
    changed, same = [], []
    for original, message in zip(history, messages, strict=True):
        for old, new in zip(strings(original), strings(message), strict=True):
            if old == new:
                if not original.get("pinned") and len(old) > max(most, len(MARKER)) and not old.startswith("{"):
                    same.append(len(old))
            else:
                assert len(new) <= most < len(old)
                assert new
                changed.append((len(old), len(old) - len(new)))
    spare = limit - by_hand.cost(messages)
    if changed:
        assert min(changed)[0] >= max(same, default=0) or most < len(MARKER)
        assert any(saved > spare for size, saved in changed if size == min(changed)[0])


# Regional indicators, and what may join, lengthen or precede a pair of them.
JOINING = [
    "\U0001f1e6",
    "\U0001f1ff",
    "\u0301",
    "\u200d",
    "\u0903",
    "\u094d",
    "\u0915",
    "\u0600",
    "\U0001f469",
    "a",
    "\r",
    "\n",
]


@given(st.lists(st.sampled_from([*JOINING[:2] * 4, *JOINING]), max_size=12).map("".join))
def test_flags_are_split_as_the_whole_grapheme_rule_splits_them(text: str) -> None:
    assert graphemes(text) == regex.findall(r"\X", text)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", ["\U0001f1e6", "\u0600\U0001f1e6", "\U0001f1e6\u0301", "\U0001f469\u200d", "\u0301"])
def test_half_a_million_joining_characters_are_cut_in_one_pass(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    shorter = cut_text(text, 1_000, len)
    assert shorter is not None
    assert len(shorter) <= 1_000


def test_thinking_is_never_shortened() -> None:
    thinking = {"type": "thinking", "thinking": "t" * 90, "signature": "s"}
    blocks = [thinking, {"type": "text", "text": "x" * 90}]
    history: History = [{"role": "user", "content": "q"}, {"role": "assistant", "content": blocks}]
    messages = left(history, 130, Truncate(30))
    assert messages is not None
    assert messages[1]["content"][0] == thinking


def test_a_text_too_small_for_the_marker_stays() -> None:
    history: History = [{"role": "user", "content": "x" * 90}]
    assert built(history, 50, Truncate(len(MARKER) - 1)) is None
    messages = left(history, 50, Truncate(len(MARKER)))
    assert messages == [{"role": "user", "content": MARKER}]


def test_an_unknown_end_is_refused_at_construction() -> None:
    with pytest.raises(ValueError, match="where"):
        Truncate(5, where="middle")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("dialect", "model"),
    [
        ("openai_chat", "gpt-4o"),
        ("anthropic", "claude-sonnet-4-5"),
        ("bedrock", "anthropic.claude-sonnet-4-5"),
        ("gemini", "gemini-2.5-flash"),
        ("mistral", "mistral-large-latest"),
    ],
)
@pytest.mark.parametrize("most", [20, 33])
def test_a_shortened_text_costs_no_more_than_it_may_in_any_dialect(dialect: str, model: str, most: int) -> None:
    """On Claude and Gemini it cost 4 more: a text was counted as what it costs beyond the words for an empty one."""
    long = " ".join(f"w{number}" for number in range(100))
    history = [{"role": "user", "content": long}, {"role": "assistant", "content": "ok"}, ("user", "x")]
    budget = Budget(120, model=model)
    context = Assembler(budget, dialect=dialect, on_overflow=Truncate(most)).add_messages(history).build()
    kept: Any = context.messages[0]
    assert most - 2 <= budget.token_counter(kept["content"]) <= most
