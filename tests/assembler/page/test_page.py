"""The report's page is one file that loads nothing, holds every row, and runs nothing that it was given."""

from __future__ import annotations

import base64
import hashlib
import json
import pickle
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, CacheMarks, ClearToolResults, ContextLengthError, Summarize, TrimOldest
from assembler.dialects import anthropic, bedrock, openai_chat, plain
from assembler.report.page import Texts
from assembler.report.page.escaping import inert_json
from assembler.report.report import Report
from assembler.report.rows import shown_name
from budgets import Budget, BudgetError
from tests.scaled import scaled

from ..drawn import HOSTILE, documents, histories, words
from .reading import Page

ATTACKS = (
    "<script>window.owned = 1</script>",
    "</script><script>window.owned = 1</script>",
    '</style><img src=x onerror="window.owned = 1">',
    '" onmouseover="window.owned = 1" x="',
    "' autofocus onfocus='window.owned = 1",
    "<!--<script>",
    "javascript:window.owned=1",
    "\u2028window.owned = 1\u2029",
    "{{ 7*7 }}{% raw %}",
    "&lt;b&gt; &amp;",
    "\u202e reversed \u2066",
    "]]><svg/onload=window.owned=1>",
)
TOOLS = [{"name": "search", "description": "Search orders.", "parameters": {"type": "object", "properties": {}}}]


def talk(turns: int = 6) -> list[dict[str, Any]]:
    return [{"role": role, "content": f"{role} secret{n} " * 8} for n in range(turns) for role in ("user", "assistant")]


def report_of(policy: Any = None, window: int = 400, **add: Any) -> Report:
    assembler = Assembler(Budget(window, max_output_tokens=50), dialect=openai_chat, on_overflow=policy or TrimOldest())
    assembler.add_instruction("secret rules").add_capability(TOOLS)
    return (
        assembler.add_knowledge("secret fact", **{"type": "rag", "source": "crm.json", **add})
        .add_messages(talk())
        .build()
        .report
    )


def assert_inert(html: str) -> Page:
    page = Page(html)
    for tag, attrs in page.elements:
        assert not any(name.startswith("on") for name in attrs), (tag, attrs)
        assert not {"src", "href", "srcdoc", "style", "action", "formaction", "data", "background"} & set(attrs)
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form", "a", "use", "image"}
    assert [attrs.get("type") for attrs in page.of("script")] == ["application/json", None]
    assert len(page.of("style")) == 1
    return page


def test_the_page_makes_no_network_request() -> None:
    page = assert_inert(report_of().to_html())
    for text in [*page.text("style"), page.text("script")[1]]:
        assert not re.search(r"url\(|@import|https?:|fetch|XMLHttp|import\(|WebSocket|innerHTML|eval", text)
    (policy,) = [str(attrs["content"]) for attrs in page.of("meta") if "http-equiv" in attrs]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_the_content_policy_allows_exactly_the_scripts_of_the_page() -> None:
    html = report_of().to_html()
    page = Page(html)
    (policy,) = [str(attrs["content"]) for attrs in page.of("meta") if "http-equiv" in attrs]
    for kind, text in (("script-src", page.text("script")[1]), ("style-src", page.text("style")[0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_given_text_can_run_in_the_page(attack: str) -> None:
    assembler = Assembler(Budget(450, model=f"gpt-4o{attack}", counter=len), dialect=plain, on_overflow=TrimOldest())
    assembler.add_instruction(attack).add_capability([{"name": "find", "description": attack}])
    knowledge = attack.replace("\u202e", "")
    assembler.add_knowledge(knowledge, type=knowledge or "x", source=knowledge)
    assembler.add_messages([("user", attack), ("assistant", attack), ("user", attack)])
    report = assembler.plan().report
    for texts in (None, Texts()):
        html = report.to_html(texts=texts)
        page = assert_inert(html)
        assert shown_name(attack).split()[0] in "".join(page.text("pre"))
        assert any(row["name"] == (knowledge or "x") or attack in row["name"] for row in page.rows)
        assert "\u202e" not in html
        assert page.text("script")[0].isascii()
    assert_inert(pickle.loads(pickle.dumps(report)).to_html())
    frame = report._repr_html_()
    assert frame.count("<") == 2  # the frame's own two tags
    assert unescape(re.findall(r'srcdoc="([^"]*)"', frame)[0]) == report.to_html()


@scaled(0.5)
@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_inert_json_is_the_same_value_and_no_markup(value: object) -> None:
    text = inert_json(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert not set("<>&") & set(text)


@scaled(0.5)
@given(histories(), st.lists(documents, max_size=3), words, st.floats(0.3, 1.2))
def test_the_page_holds_every_row_of_the_report_and_each_outcome(
    history: list[dict[str, Any]], knowledge: list[dict[str, Any]], rules: str, share: float
) -> None:
    def made(budget: Budget | None) -> Assembler:
        assembler = Assembler(budget, dialect=openai_chat, on_overflow=TrimOldest())
        assembler.add_instruction(rules).add_capability(TOOLS).add_messages(history)
        for item in knowledge:
            assembler.add_knowledge(**item)
        return assembler

    limit = max(1, int(share * made(None).costs().total))
    try:
        report = made(Budget(limit)).plan().report
    except ContextLengthError:
        return
    page = assert_inert(report.to_html())
    for row in report.rows:
        if row.outcome != "dropped":
            found = [shown for shown in page.rows if shown["name"] == row.name]
            assert row.after in [shown["after"] for shown in found], row.name
    assert sum(row["messages"] for row in page.rows if row["outcome"] == "dropped") == sum(
        row.messages for row in report.rows if row.outcome == "dropped"
    )
    assert sum(row["messages"] for row in page.rows) == len(history)


def test_no_text_is_in_the_page_unless_it_is_asked_for() -> None:
    report = report_of()
    assert "secret" not in report.to_html()
    assert "secret" not in report._repr_html_()
    shown = report.to_html(texts=Texts(longest=70))
    for text in ("secret rules", "secret fact", "user secret0", "Search orders"):
        assert text in shown
    assert "characters more" in shown
    assert "secret" not in pickle.loads(pickle.dumps(report)).to_html(texts=Texts())
    with pytest.raises(BudgetError, match="longest is a whole number"):
        Texts(longest=0)


def test_the_page_distinguishes_texts_of_calls_thinking_and_media() -> None:
    history: list[dict[str, Any]] = [
        {"role": "user", "content": "look"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hmm", "signature": "s"},
                {"type": "tool_use", "id": "a", "name": "search", "input": {"q": "x"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "found\x07it"}]},
    ]
    budget = Budget(4_000, model="claude-sonnet-4-5")
    report = Assembler(budget, dialect=anthropic).add_capability(TOOLS).add_messages(history).plan().report
    text = "".join(row["text"] or "" for row in Page(report.to_html(texts=Texts())).rows)
    for part in ("[user]\nlook", "(thinking) hmm", 'calls search({"q":"x"})', "found\x07it"):
        assert part in text


def test_a_stored_report_says_that_its_plan_is_gone() -> None:
    report = report_of()
    stored = pickle.loads(pickle.dumps(report))
    page = assert_inert(stored.to_html())
    assert len(page.rows) == len(report.rows)
    assert page.data["sizes"] == []
    assert "this report was stored" in stored.to_html()
    assert [row["outcome"] for row in page.rows].count("dropped") == 1


@pytest.mark.parametrize(
    ("assembler", "expected"),
    [
        (lambda: Assembler(), "There is no budget"),
        (lambda: Assembler(Budget(900), on_overflow=Summarize(lambda *_: "s")), "a model would have to write"),
    ],
)
def test_the_page_says_why_other_windows_are_not_drawn(assembler: Callable[[], Assembler], expected: str) -> None:
    html = assembler().add_messages(talk()).plan().report.to_html()
    drawn = assert_inert(html).data
    assert expected in drawn["missing"]
    assert drawn["sizes"] == []


def test_an_unreadable_dropped_message_is_a_row_of_unknown_size() -> None:
    history: list[Any] = [{"role": "user", "content": "x" * 9} for _ in range(300)]
    history[3] = {"role": "nobody"}
    assembler = Assembler(Budget(40, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    page = assert_inert(assembler.build().report.to_html())
    assert [(row["before"], row["after"]) for row in page.rows if row["outcome"] == "dropped"] == [(None, 0)]
    assert sum(row["messages"] for row in page.rows) == 300
    pinned = Assembler(Budget(40, counter=len), dialect=plain, on_overflow=TrimOldest(pins={5})).add_messages(history)
    rows = assert_inert(pinned.build().report.to_html()).rows
    assert [row["outcome"] for row in rows[:3]] == ["dropped", "kept", "dropped"]


@pytest.mark.parametrize("dialect", [anthropic, bedrock])
def test_cache_marks_stand_after_the_rows_that_they_end(dialect: Any) -> None:
    model = "claude-sonnet-4-5"
    assembler = Assembler(Budget(4_000, model=model), dialect=dialect, cache_marks=CacheMarks(ttl="1h"))
    assembler.add_instruction("rules").add_capability(TOOLS).add_messages([*talk(2), {"role": "user", "content": "q"}])
    html = assembler.build().report.to_html()
    page = assert_inert(html)
    marks = page.written["builds"][0]["marks"]
    assert [(mark["after"], page.rows[mark["item"]]["name"], mark["lifetime"]) for mark in marks] == [
        ("the tools", "wrapping of the tools", "1h"),
        ("the system text", "instruction", "1h"),
        ("the turn before the newest", "messages 2-3", "1h"),
        ("the newest turn", "message 4", "1h"),
    ]


def marks_in(html: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Page(html).written["builds"][0]["marks"]
    return found


def test_marks_of_the_callers_own_are_named_where_no_row_ends_with_them() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    history = [{"role": "user", "content": [{"type": "text", "text": "one", **mark}]}, *talk(3)[1:-1]]
    budget = Budget(4_000, model="claude-sonnet-4-5")
    html = Assembler(budget, dialect=anthropic).add_messages(history).build().report.to_html()
    assert {"after": "message 0 of the request", "lifetime": "5m", "item": None} in marks_in(html)
    assert marks_in(Assembler(budget, dialect=plain).add_messages(talk(1)).build().report.to_html()) == []


def test_volatile_text_and_folds_are_named_and_not_quoted() -> None:
    budget = Budget(4_000, model="claude-sonnet-4-5")
    rules = "It is 2026-11-02 10:20:30 and 2026-11-02 10:20:31."
    assembler = Assembler(budget, dialect=anthropic, on_overflow=ClearToolResults()).add_instruction(rules)
    html = assembler.add_messages([("assistant", "hello"), talk()[0]]).build().report.to_html()
    found = Page(html).written["builds"][0]["volatile"]
    place = {"kind": "timestamp", "region": "instruction", "name": "instruction", "offset": 6, "times": 2}
    assert any(one.items() >= place.items() for one in found)
    assert "2026-11-02 10" not in html
    assert "must begin with a user message" in html


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_is_one_line_without_hidden_characters(text: str) -> None:
    assert shown_name(text).isprintable()
    assert len(shown_name(text)) == len(text)


@pytest.mark.parametrize("name", ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "می\u200cخواهم", "क्\u200dष"])
def test_a_joiner_that_a_script_needs_stays_in_a_name(name: str) -> None:
    assert shown_name(name) == name
    assert shown_name(f"a\u200db {name}\u200d\u200d") == f"a�b {name}��"


def test_a_report_at_the_end_of_a_cell_writes_one_line_beside_its_page() -> None:
    """A report of a thousand rows wrote a hundred thousand characters into the notebook."""
    history = [("user", f"question {at}") for at in range(200)]
    report = Assembler(Budget(100_000, counter=len), dialect=plain).add_messages(history).build().report
    assert len(repr(report)) < 80
    assert str(report.count.tokens) in repr(report)


def test_a_turn_of_several_messages_names_its_largest() -> None:
    history: list[Any] = [("user", "q"), ("assistant", "a" * 50), ("user", "on"), ("user", "x" * 9), ("assistant", "b")]
    made = Assembler(Budget(100_000, counter=len), dialect=plain).add_messages(history).plan()
    found = [row["largest"] for row in Page(made.report.to_html()).rows if row["turn"]]
    assert found == [(1, "assistant", 50), 0, (3, "user", 9)]


@pytest.mark.parametrize("policy", [TrimOldest(note="older turns were cut"), Summarize(lambda *_: "they met")])
def test_the_note_for_dropped_turns_is_a_row_while_something_is_dropped(policy: Any) -> None:
    def page(window: int) -> Page:
        budget = Budget(window, counter=len)
        assembler = Assembler(budget, dialect=plain, on_overflow=policy).add_messages([("user", "x" * 90)] * 12)
        return Page(assembler.plan().report.to_html(texts=Texts()))

    cut = page(600)
    (row,) = [row for row in cut.rows if row["stands_in"]]
    assert row["name"] == "in place of dropped turns"
    assert row["outcome"] == "kept"
    assert row["after"] > 0
    whole = [row["after"] for row in page(5_000).rows if row["stands_in"]]
    assert whole == ([0] if isinstance(policy, TrimOldest) else [])


@pytest.mark.parametrize("wrong", [True, "shown", 500])
def test_texts_of_a_wrong_type_are_refused_by_name(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"expected Texts\(\) or None"):
        Assembler().plan().report.to_html(texts=wrong)
