"""Every document that would fit is sent: beside any conversation, under any limits, as the request is counted."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    CitedSources,
    Context,
    ContextLengthError,
    FittedTemplate,
    Placement,
    Policy,
    QuestionChunks,
    Refuse,
    TrimOldest,
)
from assembler.dialects import DIALECTS
from assembler.strategies import Omitted, Rendered
from assembler.strategies.sources.layout import NativeSources
from budgets import Budget, BudgetError, Limit
from tests.scaled import scaled

TEMPLATE = FittedTemplate("{{ question }}{% for d in documents %}\n{{ d.text }}{% endfor %}")
AT_QUESTION = CitedSources(placement=Placement.QUESTION)
STRATEGIES = [AT_QUESTION, CitedSources(), CitedSources(placement=Placement.TOOL), TEMPLATE, QuestionChunks()]
APIS = [
    ("plain", None),
    ("openai_chat", "gpt-4o"),
    ("openai_chat", "some/unknown"),
    ("openai_responses", "some/unknown"),
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "some-claude"),
    ("bedrock", "some-model"),
    ("gemini", "some-gemini"),
    ("mistral", "some-mistral"),
]
AMPLE = 1_000_000
Case = tuple[tuple[str, str | None], Policy, dict[str, Limit], list[Any], list[str]]


class Sending:
    """Sends the documents at these places with the layout of another strategy, whether they fit or not."""

    def __init__(self, layout: Any, places: set[int]) -> None:
        self.layout, self.places, self.needs = layout, places, layout.needs

    def render(self, regions: Any) -> Rendered:
        return self.layout.render(regions)

    def choose(self, regions: Any, space: Any) -> Rendered:
        sent = tuple(document for place, document in enumerate(regions.documents) if place in self.places)
        rendered = self.layout.choose(attrs.evolve(regions, documents=sent), _Endless(space))
        gone = len(regions.documents) - len(sent)
        return attrs.evolve(rendered, omitted=(*rendered.omitted, *[Omitted("document", None, "not asked")] * gone))


class _Endless:
    def __init__(self, space: Any) -> None:
        self.question, self.takes_blocks, self.price = space.question, space.takes_blocks, space.price

    def left(self, rendered: Rendered) -> int:
        return AMPLE


def built(window: int, strategy: Any, case: Case) -> Context:
    api, policy, limits, messages, facts = case
    budget = Budget(window, model=api[1], limits=limits)
    assembler = Assembler(budget, dialect=DIALECTS[api[0]], strategy=strategy, on_overflow=policy).add_messages(
        messages
    )
    for place, fact in enumerate(facts):
        assembler.add_knowledge(fact, type="rag", source=f"file-{place}", score=1 - place / 10)
    return assembler.build()


def fits(window: int, strategy: Any, places: set[int], case: Case) -> Context | None:
    """The request with exactly these documents; None if there is none in this window."""
    try:
        return built(window, Sending(strategy, places), case)
    except (ContextLengthError, BudgetError):
        return None


def sent(context: Context, facts: list[str]) -> set[int]:
    shown = f"{context.system}{context.messages}"
    return {place for place, fact in enumerate(facts) if fact in shown}


def least_window(strategy: Any, places: set[int], case: Case) -> int | None:
    high, low = 64, 0
    while fits(high, strategy, places, case) is None:
        high, low = 2 * high, high
        if high > AMPLE:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle, strategy, places, case) else (middle, high)
    return high


words = st.lists(st.sampled_from(["a", "naïve", "x1", "<b>", "don't", "12"]), min_size=1, max_size=6).map(" ".join)
turns = st.one_of(
    words.map(lambda text: [("user", text)]),
    st.tuples(words, words).map(lambda texts: [("user", texts[0]), ("assistant", texts[1])]),
)
greetings = st.none() | words.map(lambda text: ("assistant", text))
conversations = st.tuples(greetings, st.lists(turns, max_size=3), words).map(
    lambda drawn: [*filter(None, drawn[:1]), *(m for turn in drawn[1] for m in turn), ("user", drawn[2])]
)
limits = st.fixed_dictionaries(
    {},
    optional={
        "conversation": st.sampled_from([Limit(floor=9), Limit(floor=0.3), Limit(share=0.6), Limit(priority=1)]),
        "knowledge": st.sampled_from([Limit(cap=0.5), Limit(cap=60), Limit(priority=1), Limit(priority=-1)]),
        "instruction": st.sampled_from([Limit(floor=20), Limit(share=0.2)]),
    },
)
cases = st.tuples(
    st.sampled_from(APIS),
    st.sampled_from([Refuse(), TrimOldest(), TrimOldest(keep_turns=2), TrimOldest(note="{dropped} gone")]),
    st.builds(dict[str, Limit]) | limits,
    conversations,
    st.lists(words, min_size=1, max_size=3).map(lambda given: [f"{one} d{place}." for place, one in enumerate(given)]),
)


@scaled(0.3)
@given(case=cases, strategy=st.sampled_from(STRATEGIES), asked=st.sets(st.integers(0, 2)), more=st.integers(-1, 2))
def test_no_document_is_left_out_with_which_the_request_would_fit(
    case: Case, strategy: Any, asked: set[int], more: int
) -> None:
    facts = case[-1]
    window = least_window(strategy, asked & set(range(len(facts))), case)
    if window is None:  # more than a cap in tokens
        return
    window = max(window + more, 1)
    try:
        context = built(window, strategy, case)
    except (ContextLengthError, BudgetError):
        assert not fits(window, strategy, set(), case)
        return
    stay = sent(context, facts)
    gone = sorted(set(range(len(facts))) - stay)
    for place in gone[:1] if isinstance(strategy, QuestionChunks) else gone:  # which takes the first ones
        wider = fits(window, strategy, stay | {place}, case)
        assert wider is None or sent(wider, facts) != stay | {place}


@pytest.mark.parametrize("words", [1, 6])
@pytest.mark.parametrize("strategy", [CitedSources(), AT_QUESTION], ids=["in the system text", "at the question"])
@pytest.mark.parametrize("api", APIS, ids=str)
def test_no_worse_source_is_sent_in_place_of_one_that_just_fits(
    api: tuple[str, str | None], strategy: Any, words: int
) -> None:
    """The bound of each piece is rounded up, so the better source alone seemed too large by a token or two."""
    facts = [f"{'word ' * words}first.", "short."]
    case: Case = (api, Refuse(), {}, [("user", "Why?")], facts)
    window = least_window(strategy, {0}, case)
    assert window is not None
    assert 0 in sent(built(window, strategy, case), facts)


@pytest.mark.parametrize("api", [("gemini", "some-gemini"), ("bedrock", "some-model"), ("anthropic", "some-claude")])
def test_a_document_is_sent_that_fits_only_since_the_api_merges_the_messages(api: tuple[str, str]) -> None:
    """Two user messages and what stands around the second are rounded up together, not one by one."""
    case: Case = (api, Refuse(), {}, [("user", "a"), ("user", "b")], ["a"])
    exact = built(AMPLE, TEMPLATE, case).count.upper
    assert [len(built(window, TEMPLATE, case).inside.measured.rendered.sources) for window in (exact, exact - 1)] == [
        1,
        0,
    ]


def test_a_floor_under_what_the_conversation_costs_takes_nothing_from_documents() -> None:
    messages = [("user", "a"), ("user", "b")]
    case: Case = (("gemini", "some-gemini"), Refuse(), {"conversation": Limit(floor=1)}, messages, ["a fact"])
    exact = built(AMPLE, TEMPLATE, case).count.upper
    assert sent(built(exact, TEMPLATE, case), ["a fact"]) == {0}


@pytest.mark.parametrize("limit", [Limit(priority=1), Limit(share=0.9), Limit(floor=20)])
@pytest.mark.parametrize("strategy", [CitedSources(), AT_QUESTION, TEMPLATE])
def test_fewer_documents_are_chosen_where_a_limit_gives_the_conversation_more(limit: Limit, strategy: Any) -> None:
    history = [*[("user", "one word after another"), ("assistant", "ok")] * 3, ("user", "why?")]
    facts = [f"This is the fact of number {place}." for place in range(4)]
    without: Case = (("plain", None), TrimOldest(), {}, history, facts)
    window = built(AMPLE, strategy, without).count.upper - 5
    context = built(window, strategy, (*without[:2], {"conversation": limit}, *without[3:]))
    assert 0 < len(sent(context, facts)) < len(facts)
    assert len(context.messages) == len(history) if not limit.floor else len(context.messages) > 1


@pytest.mark.parametrize("documents", range(1, 6))
def test_the_advice_does_not_depend_on_how_many_documents_there_were_to_choose_from(documents: int) -> None:
    """They gave way already: the words around none of them are not a document that could be shorter."""
    facts = [f"This is the fact of number {place}." for place in range(documents)]
    case: Case = (("plain", None), TrimOldest(), {"instruction": Limit(cap=50)}, [("user", "word " * 100)], facts)
    with pytest.raises(ContextLengthError, match="The newest turn alone needs 101 and 46 are left for it"):
        built(60, AT_QUESTION, case)


def test_a_note_that_costs_more_than_what_it_replaces_takes_nothing_from_documents() -> None:
    messages, policy = [("user", "a"), ("user", "b")], TrimOldest(note="{dropped} earlier messages are gone")
    case: Case = (("plain", None), policy, {}, messages, ["a fact"])
    exact = built(AMPLE, TEMPLATE, case).count.upper
    assert sent(built(exact, TEMPLATE, case), ["a fact"]) == {0}


def test_a_greeting_that_the_api_does_not_take_takes_nothing_from_documents() -> None:
    messages = [("assistant", "Hello. What can I do for you?"), ("user", "b")]
    limits = {"conversation": Limit(floor=1.0)}
    case: Case = (("anthropic", "claude-sonnet-4-5"), Refuse(), limits, messages, ["a fact"])
    exact = built(AMPLE, TEMPLATE, case).count.upper
    assert sent(built(exact, TEMPLATE, case), ["a fact"]) == {0}


@pytest.mark.parametrize("dialect", ["anthropic", "bedrock", "gemini", "openai_chat"])
@pytest.mark.parametrize("strategy", [TEMPLATE, CitedSources(placement=Placement.QUESTION, layout=NativeSources())])
@pytest.mark.parametrize("question", ["", " "])
def test_a_blank_question_and_documents_that_do_not_fit_are_too_long_and_not_invalid(
    dialect: str, strategy: Any, question: str
) -> None:
    """The least costly document is needed, since the API takes no message without words."""
    model = {"anthropic": "claude-sonnet-4-5", "bedrock": "anthropic.claude-sonnet-4-5"}.get(dialect)
    facts = [
        "A fact of a good many more words than the other.",
        "A fact of a few.",
        "One more fact of quite a few other words.",
    ]
    case: Case = ((dialect, model), Refuse(), {}, [("user", question)], facts)
    with pytest.raises(ContextLengthError) as caught:
        built(7, strategy, case)
    assert caught.value.smallest_window == caught.value.required
    alone = built(caught.value.required, strategy, case)
    if strategy is TEMPLATE:
        assert sent(alone, facts) == {1}
    with pytest.raises(ContextLengthError):
        built(caught.value.required - 1, strategy, case)


def test_a_blank_question_is_sent_alone_if_the_template_prints_no_document_either() -> None:
    blind = FittedTemplate("{{ question }}{% for d in documents if d.type == 'other' %}{{ d.text }}{% endfor %}")
    case: Case = (("openai_chat", "gpt-4o"), Refuse(), {}, [("user", "")], ["A fact."])
    assert built(9, blind, case).messages == [("user", "")]


@pytest.mark.parametrize("strategy", [CitedSources(), AT_QUESTION, TEMPLATE])
def test_what_a_server_summed_up_stays_beside_the_documents_of_every_window(strategy: Any) -> None:
    """The summary is no turn that may go, so its tokens are no document's."""
    summed = {"role": "assistant", "content": [{"type": "compaction", "content": "They spoke of many things before."}]}
    messages = [("user", "a"), summed, ("user", "And then?"), ("assistant", "Nothing."), ("user", "b")]
    facts = [f"This is the fact of number {place}." for place in range(3)]
    case: Case = (("anthropic", "claude-sonnet-4-5"), TrimOldest(), {}, messages, facts)
    least: Case = (*case[:3], [*messages[:2], messages[-1]], facts)  # the turn between them may go
    edges = [built(AMPLE, Sending(strategy, {*range(some)}), least).count.upper for some in range(4)]
    for some, edge in enumerate(edges):
        for window in range(max(edges[0], edge - 4), edge + 5):
            context = built(window, strategy, case)
            assert len(sent(context, facts)) >= some - (window < edge)
            assert "many things" in str(context.request())
