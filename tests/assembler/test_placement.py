"""Knowledge before the newest question costs what a recount says and displaces no pair."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    REMINDER,
    Assembler,
    ChatRegions,
    CitedSources,
    ClearToolResults,
    ContextLengthError,
    FittedTemplate,
    Placement,
    QuestionChunks,
    Refuse,
    TrimOldest,
    TrimSteps,
    Truncate,
    count_request,
    first_user,
)
from assembler.conversation.messages import user_message
from assembler.dialects import DIALECTS, openai_chat, plain
from assembler.rag import Everything, Order
from assembler.strategies import Needs
from assembler.verify import verify
from budgets import Budget, Grade, Limit, approximate_counter
from tests.assembler.by_hand import pairs_hold
from tests.assembler.drawn import histories
from tests.budgets.raw_engines import tokens_of
from tests.scaled import scaled

AT_QUESTION = ChatRegions(placement=Placement.QUESTION)
WIDE = 100_000

strategies = st.sampled_from([AT_QUESTION, ChatRegions(REMINDER, Placement.QUESTION)])
knowledge = st.lists(st.sampled_from(["Cats purr.", "a < b & c", "\n/x ", "</context>"]), max_size=3)
questions = st.sampled_from(["What?", "/help", "\n\nwhat", " Why \n", ""])


def assembled(budget: Budget | None, strategy: Any, texts: list[str], history: list[Any], dialect: Any) -> Assembler:
    made = Assembler(budget, dialect=dialect, strategy=strategy, on_overflow=TrimOldest())
    made.add_instruction("Be brief.").add_messages(history)
    for text in texts:
        made.add_knowledge(text, type="rag", source="same.md")
    return made


def asked(history: list[dict[str, Any]], question: str) -> list[dict[str, Any]]:
    return [*history, {"role": "user", "content": question}]


def letters(request: dict[str, Any]) -> int:
    """Characters of a plain request, counted without the library."""
    characters = len(request.get("system") or "")
    for message in request["messages"]:
        characters += len(message["content"] or "")
        calls = [call["function"] for call in message.get("tool_calls", ())]
        characters += sum(len(call["name"]) + len(call["arguments"]) for call in calls)
    return characters


def by_rule(request: dict[str, Any]) -> int:
    """The published rule for chat messages of one text, in raw tokens: 3 each, role and text, and 3 for the reply."""
    sent = [(message["role"], message["content"]) for message in request["messages"]]
    return 3 + sum(3 + tokens_of("o200k_base", role) + tokens_of("o200k_base", text) for role, text in sent)


def rows_sum(context: Any) -> bool:
    sums = dict.fromkeys(context.costs.to_dict(), 0)
    for row in context.report.rows:
        sums[row.region] += row.after
    return sums == context.costs.to_dict() and context.costs.total == context.count.tokens


def test_the_documents_stand_before_the_text_of_the_newest_question() -> None:
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    context = assembled(None, AT_QUESTION, ["One.", "Two."], asked(history, "What?"), plain).build()
    tag = '<context type="rag" source="same.md" trusted="false">\n'
    assert context.request() == {
        "system": "Be brief.",
        "messages": asked(history, f"{tag}One.\n</context>\n\n{tag}Two.\n</context>\n\nWhat?"),
    }
    assert [one is other for one, other in zip(context.messages, history, strict=False)] == [True, True]
    assert [source.text for source in context.sources] == ["One.", "Two."]


def test_the_reminder_stands_before_the_first_document_and_costs_instruction() -> None:
    budget = Budget(WIDE, counter=len)
    context = assembled(budget, ChatRegions("Beware.", Placement.QUESTION), ["One."], asked([], "?"), plain).build()
    assert text_of(context, 0).startswith('Beware.\n\n<context type="rag"')
    assert context.system == "Be brief."
    assert context.costs.instruction == len("Be brief.") + len("Beware.\n\n")
    assert rows_sum(context)


@pytest.mark.parametrize("strategy", [AT_QUESTION, ChatRegions("Beware.", Placement.QUESTION)])
@pytest.mark.parametrize(
    ("texts", "history"),
    [
        ([], asked([], "What?")),
        (["One."], []),
        (["One."], [{"role": "user", "content": [{"type": "text", "text": text} for text in ("What", "?")]}]),
    ],
)
def test_without_documents_or_a_question_of_one_text_the_layout_is_that_of_the_system_text(
    strategy: ChatRegions, texts: list[str], history: list[Any]
) -> None:
    there, here = (
        assembled(Budget(WIDE, counter=len), one, texts, history, plain).build()
        for one in (ChatRegions(strategy.reminder), strategy)
    )
    assert here.request() == there.request()
    assert here.costs == there.costs
    assert all(one is other for one, other in zip(here.messages, history, strict=True))


@given(strategies, knowledge, histories(max_turns=3), questions, st.data())
def test_on_every_boundary_a_build_fits_as_recounted_and_keeps_all_knowledge_and_every_pair(
    strategy: ChatRegions, texts: list[str], history: list[dict[str, Any]], question: str, data: st.DataObject
) -> None:
    history = asked(history, question)
    whole = assembled(Budget(WIDE, counter=len), strategy, texts, history, plain).build()
    least = assembled(Budget(WIDE, counter=len), strategy, texts, history[-1:], plain).build()
    assert letters(whole.request()) == whole.count.tokens
    room = data.draw(st.sampled_from([letters(whole.request()), letters(least.request())])) + data.draw(
        st.sampled_from([-1, 0, 1])
    )
    made = assembled(Budget(max(room, 0), counter=len), strategy, texts, history, plain)
    try:
        context = made.build()
    except ContextLengthError:
        heads = [len(message["content"]) for message in history if message["role"] == "system"]
        assert room < letters(least.request()) + sum(heads)
        return
    request = context.request()
    assert letters(request) == context.count.tokens <= room
    assert pairs_hold(request["messages"])
    assert request["messages"][-1] == whole.request()["messages"][-1]
    assert len(context.sources) == len(texts)
    assert rows_sum(context)
    assert (len(request["messages"]) == len(history)) == (room >= letters(whole.request()))


@given(strategies, knowledge, st.lists(questions, max_size=3), questions, st.sampled_from([-1, 0, 1]))
def test_a_chat_request_costs_what_the_published_rule_says(
    strategy: ChatRegions, texts: list[str], before: list[str], question: str, nudge: int
) -> None:
    history = asked([{"role": "user", "content": text} for text in before], question)

    def made(window: int) -> Assembler:
        return assembled(Budget(window, model="gpt-4o"), strategy, texts, history, openai_chat)

    edge = by_rule(made(WIDE).build().request())
    try:
        context = made(edge + nudge).build()
    except ContextLengthError:
        assert (nudge, before) == (-1, [])
        return
    assert by_rule(context.request()) == context.count.tokens <= edge + nudge
    assert (len(context.messages) == len(history)) == (nudge >= 0)
    assert rows_sum(context)


def test_a_limit_of_knowledge_leaves_out_documents_at_the_question_too() -> None:
    limits = {"knowledge": Limit(cap=150)}
    made = Assembler(Budget(1000, counter=len, limits=limits), dialect=plain, strategy=AT_QUESTION)
    for number in range(3):
        made.add_knowledge("k" * 60, type="rag", score=number / 10, source="same.md")
    context = made.add_message({"role": "user", "content": "?"}).build()
    assert [source.score for source in context.sources] == [0.2]
    assert 0 < context.costs.knowledge <= 150
    assert letters(context.request()) == context.count.tokens
    assert sum(row.outcome == "dropped" for row in context.report.rows) == 2


def test_the_system_text_needs_no_question() -> None:
    assert ChatRegions().needs is Needs.REGIONS
    assert ChatRegions() == ChatRegions(None, Placement.SYSTEM)


def text_of(context: Any, place: int) -> str:
    return context.messages[place]["content"]


def capped(strategy: Any, cap: float, texts: list[str], window: int = 1000) -> Any:
    limits = {"knowledge": Limit(cap=cap)}
    budget = Budget(window, counter=len, limits=limits)
    return assembled(budget, strategy, texts, asked([], "What?"), plain).build()


@pytest.mark.parametrize("placement", Placement)
@scaled(0.3)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.integers(100, 400), st.booleans())
def test_a_cap_on_knowledge_binds_chosen_sources_like_a_window_of_its_size(
    placement: Placement, sizes: list[int], cap: int, shared: bool
) -> None:
    strategy = CitedSources(duplicates=(), order=Order.SCORE, placement=placement)
    texts = ["k" * size for size in sizes]
    context = capped(strategy, cap / 1000 if shared else cap, texts)
    assert context.costs.knowledge <= (int((cap / 1000) * 1000) if shared else cap)
    assert letters(context.request()) == context.count.tokens
    assert rows_sum(context)
    beside = context.count.tokens - context.costs.knowledge
    narrow = assembled(Budget(beside + cap, counter=len), strategy, texts, asked([], "What?"), plain).build()
    if not shared:
        assert narrow.request() == context.request()


def test_each_token_of_a_cap_counts_for_chunks() -> None:
    texts = ["a" * 30, "b" * 30, "c" * 30]
    full = capped(QuestionChunks(), 1.0, texts).costs.knowledge
    assert [len(capped(QuestionChunks(), full + nudge, texts).sources) for nudge in (-1, 0, 1)] == [2, 3, 3]


def test_a_cap_that_holds_no_words_around_the_sources_raises_and_names_knowledge() -> None:
    with pytest.raises(ContextLengthError, match="The knowledge needs"):
        capped(CitedSources(placement=Placement.QUESTION), 3, ["One."])
    assert capped(CitedSources(), 3, ["One."]).system == "Be brief."


@pytest.mark.parametrize("strategy", [AT_QUESTION, CitedSources(selection=Everything(), placement=Placement.QUESTION)])
def test_no_policy_shortens_the_question_that_carries_knowledge(strategy: Any) -> None:
    history = asked([{"role": "user", "content": "o" * 500}, {"role": "assistant", "content": "a"}], "q" * 300)

    def made(window: int) -> Assembler:
        policies = [Truncate(50), Refuse()]
        return (
            Assembler(Budget(window, counter=len), dialect=plain, strategy=strategy, on_overflow=policies)
            .add_knowledge("One.", type="rag")
            .add_messages(history)
        )

    edge = letters(made(WIDE).build().request())
    shortened = made(edge - 1).build()
    assert text_of(shortened, -1).count("q" * 300) == 1
    assert len(text_of(shortened, 0)) < 500
    assert letters(shortened.request()) == shortened.count.tokens < edge
    with pytest.raises(ContextLengthError):
        made(300).build()


def test_the_pin_of_the_question_is_not_named_as_one_of_the_callers() -> None:
    history = asked([{"role": "user", "content": "o" * 500}], "q" * 300)
    made = Assembler(
        Budget(700, counter=len), dialect=plain, strategy=AT_QUESTION, on_overflow=TrimOldest(pins=first_user)
    )
    with pytest.raises(ContextLengthError, match="pinned messages 0 need"):
        made.add_knowledge("One.", type="rag").add_messages(history).build()


def test_a_plain_count_has_the_grade_of_its_counter() -> None:
    tools = [{"name": "look"}]

    def built(counter: Any) -> Any:
        return assembled(Budget(WIDE, counter=counter), ChatRegions(), ["One."], asked([], "?"), plain)

    assert built(len).add_capability(tools).build().count.grade is Grade.EXACT
    guessed = built(approximate_counter()).add_capability(tools).build().count
    assert guessed.grade is Grade.ESTIMATED
    assert guessed.upper == guessed.tokens
    assert plain.pricer(None, approximate_counter()).message(user_message("hello")).grade is Grade.ESTIMATED


@pytest.mark.parametrize("window", range(300, 308))
def test_a_share_for_knowledge_is_of_the_input_limit_for_choosing_strategies_too(window: int) -> None:
    budget = Budget(window, counter=len, limits={"knowledge": Limit(cap=0.25)})
    context = assembled(budget, QuestionChunks(), ["a"] * 200, asked([], "What?"), openai_chat).build()
    most = int(0.25 * window)
    assert context.costs.framing > 1
    assert most - 2 < context.costs.knowledge <= most


# ── in a tool's answer

AT_RESULT = ChatRegions(placement=Placement.TOOL)
CITED_AT_RESULT = CitedSources(duplicates=(), order=Order.SCORE, placement=Placement.TOOL)
SEARCH: dict[str, Any] = {
    "type": "function",
    "function": {"name": "search", "description": "d", "parameters": {"type": "object", "properties": {}}},
}


def searched(*results: Any, before: int = 0) -> list[dict[str, Any]]:
    """Old turns, a question, and a search with an answer for each of `results`."""
    calls = [
        {"id": f"c{at}", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        for at in range(len(results))
    ]
    old = [{"role": role, "content": "old " * 9} for _ in range(before) for role in ("user", "assistant")]
    answers = [{"role": "tool", "tool_call_id": f"c{at}", "content": text} for at, text in enumerate(results)]
    return [*asked(old, "What?"), {"role": "assistant", "content": None, "tool_calls": calls}, *answers]


def test_the_documents_stand_before_the_text_of_the_last_result() -> None:
    history = searched("1 page", "2 pages")
    context = assembled(None, AT_RESULT, ["One.", "Two."], history, plain).build()
    tag = '<context type="rag" source="same.md" trusted="false">\n'
    result: dict[str, Any] = {**history[-1], "content": f"{tag}One.\n</context>\n\n{tag}Two.\n</context>\n\n2 pages"}
    assert context.request() == {"system": "Be brief.", "messages": [*history[:-1], result]}
    assert all(one is other for one, other in zip(context.messages[:-1], history, strict=False))
    assert history[-1]["content"] == "2 pages"
    assert [source.text for source in context.sources] == ["One.", "Two."]


def test_sources_in_a_result_are_numbered_between_their_own_words() -> None:
    context = assembled(None, CITED_AT_RESULT, ["One."], searched("found"), plain).build()
    assert context.request()["messages"][-1]["content"] == (
        "SOURCES:\n[Source 1]\nDocument: same.md\nContent:\nOne.\n\nEND OF SOURCES\n\nfound"
    )


@pytest.mark.parametrize(
    "history",
    [
        asked([], "What?"),
        [*searched("found"), {"role": "assistant", "content": "So."}],
        searched([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        [],
    ],
)
@pytest.mark.parametrize(("there", "here"), [(ChatRegions(), AT_RESULT), (CitedSources(), CITED_AT_RESULT)])
def test_documents_go_into_the_system_text_unless_the_conversation_ends_with_a_result_of_one_text(
    history: list[Any], there: Any, here: Any
) -> None:
    budget = Budget(WIDE, counter=len)
    texts = ["One."]
    assert (
        assembled(budget, here, texts, history, plain).build().request()
        == assembled(budget, there, texts, history, plain).build().request()
    )


@pytest.mark.parametrize("name", sorted(DIALECTS))
@pytest.mark.parametrize("strategy", [AT_RESULT, CITED_AT_RESULT])
@pytest.mark.parametrize("results", [("",), ("found",), ("a", "b\n")])
def test_a_result_with_knowledge_is_valid_everywhere_and_fits_on_the_boundary(
    name: str, strategy: Any, results: tuple[str, ...]
) -> None:
    dialect = DIALECTS[name]

    def made(window: int) -> Assembler:
        budget = Budget(window, model="gpt-4o" if dialect is openai_chat else None)
        history = searched(*results, before=2)
        return assembled(budget, strategy, ["One & two.", "Three."], history, dialect).add_capability([SEARCH])

    whole = made(WIDE).build()
    assert verify(whole.request(), dialect=dialect) == []
    assert rows_sum(whole)
    again = count_request(whole.request(), dialect=dialect, model="gpt-4o")
    if dialect in (plain, openai_chat):
        assert again.tokens == whole.count.tokens
    for nudge in (-1, 0):
        context = made(whole.count.upper + nudge).build()
        assert verify(context.request(), dialect=dialect) == []
        assert context.count.upper <= whole.count.upper + nudge
        assert (len(context.dropped) == 0) == (nudge == 0 or len(context.sources) < 2)


@pytest.mark.parametrize("policy", [ClearToolResults(keep=0), TrimSteps(), Truncate(20)])
def test_no_policy_touches_the_result_that_carries_knowledge(policy: Any) -> None:
    history = searched("old " * 40)
    history += [*searched("new " * 30)[1:]]
    history[3]["tool_calls"][0]["id"] = history[4]["tool_call_id"] = "c9"
    made = Assembler(Budget(WIDE, counter=len), dialect=plain, strategy=AT_RESULT, on_overflow=[policy, Refuse()])
    made.add_knowledge("One.", type="rag").add_messages(history)
    whole = letters(made.build().request())
    tight = Assembler(
        Budget(whole - 60, counter=len), dialect=plain, strategy=AT_RESULT, on_overflow=[policy, Refuse()]
    )
    try:
        context = tight.add_knowledge("One.", type="rag").add_messages(history).build()
    except ContextLengthError:
        assert isinstance(policy, TrimSteps)  # two steps are kept
        return
    last = text_of(context, -1)
    assert "One." in last
    assert last.endswith("new " * 30)


def test_a_result_of_anthropic_keeps_its_spelling() -> None:
    use: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "search", "input": {}}
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": "t1", "content": "found"}
    history: list[dict[str, Any]] = [
        {"role": "user", "content": "What?"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result, {"type": "text", "text": "Quick."}]},
    ]
    context = assembled(None, AT_RESULT, ["One."], history, DIALECTS["anthropic"]).add_capability([SEARCH]).build()
    sent, question = context.request()["messages"][-1]["content"]
    assert sent["content"].endswith("One.\n</context>\n\nfound")
    assert (sent["tool_use_id"], question["text"]) == ("t1", "Quick.")
    assert result["content"] == "found"


# ── the conversation's floor


@pytest.mark.parametrize("floor", [150, 0.5])
@pytest.mark.parametrize("strategy", [CitedSources(duplicates=()), QuestionChunks(), FittedTemplate("{documents}")])
def test_knowledge_leaves_the_conversation_its_floor(strategy: Any, floor: float) -> None:
    history = asked([{"role": role, "content": "o" * 40} for _ in range(4) for role in ("user", "assistant")], "What?")
    sizes: dict[bool, int] = {}
    unlimited: dict[str, Limit] = {}
    for limits in (unlimited, {"conversation": Limit(floor=floor)}):
        budget = Budget(400, counter=len, limits=limits)
        context = assembled(budget, strategy, ["k" * 30] * 12, history, plain).build()
        sizes[bool(limits)] = context.costs.conversation
        assert context.count.tokens <= 400
    assert sizes[False] < 90  # knowledge displaces old turns where nothing protects them
    wanted = floor if isinstance(floor, int) else int(floor * 400)
    assert wanted - 80 < sizes[True]  # whole turns of 80
    assert sizes[True] > sizes[False]
