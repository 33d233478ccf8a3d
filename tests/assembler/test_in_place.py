"""After messages are changed in place, the next build is that of a fresh assembler."""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    AssemblyError,
    ChatRegions,
    ClearToolResults,
    ContextLengthError,
    ConversationError,
    Placement,
    Policy,
    Refuse,
    TrimOldest,
    Truncate,
    first_user,
)
from assembler.dialects import anthropic, chat_template, openai_chat, plain
from assembler.pipeline.last_decision import GLANCE
from budgets import Budget, Limit, TokenCountError
from tests.scaled import scaled

Fields = dict[str, Any]


def as_dict(fields: Fields) -> Any:
    return fields


def as_object(fields: Fields) -> Any:
    return SimpleNamespace(**fields)


def change(message: Any, **fields: Any) -> None:
    """Set fields of a message, of whichever kind it is."""
    held = cast(Fields, message if isinstance(message, dict) else vars(message))
    held.update(fields)


KINDS = pytest.mark.parametrize("kind", [as_dict, as_object])


def users(kind: Callable[[Fields], Any], *texts: str) -> list[Any]:
    return [kind({"role": "user", "content": text}) for text in texts]


def made(policy: Any, messages: list[Any], window: int = 20, **others: Any) -> Assembler:
    return Assembler(Budget(window, counter=len), dialect=plain, on_overflow=policy, **others).add_messages(messages)


def outcome_of(assembler: Assembler) -> Any:
    try:
        context = assembler.build()
        outcome: Any = context.request(), context.count, context.costs, [message.id for message in context.dropped]
        outcome = (*outcome, context.report.to_dict()["rows"])
    except AssemblyError as error:
        outcome = str(error)
    return outcome, assembler.costs(), assembler.available_for_messages()


@KINDS
@pytest.mark.parametrize("policy", [Refuse(), TrimOldest(), TrimOldest(0.5), [ClearToolResults(), TrimOldest()]])
def test_a_message_that_was_too_long_is_built_once_it_is_shortened(policy: Any, kind: Any) -> None:
    messages = users(kind, "x" * 90)
    assembler = made(policy, messages)
    with pytest.raises(ContextLengthError):
        assembler.build()
    change(messages[0], content="short")
    assert assembler.build().count.tokens == 5
    assert assembler.fork().add_message({"role": "user", "content": "more"}).build().count.tokens == 9


@KINDS
def test_a_cut_message_returns_once_it_is_short_enough(kind: Any) -> None:
    messages = users(kind, "x" * 90, "newest")
    assembler = made(TrimOldest(), messages)
    assert len(assembler.build().messages) == 1
    change(messages[0], content="short")
    assert len(assembler.build().messages) == 2


@KINDS
@pytest.mark.parametrize("place", [0, 1])
def test_a_turn_that_is_pinned_in_place_stays_when_others_are_cut(place: int, kind: Any) -> None:
    messages = users(kind, "a" * 8, "b" * 8, "c" * 8)
    assembler = made(TrimOldest(), messages)
    assembler.build()
    change(messages[place], pinned=True)
    assembler.add_message({"role": "user", "content": "newest"})
    assert [message is messages[place] for message in assembler.build().messages] == [True, False]
    change(messages[place], pinned=False)
    assert messages[place] not in assembler.build().messages


@KINDS
def test_the_tokens_left_follow_a_change_of_a_system_message(kind: Any) -> None:
    messages = [kind({"role": "system", "content": "x" * 9}), *users(kind, "hello")]
    assembler = made(Refuse(), messages)
    assert (assembler.available_for_messages(), assembler.costs().total) == (11, 14)
    change(messages[0], content="x")
    change(messages[1], content="hello, you")
    assert (assembler.available_for_messages(), assembler.costs().total) == (19, 11)


def test_a_call_that_is_removed_in_place_is_not_waited_for() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "so", "tool_calls": [call]}]
    assembler = made(Refuse(), messages)
    del messages[1]["tool_calls"]
    assert len(assembler.add_message({"role": "user", "content": "and?"}).build().messages) == 3


def test_a_predicate_is_asked_again_about_a_message_that_changed() -> None:
    messages = users(as_dict, *(f"{place}" + "x" * 7 for place in range(300)))
    assembler = made(TrimOldest(pins=lambda message: "keep" in message["content"]), messages)
    assembler.build()
    messages[3]["content"] = "3 keep"
    assert messages[3] in assembler.build().messages


def test_an_error_about_an_old_reading_is_not_final() -> None:
    class Picky:
        def cut(self, ledger: Any, room: int, /) -> Any:
            if "bad" in str(ledger.reading(0).parts):
                raise LookupError
            return TrimOldest().cut(ledger, room)

    messages = users(as_dict, "bad" * 9, "newest")
    assembler = made(Picky(), messages)
    with pytest.raises(LookupError):
        assembler.build()
    messages[0]["content"] = "good" * 9
    assert assembler.build().messages == messages[1:]


# ── Any edit, any policy, any number of builds between ──

CONTENT = st.text("ab", max_size=12)
TURN = st.sampled_from(["u", "uA", "uctA", "uctct", "uAA"])
HEAD = st.sampled_from(["", "", "s", "ss", "A"])
POLICIES: list[Policy | list[Policy]] = [
    Refuse(),
    TrimOldest(),
    TrimOldest(keep_turns=2, note="n"),
    TrimOldest(0.5),
    TrimOldest(pins=first_user),
    TrimOldest(pins=lambda message: "a" in str(message)),
    [ClearToolResults(keep=1), TrimOldest()],
    [Truncate(4), TrimOldest(0.6)],
]
ROLES = {"s": "system", "u": "user", "A": "assistant", "c": "assistant", "t": "tool"}


def spoken(letters: str, texts: list[str], kind: Callable[[Fields], Any]) -> list[Any]:
    messages: list[Any] = []
    for place, letter in enumerate(letters):
        fields: Fields = {"role": ROLES[letter], "content": texts[place % len(texts)] + letter}
        if letter == "c":
            call = {"id": f"c{place}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            fields |= {"tool_calls": [call]}
        if letter == "t":
            fields |= {"tool_call_id": f"c{place - 1}"}
        messages.append(kind(fields))
    return messages


def exclaimed(text: str) -> Fields:
    return {"content": text + "!"}


RESET: list[Fields] = [{"pinned": True}, {"pinned": False}, {"role": "user"}, {"role": "system"}]
EDITS = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.one_of(CONTENT.map(exclaimed), st.sampled_from(RESET)),
        st.sampled_from(["", "build", "plan", "costs", "add", "fork"]),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("dialect", [plain, openai_chat, anthropic], ids=lambda dialect: dialect.name)
@example(head="sA", turns=[], texts=["a"], edits=[(1, {"role": "system"}, "")], window=9, policy=1, kind=as_dict)
@scaled(0.3)
@given(
    head=HEAD,
    turns=st.lists(TURN, min_size=1, max_size=5),
    texts=st.lists(CONTENT, min_size=1, max_size=6),
    edits=EDITS,
    window=st.integers(4, 120),
    policy=st.integers(0, len(POLICIES) - 1),
    kind=st.sampled_from([as_dict, as_object]),
)
def test_after_any_edit_a_build_equals_a_fresh_assemblers(
    head: str, turns: list[str], texts: list[str], edits: Any, window: int, policy: int, kind: Any, dialect: Any
) -> None:
    messages = spoken(head + "".join(turns), texts, kind)
    budget = Budget(window, counter=len)

    def fresh() -> Assembler:
        return Assembler(budget, dialect=dialect, on_overflow=POLICIES[policy]).add_knowledge("k", type="t")

    assembler = fresh().add_messages(messages)
    outcome_of(assembler)
    for place, fields, then in edits:
        if isinstance(messages[place % len(messages)], dict) or "role" not in fields:
            change(messages[place % len(messages)], **fields)
        if then == "add":
            messages.append({"role": "user", "content": "more"})
            try:
                assembler.add_message(messages[-1])
            except ConversationError:
                messages.pop()
        elif then == "fork":
            assembler = assembler.fork()
        elif then:
            outcome_of(assembler)
    try:
        wanted = outcome_of(fresh().add_messages(messages))
    except ConversationError:  # what was edited is no conversation any more
        with pytest.raises(ConversationError):
            outcome_of(assembler)
            assembler.add_messages(list(messages))
        return
    assert outcome_of(assembler) == wanted
    assert outcome_of(assembler.fork().add_messages(list(messages))) == wanted
    if kind is as_dict:
        assert outcome_of(assembler.fork().add_messages(copy.deepcopy(messages))) == wanted


@pytest.mark.parametrize("place", [0, 400, 799])
@pytest.mark.parametrize("policy", [TrimOldest(), TrimOldest(0.5)], ids=str)
def test_of_many_dropped_messages_a_pinned_one_stays_once_a_build_has_checked_it(policy: Any, place: int) -> None:
    messages = users(as_dict, *(f"{number:04}" for number in range(1_000)))
    assembler = made(policy, messages, 200)
    assembler.build()
    messages[place]["pinned"] = True
    needed = next(build for build in range(1_000 // GLANCE + 2) if assembler.build().messages[0] is messages[place])
    assert needed <= 1_000 // GLANCE


@pytest.mark.parametrize("low_water", [None, 0.5])
def test_a_message_edited_before_the_build_is_sent_as_edited(
    low_water: float | None,
) -> None:
    messages = users(as_dict, "first", "short")
    assembler = made(TrimOldest(low_water=low_water), messages[:1], 60)
    assembler.build()
    assembler.add_message(messages[1])
    messages[1]["content"] = "longer"
    assert outcome_of(assembler) == outcome_of(made(TrimOldest(low_water=low_water), messages, 60))


def test_an_equal_list_is_sent_as_the_newest_objects_and_their_edits_are_seen() -> None:
    messages = users(as_dict, "x" * 9, "y" * 9, "z")
    assembler = made(TrimOldest(), messages, 20)
    assembler.build()
    again = copy.deepcopy(messages)
    built = assembler.add_messages(again).build()
    assert [id(message) for message in built.messages] == [id(message) for message in again]
    messages[0]["content"] = "x" * 90  # nobody's any more
    assert len(assembler.build().messages) == 3
    again[0]["content"] = "x" * 80
    assert len(assembler.build().messages) == 2


def test_a_fork_with_an_equal_list_is_independent() -> None:
    messages = users(as_dict, "a" * 8, "b" * 8)
    assembler = made(TrimOldest(), messages, 20)
    assembler.build()
    fork = assembler.fork().add_messages(copy.deepcopy(messages))
    for other, text in ((assembler, "mine"), (fork, "x" * 20)):
        other.add_message({"role": "user", "content": text}).build()
    assert outcome_of(assembler) == outcome_of(made(TrimOldest(), [*messages, {"role": "user", "content": "mine"}], 20))
    assert outcome_of(fork) == outcome_of(made(TrimOldest(), [*messages, {"role": "user", "content": "x" * 20}], 20))


@pytest.mark.parametrize("placement", Placement)
@pytest.mark.parametrize("limits", [{}, {"knowledge": Limit(cap=25)}, {"conversation": Limit(floor=12)}], ids=str)
def test_knowledge_chosen_beside_a_message_is_chosen_again_when_it_changes(limits: Any, placement: Placement) -> None:
    messages = users(as_dict, "x" * 30, "y" * 10, "z" * 5)
    budget = Budget(90, counter=len, limits=limits)

    def fresh() -> Assembler:
        strategy = ChatRegions(placement=placement)
        assembler = Assembler(budget, dialect=plain, on_overflow=TrimOldest(), strategy=strategy)
        return assembler.add_knowledge("k" * 9, type="t", score=0.5).add_knowledge("l", type="t", score=0.9)

    assembler = fresh().add_messages(messages)
    for place, text in ((2, "zz"), (0, "x"), (1, "y" * 60), (0, "x" * 70), (2, "z" * 200), (2, "z")):
        outcome_of(assembler)
        messages[place]["content"] = text
        assert outcome_of(assembler) == outcome_of(fresh().add_messages(copy.deepcopy(messages)))


@pytest.mark.parametrize("policy", [TrimOldest(), TrimOldest(0.5), [ClearToolResults(), TrimOldest()]], ids=str)
def test_a_counter_that_failed_on_a_message_is_not_remembered_for_it(policy: Any) -> None:
    def picky(text: str) -> int:
        if "bad" in text:
            raise OSError
        return len(text)

    messages = users(as_dict, "older", "bad", "newest")
    assembler = Assembler(Budget(12, counter=picky), dialect=plain, on_overflow=policy).add_messages(messages)
    with pytest.raises(TokenCountError):
        str(assembler.build())
    messages[1]["content"] = "good"
    assert outcome_of(assembler) == outcome_of(made(policy, messages, 12))


def test_a_pin_on_an_unread_message_is_seen_if_the_whole_is_counted() -> None:
    pytest.importorskip("transformers")
    from .dialects.test_chat_template import CHATML, tokenizer_of

    messages = users(as_dict, *map(str, range(300)))
    dialect = chat_template(tokenizer_of(CHATML))

    def fresh() -> Assembler:
        return Assembler(Budget(200), dialect=dialect, on_overflow=TrimOldest()).add_messages(messages)

    assembler = fresh()
    assembler.build()
    for pinned in (True, False):
        messages[3]["pinned"] = pinned
        context = assembler.build()
        assert (context.messages[0] is messages[3]) == pinned
        assert context.count == fresh().build().count


@pytest.mark.parametrize("turns", [6, 16])
def test_after_an_edit_of_a_few_dropped_messages_the_steps_are_a_fresh_assemblers(turns: int) -> None:
    """The request does not depend on them, but the windows in which they would stay do."""
    history = [{"role": "user", "content": f"question {turn} " + "x" * 10} for turn in range(turns)]
    budget = Budget(60, counter=len)

    def fresh() -> Assembler:
        return Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_messages(history)

    assembler = fresh()
    assembler.build().report.steps()
    history[1]["content"] += " and more"
    steps = assembler.set_instruction("Be brief.").build().report.steps()
    assert steps == fresh().set_instruction("Be brief.").build().report.steps()
