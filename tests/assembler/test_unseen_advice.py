"""The advice for a request with a file of unseen length works: whoever follows it gets a request that fits."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ContextLengthError
from assembler.policies import ClearToolResults, Policy, Refuse, TrimOldest, TrimSteps, Truncate
from budgets import Budget, Limit

Dict = dict[str, Any]
URL = "https://a.example/f.pdf"
FILES: dict[str, tuple[str, Dict]] = {
    "openai_chat": ("gpt-4o", {"type": "file", "file": {"file_id": "file-1"}}),
    "openai_responses": ("gpt-5", {"type": "input_file", "file_url": URL}),
    "anthropic": ("claude-sonnet-4-5", {"type": "document", "source": {"type": "url", "url": URL}}),
    "gemini": ("gemini-2.5-pro", {"file_data": {"file_uri": URL, "mime_type": "application/pdf"}}),
    "mistral": ("mistral-large-latest", {"type": "document_url", "document_url": URL}),
    "bedrock": (
        "anthropic.claude-sonnet-4-5",
        {"document": {"format": "pdf", "name": "f", "source": {"s3Location": {"uri": "s3://a/f"}}}},
    ),
}
CHAT = "openai_chat"
LADDERS: list[list[Policy]] = [
    [Refuse()],
    [TrimOldest()],
    [TrimOldest(low_water=0.5)],
    [TrimOldest(), Truncate(50)],
    [ClearToolResults(keep=0), TrimSteps(keep=0), TrimOldest()],
]


def spoken(dialect: str, role: str, words: int, file: Dict | None = None) -> Dict:
    text = "a " * words
    if dialect == "gemini":
        return {"role": role, "parts": [*([file] if file else []), {"text": text}]}
    if dialect == "bedrock":
        return {"role": role, "content": [*([file] if file else []), {"text": text}]}
    if file is None:
        return {"role": role, "content": text}
    kind = "input_text" if dialect == "openai_responses" else "text"
    return {"role": role, "content": [file, {"type": kind, "text": text}]}


def listed(message: Dict) -> list[Any]:
    held: Any = message.get("parts", message.get("content"))
    return [] if isinstance(held, str) else held


def declared(history: Sequence[Dict], length: int, file: Dict) -> list[Dict]:
    """The history with `pages` beside each file that has none."""
    changed = copy.deepcopy(list(history))
    for message in changed:
        for place, part in enumerate(listed(message)):
            if part == file:
                listed(message)[place] = {**part, "pages": length}
    return changed


def shortened(history: Sequence[Dict], tokens: int, advice: str) -> list[Dict]:
    """The history with so many words less in the newest message, after a pinned one if all that stays is too large."""
    changed = copy.deepcopy(list(history))
    pinned = [one for one in changed[:-1] if one.get("pinned") and "What cannot be dropped" in advice]
    for message in [*pinned, changed[-1]]:
        parts = listed(message)
        text = str(next((part["text"] for part in parts if "text" in part), message.get("content")))
        less = min(tokens, len(text) // 2)
        fewer, tokens = "a " * (len(text) // 2 - less), tokens - less
        if not parts:
            message["content"] = fewer
        for part in parts:
            if "text" in part:
                part["text"] = fewer
    return changed


class Case:
    """A request that may not fit, and what its error advises."""

    def __init__(self, dialect: str, history: list[Dict], ladder: list[Policy], window: int, limits: Any) -> None:
        self.dialect, self.history, self.ladder, self.window, self.limits = dialect, history, ladder, window, limits
        self.file = FILES[dialect][1]

    def fails(self, **other: Any) -> ContextLengthError | None:
        it: dict[str, Any] = {**vars(self), **other}
        budget = Budget(it["window"], model=FILES[self.dialect][0], limits=it["limits"])
        made = Assembler(budget, dialect=self.dialect, on_overflow=it["ladder"])
        try:
            made.add_messages(it["history"]).build()
        except ContextLengthError as error:
            return error
        return None

    def ladder_of(self, advice: str) -> list[Policy]:
        if "pass on_overflow=TrimOldest()" in advice:
            return [TrimOldest()]
        more: list[Policy] = []
        if "end on_overflow with TrimOldest()" in advice:
            more.append(TrimOldest())
        if (steps := re.search(r"(?:with |, )TrimSteps\((keep=0)?\)", advice)) is not None:
            more.append(TrimSteps(keep=0) if steps.group(1) else TrimSteps())
        return [*self.ladder, *more]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    dialect = draw(st.sampled_from(sorted(FILES)))
    file = FILES[dialect][1]
    history: list[Dict] = []
    for _ in range(draw(st.integers(0, 3))):
        held = draw(st.sampled_from([None, None, file, {**file, "pages": 2}]))
        history.append(spoken(dialect, "user", draw(st.integers(1, 3_000)), held))
        history.append(spoken(dialect, "model" if dialect == "gemini" else "assistant", draw(st.integers(1, 30))))
    history.append(spoken(dialect, "user", draw(st.integers(1, 3_000)), draw(st.sampled_from([file, file, None]))))
    if len(history) > 1 and draw(st.integers(0, 3)) == 0:
        history[0] = {**history[0], "pinned": True}
    window = draw(st.integers(200, 40_000))
    limits = draw(st.sampled_from([{}, {}, {"conversation": Limit(cap=0.9)}]))
    return Case(dialect, history, draw(st.sampled_from(LADDERS)), window, limits)


@given(cases())
def test_who_follows_the_advice_gets_a_request_that_fits(case: Case) -> None:
    error = case.fails()
    if error is None:
        return
    advice = error.advice
    if error.smallest_window is not None:
        assert case.fails(window=error.smallest_window) is None
        assert case.fails(window=error.smallest_window - 1) is not None
    history = case.history
    if (most := re.search(r"it fits up to (\d+)\.", advice)) is not None:
        assert case.fails(history=declared(history, int(most.group(1)), case.file)) is None
        assert case.fails(history=declared(history, int(most.group(1)) + 1, case.file)) is not None
    elif "Even with 1 there" in advice:
        history = declared(history, 1, case.file)
        assert case.fails(history=history) is not None
    ladder = case.ladder_of(advice)
    if "Dropping old turns would help" in advice or "TrimSteps" in advice:
        assert case.fails(history=history, ladder=ladder) is None
    if (words := re.search(r"shorten its messages by (\d+) token", advice)) is not None:
        assert case.fails(history=shortened(history, int(words.group(1)) + 2, advice), ladder=ladder) is None
    if (cut := re.search(r"Truncate\((\d[\d_]*)\) (behind it|at the end)", advice)) is not None:
        assert case.fails(history=history, ladder=[*ladder, Truncate(int(cut.group(1).replace("_", "")))]) is None
    if "pin fewer of them" in advice:
        unpinned = [{key: held for key, held in message.items() if key != "pinned"} for message in history]
        assert case.fails(history=unpinned, ladder=ladder) is None
    if "raise its cap" in advice:
        assert case.fails(history=history, limits={}) is None


@pytest.mark.parametrize("dialect", sorted(FILES))
def test_no_advice_asks_to_shorten_a_message_by_the_bound_of_its_file(dialect: str) -> None:
    """The bound of a file of unseen length was counted among the words of its message."""
    asked = spoken(dialect, "user", 5, FILES[dialect][1])
    error = Case(dialect, [asked], [TrimOldest()], 20_000, {}).fails()
    assert error is not None
    assert '{"pages": …}' in error.advice
    assert "shorten" not in error.advice


UNSEEN = (
    "conversation[{}] holds a file whose length cannot be seen, and counts as the longest one: "
    'add {{"pages": …}} to its part'
)
OLD_TURNS = "Dropping old turns would help: pass on_overflow=TrimOldest(). "
WORDS: dict[str, tuple[list[Dict], int, Any, str]] = {
    "an old turn may go instead": (
        [spoken(CHAT, "user", 3_000, FILES[CHAT][1]), spoken(CHAT, "assistant", 5), spoken(CHAT, "user", 5)],
        20_000,
        {},
        UNSEEN.format(0) + "; it fits up to 3. " + OLD_TURNS + "Or choose a context_window of 131028.",
    ),
    "or must": (
        [spoken(CHAT, "user", 3_000, FILES[CHAT][1]), spoken(CHAT, "assistant", 5), spoken(CHAT, "user", 5)],
        5_000,
        {},
        OLD_TURNS + "Or choose a context_window of 131028.",
    ),
    "both must": (
        [spoken(CHAT, "user", 500), spoken(CHAT, "assistant", 5), spoken(CHAT, "user", 5, FILES[CHAT][1])],
        4_500,
        {},
        f"{UNSEEN.format(2)}. Even with 1 there it does not fit. {OLD_TURNS}Or choose a context_window of 128528.",
    ),
    "one page fits": (
        [spoken(CHAT, "user", 5, FILES[CHAT][1])],
        5_000,
        {},
        UNSEEN.format(0) + "; it fits up to 1. Or choose a context_window of 128013.",
    ),
    "two files": (
        [spoken(CHAT, "user", 5, FILES[CHAT][1]), spoken(CHAT, "user", 5, FILES[CHAT][1])],
        20_000,
        {},
        UNSEEN.format(0).replace(": add", ", as do others: add")
        + "; it fits up to 2. Or choose a context_window of 256023.",
    ),
    "a region may have more for one page": (
        [spoken(CHAT, "user", 5, FILES[CHAT][1])],
        20_000,
        {"conversation": Limit(cap=2_500)},
        f"{UNSEEN.format(0)}. Even with 1 there it does not fit. The conversation needs 4455 tokens and its limits "
        "leave it 2500: shorten it or send smaller files, by 1955 tokens, or raise its cap. "
        "A larger context_window does not help: the limits leave no more.",
    ),
    "a region may have more": (
        [spoken(CHAT, "user", 5, FILES[CHAT][1])],
        900_000,
        {"conversation": Limit(cap=10_000)},
        UNSEEN.format(0) + "; it fits up to 2. Or for the conversation, raise its cap. "
        "A larger context_window does not help: the limits leave no more.",
    ),
}


@pytest.mark.parametrize("case", WORDS.values(), ids=list(WORDS))
def test_the_advice_names_each_way_that_helps_and_no_other(case: tuple[list[Dict], int, Any, str]) -> None:
    history, window, limits, advice = case
    error = Case(CHAT, history, [Refuse()], window, limits).fails()
    assert error is not None
    assert error.advice == advice


@pytest.mark.parametrize("first", ["pages", "seconds"])
def test_the_key_that_is_named_is_that_of_the_first_file_of_a_message(first: str) -> None:
    document = FILES["gemini"][1]
    film = {"file_data": {"file_uri": "https://a.example/f.mp4", "mime_type": "video/mp4"}}
    files = [document, film] if first == "pages" else [film, document]
    error = Case("gemini", [{"role": "user", "parts": [*files, {"text": "a"}]}], [Refuse()], 1_000, {}).fails()
    assert error is not None
    assert f'add {{"{first}": …}} to its part' in error.advice


@pytest.mark.parametrize("words", [5, 5_000])
def test_a_turn_is_to_be_shortened_only_by_as_many_tokens_as_its_words_cost(words: int) -> None:
    """Ten pages of a known length cannot be shortened either: a smaller file can be sent."""
    part = {**FILES["openai_chat"][1], "pages": 10}
    error = Case("openai_chat", [spoken("openai_chat", "user", words, part)], [TrimOldest()], 3_000, {}).fails()
    assert error is not None
    assert "send fewer or smaller files, by 4" in error.advice
    assert "shorten its messages" not in error.advice


def test_words_that_a_policy_has_shortened_already_are_not_to_be_shortened_again() -> None:
    """They were counted as the caller wrote them, so that the advice asked for words that were gone."""
    asked = spoken("bedrock", "user", 2_500, {**FILES["bedrock"][1], "pages": 1})
    error = Case("bedrock", [asked], [TrimOldest(), Truncate(50)], 2_851, {}).fails()
    assert error is not None
    assert "send fewer or smaller files, by" in error.advice


def test_a_file_in_a_tool_result_is_told_how_long_it_may_be() -> None:
    dialect, file = "openai_responses", FILES["openai_responses"][1]

    def refused(part: Dict) -> ContextLengthError | None:
        call = {"type": "function_call", "call_id": "a", "name": "fetch", "arguments": "{}"}
        found = [part, {"type": "input_text", "text": "a " * 400}]
        answer = {"type": "function_call_output", "call_id": "a", "output": found, "pinned": True}
        return Case(dialect, [spoken(dialect, "user", 5), call, answer], [Refuse()], 40_000, {}).fails()

    error = refused(file)
    assert error is not None
    most = re.search(r"it fits up to (\d+)\.", error.advice)
    assert most is not None
    assert refused({**file, "pages": int(most.group(1))}) is None
    larger = refused({**file, "pages": int(most.group(1)) + 1})
    assert larger is not None
    assert "send fewer or smaller files, by" in larger.advice
