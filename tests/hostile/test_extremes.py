"""Every argument of every public function takes extreme numbers and arrays, or raises the library's own error."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assembler import (
    Assembler,
    ClearToolResults,
    ConversationError,
    Cosine,
    ManifestError,
    MessageTypeError,
    Summarize,
    ToolError,
    TrimOldest,
    count_request,
    verify,
)
from assembler.batch import BatchError, assemble_batch
from assembler.dialects import plain
from assembler.report.page import Line, Ticks, chart_svg
from assembler.session import Call, calls_of, session_svg, smoothed
from budgets import AssemblyError, Budget, BudgetError, Limit
from tests.hostile.test_arguments import DATA, DOORS, USER
from tests.hostile.test_dos import deep

EXTREMES: dict[str, Any] = {
    "beyond doubles": 10**400,
    "below doubles": -(10**400),
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "the largest double": 1.7e308,
    "the least double": 5e-324,
    "minus zero": -0.0,
    "an array": np.array([1, 2]),
    "an empty array": np.array([]),
    "an array without dimensions": np.array(5),
    "a table": np.array([[1.5, np.nan]]),
    "an array of texts": np.array(["a"]),
    "numpy's NaN": np.float64("nan"),
    "numpy's least": np.int64(-(2**63)),
    "numpy's truth": np.bool_(True),
    "a decimal NaN": Decimal("NaN"),
    "a fraction": Fraction(1, 3),
    "a complex number": 1j,
    "deep lists": deep(3_000),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("door", DATA["doors"])
def test_an_extreme_is_used_or_refused_by_an_error_of_the_librarys(
    door: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    untyped: list[str] = []
    for argument in DATA["doors"][door]:
        documented = DATA["documented"].get(f"{door}.{argument}", "")
        for label, extreme in EXTREMES.items():
            try:
                DOORS[door](**{argument: extreme})
            except AssemblyError as error:
                assert len(str(error)) <= 1_100
            except Exception as error:
                if type(error).__name__ not in documented:
                    untyped.append(f"{argument}, {label}: {error!r:.100}")
    assert untyped == []


CHARTS: dict[str, Any] = {
    "the values of a line": lambda odd: chart_svg("t", [Line("n", odd)]),
    "a value of a line": lambda odd: chart_svg("t", [Line("n", [odd])]),
    "the note of a line": lambda odd: chart_svg("t", [Line("n", [1.0], odd)]),
    "a tick": lambda odd: chart_svg("t", [Ticks("n", [odd], 5)]),
    "the calls of ticks": lambda odd: chart_svg("t", [Ticks("n", [1], odd)]),
    "a title": lambda odd: chart_svg(odd, []),
    "the panels": lambda odd: chart_svg("t", odd),
    "what goes across": lambda odd: chart_svg("t", [], across=odd),
    "a value to smooth": lambda odd: smoothed([odd, odd]),
    "the values to smooth": smoothed,
    "a window to smooth over": lambda odd: smoothed([1.0], odd),
    "how full a call is": lambda odd: session_svg([Call(odd, 1, False, 0.5)]),
    "what is served of a call": lambda odd: session_svg([Call(0.5, 1, False, odd)]),
    "the calls of a session": session_svg,
    "the contexts of a session": lambda odd: list(calls_of(odd)),
    "a context of a session": lambda odd: list(calls_of([odd])),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("label", EXTREMES)
@pytest.mark.parametrize("place", CHARTS)
def test_a_chart_draws_an_extreme_or_refuses_it(place: str, label: str) -> None:
    try:
        drawn = CHARTS[place](EXTREMES[label])
    except AssemblyError:
        return
    assert "nan" not in str(drawn)
    assert "inf" not in str(drawn)


ODD_PARTS: dict[str, Any] = {
    "an object": object(),
    "NaN": math.nan,
    "a key of no text": {(): 1},
    "half a character": "\ud800",
    "a cycle": (lambda held: held.append(held) or held)([]),  # type: ignore[func-returns-value]
    "deep lists": deep(3_000),
}
OWN_TOOLS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "openai_chat": lambda odd: {"type": "custom", "custom": {"name": "g", "description": odd}},
    "openai_responses": lambda odd: {"type": "web_search", "user_location": odd},
    "anthropic": lambda odd: {"type": "web_search_20250305", "name": "web_search", "max_uses": odd},
    "gemini": lambda odd: {"googleSearch": odd},
}


@pytest.mark.parametrize("label", ODD_PARTS)
@pytest.mark.parametrize("dialect", OWN_TOOLS)
def test_a_provider_tool_that_json_cannot_carry_is_refused_when_it_is_added(dialect: str, label: str) -> None:
    with pytest.raises(ToolError, match=r"tools\[0\]"):
        Assembler(dialect=dialect).add_capability([OWN_TOOLS[dialect](ODD_PARTS[label])])


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ANSWER = {"role": "tool", "tool_call_id": "c", "content": "r" * 80}
INCOMPARABLE: dict[str, Any] = {"an array": np.array([1, 2]), "an empty array": np.array([])}


@pytest.mark.parametrize("label", INCOMPARABLE)
def test_an_array_for_the_choice_of_a_tool_is_refused(label: str) -> None:
    with pytest.raises(ToolError, match="choice"):
        Assembler().add_capability([{"name": "f"}], choice=INCOMPARABLE[label])


@pytest.mark.parametrize("label", INCOMPARABLE)
def test_an_array_as_or_inside_a_message_is_refused_as_no_message(label: str) -> None:
    odd, message = INCOMPARABLE[label], {"role": "user", "content": "hi", "metadata": None}
    with pytest.raises(MessageTypeError):
        Assembler(dialect="openai_chat").add_message(odd)
    with pytest.raises(MessageTypeError):
        Assembler(dialect="openai_chat").add_messages([message, odd])
    made = Assembler(dialect="openai_chat").add_messages([message])
    made.build()
    message["metadata"] = odd
    with pytest.raises(ConversationError, match="JSON cannot carry"):
        made.build()


@pytest.mark.parametrize("dialect", ["anthropic", "bedrock", "gemini", "mistral", "openai_chat", "openai_responses"])
def test_any_value_in_place_of_a_list_is_a_violation_and_not_an_error(dialect: str) -> None:
    for odd in EXTREMES.values():
        whole = {"messages": odd, "contents": odd, "input": odd, "tools": odd, "system": odd}
        asked = {"role": "user", "content": odd, "parts": odd}
        assert verify(whole, dialect=dialect)
        assert verify({"messages": [asked], "contents": [asked], "input": [asked], "tools": [odd]}, dialect=dialect)


def test_a_numpy_number_beside_a_text_is_sent_unchanged() -> None:
    asked = {"role": "user", "content": "hi", "name": np.float64(0.5)}
    assert Assembler(dialect="openai_chat").add_message(asked).build().request()["messages"] == [asked]


@pytest.mark.parametrize("vector", [10**400, np.array(5), [10**400], None, math.nan])
def test_a_vector_beyond_doubles_is_refused(vector: Any) -> None:
    with pytest.raises(BudgetError, match="Cosine"):
        Cosine(lambda texts: [vector] * len(texts))("q", ["a"])


def test_a_window_beyond_doubles_is_shared_out_by_fractions() -> None:
    window = 10**400
    limits = {"knowledge": Limit(cap=0.5), "conversation": Limit(floor=0.25), "instruction": Limit(share=0.125)}
    made = Assembler(Budget(window, counter=len, limits=limits), on_overflow=TrimOldest(0.5), dialect=plain)
    assert made.add_knowledge("a", type="b").add_message({"role": "user", "content": "q"}).build().count.tokens
    with pytest.raises(BudgetError) as refused:
        Budget(100, limits={"knowledge": Limit(floor=0.5), "conversation": Limit(floor=window)})
    assert f"works is {2 * window - 1}" in str(refused.value)


def test_floors_of_all_of_a_window_fit_no_window() -> None:
    floors = {"knowledge": 0.1, "conversation": 0.2, "capability": 0.7, "instruction": 5}
    with pytest.raises(BudgetError, match="no window holds that"):
        Budget(100, limits={region: Limit(floor=floor) for region, floor in floors.items()})


def test_wrong_thoughts_are_left_out_for_mistral_with_a_note() -> None:
    blocks = [{"type": "thinking", "thinking": [[5]]}, {"type": "text", "text": "yes"}]
    made = Assembler(dialect="mistral")
    context = made.add_messages([USER, {"role": "assistant", "content": blocks}, USER]).build()
    assert "thinking" not in str(context.request())
    assert context.report.notes
    assert count_request(context.request(), dialect="mistral") == context.count


@pytest.mark.parametrize("label", ["an array without dimensions", "a fraction", "a complex number", "infinity"])
def test_a_carried_column_is_read_or_refused_by_its_name(label: str) -> None:
    with pytest.raises(BatchError, match="column id: expected a list of values"):
        assemble_batch({"messages": [[USER]], "id": EXTREMES[label]}, Assembler())  # type: ignore[dict-item]


def test_a_manifest_with_an_array_for_its_format_is_refused() -> None:
    with pytest.raises(ManifestError, match="of no format"):
        Assembler().add_message(USER).replay({"manifest": np.array([1, 2])})


def test_a_policys_name_in_a_state_writes_one_plain_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    made = Assembler(Budget(50, counter=len), on_overflow=Summarize(lambda _dropped, _before, _most: "s", 1))
    made.add_messages([{"role": role, "content": "x" * 12} for role in ("user", "assistant") * 3] + [USER])
    state = made.build().state()
    state["policies"][0]["policy"] = "\x1b[31m\n\u202eERROR " + "x" * 10_000
    made.restore(state)
    (line,) = caplog.messages
    assert line.isprintable()
    assert len(line) < 400


@pytest.mark.parametrize("odd", [[{}], [[]], np.array(5), [1.5], [-1], [True], "0"])
def test_pins_that_are_not_indexes_are_refused(odd: Any) -> None:
    with pytest.raises(BudgetError, match="pins: expected"):
        TrimOldest(pins=odd)


def test_tool_names_that_are_not_texts_match_no_tool() -> None:
    messages = [USER, {"role": "assistant", "content": None, "tool_calls": [CALL]}, ANSWER, USER]
    made = Assembler(Budget(60, counter=len), on_overflow=ClearToolResults(0, exclude=[{}, []]))  # type: ignore[list-item]
    assert made.add_messages(messages).build().messages[2]["content"] == "[cleared]"


def test_a_number_of_results_to_keep_beyond_any_list_keeps_all() -> None:
    made = Assembler(Budget(60, counter=len), on_overflow=[ClearToolResults(10**30), TrimOldest()])
    messages = [USER, {"role": "assistant", "content": None, "tool_calls": [CALL]}, ANSWER, USER]
    assert made.add_messages(messages).build().messages == [USER]
