"""A row gives what the same calls on a fork give. A bad row is reported and affects no other row."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, CacheMarks, ClearToolResults, ContextLengthError, MissingExtraError, TrimOldest
from assembler.batch.formats import outcome
from assembler.batch.lines import answer
from assembler.batch.rows import Assembled, Failed, lay_over
from assembler.dialects import anthropic, bedrock, plain
from budgets import Budget

CANARY = "xyzzy"
MESSAGES = [{"role": "user", "content": "why?"}]
TOOL = {"name": "find", "description": "Find.", "parameters": {"type": "object", "properties": {}}}


def base() -> Assembler:
    made = Assembler(Budget(200, counter=len), dialect=plain, on_overflow=TrimOldest())
    return made.add_instruction("Be kind.").add_knowledge("Known.", type="rag", source="a.md")


def test_a_row_is_what_the_same_calls_on_a_fork_are() -> None:
    row = {
        "instruction": "Be brief.",
        "tools": [TOOL],
        "knowledge": ["One.", {"text": "Two.", "type": "rag", "source": "b.md", "trusted": True, "score": None}],
        "messages": MESSAGES,
    }
    by_hand = base().add_instruction("Be brief.").add_capability([TOOL]).add_messages(MESSAGES)
    by_hand.add_knowledge("One.", type="document").add_knowledge("Two.", type="rag", source="b.md", trusted=True)
    assert lay_over(base(), row) == by_hand
    as_text = {name: value if name == "instruction" else json.dumps(value) for name, value in row.items()}
    assert lay_over(base(), as_text) == by_hand


@pytest.mark.parametrize("cache_marks", [None, CacheMarks()])
def test_a_row_that_is_cut_has_the_request_and_the_number_of_a_build_by_hand(cache_marks: CacheMarks | None) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    history = [{"role": "user" if place % 2 == 0 else "assistant", "content": "x" * 30} for place in range(8)]
    step = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "y" * 90},
    ]
    ladder = [ClearToolResults(keep=0), TrimOldest()]
    messages = [*history, *MESSAGES, *step, *MESSAGES]
    whole = Assembler(Budget(10_000, counter=len), dialect=anthropic).add_capability([TOOL]).add_messages(messages)
    budget = Budget(whole.build().count.upper - 150, counter=len)
    spoken = Assembler(budget, dialect=anthropic, on_overflow=ladder, cache_marks=cache_marks).add_capability([TOOL])
    context, found = spoken.fork().add_messages(messages).build(), outcome(spoken, {"messages": messages})
    assert {message.outcome for message in context.dropped} == {"dropped", "shortened"}
    assert isinstance(found, Assembled)
    assert json.loads(found.request) == context.request()
    assert (found.count, found.dropped) == (context.count, len(context.dropped))


@pytest.mark.parametrize("row", [{}, dict.fromkeys(("instruction", "tools", "knowledge", "messages"))])
def test_the_assembler_supplies_what_a_row_leaves_out(row: dict[str, None]) -> None:
    assert lay_over(base(), row) == base()


@pytest.mark.parametrize("knowledge", ["One.", ["One."], {"text": "One."}, '{"text": "One."}', '"One."'])
def test_one_document_may_come_alone(knowledge: object) -> None:
    assert lay_over(base(), {"knowledge": knowledge}) == base().add_knowledge("One.", type="document")


def test_a_row_does_not_change_the_base_assembler() -> None:
    shared = base()
    outcome(shared, {"messages": MESSAGES, "knowledge": ["One."], "instruction": "Other."})
    outcome(shared, {"messages": 7})
    assert shared == base()


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "messages": ({"messages": 7}, "messages: expected a list of messages or its JSON text, got int"),
    "messages in words": ({"messages": CANARY}, "or its JSON text, got a text of 5 characters"),
    "messages in a letter": ({"messages": "x"}, "or its JSON text, got a text of 1 character"),
    "a message": ({"messages": [{"role": "user", "content": 7}]}, "message 0: content must be text"),
    "an orphan": ({"messages": [{"role": "tool", "tool_call_id": "c", "content": ""}]}, "message 0"),
    "tools": ({"tools": 7}, "tools: expected a list of definitions"),
    "a tool": ({"tools": [{"name": "no name"}]}, "tool"),
    "instruction": ({"instruction": 7}, "instruction"),
    "a document": ({"knowledge": [7]}, "knowledge[0] of the row: expected a text or a mapping"),
    "a document of no text": ({"knowledge": [{"type": "x"}]}, "knowledge[0] of the row: has no text"),
    "a document that is a file": ({"knowledge": [{"text": "a", "file": "/etc/passwd"}]}, "has an unknown key"),
    "too much": ({"messages": [("user", "x" * 500)]}, "context needs"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_bad_row_says_why(case: str) -> None:
    row, expected = WRONG[case]
    found = outcome(base(), row)
    assert isinstance(found, Failed)
    assert expected in found.message
    assert CANARY not in found.message


@pytest.mark.parametrize(
    ("fields", "named"), [({"text": 5}, "text"), ({"source": 5}, "source"), ({"score": "high"}, "score")]
)
def test_a_bad_document_is_named_by_its_place_in_the_row(fields: dict[str, Any], named: str) -> None:
    """It was named by its place behind the assembler's own documents."""
    own = base().add_knowledge("one", type="a").add_knowledge("two", type="a")
    found = outcome(own, {"knowledge": ["fine", {"text": "wrong", **fields}]})
    assert isinstance(found, Failed)
    assert found.message.startswith(f"knowledge[1].{named}")


def test_a_foreign_error_is_reported_by_its_type_alone() -> None:
    def counter(text: str) -> int:
        return len(text)

    class Lying:
        name = "lying"
        opening = plain.opening
        api = plain.api

        def pricer(self, *_: object) -> object:
            return plain.pricer(None, counter)

        def emit(self, _: object) -> object:
            raise KeyError(CANARY)

    found = outcome(Assembler(dialect=Lying()), {"messages": MESSAGES})  # type: ignore[arg-type]
    assert found == Failed("KeyError", "not the library's own error; its text is withheld, as it may quote the row")


def test_a_missing_package_is_not_recorded_as_an_error_of_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: Assembler) -> None:
        raise MissingExtraError("toktok", needed_for="counting")

    monkeypatch.setattr(Assembler, "build", missing)
    with pytest.raises(MissingExtraError):
        outcome(base(), {})


def test_bytes_are_written_as_base64() -> None:
    image = {"image": {"format": "png", "source": {"bytes": b"\x00\x01"}}}
    messages = [{"role": "user", "content": [image, {"text": "What is it?"}]}]
    found = outcome(Assembler(dialect=bedrock), {"messages": messages})
    assert not isinstance(found, Failed) or "png" not in found.message
    assert isinstance(found, Assembled)
    assert '"bytes":"AAE="' in found.request


# ── lines


def answered(line: str | bytes, number: int = 0) -> dict[str, Any]:
    content = line.encode() if isinstance(line, str) else line
    out = answer(base(), number, content)
    assert out.endswith(b"\n")
    assert out.count(b"\n") == 1
    assert out.startswith(b'{"row":%d,' % number)
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_line_is_answered_by_its_request_its_cost_and_its_extra_fields() -> None:
    row = {"id": "é\u2028", "label": {"a": [1.5, None]}, "messages": MESSAGES}
    context = base().add_messages(MESSAGES).build()
    assert answered(json.dumps(row), 3) == {
        "row": 3,
        "id": "é\u2028",
        "label": {"a": [1.5, None]},
        "request": context.request(),
        "tokens": context.count.tokens,
        "upper": context.count.upper,
        "grade": "exact",
        "dropped": 0,
    }


def test_a_byte_order_mark_does_not_enter_the_first_row() -> None:
    line = b"\xef\xbb\xbf" + json.dumps({"messages": MESSAGES}).encode()
    assert "request" in answered(line)
    assert "error" in answered(line, 1)


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "no JSON": ('{"messages": ', "expected JSON, column 14"),
    "no object": ("[1]", "expected a JSON object"),
    "NaN": ('{"x": NaN}', "NaN is not a JSON number"),
    "a key twice": ('{"id": 1, "id": 2}', "given twice"),
    "depth": ("[" * 5000 + "]" * 5000, "nested too deeply"),
    "a long number": ('{"id": ' + "9" * 5000 + "}", "Exceeds the limit"),
    "other bytes": (b'{"id": "\xff"}', "other bytes at offset 8"),
    "a slip": ('{"mesages": []}', "a field that is nearly messages"),
    "a capital": ('{"Tools": []}', "a field that is nearly tools"),
    "our own word": ('{"tokens": 5, "id": 1}', "a field tokens, which the output line writes"),
    "a number beyond doubles": ('{"id": 1e400, "messages": [["user", "x"]]}', "beyond the largest"),
    "its negative, far inside": ('{"id": [{"x": [-1e999]}]}', "beyond the largest"),
    "a key twice in messages that come as text": (
        json.dumps({"messages": '[{"role": "user", "content": "a", "content": "b"}]'}),
        "messages: expected a list of messages or its JSON text, got one in which key content given twice",
    ),
    "a key twice in tools that come as text": (json.dumps({"tools": '[{"name": "a", "name": "b"}]'}), "given twice"),
    "a key twice in knowledge that comes as text": (json.dumps({"knowledge": '{"text": "a", "text": "b"}'}), "twice"),
    "messages that come as deep text": (json.dumps({"messages": "[" * 5000 + "]" * 5000}), "got a text of 10000"),
    "a surrogate": ('{"messages": [["user", "\\ud800"]]}', "surrogate"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_line_that_holds_no_row_is_answered_by_an_error(case: str) -> None:
    line, expected = REFUSED[case]
    found = answered(line)
    assert expected in found["error"]["message"]
    assert "request" not in found


EXTREMES = ["1e400", "-1e400", "NaN", "9" * 5000, "-0", "1e-999", '"\\ud800"', '"\\u0000"', "[" * 200 + "]" * 200, "{}"]
FIELDS = ["id", "messages", "knowledge", "tools", "instruction", "row", "mesages", "\\ud800", ""]


@given(st.lists(st.tuples(st.sampled_from(FIELDS), st.sampled_from(EXTREMES)), max_size=4) | st.binary(max_size=40))
def test_any_row_is_answered_by_exactly_one_line(row: list[tuple[str, str]] | bytes) -> None:
    answered(row if isinstance(row, bytes) else "{" + ", ".join(f'"{name}": {value}' for name, value in row) + "}")


def test_a_row_that_breaks_the_reader_is_recorded_and_the_other_rows_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr("assembler.batch.lines._refuse_slips", broken)
        assert answered('{"id": 5, "messages": [["user", "x"]]}')["error"]["kind"] == "ZeroDivisionError"
    assert "request" in answered('{"id": 5, "messages": [["user", "x"]]}')


def test_an_error_line_carries_the_extra_fields_of_its_row() -> None:
    assert answered('{"id": "a", "messages": 5, "tokens": 1}')["id"] == "a"
    assert answered('{"message_id": "a", "messages": 5}')["message_id"] == "a"


def test_half_a_surrogate_pair_in_an_extra_field_is_returned_unchanged() -> None:
    assert answered('{"id": "\\ud83d", "messages": [["user", "é"]]}')["id"] == "\ud83d"


@pytest.mark.parametrize("more", [0, 1])
def test_a_row_at_the_byte_limit_is_read_and_a_longer_one_is_refused_unread(
    more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = '{"id": "é", "messages": 5}'
    monkeypatch.setattr("assembler.batch.lines.LONGEST", len(line.encode()) - more)
    assert ("longer than" in answered(line)["error"]["message"]) == bool(more)


def test_an_overflow_is_reported_by_its_error_type() -> None:
    line = json.dumps({"messages": [["user", "x" * 500]]})
    assert answered(line)["error"]["kind"] == ContextLengthError.__name__
