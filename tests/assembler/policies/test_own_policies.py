"""The pipeline verifies what a user's policy returns, and sends nothing invalid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ChatRegions, CitedSources, MarkupError, MessageTypeError, PlanError
from assembler.conversation.messages import Call, Message, Result, edited, read_message
from assembler.dialects import mistral, openai_responses, plain
from assembler.policies import Change, Cut, KeepsAll, Passage, Refuse, Traits, TrimOldest
from assembler.policies.traits import rung_of
from budgets import Budget, BudgetError, ContextLengthError, Limit
from tests.assembler import by_hand
from tests.assembler.by_hand import History
from tests.scaled import scaled

from ..drawn import STRATEGIES
from .build import assembler_of, built, check, left
from .drawn import any_session, ladders, rungs


def session() -> History:
    history: History = [{"role": "user", "content": "u" * 20}]
    for name in "ab":
        call = {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}}
        history += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": name, "content": name * 20},
        ]
    return [*history, {"role": "assistant", "content": "done"}, {"role": "user", "content": "n" * 10}]


class Rewrites:
    """A policy that proposes the given message and nothing else."""

    def __init__(self, *changes: Any) -> None:
        self.changes = changes

    def rewrites(self, passage: Passage) -> Iterator[Change]:
        for change in self.changes:
            yield Change(change(passage) if callable(change) else change, "proposed")


class Shout:
    """Ten lines of one's own: long answers of the assistant keep their first sentence."""

    def rewrites(self, passage: Passage) -> Iterator[Change]:
        for index, message in passage:
            if message.role == "assistant" and index < passage.newest:
                parts = [part.split(".")[0] + "." if isinstance(part, str) else part for part in message.parts]
                yield Change({index: edited(message, parts)}, "first sentence kept")


def test_an_own_policy_shortens_only_as_far_as_needed() -> None:
    history = by_hand.talk("q", "One. Two. Three.", "q", "Four. Five. Six.", "n")
    context = built(history, by_hand.cost(history) - 1, Shout())
    assert context is not None
    check(context, history, 40)
    assert [message["content"] for message in context.request()["messages"]] == [
        "q",
        "One.",
        "q",
        "Four. Five. Six.",
        "n",
    ]
    assert "Shout: 1 × first sentence kept" in str(context.report)


def part_of(index: int, **changes: Any) -> Any:
    """A message whose first part of the kind is changed in place."""

    def change(passage: Passage) -> dict[int, Message]:
        message = passage.current(index)
        parts = [attrs.evolve(part, **changes) if isinstance(part, Call | Result) else part for part in message.parts]
        return {index: edited(message, parts)}

    return change


BREACHES = {
    "a call without its result": {1: None},
    "a result without its call": {2: None},
    "results of two steps crossed": {1: None, 4: None},
    "another role": lambda passage: {5: read_message({"role": "user", "content": "x"}, 5)},
    "a call taken out of its message": lambda passage: {1: read_message({"role": "assistant", "content": ""}, 1)},
    "a call of another id": lambda passage: {3: attrs.evolve(passage.current(3), parts=(Call("z", "f", ""),))},
}


@pytest.mark.parametrize("change", BREACHES.values(), ids=list(BREACHES))
def test_a_change_that_would_break_the_history_raises(change: Any) -> None:
    with pytest.raises(PlanError, match="policy Rewrites"):
        assembler_of(session(), 60, [Rewrites(change), TrimOldest()]).build()


def held(part: dict[str, Any]) -> Message:
    return read_message({"role": "assistant" if part["type"] == "tool_use" else "user", "content": [part]}, 0)


CALLED = held({"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}})
ANSWERED = held({"type": "tool_result", "tool_use_id": "a", "content": "ok"})
SLIPS: dict[str, tuple[Message, dict[str, Any]]] = {
    "arguments that are an object": (CALLED, {"arguments": {"x": 2}}),
    "arguments that are nothing": (CALLED, {"arguments": None}),
    "arguments cut in the middle": (CALLED, {"arguments": '{"x'}),
    "arguments that are a list": (CALLED, {"arguments": "[1]"}),
    "arguments that JSON cannot carry": (CALLED, {"arguments": '{"x": NaN}'}),
    "a text in place of parts": (ANSWERED, {"parts": "gone"}),
    "a part that is a block": (ANSWERED, {"parts": ({"type": "text", "text": "gone"},)}),
    "an object that is a number": (ANSWERED, {"parts": ("gone",), "given": 5}),
}


@pytest.mark.parametrize(("message", "changes"), SLIPS.values(), ids=list(SLIPS))
def test_a_part_that_no_message_can_hold_is_refused_with_what_to_write(
    message: Message, changes: dict[str, Any]
) -> None:
    (part,) = message.parts
    with pytest.raises(MessageTypeError, match=r"edited\(\): parts\[0\] is a .*; write "):
        edited(message, [attrs.evolve(part, **changes)])  # type: ignore[arg-type, type-var]


def test_arguments_that_chat_holds_as_a_text_may_be_any_text() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    message = read_message({"role": "assistant", "content": None, "tool_calls": [call]}, 0)
    (part,) = message.parts
    assert isinstance(part, Call)
    cut: Any = edited(message, [attrs.evolve(part, arguments='{"x')]).raw
    assert cut["tool_calls"][0]["function"]["arguments"] == '{"x'


TURNS = {
    "the newest turn": {6: None},
    "a question without the rest of its turn": {0: None},
    "a question and a step of its turn": {0: None, 1: None, 2: None},
    "a turn of which one message is rewritten": lambda passage: {
        **dict.fromkeys(range(5)),
        5: read_message({"role": "assistant", "content": "d"}, 5),
    },
}


@pytest.mark.parametrize("change", TURNS.values(), ids=list(TURNS))
def test_a_question_is_dropped_only_with_its_whole_older_turn(change: Any) -> None:
    with pytest.raises(PlanError, match=r"policy Rewrites drops message \d, the question of its turn"):
        assembler_of(session(), 60, [Rewrites(change), TrimOldest()]).build()


def test_a_whole_turn_or_what_is_left_of_it_may_be_dropped() -> None:
    history = [*session(), {"role": "assistant", "content": "yes"}, {"role": "user", "content": "m"}]
    for changes in ([dict.fromkeys(range(6))], [{1: None, 2: None}, {0: None, 3: None, 4: None, 5: None}]):
        context = built(history, 14, Rewrites(*changes))
        assert context is not None
        check(context, history, 14)
        assert context.messages == history[6:]


class Looks:
    """Records the turns that it gets, and drops the given ones."""

    def __init__(self, *changes: dict[int, None]) -> None:
        self.changes = changes
        self.seen: list[list[int]] = []

    def rewrites(self, passage: Passage) -> Iterator[Change]:
        turns, self.seen = passage.turns(), []
        for change in self.changes:
            self.seen.append(next(turns))
            yield Change(change, "told")
        self.seen += turns


def test_the_turns_of_a_passage_are_those_that_stay_with_their_remaining_messages() -> None:
    talk: History = [{"role": role, "content": "t" * 20} for role in ("user", "assistant")]
    history = [{"role": "system", "content": "s"}, *session()[:6], *talk, *talk, {"role": "user", "content": "n"}]
    policy = Looks({2: None, 3: None}, {9: None, 10: None})
    context = built(history, 40, [policy, TrimOldest()])
    assert policy.seen == [[1, 2, 3, 4, 5, 6], [7, 8], [11]]
    assert context is not None
    again = Looks()
    built(history, 40, [Rewrites({2: None, 3: None}, {9: None, 10: None}), again, TrimOldest()])
    assert again.seen == [[1, 4, 5, 6], [7, 8], [11]]


@given(any_session)
def test_the_turns_of_a_passage_are_the_turns_of_the_conversation(history: History) -> None:
    policy = Looks()
    history = [*history, {"role": "user", "content": "more"}]
    built(history, 1, [policy])
    assert [[history[index] for index in turn] for turn in policy.seen] == by_hand.turns_of(history)


SAFE = {
    "the same step twice": ({1: None, 2: None}, {1: None, 2: None}),
    "messages before the first": ({-1: None, -2: None}, {-6: None}),
    "a message that costs more": (lambda passage: {5: read_message({"role": "assistant", "content": "x" * 99}, 5)},),
    "a message that was dropped, again": (
        {1: None, 2: None},
        lambda passage: {1: passage.current(1), 2: None},
        lambda passage: {1: None, 2: None},
    ),
    "nothing": ({},),
}


@pytest.mark.parametrize("changes", SAFE.values(), ids=list(SAFE))
@pytest.mark.parametrize("limit", range(10, 84, 9))
def test_a_change_that_saves_nothing_is_never_counted_as_saving(changes: Any, limit: int) -> None:
    history = session()
    context = built(history, limit, [Rewrites(*changes), TrimOldest()])
    if context is not None:
        check(context, history, limit)


def test_a_pinned_message_is_never_touched() -> None:
    history = session()
    history[2]["pinned"] = True
    assert built(history, 60, Rewrites({1: None, 2: None}, part_of(2, parts=("",)))) is None
    assert left(history, 62, Rewrites({1: None, 2: None}, {3: None, 4: None})) == by_hand.public(
        [*history[:3], *history[5:]]
    )


class Cuts:
    def __init__(self, first: int, **summary: Any) -> None:
        self.verdict = Cut(first, "as told", read_message(summary, 0) if summary else None)

    def cut(self, ledger: Any, room: int) -> Cut:
        return self.verdict


@pytest.mark.parametrize("first", [-1, 1, 2, 5, 7, 99])
def test_a_cut_where_no_turn_begins_raises_alone_and_in_a_ladder(first: int) -> None:
    for ladder in (Cuts(first), [Cuts(first)], [TrimOldest(keep_turns=2), Cuts(first)], [Cuts(first), Refuse()]):
        with pytest.raises(PlanError, match=f"policy Cuts keeps from message {first}[,;]"):
            assembler_of(session(), 20, ladder).build()


def test_after_a_cut_that_leaves_too_much_the_next_rung_is_asked() -> None:
    history = session()
    assert left(history, 20, [Cuts(0), TrimOldest()]) == history[6:]
    with pytest.raises(ContextLengthError):
        assembler_of(history, 20, Cuts(0)).build()


def test_an_own_policys_summary_is_priced() -> None:
    history = session()
    context = built(history, 20, Cuts(6, role="user", content="told"))
    assert context is not None
    assert context.costs.total == 14
    assert built(history, 13, Cuts(6, role="user", content="told")) is None


def test_the_question_cannot_be_dropped() -> None:
    with pytest.raises(PlanError, match="policy Rewrites"):
        assembler_of(session(), 77, Rewrites({6: None})).build()


@pytest.mark.parametrize("index", [-1, 8, 99])
def test_the_error_names_a_change_of_a_missing_message(index: int) -> None:
    with pytest.raises(PlanError, match=f"policy Rewrites changes message {index}, "):
        assembler_of(session(), 77, Rewrites({1: None, 2: None, index: None})).build()


def item(role: str, text: str) -> dict[str, Any]:
    """A message as Responses gives it."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


@pytest.mark.parametrize(
    "change",
    [{1: None, 99: None}, {1: None, -1: None}, lambda passage: {0: attrs.evolve(passage.current(0), role="critic")}],
)
def test_a_change_of_an_item_that_no_dialect_could_price_raises(change: Any) -> None:
    """They were an IndexError, and an AssertionError of Mistral's prices."""
    for dialect in (openai_responses, mistral):
        items: History = [item(role, f"{role}{place}") for place in range(2) for role in ("user", "assistant")]
        with pytest.raises(PlanError, match="policy Rewrites changes "):
            assembler_of([*items, item("user", "now")], 30, Rewrites(change), dialect).build()


class DropsAtOnce:
    """Drops the oldest turns in one change."""

    def __init__(self, number: int) -> None:
        self.number = number

    def rewrites(self, passage: Passage) -> Iterator[Change]:
        oldest = [index for turn in [*passage.turns()][: self.number] for index in turn]
        yield Change(dict.fromkeys(oldest), "old")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_turns_of_items_that_one_change_drops_are_subtracted_once(number: int) -> None:
    """A request of 157 tokens was counted as 67: each turn's saving held that of its neighbours."""
    items: History = [item(role, "u" * 30) for _ in range(4) for role in ("user", "assistant")][:-1]
    whole = Assembler(Budget(10**6, counter=len), dialect=openai_responses).add_messages(items).build().count.tokens
    context = assembler_of(items, whole - 1, DropsAtOnce(number), openai_responses).build()
    assert context.messages == items[2 * number :]
    sent_alone = Assembler(Budget(10**6, counter=len), dialect=openai_responses).add_messages(items[2 * number :])
    assert context.count == sent_alone.build().count


def test_a_message_with_more_text_than_its_parts_is_not_sent() -> None:
    naive = Rewrites(lambda passage: {0: attrs.evolve(passage.current(0), parts=("u",))})
    try:
        context = assembler_of(session(), 70, naive).build()
    except PlanError:
        return
    assert by_hand.cost(context.request()["messages"]) <= 70


@pytest.mark.parametrize(
    "summary",
    [
        {"role": "tool", "tool_call_id": "z", "content": "an answer to nothing"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "z", "name": "f", "input": {}}]},
    ],
    ids=["a result without its call", "a call without its result"],
)
def test_a_summary_that_would_break_the_history_raises(summary: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match="policy Cuts returns a summary"):
        assembler_of(session(), 50, Cuts(6, **summary)).build()


@pytest.mark.parametrize("bad", [None, 3, "trim", [], [TrimOldest()] * 0, [TrimOldest(), 3], TrimOldest, [TrimOldest]])
def test_a_value_that_is_not_a_policy_is_refused_at_once(bad: Any) -> None:
    with pytest.raises(BudgetError, match="on_overflow"):
        assembler_of([], 5, bad)


@pytest.mark.parametrize("bad", [None, 3, "chat_regions", ChatRegions, TrimOldest()])
def test_a_value_that_is_not_a_strategy_is_refused_at_once(bad: Any) -> None:
    with pytest.raises(BudgetError, match="strategy: expected a strategy"):
        Assembler(strategy=bad)


@pytest.mark.parametrize("share", [0, -0.5, 1.01, True, "half", float("nan")])
def test_an_illegal_share_is_refused_at_once(share: Any) -> None:
    with pytest.raises(BudgetError, match="low_water"):
        TrimOldest(low_water=share)


@attrs.frozen
class Cutting:
    """A policy that cuts like another one, but declares nothing."""

    inner: Any

    def cut(self, ledger: Any, room: int) -> Cut:
        verdict: Cut = self.inner.cut(ledger, room)
        return verdict


@attrs.frozen
class Rewriting:
    """The same for one that rewrites."""

    inner: Any

    def rewrites(self, passage: Passage) -> Iterator[Change]:
        return iter(self.inner.rewrites(passage))


class Declaring:
    """One that declares the same as the policy that it calls."""

    inner: Any

    @property
    def traits(self) -> Traits:
        declared: Traits = self.inner.traits
        return declared


class Declared(Declaring, Cutting):
    """One that cuts."""


class DeclaredRewriting(Declaring, Rewriting):
    """One that rewrites."""


def mine(policy: Any) -> Any:
    """A user's policy in place of a built-in one. It declares only what cannot be found by calling it."""
    if not hasattr(policy, "cut"):
        return (DeclaredRewriting if hasattr(policy, "traits") else Rewriting)(policy)
    traits = rung_of(policy).traits
    silent = attrs.evolve(traits, keeps=None) == Traits()  # advice keeps a policy that declares a note
    return (Cutting if silent else Declared)(policy)


def documents(assembler: Assembler) -> Assembler:
    for number in range(4):
        assembler.add_knowledge("k" * (10 + number), type="rag", source=f"d{number}")
    return assembler


def outcome(history: History, window: int, policies: Any, strategy: Any = None, **settings: Any) -> dict[str, Any]:
    """What a caller sees: the request and the steps, or the error."""
    budget = Budget(window, counter=len, **settings)
    made = documents(Assembler(budget, dialect=plain, on_overflow=policies, strategy=strategy or ChatRegions()))
    try:
        plan = made.add_messages(history).plan()
    except ContextLengthError as error:
        return {"error": str(error), "evidence": (error.required, error.excess, error.smallest_window, error.costs)}
    context = made.build()
    return {
        "request": by_hand.canonical(context.request()),
        "steps": plan.report.steps(),
        "left out": [(item.id, item.outcome) for item in context.dropped],
    }


refusing = st.just(Refuse())
marked = st.builds(TrimOldest, st.sampled_from([0.3, 0.7]), keep_turns=st.integers(1, 2))


@scaled(0.5)
@given(any_session, st.one_of(ladders, st.lists(st.one_of(rungs, refusing, marked), max_size=4, min_size=1)), st.data())
def test_a_policy_that_delegates_to_a_built_in_differs_from_it_by_name_alone(
    history: History, ladder: list[Any], data: st.DataObject
) -> None:
    strategy = data.draw(st.sampled_from(STRATEGIES))
    beside = (
        documents(Assembler(Budget(10_000, counter=len))).costs().total
    )  # most windows hold the documents and a part of the turns
    window = data.draw(st.sampled_from([0, beside, beside])) + data.draw(st.integers(1, by_hand.cost(history) + 100))
    limits = data.draw(st.sampled_from([{}, {}, {"conversation": Limit(cap=0.6)}, {"knowledge": Limit(cap=40)}]))
    ours = outcome(history, window, ladder, strategy, limits=limits)
    assert outcome(history, window, [mine(policy) for policy in ladder], strategy, limits=limits) == ours


@pytest.mark.parametrize("policy", [Refuse(), TrimOldest(), TrimOldest(keep_turns=2)], ids=repr)
def test_the_error_for_a_policy_without_advice_is_that_of_the_built_in_it_delegates_to(policy: Any) -> None:
    """The error for a policy that drops nothing gave the advice of another error."""
    history: History = [{"role": "user", "content": letter * 30} for letter in "abc"]
    beside = documents(Assembler(Budget(10_000, counter=len))).costs().total
    for window in range(beside, beside + 90, 10):
        assert outcome(history, window, [Cutting(policy)]) == outcome(history, window, [policy])


@pytest.mark.parametrize("window", [400, 500, 700])
def test_sources_displace_the_turns_that_an_own_policy_drops(window: int) -> None:
    history: History = [{"role": "user", "content": letter * 20} for letter in "abcdefghijklmnopqrstu"]
    made = [
        Assembler(Budget(window, counter=len), dialect=plain, on_overflow=policy, strategy=CitedSources())
        for policy in (TrimOldest(), Cutting(TrimOldest()))
    ]
    for assembler in made:
        for number in range(8):
            assembler.add_knowledge("k" * 20, type="rag", source=f"d{number}", score=1.0)
        assembler.add_messages(history)
    ours, theirs = (assembler.build() for assembler in made)
    assert len(ours.sources) == len(theirs.sources) > 0
    assert ours.request() == theirs.request()


@pytest.mark.parametrize("bad", [None, 3, Traits, {"keeps": "all"}])
def test_traits_of_another_type_are_refused_when_the_assembler_is_made(bad: Any) -> None:
    class Mine(Cuts):
        traits = bad

    with pytest.raises(BudgetError, match="traits of Mine"):
        assembler_of([], 5, Mine(0))


@pytest.mark.parametrize(
    "bad",
    [
        {"keeps": "all"},
        {"keeps": KeepsAll},
        {"pins": 3},
        {"note": 5},
        {"low_water": 0.5},
        {"unmarked": Refuse()},
        {"low_water": 2, "unmarked": Refuse()},
        {"unasked": Refuse},
        {"briefest": "none"},
    ],
    ids=str,
)
def test_a_trait_that_no_policy_can_declare_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises((BudgetError, MarkupError)):
        Traits(**bad)


def test_a_policys_declaration_is_read_once() -> None:
    read: list[int] = []

    class Mine(Cuts):
        @property
        def traits(self) -> Traits:
            read.append(1)
            return Traits(pins={0})

    history: History = [{"role": "user", "content": letter * 20} for letter in "abc"]
    made = assembler_of(history, 40, Mine(2))
    for _ in range(3):
        assert made.fork().build().messages[0] is history[0]
    assert read == [1]


class CutsAQuestionOff:
    """Cuts in the middle of a turn."""

    def cut(self, ledger: Any, tokens_left: int) -> Cut:
        return Cut(ledger.first + 1, "half a turn")


@pytest.mark.parametrize("strategy", [None, CitedSources()])
def test_the_error_for_a_wrong_cut_names_its_policy_beside_documents_too(strategy: Any) -> None:
    """A strategy that chooses asks for the smallest conversation before anything is fitted."""
    settings: dict[str, Any] = {} if strategy is None else {"strategy": strategy}
    made = Assembler(Budget(60, counter=len), dialect=plain, on_overflow=CutsAQuestionOff(), **settings)
    made.add_knowledge("A fact.", type="fact").add_messages(session())
    with pytest.raises(PlanError, match="CutsAQuestionOff") as caught:
        made.build()
    assert caught.value.policy == "CutsAQuestionOff"
