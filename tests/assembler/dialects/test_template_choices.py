"""Beside a template that is counted as a whole, every document that fits is sent, and what gives way is found soon."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import pytest

from tests.scaled import in_turns

pytest.importorskip("transformers")

from assembler import (
    Assembler,
    CitedSources,
    ClearReasoning,
    ClearToolResults,
    Context,
    ContextLengthError,
    Placement,
    TrimOldest,
)
from assembler.dialects.chat_template.dialect import chat_template
from assembler.dialects.chat_template.pricing import ChatTemplatePricer
from budgets import Budget
from tests.assembler.dialects.test_chat_template import DIALECTS, tokenizer_of
from tests.assembler.test_filled_windows import AMPLE, AT_QUESTION, TEMPLATE, Sending, sent

REPEATING = """{% for m in messages %}{{ m.content }}~{{ m.content }}{% endfor %}Last: {{ messages[-1].content }}"""

OF_ITS_OWN = """{% if messages[0].role != 'system' %}You are a helpful assistant. Answer in whole sentences.{% endif %}
{%- for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}<|im_end|>{% endfor %}"""

IN_ONE_LINE = (
    """{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content | replace('\n', '') }}<|im_end|>{% endfor %}"""
)

ODD = {
    name: chat_template(tokenizer_of(template))
    for name, template in {
        "repeating": REPEATING,
        "system text of its own": OF_ITS_OWN,
        "in one line": IN_ONE_LINE,
    }.items()
}

FACTS = ["A fact of some words.", "Another one."]
SUBSETS = [set(places) for size in range(3) for places in itertools.combinations(range(2), size)]


@pytest.fixture
def weighed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The layouts that were rendered to be counted."""
    found, count_whole = list[object](), ChatTemplatePricer.count_whole

    def weigh(pricer: ChatTemplatePricer, layout: Any) -> Any:
        found.append(layout)
        return count_whole(pricer, layout)

    monkeypatch.setattr(ChatTemplatePricer, "count_whole", weigh)
    return found


@pytest.mark.parametrize(
    ("strategy", "words"),
    in_turns(2, [AT_QUESTION, CitedSources(), CitedSources(placement=Placement.TOOL), TEMPLATE], [20, 1]),
)
@pytest.mark.parametrize("dialect", [*DIALECTS.values(), *ODD.values()], ids=[*DIALECTS, *ODD])
def test_no_document_is_left_out_with_which_the_whole_template_fits(dialect: Any, words: int, strategy: Any) -> None:
    """A template that repeats a long text, or writes one of its own, cost far more or less than estimated."""
    facts = [fact * words for fact in FACTS]

    def built(window: int, layout: Any) -> Context:
        assembler = Assembler(Budget(window), dialect=dialect, strategy=layout)
        for place, fact in enumerate(facts):
            assembler.add_knowledge(fact, type="rag", score=1 - place / 10)
        return assembler.add_messages([("user", "And?"), ("assistant", "Well."), ("user", "Why?")]).build()

    costs = [(places, built(AMPLE, Sending(strategy, places)).count.upper) for places in SUBSETS]
    for window in {cost - less for _, cost in costs for less in (0, 1)}:  # between these, the same documents fit
        try:
            stay = sent(built(window, strategy), facts)
        except ContextLengthError:
            assert all(cost > window for _, cost in costs)
            continue
        assert all(cost > window for places, cost in costs if places > stay)


SIZES = [30, 6, 19, 8]
"""How many words four documents have, the best first."""
SOURCES = [f"{place}: " + "word " * size for place, size in enumerate(SIZES)]


def with_sources(dialect: Any, window: int, layout: Any) -> Context:
    assembler = Assembler(Budget(window), dialect=dialect, strategy=layout).add_message(("user", "Why?"))
    for place, fact in enumerate(SOURCES):
        assembler.add_knowledge(fact.strip(), type="rag", score=1 - place / 10)
    return assembler.build()


@functools.cache
def costs_of_sources(dialect: Any, placement: Placement) -> dict[frozenset[int], int]:
    """What the request costs with each choice of them."""
    subsets = [set(places) for size in range(5) for places in itertools.combinations(range(4), size)]
    layout = CitedSources(placement=placement)
    return {frozenset(places): with_sources(dialect, AMPLE, Sending(layout, places)).count.upper for places in subsets}


@pytest.mark.parametrize(
    ("placement", "max_tokens"), in_turns(3, [Placement.QUESTION, Placement.SYSTEM], [None, 273, 260])
)
@pytest.mark.parametrize("dialect", [DIALECTS["chatml"], *ODD.values()], ids=["chatml", *ODD])
def test_the_best_sources_are_taken_that_fit_as_the_template_writes_them(
    dialect: Any, placement: Placement, max_tokens: int | None
) -> None:
    """A template that writes less than the prices of the pieces say leaves tokens for a better source."""
    strategy = CitedSources(placement=placement, max_tokens=max_tokens)

    def alone(places: set[int]) -> int:
        """The bytes of the sources without the words around them, a token each."""
        bodies = sum(len(f"Content:\n{SOURCES[place].strip()}\n\n") for place in places)
        return bodies + sum(len(strategy.layout.heading(number)) for number in range(1, len(places) + 1))

    costs = costs_of_sources(dialect, placement)
    for window in {cost - less for cost in costs.values() for less in (0, 1)}:  # between these, the same sources fit
        best = set[int]()
        for place in range(4):
            more = best | {place}
            if costs[frozenset(more)] <= window and alone(more) <= (max_tokens or AMPLE):
                best = more
        if window < costs[frozenset()]:
            continue
        context = with_sources(dialect, window, strategy)
        shown = f"{context.system}{context.messages}"
        assert {place for place, fact in enumerate(SOURCES) if fact.strip() in shown} == best


THRICE = chat_template(
    tokenizer_of("{% for m in messages %}{{ m.content }}|{{ m.content }}|{{ m.content }}<|im_end|>{% endfor %}")
)


@pytest.mark.parametrize("more", range(5))
def test_a_source_is_not_given_up_before_it_is_known_how_often_a_template_writes_it(more: int) -> None:
    """Two layouts so near each other that they do not show it predicted that the smallest source is too large too."""
    facts = ["A fact of so many words.", "Two.", "Another of a good many."]
    strategy = CitedSources(max_tokens=67)

    def built(window: int, layout: Any) -> Context:
        assembler = Assembler(Budget(window), dialect=THRICE, strategy=layout).add_message(("user", "Why?"))
        for place, fact in enumerate(facts):
            assembler.add_knowledge(fact, type="rag", score=1 - place / 10)
        return assembler.build()

    window = built(AMPLE, Sending(CitedSources(), {1})).count.upper + more
    assert sent(built(window, strategy), facts) == {1}


def test_a_note_that_is_written_anew_is_no_other_answer(weighed: list[object]) -> None:
    """The policies were asked again at every token of the window, and each time the whole prompt was rendered."""
    ladder = [TrimOldest(note="Older turns are gone."), ClearReasoning()]
    assembler = Assembler(Budget(800), dialect=DIALECTS["chatml"], on_overflow=ladder)
    assembler.add_messages([("user", "And?"), ("assistant", "Well."), ("user", "w" * 1_000)])
    with pytest.raises(ContextLengthError):
        assembler.build()
    assert len(weighed) < 60


def _in_steps() -> list[dict[str, Any]]:
    """Three turns, each with a call and its result, and a question."""
    history: list[dict[str, Any]] = []
    for place, words in enumerate((12, 5, 9)):
        call = {"id": f"c{place}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        history.append({"role": "user", "content": "word " * (place + 2)})
        history.append({"role": "assistant", "content": None, "tool_calls": [call]})
        history.append({"role": "tool", "tool_call_id": f"c{place}", "content": "word " * words})
        history.append({"role": "assistant", "content": "ok ok ok ok"})
    return [*history, {"role": "user", "content": "q"}]


@pytest.mark.parametrize("least", [178, 238, 310, 353])
def test_a_ladder_drops_no_more_than_a_template_asks_for_that_writes_every_text_twice(least: int) -> None:
    """Each token too many was taken for one of the estimate, so the policies were asked for twice too few tokens."""

    def built(window: int) -> Context:
        ladder = [ClearToolResults(keep=0), TrimOldest()]
        made = Assembler(Budget(window), dialect=ODD["repeating"], on_overflow=ladder)
        return made.add_messages(_in_steps()).build()

    gentler = [built(window) for window in range(least, 400, 6)]
    for window in range(least, least + 12):
        kept = built(window)
        assert not [wider for wider in gentler if kept.count.upper < wider.count.upper <= window]


@pytest.mark.parametrize("strategy", [AT_QUESTION, CitedSources(), TEMPLATE], ids=["at question", "cited", "template"])
@pytest.mark.parametrize("dialect", [DIALECTS["chatml"], *ODD.values()], ids=["chatml", *ODD])
def test_sources_are_chosen_with_a_few_dozen_renders(weighed: list[object], dialect: Any, strategy: Any) -> None:
    assembler = Assembler(Budget(6_000), dialect=dialect, strategy=strategy).add_message(("user", "Why?"))
    for place in range(200):
        assembler.add_knowledge(f"Fact {place} " + "word " * (place * 7 % 60), type="rag", score=1 / (1 + place))
    assert assembler.build().count.upper > 5_500
    assert len(weighed) < 40
