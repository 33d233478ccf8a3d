"""A picture in a tool's answer is sent after the answers if the API takes none in them, at one price."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    ClearToolResults,
    ContextLengthError,
    TrimOldest,
    TrimSteps,
    UnsupportedContentError,
    count_request,
    verify,
)
from budgets import Budget
from tests.assembler.steps import answering, calling, part, together
from tests.scaled import scaled

Dict = dict[str, Any]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # one pixel
URL = f"data:image/png;base64,{PNG}"
TOOL: Dict = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
BESIDE = [
    ("openai_chat", "gpt-4o"),
    ("openai_chat", "gpt-5"),
    ("openai_chat", "gpt-3.5-turbo-0125"),
    ("openai_chat", "claude-sonnet-4-5"),
    ("openai_chat", "gemini-2.5-pro"),
    ("openai_chat", "a-model-of-nobody"),
    ("mistral", "mistral-small-latest"),
    ("mistral", "open-mistral-nemo"),
    ("gemini", "gemini-2.5-flash"),
    ("gemini", "gemini-3-pro-preview"),
]
WITHIN = [("anthropic", "claude-sonnet-4-5"), ("openai_responses", "gpt-4o"), ("bedrock", "claude-sonnet-4-5")]
PICTURES: dict[str, Dict] = {
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    "openai_chat": {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
    "openai_responses": {"type": "input_image", "image_url": URL, "detail": "low"},
}
SPELLINGS = tuple(PICTURES)


def step(spelling: str, answers: dict[str, tuple[str | None, int]]) -> list[Dict]:
    """Calls side by side and their answers, as an API spells them: each answer with a text or none, and pictures."""
    given = [
        answering(
            spelling,
            call,
            [
                *([] if words is None else [part(spelling, words)]),
                *(copy.deepcopy(PICTURES[spelling]) for _ in range(pictures)),
            ],
        )
        for call, (words, pictures) in answers.items()
    ]
    return [*calling(spelling, answers, "look"), *together(spelling, given)]


def history(spelling: str, *steps: dict[str, tuple[str | None, int]]) -> list[Dict]:
    messages: list[Dict] = []
    for number, answers in enumerate(steps):
        messages += [{"role": "user", "content": f"question {number} " * 9}, *step(spelling, answers)]
    return messages


def assembled(name: str, model: str | None, messages: list[Dict], limit: int = 1_000_000, *policies: Any) -> Assembler:
    budget = Budget(limit, model=model)
    found = Assembler(budget, dialect=name, on_overflow=policies) if policies else Assembler(budget, dialect=name)
    return found.add_capability([TOOL]).add_messages(messages)


def rounds(request: Dict) -> Iterator[tuple[list[str], list[list[Any]], list[Any]]]:
    """Of each step in a request: the ids of its calls, what each answer says, and what the user says behind them all.

    Reads Chat's, Mistral's and Gemini's spelling. Fails where anybody speaks between two answers of a step.
    """
    ids: list[str] = []
    answers: list[list[Any]] = []
    behind: list[Any] = []
    sent: list[Dict] = request["contents"] if "contents" in request else request["messages"]
    end: Dict = {"role": "assistant"}
    for message in [*sent, end]:
        parts: list[Dict] = message.get("parts") or []
        calls = [part["function_call"]["id"] for part in parts if "function_call" in part]
        calls += [call["id"] for call in message.get("tool_calls") or ()]
        if message["role"] in ("assistant", "model"):
            if message.get("content") == "Understood.":
                continue
            if ids:
                yield ids, answers, behind
            ids, answers, behind = calls, [], []
            continue
        if message["role"] == "tool" or any("function_response" in part for part in parts):
            assert not behind
            answers += [[message["content"]]] if message["role"] == "tool" else [[part] for part in parts]
            continue
        content = message.get("content", parts)
        behind += [content] if isinstance(content, str) else content


def told_apart(drawn: list[dict[str, tuple[str | None, int]]]) -> list[dict[str, tuple[str | None, int]]]:
    """The steps with ids that repeat in no other step: Gemini gets new ids for those, which labels cannot name."""
    return [{call + "n" * number: answer for call, answer in answers.items()} for number, answers in enumerate(drawn)]


steps = st.lists(
    st.dictionaries(
        st.sampled_from(["a", "call_1", "x" * 45, "b2b2b2b2b"]),
        st.tuples(st.none() | st.sampled_from(["", "seen", "two words"]), st.integers(0, 2)),
        min_size=1,
        max_size=3,
    ),
    min_size=1,
    max_size=3,
).map(told_apart)


@scaled(0.5)
@given(st.sampled_from(BESIDE), st.sampled_from(SPELLINGS), steps, st.booleans())
def test_every_picture_follows_all_answers_of_its_step_and_names_its_call(
    at: tuple[str, str], spelling: str, drawn: list[dict[str, tuple[str | None, int]]], asks: bool
) -> None:
    name, model = at
    messages = history(spelling, *drawn)
    messages += [{"role": "user", "content": "and now?"}] if asks else []
    context = assembled(name, model, messages).build()
    request = context.request()
    assert verify(request, dialect=name) == []
    assert context.count == count_request(request, dialect=name, model=model)
    went = [*rounds(request)]
    assert len(went) == len(drawn)
    for (ids, answers, behind), expected in zip(went, drawn, strict=True):
        assert len(ids) == len(answers) == len(expected)
        assert PNG not in json.dumps(answers)
        found = [(str(before), PNG in str(part)) for before, part in itertools.pairwise(["", *behind])]
        shown = [before for before, is_picture in found if is_picture]
        wanted = [call for call, (_, pictures) in zip(ids, expected.values(), strict=True) for _ in range(pictures)]
        assert sum(PNG in str(part) for part in behind) == len(wanted)
        labelled = [call for call, (_, pictures) in zip(ids, expected.values(), strict=True) if pictures]
        assert [call for before in shown for call in labelled if f"answer to {call}]" in before] == labelled
    moved = sum(pictures for answers in drawn for _, pictures in answers.values())
    noted = f"{moved} picture(s) or file(s) of tool results sent after the results"
    assert (noted in " ".join(str(context.report).split())) == (moved > 0)


@scaled(0.2)
@given(st.sampled_from(BESIDE), st.sampled_from(SPELLINGS), steps)
def test_a_growing_conversation_is_sent_like_one_that_is_built_at_once(
    at: tuple[str, str], spelling: str, drawn: list[dict[str, tuple[str | None, int]]]
) -> None:
    name, model = at
    growing = assembled(name, model, [])
    messages: list[Dict] = []
    for answers in drawn:
        added = history(spelling, answers)
        messages += added
        for message in added:
            growing.add_message(message)
        whole = assembled(name, model, messages).build()
        assert growing.build().request() == whole.request()
        assert growing.build().count == whole.count


@scaled(0.3)
@given(st.sampled_from(BESIDE), st.sampled_from(SPELLINGS), steps, st.data())
def test_a_picture_stays_and_goes_with_its_turn(
    at: tuple[str, str], spelling: str, drawn: list[dict[str, tuple[str | None, int]]], data: st.DataObject
) -> None:
    name, model = at
    messages = history(spelling, *drawn, {"last": ("end", 1)})
    starts = [place for place, message in enumerate(messages) if str(message.get("content")).startswith("question")]
    first = data.draw(st.sampled_from(starts))
    limit = assembled(name, model, messages[first:]).build().count.upper
    context = assembled(name, model, messages, limit, TrimOldest()).build()
    assert context.messages == messages[first:]
    assert context.request() == assembled(name, model, messages[first:]).build().request()
    if first == starts[-1]:
        with pytest.raises(ContextLengthError):
            assembled(name, model, messages, limit - 1, TrimOldest()).build()


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("name", "model"), BESIDE)
def test_a_step_is_dropped_whole_and_a_cleared_answer_takes_its_picture_along(
    name: str, model: str, spelling: str
) -> None:
    early = step(spelling, {"a": ("one", 1), "b": ("two " * 40, 2)})
    late = step(spelling, {"c": ("three", 1)})
    messages: list[Dict] = [{"role": "user", "content": "q"}, *early, *late]
    without = assembled(name, model, [messages[0], *late]).build()
    whole = assembled(name, model, messages).build().count.upper
    trimmed = assembled(name, model, messages, whole - 1, TrimSteps(keep=1)).build()
    assert trimmed.request() == without.request()
    cleared = assembled(name, model, messages, whole - 1, ClearToolResults(keep=1)).build()
    assert str(cleared.request()).count(PNG) == 3  # of four
    assert cleared.count == count_request(cleared.request(), dialect=name, model=model)
    assert verify(cleared.request(), dialect=name) == []


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("name", "model"), WITHIN)
def test_a_picture_stays_in_the_answer_if_the_api_takes_it_there(name: str, model: str, spelling: str) -> None:
    context = assembled(name, model, history(spelling, {"a": ("one", 1), "b": (None, 1)})).build()
    request = context.request()
    assert verify(request, dialect=name) == []
    assert "shown" not in str(request)
    assert "beside the answers" not in str(context.report)


@pytest.mark.parametrize("home", [*BESIDE, *WITHIN])
@pytest.mark.parametrize("name", ["openai_chat", "mistral", "gemini"])
def test_another_api_is_shown_what_its_own_assembler_would_show(home: tuple[str, str], name: str) -> None:
    messages = history("anthropic", {"a": ("one", 1), "b": (None, 1)})
    request = assembled(*home, messages).build().request(name)
    assert request == assembled(name, None, messages).build().request()


def test_user_words_beside_an_answer_follow_the_picture_that_they_may_refer_to() -> None:
    messages = history("anthropic", {"a": ("one", 1)})
    messages[-1]["content"].append({"type": "text", "text": "what is it?"})
    message = assembled("openai_chat", "gpt-4o", messages).build().request()["messages"][-1]
    kinds = [part["type"] for part in message["content"]]
    assert kinds == ["text", "image_url", "text"]
    assert message["content"][-1]["text"] == "what is it?"


def test_a_screenshot_and_a_document_are_shown_to_chat_too() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"}
    pdf = {"type": "document", "source": source, "pages": 1}
    messages = history("anthropic", {"a": ("one", 0)})
    messages[-1]["content"][0]["content"].append(pdf)
    request = (
        Assembler(dialect="anthropic").add_capability([TOOL]).add_messages(messages).build().request("openai_chat")
    )
    assert request["messages"][-1]["content"][1]["type"] == "file"
    assert verify(request, dialect="openai_chat") == []
    screen = [
        {"role": "user", "content": "q"},
        {"type": "computer_call", "call_id": "c", "action": {"type": "screenshot"}},
        {
            "type": "computer_call_output",
            "call_id": "c",
            "output": {"type": "computer_screenshot", "image_url": URL},
        },
    ]
    context = assembled("openai_chat", "gpt-4o", screen).build()
    assert context.request()["messages"][-1]["content"][1] == {"type": "image_url", "image_url": {"url": URL}}
    assert context.count == count_request(context.request(), dialect="openai_chat", model="gpt-4o")


@pytest.mark.parametrize("spelling", ["openai_chat", "openai_responses"])
def test_a_picture_keeps_the_detail_that_it_asks_for(spelling: str) -> None:
    request = assembled("openai_chat", "gpt-4o", history(spelling, {"a": ("one", 1)})).build().request()
    assert request["messages"][-1]["content"][1]["image_url"] == {"url": URL, "detail": "low"}


@pytest.mark.parametrize("name", ["mistral", "anthropic"])
def test_a_picture_that_an_api_cannot_show_at_all_is_refused(name: str) -> None:
    sound = {"type": "audio", "source": {"type": "base64", "media_type": "audio/ogg", "data": "T2dnUw=="}}
    messages = history("anthropic", {"a": ("one", 0)})
    messages[-1]["content"][0]["content"].append(sound)
    with pytest.raises(UnsupportedContentError):
        assembled(name, None, messages).build().request()


@pytest.mark.parametrize("name", ["openai_chat", "mistral", "gemini"])
def test_a_field_beside_an_answer_whose_picture_moves_is_noted(name: str) -> None:
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    answered = [{"type": "image_url", "image_url": {"url": URL}}]
    history: list[Dict] = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "abcdefghi", "content": answered, "x_new": "kept apart"},
    ]
    context = Assembler(dialect=name).add_capability([TOOL]).add_messages(history).build()
    assert "kept apart" not in str(context.request())
    assert "1 field(s) of another API left out" in context.notes()
