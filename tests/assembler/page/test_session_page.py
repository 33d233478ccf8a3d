"""The page of a session shows every build, each row once, and runs nothing that it was given."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, ClearToolResults, Context, Summarize, TrimOldest
from assembler.dialects import openai_chat, plain
from assembler.report.page import Texts
from assembler.session import session_html
from budgets import Budget, BudgetError

from .reading import Page
from .test_page import ATTACKS, assert_inert

POLICIES = [
    TrimOldest(),
    TrimOldest(low_water=0.5),
    [ClearToolResults(keep=1), TrimOldest()],
    Summarize(lambda *_: "s"),
]


def run_session(policy: Any, turns: int = 20, window: int = 900) -> list[Context]:
    assembler = Assembler(Budget(window, counter=len), dialect=openai_chat, on_overflow=policy)
    assembler.add_instruction("Be brief. " * 3)
    contexts = []
    for turn in range(turns):
        assembler.add_message(("user", f"question {turn} " * 4))
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        assembler.add_message({"role": "assistant", "content": None, "tool_calls": [call]})
        assembler.add_message({"role": "tool", "tool_call_id": f"c{turn}", "content": f"found {turn} " * 6})
        contexts.append(assembler.build())
        assembler.add_message(("assistant", f"answer {turn}"))
    return contexts


@pytest.mark.parametrize("policy", POLICIES)
def test_every_build_on_the_page_matches_its_context(policy: Any) -> None:
    contexts = run_session(policy)
    page = assert_inert(session_html(contexts))
    for place, context in enumerate(contexts):
        build, rows = page.written["builds"][place], page.rows_of(place)
        assert build["tokens"] == context.count.tokens
        assert sum(build["regions"]) == context.count.tokens
        outcomes = {message.index: message.outcome for message in context.dropped}
        messages = [row for row in rows if row["turn"]]
        assert {at: row["outcome"] for at, row in enumerate(messages) if row["outcome"] != "kept"} == outcomes
        by_region = [sum(row["after"] for row in rows if row["region"] == region) for region in range(5)]
        assert by_region == build["regions"]
        previous = contexts[place - 1] if place else None
        assert build["served_after"] == (0 if previous is None else context.served_after(previous).tokens)


def test_a_page_grows_with_the_messages_and_not_with_their_square() -> None:
    def written(turns: int) -> int:
        data = Page(session_html(run_session(TrimOldest(low_water=0.5), turns))).written
        return len(str(data["rows"])) + len(str([build["items"] for build in data["builds"]]))

    short, long = written(30), written(120)
    assert long < 6 * short


def test_a_message_that_is_edited_is_another_row_and_one_that_stays_is_not() -> None:
    def built(first: str) -> Context:
        return Assembler(Budget(900, counter=len), dialect=plain).add_messages([("user", first), ("user", "b")]).build()

    page = Page(session_html([built("aaa"), built("aaa"), built("bbb")]))
    runs = [build["items"] for build in page.written["builds"]]
    assert runs[0] == runs[1] != runs[2]
    assert page.rows_of(0)[0]["before"] == page.rows_of(2)[0]["before"]


def test_no_text_of_a_session_is_in_its_page_unless_it_is_asked_for() -> None:
    contexts = run_session(TrimOldest(), turns=3)
    assert "question 1" not in session_html(contexts)
    assert "question 1" in session_html(contexts, texts=Texts())


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_given_text_can_run_in_the_page_of_a_session(attack: str) -> None:
    assembler = Assembler(Budget(900, model=f"gpt-4o{attack}", counter=len), dialect=plain)
    assembler.add_instruction(attack).add_messages([("user", attack)])
    for texts in (None, Texts()):
        html = session_html([assembler.build(), assembler.build()], title=attack, texts=texts)
        assert_inert(html)
        assert "\u202e" not in html


def test_a_session_without_calls_makes_a_page_and_another_value_is_refused() -> None:
    assert assert_inert(session_html([])).written["builds"] == []
    wrong: Any = ["context"]
    with pytest.raises(BudgetError, match="contexts that were built"):
        session_html(wrong)
