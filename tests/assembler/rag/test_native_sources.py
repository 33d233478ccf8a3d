"""Sources that are sent as blocks of the API's own cost what the request costs, and are text where there are none."""

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
    ConversationError,
    Placement,
    TrimOldest,
    verify,
)
from assembler.rag import Best, Everything, Greedy, MergeNeighbours, NativeSources, Order, TaggedSources
from budgets import Budget, BudgetError, Limit
from tests.assembler.one_price import Api, costs_its_request
from tests.assembler.steps import step
from tests.scaled import scaled

WIDE = 1_000_000
NO_BLOCKS = "the API, its model, an output schema or the form of the tool result rules out blocks for sources"
NATIVE = [
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-opus-4-7"),
    ("anthropic", None),
    ("anthropic", "claude-3-5-sonnet-20241022"),
    ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
]
OTHERS = [
    ("anthropic", "claude-3-haiku-20240307"),
    ("anthropic", "deepseek-chat"),
    ("bedrock", "amazon.nova-pro-v1:0"),
    ("bedrock", "anthropic.claude-3-haiku-20240307-v1:0"),
    ("bedrock", "us.anthropic.claude-3-5-sonnet-20241022-v2:0"),
    *((name, "gpt-4o") for name in ("openai_chat", "openai_responses")),
    ("gemini", "gemini-2.5-pro"),
    ("mistral", "mistral-large-latest"),
    ("plain", None),
]
SEARCH: dict[str, Any] = {"name": "search", "description": "d", "parameters": {"type": "object", "properties": {}}}
AT_QUESTION = CitedSources(layout=NativeSources(), placement=Placement.QUESTION)
AT_RESULT = CitedSources(layout=NativeSources(), placement=Placement.TOOL)


def asked(question: str = "How tall is it?", before: int = 1) -> list[dict[str, Any]]:
    old = [{"role": role, "content": f"old words {at}"} for at in range(before) for role in ("user", "assistant")]
    return [*old, {"role": "user", "content": question}]


def searched(*results: str) -> list[dict[str, Any]]:
    """A question, and a search with its results, in Chat's spelling."""
    return [*asked(), *step("openai_chat", results)]


def in_blocks(*results: str) -> list[dict[str, Any]]:
    """The same in Anthropic's."""
    return [*asked(), *step("anthropic", results, apart=False)]


def in_converse(*results: str) -> list[dict[str, Any]]:
    """The same in Converse's."""
    return [*asked(), *step("bedrock", results, apart=False)]


def assembled(
    api: tuple[str, str | None],
    texts: list[str],
    *,
    strategy: CitedSources = AT_QUESTION,
    window: int = WIDE,
    history: list[Any] | None = None,
    limits: dict[str, Limit] | None = None,
) -> Assembler:
    budget = Budget(window, model=api[1], limits=limits or {})
    made = Assembler(budget, dialect=api[0], strategy=strategy, on_overflow=TrimOldest())
    for place, text in enumerate(texts):
        made.add_knowledge(text, type="rag", source=f"file-{place}", score=1 - place / 100)
    return made.add_capability([SEARCH]).add_messages(asked() if history is None else history)


def blocks_in(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The fields of the blocks for sources of a request, in order, those of results too."""
    found: list[dict[str, Any]] = []

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if value.get("type") == "search_result":
                found.append(value)
            elif "searchResult" in value:
                found.append(value["searchResult"])
            else:
                look([*value.values()])
        elif isinstance(value, list):
            for each in value:
                look(each)

    look(request["messages"])
    return found


def texts_of(blocks: list[dict[str, Any]]) -> list[str]:
    return [content["text"] for block in blocks for content in block["content"]]


def holds(context: Context, api: tuple[str, str | None], window: int) -> None:
    """The laws of any build."""
    costs_its_request(context, Api(*api))
    assert context.count.upper <= window
    assert verify(context.request(), dialect=api[0], model=api[1]) == []


def test_anthropic_gets_search_results_before_the_text_of_the_question() -> None:
    made = Assembler(Budget(WIDE, model="claude-sonnet-4-5"), strategy=attrs.evolve(AT_QUESTION, order=Order.GIVEN))
    made.add_knowledge("It is 330 m tall.", type="rag", source="https://a.example/t", metadata={"page_number": 3})
    made.add_knowledge("It is in Paris.", type="entity")
    context = made.add_message({"role": "user", "content": "How tall?"}).build()
    expected = {"https://a.example/t": ("https://a.example/t, page 3", "330 m tall"), "entity": ("entity", "in Paris")}
    found = [
        {
            "type": "search_result",
            "source": source,
            "title": title,
            "content": [{"type": "text", "text": f"It is {text}."}],
            "citations": {"enabled": True},
        }
        for source, (title, text) in expected.items()
    ]
    content = [*found, {"type": "text", "text": "How tall?"}]
    assert context.request() == {"messages": [{"role": "user", "content": content}]}
    assert context.messages == [{"role": "user", "content": content}]
    assert [document.text for document in context.sources] == ["It is 330 m tall.", "It is in Paris."]


def test_converse_gets_search_results_of_its_own_spelling() -> None:
    context = assembled(NATIVE[-1], ["It is 330 m tall."], history=asked(before=0)).build()
    fields = {
        "source": "file-0",
        "title": "file-0",
        "content": [{"text": "It is 330 m tall."}],
        "citations": {"enabled": True},
    }
    content = [{"searchResult": fields}, {"text": "How tall is it?"}]
    assert context.request()["messages"] == [{"role": "user", "content": content}]


@pytest.mark.parametrize("api", NATIVE, ids=str)
@pytest.mark.parametrize("spelled", [searched, in_blocks, in_converse])
def test_a_tool_result_carries_them_before_its_own_text(api: tuple[str, str | None], spelled: Any) -> None:
    history = spelled("1 page", "2 pages")
    context = assembled(api, ["One.", "Two."], strategy=AT_RESULT, history=history).build()
    holds(context, api, WIDE)
    last = context.request()["messages"][-1]["content"]
    results = [block.get("toolResult", block) for block in last]
    assert texts_of(blocks_in({"messages": results[1]["content"]})) == ["One.", "Two."]
    assert blocks_in({"messages": [results[0]]}) == []
    assert results[1]["content"][-1]["text"] == "2 pages"
    assert history == spelled("1 page", "2 pages")


@pytest.mark.parametrize("api", OTHERS, ids=str)
@pytest.mark.parametrize("placement", [Placement.QUESTION, Placement.TOOL])
def test_an_api_without_such_blocks_gets_text_and_the_report_says_so(
    api: tuple[str, str | None], placement: Placement
) -> None:
    history = asked() if placement is Placement.QUESTION else searched("found")
    for elsewhere in (CitedSources(), CitedSources(layout=TaggedSources())):
        plain = attrs.evolve(elsewhere, placement=placement)
        native = attrs.evolve(plain, layout=NativeSources(elsewhere.layout))
        there, here = (
            assembled(api, ["One.", "Two."], strategy=one, history=history).build() for one in (plain, native)
        )
        assert here.request() == there.request()
        assert here.count == there.count
        noted = [note for note in here.report.notes if note not in there.report.notes]
        assert noted == [f"2 source(s) sent as text: {NO_BLOCKS}"]


@pytest.mark.parametrize(
    "history",
    [[], [{"role": "user", "content": [{"type": "text", "text": "How"}, {"type": "text", "text": "tall?"}]}]],
)
def test_without_a_question_of_one_text_they_are_text_in_the_system_text_and_the_report_says_so(
    history: list[Any],
) -> None:
    plan = assembled(NATIVE[0], ["One."], history=history).plan()
    assert any("1 source(s) sent as text: there is no question" in note for note in plan.report.notes)
    context = assembled(NATIVE[0], ["One."], history=history).build()
    assert "[Source 1]" in str(context.system)


@pytest.mark.parametrize("api", NATIVE, ids=str)
def test_beside_an_output_schema_they_are_text_because_such_an_answer_cites_nothing(
    api: tuple[str, str | None],
) -> None:
    schema = {"type": "object", "properties": {"metres": {"type": "number"}}, "required": ["metres"]}
    context = assembled(api, ["One."]).add_output_schema(schema, name="height").build()
    assert blocks_in(context.request()) == []
    assert "[Source 1]" in str(context.request()["messages"][-1])
    assert f"1 source(s) sent as text: {NO_BLOCKS}" in context.report.notes


def test_a_result_that_came_as_an_item_of_responses_holds_them_as_text() -> None:
    items = [
        {"role": "user", "content": "How tall?"},
        {"type": "function_call", "call_id": "c", "name": "search", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "found"},
    ]
    context = assembled(NATIVE[0], ["One."], strategy=AT_RESULT, history=items).build()
    holds(context, NATIVE[0], WIDE)
    assert context.request()["messages"][-1]["content"][0]["content"].startswith("SOURCES:")
    assert f"1 source(s) sent as text: {NO_BLOCKS}" in context.report.notes


def test_a_request_for_another_api_has_them_as_text() -> None:
    context = assembled(NATIVE[0], ["It is 330 m tall."]).build()
    content = context.request("openai_chat")["messages"][-1]["content"]
    assert [part["text"] for part in content] == [
        "[search_result]\nfile-0\nfile-0\nIt is 330 m tall.",
        "How tall is it?",
    ]
    assert verify(context.request("openai_chat"), dialect="openai_chat") == []


def test_a_blank_document_is_left_out_with_its_reason() -> None:
    context = assembled(NATIVE[0], [" \n", "One."], strategy=AT_QUESTION).build()
    assert texts_of(blocks_in(context.request())) == ["One."]
    assert [(row.name, row.reason) for row in context.report.rows if row.outcome == "dropped"] == [
        ("file-0 #0", "blank, and the API takes no blank source")
    ]


def test_a_text_that_compression_leaves_blank_is_sent_as_it_was() -> None:
    strategy = attrs.evolve(AT_QUESTION, compress=lambda _: "")
    history = asked(before=0)
    whole = assembled(NATIVE[0], ["One.", "Two."], history=history).build().count.upper
    context = assembled(NATIVE[0], ["One.", "Two."], strategy=strategy, window=whole - 1, history=history).build()
    assert set(texts_of(blocks_in(context.request()))) < {"One.", "Two."}


@pytest.mark.parametrize("nudge", range(-2, 3))
def test_compression_is_asked_where_not_all_fit_and_not_where_they_do(nudge: int) -> None:
    asked_for: list[str] = []
    strategy = attrs.evolve(AT_QUESTION, compress=lambda text: asked_for.append(text) or text[:4])
    history = asked(before=0)
    whole = assembled(NATIVE[0], ["One one one.", "Two two two."], history=history).build().count.upper
    made = assembled(
        NATIVE[0], ["One one one.", "Two two two."], strategy=strategy, window=whole + nudge, history=history
    )
    context = made.build()
    holds(context, NATIVE[0], whole + nudge)
    assert len(context.sources) == 2
    assert bool(asked_for) == (nudge < 0)


def test_no_api_takes_blocks_in_the_system_text_so_that_placement_is_refused() -> None:
    with pytest.raises(BudgetError, match=r"NativeSources writes blocks.*placement=Placement\.QUESTION"):
        CitedSources(layout=NativeSources())


def test_numbers_in_earlier_answers_are_not_noted_where_no_number_is_sent() -> None:
    history = [("user", "Hi"), ("assistant", "So says [Source 1]."), ("user", "Why?")]
    assert not any(
        "earlier answer" in note for note in assembled(NATIVE[0], ["One."], history=history).build().report.notes
    )
    assert any(
        "earlier answer" in note for note in assembled(OTHERS[5], ["One."], history=history).build().report.notes
    )


words = st.text("abé \n", min_size=1, max_size=60).filter(str.strip).map(lambda text: f"{text}.")
documents = st.lists(words, min_size=1, max_size=5, unique_by=lambda text: " ".join(text.split()))
strategies = st.builds(
    CitedSources,
    selection=st.sampled_from([Greedy(), Best()]),
    order=st.sampled_from(Order),
    merging=st.sampled_from([None, MergeNeighbours()]),
    layout=st.just(NativeSources()),
    placement=st.sampled_from([Placement.QUESTION, Placement.TOOL]),
)


@pytest.mark.parametrize("api", NATIVE, ids=str)
@scaled(0.4)
@given(
    texts=documents,
    question=words,
    strategy=strategies,
    spelled=st.sampled_from([searched, in_blocks, in_converse]),
    old=st.integers(0, 2),
    share=st.floats(0, 1),
    nudge=st.integers(-2, 2),
    limits=st.sampled_from([{}, {"knowledge": Limit(cap=0.5)}, {"conversation": Limit(floor=20)}]),
)
def test_every_build_costs_what_its_request_is_counted_and_fits_on_every_edge(
    api: tuple[str, str | None],
    texts: list[str],
    question: str,
    strategy: CitedSources,
    spelled: Any,
    old: int,
    share: float,
    nudge: int,
    limits: dict[str, Limit],
) -> None:
    history = asked(question, old) if strategy.placement is Placement.QUESTION else spelled(question)
    whole = assembled(api, texts, strategy=strategy, history=history).build()
    holds(whole, api, WIDE)
    assert sorted(texts_of(blocks_in(whole.request()))) == sorted(texts)
    assert texts_of(blocks_in(whole.request())) == [source.text for source in whole.sources]
    bare = assembled(api, [], strategy=strategy, history=history[-3:] if spelled else history).build()
    edge = bare.count.upper + round(share * (whole.count.upper - bare.count.upper))
    for window in (whole.count.upper + nudge, edge + nudge, bare.count.upper // 2):
        try:
            context = assembled(
                api, texts, strategy=strategy, history=history, window=max(1, window), limits=limits
            ).build()
        except ContextLengthError as error:
            least = error.smallest_window
            if least is not None:
                fits = assembled(api, texts, strategy=strategy, history=history, window=least, limits=limits).build()
                holds(fits, api, least)
                with pytest.raises(ContextLengthError):
                    assembled(api, texts, strategy=strategy, history=history, window=least - 1, limits=limits).build()
            continue
        holds(context, api, window)
        shown = texts_of(blocks_in(context.request()))
        assert shown == [source.text for source in context.sources]
        assert len(context.sources) + len(
            [row for row in context.report.rows if row.name.startswith("file-") and row.outcome == "dropped"]
        ) == len(texts)
        if window >= whole.count.upper and not limits:
            assert context.request() == whole.request()


@pytest.mark.parametrize("api", NATIVE, ids=str)
@scaled(0.4)
@given(texts=documents, share=st.floats(0, 1), cap=st.none() | st.integers(1, 200))
def test_no_source_that_was_left_out_fits_beside_those_that_stay(
    api: tuple[str, str | None], texts: list[str], share: float, cap: int | None
) -> None:
    """By brute force: each left-out source is added to the kept ones, and must not fit."""
    strategy = attrs.evolve(AT_QUESTION, max_tokens=cap)
    history = asked(before=0)

    def built(some: list[str], window: int, one: CitedSources) -> Context:
        made = Assembler(Budget(window, model=api[1]), dialect=api[0], strategy=one)
        for text in some:
            made.add_knowledge(text, type="rag", source=f"file-{texts.index(text)}", score=1 - texts.index(text) / 100)
        return made.add_messages(history).build()

    least, most = (built(each, WIDE, AT_QUESTION).count.upper for each in ([], texts))
    window = least + round(share * (most - least))
    context = built(texts, window, strategy)
    stay = [source.text for source in context.sources]
    everything = attrs.evolve(AT_QUESTION, selection=Everything())
    for text in texts:
        if text in stay:
            continue
        wider = [one for one in texts if one in stay or one == text]
        if cap is not None and len(built(wider, WIDE, strategy).sources) < len(wider):
            continue
        with pytest.raises(ContextLengthError):
            built(wider, window, everything)


def test_the_prompt_on_citations_is_paid_once_and_counts_as_framing() -> None:
    one, two = (assembled(NATIVE[0], ["One."] + ["Two."] * more).build() for more in (0, 1))
    bare = assembled(NATIVE[0], []).build()
    assert one.costs.framing - bare.costs.framing > 500
    assert two.costs.framing == one.costs.framing
    assert two.costs.knowledge - one.costs.knowledge == pytest.approx(one.costs.knowledge, abs=2)


def result_in(place: str, **more: Any) -> dict[str, Any]:
    """A search result of the caller's own, in a question or in a tool's answer."""
    found = {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "a"}], **more}
    answer = {"type": "tool_result", "tool_use_id": "c0", "content": [found]}
    return {"role": "user", "content": [found if place == "question" else answer]}


CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "c0", "name": "search", "input": {}}]}
WITHOUT = [{}, {"citations": {"enabled": False}}]
WITH = {"citations": {"enabled": True}}


@pytest.mark.parametrize("without", WITHOUT)
def test_a_search_result_of_the_caller_s_without_citations_is_refused_beside_sources(without: dict[str, Any]) -> None:
    """The API takes citations on all search results or on none."""
    history = [result_in("question", **without), {"role": "assistant", "content": "So."}, *asked(before=0)]
    with pytest.raises(ConversationError, match=r"all or none: add 'citations'"):
        assembled(NATIVE[0], ["One."], history=history).build()
    history[0] = result_in("question", **WITH)
    holds(assembled(NATIVE[0], ["One."], history=history).build(), NATIVE[0], WIDE)
    history[0] = result_in("question", **without)
    holds(assembled(NATIVE[0], [], history=history).build(), NATIVE[0], WIDE)


@pytest.mark.parametrize("earlier", ["question", "result"])
@pytest.mark.parametrize("place", ["question", "result"])
@pytest.mark.parametrize("first", [*WITHOUT, WITH])
@pytest.mark.parametrize("then", [*WITHOUT, WITH])
def test_a_growing_session_takes_citations_on_all_search_results_or_on_none(
    earlier: str, place: str, first: dict[str, Any], then: dict[str, Any]
) -> None:
    made = Assembler(Budget(WIDE, model="claude-sonnet-4-5")).add_capability([SEARCH])
    if earlier == "result":
        made.add_message(("user", "Hi")).add_message(CALL)
    made.add_message(result_in(earlier, **first)).build()
    if place == "question":
        made.add_message({"role": "assistant", "content": "So."})
    else:
        made.add_message(CALL)
    made.add_message(result_in(place, **then))
    if (first == WITH) == (then == WITH):
        assert verify(made.build().request(), dialect="anthropic") == []
        return
    with pytest.raises(ConversationError, match="all or none"):
        made.build()


@pytest.mark.parametrize("left_out", [1, 2])
@pytest.mark.parametrize("nudge", [-1, 0])
def test_a_limit_as_large_as_the_window_changes_nothing(left_out: int, nudge: int) -> None:
    """The prompt on citations is no knowledge, but takes its tokens from the window under a limit too."""
    texts, question = [f"Fact {place} is long enough to count." for place in range(4)], asked(before=0)
    edge = assembled(NATIVE[0], texts[:-left_out], history=question).build().count.upper + nudge
    free, limited = (
        assembled(NATIVE[0], texts, window=edge, history=question, limits=limits).build()
        for limits in ({}, {"knowledge": Limit(cap=edge)})
    )
    assert len(free.sources) == len(texts) - left_out + nudge
    assert limited.request() == free.request()
