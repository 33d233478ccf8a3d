"""Assemblers are forked, pickled and fail; after every step each equals a plain list and a brute force.

The model keeps lists of dicts and prices every cut anew, by characters. It shares no code with the library.
"""

from __future__ import annotations

import copy
import html
import json
import pickle
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from assembler import Assembler, AssemblyError, ContextLengthError, ConversationError, TrimOldest
from assembler.dialects import plain
from budgets import Budget, TokenCountError
from tests.assembler.by_hand import waiting_in
from tests.scaled import examples

Message = dict[str, Any]
WORDS = st.text("ab<&\n\u00e9", max_size=9)


PAST = st.lists(st.tuples(WORDS, st.sampled_from([0, 0, 1, 2])), min_size=1, max_size=4)


class Failing:
    """Counts characters; fails once, at its k-th call."""

    def __init__(self, call: int) -> None:
        self.left = call

    def __call__(self, text: str) -> int:
        self.left -= 1
        if self.left == 0:
            raise OSError
        return len(text)


class Model:
    """What was said, as plain lists."""

    def __init__(self) -> None:
        self.instruction = ""
        self.documents: list[tuple[str, bool]] = []
        self.messages: list[Message] = []
        self.limit = 60
        self.low: float | None = None

    def copied(self) -> Model:
        twin = Model()
        twin.instruction, twin.limit, twin.low = self.instruction, self.limit, self.low
        twin.documents, twin.messages = list(self.documents), list(self.messages)
        return twin

    def waiting(self) -> list[str]:
        return waiting_in(self.messages)

    def system(self) -> str | None:
        tags = [
            f'<context type="t" trusted="{str(trusted).lower()}">\n{html.escape(text, quote=False)}\n</context>'
            for text, trusted in self.documents
        ]
        return "\n\n".join([self.instruction] * bool(self.instruction) + tags) or None

    def turns(self) -> list[list[Message]]:
        turns: list[list[Message]] = []
        for message in self.messages:
            if message["role"] == "user" or not turns:
                turns.append([])
            turns[-1].append(message)
        return turns

    def kept(self, cut: int) -> list[Message]:
        """The turns from `cut` on, and the pinned ones before."""
        return [
            message
            for place, turn in enumerate(self.turns())
            for message in turn
            if place >= cut or any(each.get("pinned") for each in turn)
        ]

    def cost(self, messages: list[Message]) -> int:
        texts = [message["content"] or "" for message in messages]
        calls = [call["function"] for message in messages for call in message.get("tool_calls", ())]
        return len(self.system() or "") + sum(map(len, texts)) + sum(len(c["name"] + c["arguments"]) for c in calls)

    def cuts(self) -> list[list[Message]]:
        return [self.kept(cut) for cut in range(max(len(self.turns()), 1))]

    def build(self) -> list[Message] | int:
        """The messages of the longest cut that fits, or what the shortest one needs."""
        return next((kept for kept in self.cuts() if self.cost(kept) <= self.limit), self.cost(self.cuts()[-1]))


def assembled(model: Model, counter: Any = len, limit: int | None = None) -> Assembler:
    """A new assembler that gets all the content at once."""
    budget = Budget(model.limit if limit is None else limit, counter=counter)
    assembler = Assembler(budget, on_overflow=TrimOldest(model.low), dialect=plain)
    assembler.add_instruction(model.instruction)
    for text, trusted in model.documents:
        assembler.add_knowledge(text, type="t", trusted=trusted)
    return assembler.add_messages(model.messages)


def sent(messages: list[Message]) -> list[Message]:
    return [{key: value for key, value in message.items() if key != "pinned"} for message in messages]


def agree(assembler: Assembler, model: Model) -> None:
    """The assembler builds what the model says, and says it twice."""
    if model.waiting():
        try:
            assembler.build()
        except (ConversationError, ContextLengthError):
            answers(assembler, model)
            return
        raise AssertionError("a call without a result was let out")
    wanted = model.build()
    try:
        context = assembler.build()
    except ContextLengthError as error:
        assert isinstance(wanted, int)
        assert (error.required, error.available) == (wanted, model.limit)
        return
    assert not isinstance(wanted, int)
    if model.low is not None:
        assert context.messages in model.cuts()
        wanted = context.messages  # type: ignore[assignment]
    assert [id(message) for message in context.messages] == [id(message) for message in wanted]
    assert context.system == model.system()
    assert context.request().get("messages") == sent(wanted)
    assert context.count.tokens == context.costs.total == model.cost(wanted) <= model.limit
    report = context.report.to_dict()
    assert sum(row["after"] for row in report["rows"]) == context.count.tokens
    assert [each.index for each in context.dropped] == [
        place for place, message in enumerate(model.messages) if not any(message is kept for kept in wanted)
    ]
    assert json.dumps(assembler.build().request()) == json.dumps(context.request())


def answers(assembler: Assembler, model: Model) -> None:
    """How full is it, while calls wait for their results?"""
    try:
        plan = assembler.plan()
    except ContextLengthError as error:
        assert error.required == model.build()
        return
    assert plan.count.tokens == plan.costs.total <= model.limit
    if model.low is None:
        kept = model.build()
        assert not isinstance(kept, int)
        assert plan.count.tokens == model.cost(kept)


class Life(RuleBasedStateMachine):
    """The states are assemblers with their models; forks stay and are checked again after every step."""

    alive = Bundle("alive")

    @initialize(target=alive, low=st.sampled_from([None, None, 0.5]), limit=st.integers(1, 90), turns=PAST)
    def born(self, low: float | None, limit: int, turns: list[tuple[str, int]]) -> Any:
        model = Model()
        model.low, model.limit = low, limit
        self.number = 0
        self.everybody: list[tuple[Assembler, Model]] = [(assembled(model), model)]
        self.snapshots: list[tuple[Message, Message]] = []
        for text, calls in turns:
            self.exchange(self.everybody[0], text, calls)
        return self.everybody[0]

    def exchange(self, one: tuple[Assembler, Model], text: str, calls: int) -> None:
        """A whole turn: a question, perhaps a step, an answer."""
        self.ask(one, text, pinned=False)
        if calls:
            self.call(one, calls)
            for waiting in one[1].waiting():
                self.tell(one, self.message(role="tool", tool_call_id=waiting, content=text), lawful=True)
        self.answer(one, text)

    @rule(one=alive, turns=PAST)
    def talk(self, one: Any, turns: list[tuple[str, int]]) -> None:
        if not one[1].waiting():
            for text, calls in turns:
                self.exchange(one, text, calls)

    def message(self, **fields: Any) -> Message:
        message = dict(fields)
        self.snapshots.append((message, copy.deepcopy(message)))
        return message

    def tell(self, one: tuple[Assembler, Model], message: Message, lawful: bool) -> None:
        assembler, model = one
        try:
            returned = assembler.add_message(message)
        except ConversationError:
            assert not lawful
        else:
            assert lawful
            assert returned is assembler
            model.messages.append(message)

    @rule(one=alive, text=WORDS)
    def instruct(self, one: Any, text: str) -> None:
        one[0].add_instruction(text)
        one[1].instruction = text

    @rule(one=alive, text=WORDS, trusted=st.booleans())
    def know(self, one: Any, text: str, trusted: bool) -> None:
        one[0].add_knowledge(text, type="t", trusted=trusted)
        one[1].documents.append((text, trusted))

    @rule(one=alive, text=WORDS, pinned=st.sampled_from([False, False, False, True]))
    def ask(self, one: Any, text: str, pinned: bool) -> None:
        self.number += 1
        mark = {"pinned": True} if pinned else {}
        self.tell(one, self.message(role="user", content=f"{self.number}{text}", **mark), not one[1].waiting())

    @rule(one=alive, text=WORDS)
    def answer(self, one: Any, text: str) -> None:
        self.tell(one, self.message(role="assistant", content=f"{text}."), not one[1].waiting())

    @rule(one=alive, number=st.integers(1, 3))
    def call(self, one: Any, number: int) -> None:
        self.number += 1
        calls = [
            {"id": f"c{self.number}-{each}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            for each in range(number)
        ]
        self.tell(one, self.message(role="assistant", content=None, tool_calls=calls), not one[1].waiting())

    @rule(one=alive, data=st.data(), text=WORDS)
    def result(self, one: Any, data: st.DataObject, text: str) -> None:
        for waiting in data.draw(st.permutations(one[1].waiting()), label="order"):
            self.tell(one, self.message(role="tool", tool_call_id=waiting, content=text), lawful=True)

    @rule(one=alive, data=st.data())
    def one_result(self, one: Any, data: st.DataObject) -> None:
        if waiting := one[1].waiting():
            chosen = data.draw(st.sampled_from(waiting), label="call")
            self.tell(one, self.message(role="tool", tool_call_id=chosen, content="r"), lawful=True)

    @rule(one=alive)
    def wrong_result(self, one: Any) -> None:
        self.tell(one, self.message(role="tool", tool_call_id="nobody", content="r"), lawful=False)

    @rule(one=alive)
    def second_result(self, one: Any) -> None:
        answered = [m["tool_call_id"] for m in one[1].messages if m["role"] == "tool"]
        if answered:
            self.tell(one, self.message(role="tool", tool_call_id=answered[-1], content="r"), lawful=False)

    @rule(
        one=alive, bad=st.sampled_from([None, {}, {"role": "user"}, {"role": "user", "content": "\ud800"}, ("user",)])
    )
    def nonsense(self, one: Any, bad: Any) -> None:
        try:
            one[0].add_message(bad)
        except AssemblyError:
            return
        raise AssertionError("accepted")

    @rule(target=alive, one=alive)
    def fork(self, one: Any) -> Any:
        if len(self.everybody) > 5:
            return multiple()
        self.everybody.append((one[0].fork(), one[1].copied()))
        return self.everybody[-1]

    @rule(target=alive, one=alive, nudge=st.integers(-2, 2), data=st.data())
    def another_budget(self, one: Any, nudge: int, data: st.DataObject) -> Any:
        """A second assembler over the same messages, its window on the edge of what some cut costs."""
        if len(self.everybody) > 5 or one[1].waiting():
            return multiple()
        model = one[1].copied()
        edges = [model.cost(kept) for kept in model.cuts()]
        model.limit = max(data.draw(st.sampled_from(edges), label="edge") + nudge, 1)
        self.everybody.append((assembled(model), model))
        return self.everybody[-1]

    @rule(one=alive)
    def on_every_edge(self, one: Any) -> None:
        """One token less, exactly, one token more than each cut costs."""
        if not one[1].waiting():
            for edge in {one[1].cost(kept) for kept in one[1].cuts()}:
                for limit in (edge - 1, edge, edge + 1):
                    model = one[1].copied()
                    model.limit = max(limit, 1)
                    agree(assembled(model), model)

    @rule(one=alive)
    def retell(self, one: Any) -> None:
        """Sets the whole list again, which keeps what was saved of it."""
        if not one[1].waiting():
            one[0].add_messages(list(one[1].messages))

    @rule(one=alive)
    def pickled(self, one: Any) -> None:
        assembler = one[0]
        again = pickle.loads(pickle.dumps(assembler))
        assert again == assembler
        try:
            wanted: Any = assembler.build().request()
        except AssemblyError as error:
            wanted = str(error)
        try:
            found: Any = again.build().request()
        except AssemblyError as error:
            found = str(error)
        assert found == wanted

    @rule(one=alive, call=st.integers(1, 12))
    def count_fails(self, one: Any, call: int) -> None:
        model = one[1]
        if model.waiting():
            return
        assembler = assembled(model, Failing(call))
        try:
            assembler.build()
        except TokenCountError as error:
            assert isinstance(error.__cause__, OSError)
        except ContextLengthError:
            pass
        try:
            agree(assembler, model)
        except TokenCountError:  # it failed later than in the first build
            agree(assembler, model)

    @invariant()
    def everybody_agrees(self) -> None:
        for assembler, model in getattr(self, "everybody", ()):
            agree(assembler, model)

    @invariant()
    def nothing_given_was_changed(self) -> None:
        for message, snapshot in getattr(self, "snapshots", ()):
            assert message == snapshot


TestLifeOfAnAssembler = Life.TestCase
TestLifeOfAnAssembler.settings = settings(max_examples=examples(0.5), stateful_step_count=25)
