"""Every build fits, is valid, and drops nothing that would have fitted."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from assembler import Assembler, PlanError, Refuse, TrimOldest
from assembler.dialects import openai_chat, plain
from assembler.policies import Cut
from budgets import Budget, ContextLengthError, tiktoken_counter

from . import by_hand
from .drawn import documents, histories, words

History = list[dict[str, Any]]


@st.composite
def tight_spots(draw: st.DrawFn) -> tuple[History, int]:
    """A history and a limit in characters that lies on, or beside, the cost of one of its suffixes."""
    history = draw(histories())
    suffix = draw(st.sampled_from(by_hand.suffixes(history)))
    head, _ = by_hand.split_head(history)
    limit = by_hand.cost(head) + by_hand.cost(suffix) + draw(st.integers(-2, 2))
    return history, max(limit, 1)


def built(history: History, limit: int, **more: Any) -> Any:
    budget = Budget(limit, counter=len)
    return Assembler(budget, dialect=plain, on_overflow=TrimOldest(), **more).add_messages(history).build()


def expected(history: History, limit: int) -> History | None:
    """The longest suffix of whole turns that fits, by trying them all; None where not even the newest turn does."""
    head, _ = by_hand.split_head(history)
    for suffix in by_hand.suffixes(history):
        if by_hand.cost(head) + by_hand.cost(suffix) <= limit:
            return [*head, *suffix]
    return None


@given(tight_spots())
def test_the_longest_suffix_of_whole_turns_that_fits_is_kept_and_no_other(spot: tuple[History, int]) -> None:
    history, limit = spot
    wanted = expected(history, limit)
    if wanted is None:
        with pytest.raises(ContextLengthError):
            built(history, limit)
        return
    context = built(history, limit)
    assert [id(message) for message in context.messages] == [id(message) for message in wanted]
    assert by_hand.cost(context.request()["messages"]) == context.costs.total <= limit
    assert by_hand.pairs_hold(by_hand.split_head(wanted)[1])


def fitted(spot: tuple[History, int]) -> Any:
    """What is built; an example in which nothing fits is left out."""
    try:
        return built(*spot)
    except ContextLengthError:
        reject()


@given(tight_spots())
def test_kept_and_dropped_are_the_history_and_ids_do_not_move(spot: tuple[History, int]) -> None:
    history, limit = spot
    context = fitted(spot)
    head = len(by_hand.split_head(history)[0])
    dropped = [item.message for item in context.dropped]
    assert [id(m) for m in [*context.messages[:head], *dropped, *context.messages[head:]]] == [id(m) for m in history]
    assert [item.index for item in context.dropped] == list(range(head, head + len(dropped)))
    grown = built([*history, {"role": "user", "content": ""}], limit)
    assert [item.id for item in grown.dropped][: len(dropped)] == [item.id for item in context.dropped]


@given(tight_spots(), st.integers(0, 50))
def test_a_larger_window_never_keeps_fewer_messages(spot: tuple[History, int], extra: int) -> None:
    history, limit = spot
    small = fitted(spot)
    large = built(history, limit + extra)
    assert [id(m) for m in large.messages[len(large.messages) - len(small.messages) :]][-1:] == [
        id(m) for m in small.messages
    ][-1:]
    assert len(large.messages) >= len(small.messages)


@given(tight_spots(), st.integers(0, 40))
def test_a_reserve_acts_like_a_smaller_window(spot: tuple[History, int], reserve: int) -> None:
    history, limit = spot
    wide = Budget(limit + reserve, max_output_tokens=reserve, counter=len)
    assembler = Assembler(wide, dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    assert outcome(assembler) == outcome_of(history, limit)


@given(tight_spots(), st.integers(0, 40), st.integers(0, 40), st.integers(0, 9), st.integers(0, 9))
def test_the_answer_shrinks_for_the_request_down_to_its_least_and_no_further(
    spot: tuple[History, int], least: int, more: int, overhead: int, margin: int
) -> None:
    history, limit = spot
    budget = Budget(
        limit + least + overhead + margin,
        max_output_tokens=least + more,
        least_output_tokens=least,
        overhead=overhead,
        safety_margin=margin,
        counter=len,
    )
    assembler = Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    assert outcome(assembler) == outcome_of(history, limit)
    try:
        context = assembler.build()
    except ContextLengthError as error:
        assert error.smallest_window == error.required + least + overhead + margin
        return
    asked = context.max_output_tokens
    left = limit + least - by_hand.cost(context.request()["messages"])
    assert asked == (min(least + more, left) if least + more else left)
    assert asked >= least
    for step in assembler.plan().report.steps():
        room = step.context_window - least - overhead - margin
        assert room == step.tokens
        if room:
            found = Assembler(Budget(room, counter=len), on_overflow=TrimOldest()).add_messages(history).build()
            assert len(found.dropped) == step.left_out


def outcome(assembler: Assembler) -> object:
    try:
        return [id(message) for message in assembler.build().messages]
    except ContextLengthError as error:
        return error.required


def outcome_of(history: History, limit: int) -> object:
    return outcome(Assembler(Budget(limit, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(history))


@given(tight_spots(), words)
def test_more_knowledge_never_keeps_more_messages(spot: tuple[History, int], text: str) -> None:
    history, limit = spot
    budget = Budget(limit, counter=len)
    bare = Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    learned = bare.fork().add_knowledge(text, type="rag")
    before, after = outcome(bare), outcome(learned)
    if isinstance(before, list) and isinstance(after, list):
        assert set(after) <= set(before)
    else:
        assert not isinstance(after, list)


@given(tight_spots())
def test_the_error_says_what_the_smallest_request_needs_and_that_window_works(spot: tuple[History, int]) -> None:
    history, limit = spot
    try:
        built(history, limit)
    except ContextLengthError as error:
        head, _ = by_hand.split_head(history)
        smallest = by_hand.cost(head) + by_hand.cost(by_hand.suffixes(history)[-1])
        assert error.required == smallest > error.available == limit
        assert error.excess == smallest - limit
        assert built(history, error.smallest_window).costs.total == smallest
        with pytest.raises(ContextLengthError):
            built(history, error.smallest_window - 1)


@given(histories(), st.integers(-2, 2))
def test_refuse_builds_everything_or_nothing(history: History, nudge: int) -> None:
    whole = by_hand.cost(history)
    if whole + nudge < 1:
        return
    assembler = Assembler(Budget(whole + nudge, counter=len), dialect=plain).add_messages(history)
    if nudge >= 0:
        context = assembler.build()
        assert all(a is b for a, b in zip(context.messages, history, strict=True))
        assert not context.dropped
    else:
        with pytest.raises(ContextLengthError) as raised:
            assembler.build()
        assert raised.value.required == whole


@given(tight_spots())
def test_a_built_context_built_again_drops_nothing(spot: tuple[History, int]) -> None:
    once = fitted(spot)
    twice = built(once.messages, spot[1])
    assert twice == once
    assert not twice.dropped


@given(histories(), st.lists(documents, max_size=3), words)
def test_two_builds_say_the_same_and_nothing_given_is_changed(
    history: History, knowledge: list[dict[str, Any]], rules: str
) -> None:
    before = copy.deepcopy((history, knowledge))
    assembler = Assembler(dialect=openai_chat).add_instruction(rules).add_messages(history)
    for item in knowledge:
        assembler.add_knowledge(**item)
    state = (repr(assembler), assembler.fork())
    one, other = assembler.build(), assembler.build()
    assert by_hand.canonical(one.request()) == by_hand.canonical(other.request())
    assert one == other
    assert (repr(assembler), assembler) == state
    assert (history, knowledge) == before


@given(histories(), histories(max_turns=2), words)
def test_a_fork_and_its_original_do_not_see_each_others_adds(history: History, more: History, rules: str) -> None:
    base = Assembler(dialect=plain).add_instruction(rules).add_messages(history)
    fork = base.fork()
    untouched, before = base.build(), by_hand.canonical(fork.build().request())
    tail = [message for message in more if message["role"] == "user"]
    for message in tail:
        fork.add_message(message)
    base.add_instruction("other").add_knowledge("k", type="rag").add_message({"role": "user", "content": "base only"})
    assert fork.build().messages == [*history, *tail]
    assert base.build().messages == [*history, {"role": "user", "content": "base only"}]
    assert by_hand.canonical(untouched.request()) == before


@given(histories(), st.data())
def test_appending_one_by_one_gives_the_result_of_adding_at_once(history: History, data: st.DataObject) -> None:
    limit = max(1, by_hand.cost(data.draw(st.sampled_from(by_hand.suffixes(history)))))
    slowly = Assembler(Budget(limit, counter=len), dialect=plain, on_overflow=TrimOldest())
    for message in history:
        slowly.add_message(message)
        if data.draw(st.booleans()) and by_hand.pairs_hold(by_hand.split_head(slowly_listed(slowly))[1]):
            outcome(slowly)
    assert outcome(slowly) == outcome_of(history, limit)


def slowly_listed(assembler: Assembler) -> History:
    return assembler._draft.history.raws()  # type: ignore[return-value]


@given(histories(), words)
def test_the_remembering_counter_and_the_plain_one_build_the_same(history: History, rules: str) -> None:
    count = tiktoken_counter("o200k_base")
    for limit in (30, 100, 400):
        once = Assembler(Budget(limit), on_overflow=TrimOldest(), dialect=openai_chat)
        anew = Assembler(Budget(limit, counter=lambda text: count(text)), on_overflow=TrimOldest(), dialect=openai_chat)
        for assembler in (once, anew):
            assembler.add_instruction(rules).add_messages(history)
        assert outcome(once) == outcome(anew)


@given(histories())
def test_a_message_that_is_appended_never_brings_a_dropped_one_back(history: History) -> None:
    limit = max(1, by_hand.cost(history) // 2)
    first_kept = 0
    for stop in range(1, len(history) + 1):
        if not by_hand.pairs_hold(by_hand.split_head(history[:stop])[1]):
            continue
        try:
            context = built(history[:stop], limit)
        except ContextLengthError:
            continue
        assert len(context.dropped) >= first_kept
        first_kept = len(context.dropped)


@pytest.mark.parametrize("nudge", [-1, 0, 1])
def test_the_fixed_regions_alone_are_checked_without_any_message(nudge: int) -> None:
    assembler = Assembler(Budget(10 + nudge, counter=len), dialect=plain).add_instruction("0123456789")
    if nudge < 0:
        with pytest.raises(ContextLengthError, match="Dropping turns cannot help"):
            assembler.build()
    else:
        assert assembler.build().costs.instruction == 10


class PartsAPair:
    def cut(self, ledger: Any, room: int) -> Cut:
        return Cut(ledger.first + 2, "halves a step")


class DropsTheQuestion:
    def cut(self, ledger: Any, room: int) -> Cut:
        return Cut(ledger.length, "drops everything")


@pytest.mark.parametrize("policy", [PartsAPair(), DropsTheQuestion()])
def test_no_policy_can_split_a_pair_or_drop_the_question(policy: Any) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    history = [
        {"role": "user", "content": "x" * 50},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "y"},
        {"role": "user", "content": "z"},
    ]
    with pytest.raises(PlanError, match=type(policy).__name__):
        Assembler(Budget(20, counter=len), dialect=plain, on_overflow=policy).add_messages(history).build()


def test_an_own_policy_needs_nothing_of_the_library_but_integers() -> None:
    class KeepTheNewestTwo:
        def cut(self, ledger: Any, room: int) -> Cut:
            newest = [turn for turn, _ in zip(ledger.newest_first(), range(2), strict=False)]
            return Cut(newest[-1].start, "keeps two turns")

    history = [{"role": "user", "content": letter * 5} for letter in "abcd"]
    assembler = Assembler(Budget(12, counter=len), dialect=plain, on_overflow=[KeepTheNewestTwo(), Refuse()])
    context = assembler.add_messages(history).build()
    assert context.messages == history[2:]
    assert "KeepTheNewestTwo: keeps two turns" in str(context.report)


@pytest.mark.parametrize("keep_turns", [1, 2, 3])
def test_protected_turns_stay_or_the_build_raises(keep_turns: int) -> None:
    history = [{"role": "user", "content": letter * 5} for letter in "abcd"]
    for limit in range(1, 25):
        policy = TrimOldest(keep_turns=keep_turns)
        assembler = Assembler(Budget(limit, counter=len), dialect=plain, on_overflow=policy).add_messages(history)
        if limit < 5 * keep_turns:
            with pytest.raises(ContextLengthError):
                assembler.build()
        else:
            assert len(assembler.build().messages) == min(limit // 5, 4)


@pytest.mark.parametrize(
    ("model", "given", "asked"),
    # the most that one answer may hold, by the providers' own tables: budgets/models/models.json
    [("claude-sonnet-4-5", 0, 64_000), ("gpt-4o", 0, 16_384), ("gpt-4o", 500, 500)],
)
def test_no_more_is_asked_of_a_model_than_its_longest_answer(model: str, given: int, asked: int) -> None:
    budget = Budget.for_model(model, max_output_tokens=given)
    assert Assembler(budget).add_message({"role": "user", "content": "hi"}).build().max_output_tokens == asked


def test_all_tokens_left_may_be_asked_of_an_unknown_model() -> None:
    for model in (None, "made-up-1"):
        context = Assembler(Budget(1_000, counter=len, model=model), dialect=plain).add_instruction("x" * 100).build()
        assert context.max_output_tokens == 900
