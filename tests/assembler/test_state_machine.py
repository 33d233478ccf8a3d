"""After any sequence of operations every assembler equals a fresh one.

Two witnesses speak after each step. A fresh assembler, told everything in one go, must say the same, byte for byte. And
a brute force over lists of dicts, which shares no code with the library, says what must stay and what it costs.
"""

from __future__ import annotations

import html
import json
import operator
import pickle
import sys
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from assembler import (
    Assembler,
    AssemblyError,
    ClearToolResults,
    ContextLengthError,
    ConversationError,
    Policy,
    Refuse,
    TrimOldest,
    TrimSteps,
    Truncate,
    calibrate,
    first_user,
)
from assembler.dialects import DIALECTS
from budgets import Budget, TokenCountError
from tests.assembler.by_hand import waiting_in
from tests.scaled import examples

Message = dict[str, Any]


class Flaky:
    """Counts characters; once armed, fails at its k-th call from then on."""

    def __init__(self) -> None:
        self.left = 0

    def __call__(self, text: str) -> int:
        self.left -= 1
        if self.left == 0:
            raise OSError
        return len(text)


def shouts(message: Any) -> bool:
    return "!" in str(fields_of(message)["content"])


LADDERS: dict[str, list[Policy]] = {
    "refuse": [Refuse()],
    "trim": [TrimOldest()],
    "keep two": [TrimOldest(keep_turns=2)],
    "note": [TrimOldest(note="gone")],
    "low water": [TrimOldest(0.5)],
    "first question": [TrimOldest(pins=first_user)],
    "shouts": [TrimOldest(pins=shouts)],
    "clear": [ClearToolResults(keep=1), TrimOldest()],
    "steps": [TrimSteps(keep=0), Truncate(6), TrimOldest(0.7)],
}
SUFFIXES = {"refuse": None, "trim": (1, 0), "keep two": (2, 0), "note": (1, len("gone"))}
"""The ladders that the brute force decides: how many turns stay at least, and what their note costs; None for all."""

TEXT = st.text("ab<!", max_size=12)
LONG = st.one_of(TEXT, TEXT, st.just("x" * 70))
ROLE = st.sampled_from(["user", "user", "assistant", "system"])
PAST = st.lists(st.tuples(LONG, st.booleans(), st.booleans()), min_size=1, max_size=7)
"""Turns: what is said in them, whether a tool is asked, and whether they are objects."""
PLACE = st.integers(0, 40)
ANYBODY = st.integers(0, 9)


def words(text: str) -> Message:
    return {"content": text + "*"}


SPOKEN_BY: list[Message] = [{"role": "user"}, {"role": "assistant"}, {"role": "system"}]
MARKED: list[Message] = [{"pinned": True}, {"pinned": False}]
EDIT = st.one_of(LONG.map(words), st.sampled_from(MARKED), st.sampled_from(SPOKEN_BY))


def fields_of(message: Any) -> Message:
    return cast(Message, message if isinstance(message, dict) else vars(message))


class Model:
    """The content of an assembler as plain lists, and what must follow from it."""

    def __init__(self, ladder: str, dialect: str, limit: int, counter: Flaky) -> None:
        self.ladder, self.dialect, self.limit, self.counter = ladder, dialect, limit, counter
        self.instruction = ""
        self.tool: Message | None = None
        self.documents: list[str] = []
        self.messages: list[Any] = []
        self.bill: Any = None
        self._fresh: tuple[Any, list[Any]] | None = None

    def copied(self) -> Model:
        twin = Model(self.ladder, self.dialect, self.limit, self.counter)
        vars(twin).update(vars(self))
        twin.documents, twin.messages = list(self.documents), list(self.messages)
        return twin

    def assembled(self, limit: int | None = None, counter: Any = len) -> Assembler:
        """A fresh assembler with all the content. Raises what its methods raise."""
        budget = Budget(self.limit if limit is None else limit, counter=counter)
        assembler = Assembler(budget, dialect=DIALECTS[self.dialect], on_overflow=LADDERS[self.ladder])
        assembler.add_instruction(self.instruction).add_capability([self.tool] if self.tool else [])
        for text in self.documents:
            assembler.add_knowledge(text, type="t")
        return assembler.anchor(self.bill).add_messages(self.messages)

    def of_a_fresh_one(self) -> list[Any]:
        """What a fresh assembler reports of it; cached until the content changes."""
        messages = [(id(one), json.dumps(fields_of(one))) for one in self.messages]
        known = (self.limit, self.instruction, self.tool, [*self.documents], messages, self.bill)
        if self._fresh is None or self._fresh[0] != known:
            self._fresh = known, everything_of(self.assembled())
        return self._fresh[1]

    # ── The brute force ──

    def waiting(self) -> list[str]:
        return waiting_in(map(fields_of, self.messages))

    def system(self) -> str | None:
        tags = [
            f'<context type="t" trusted="false">\n{html.escape(text, quote=False)}\n</context>'
            for text in self.documents
        ]
        return "\n\n".join([self.instruction] * bool(self.instruction) + tags) or None

    def split(self) -> tuple[list[Message], list[list[Message]]]:
        """The system messages at the head, and the turns."""
        messages = [fields_of(message) for message in self.messages]
        head = next((i for i, one in enumerate(messages) if one["role"] != "system"), len(messages))
        turns: list[list[Message]] = []
        for message in messages[head:]:
            if message["role"] == "user" or not turns:
                turns.append([])
            turns[-1].append(message)
        return messages[:head], turns

    def cost(self, messages: list[Message]) -> int:
        calls = [call["function"] for message in messages for call in message.get("tool_calls") or ()]
        texts = [message["content"] for message in messages] + [call["arguments"] + call["name"] for call in calls]
        tool = len(json.dumps(self.tool, separators=(",", ":"))) if self.tool else 0
        return len(self.system() or "") + tool + sum(map(len, texts))

    def stays(self) -> tuple[list[Message], int]:
        """The messages that stay, note aside, and what the request costs; of the least where none fits.

        That may be everything: a note can cost more than what it stands for.
        """
        head, turns = self.split()
        rule = SUFFIXES[self.ladder]
        everything = [*head, *(message for turn in turns for message in turn)]
        least = found = everything, self.cost(everything)
        if rule is None or found[1] <= self.limit:
            return found
        for cut in range(1, max(len(turns) - rule[0], 0) + 1):
            kept = [turn for place, turn in enumerate(turns) if place >= cut or any(m.get("pinned") for m in turn)]
            messages = [*head, *(message for turn in kept for message in turn)]
            found = messages, self.cost(messages) + rule[1]
            if found[1] <= self.limit:
                return found
            least = min(least, found, key=operator.itemgetter(1))
        return least


def evidence(error: AssemblyError) -> tuple[str, str]:
    return type(error).__name__, str(error)


def planned(assembler: Assembler) -> list[Any]:
    """A plan, or the overflow that it raised: no other error may occur."""
    try:
        plan = assembler.plan()
    except ContextLengthError as error:
        return [evidence(error)]
    return [plan.count, plan.costs, plan.kept, [(message.id, message.outcome) for message in plan.dropped]]


def built(assembler: Assembler) -> list[Any]:
    try:
        context = assembler.build()
        found: list[Any] = [json.dumps(context.request()), context.count, context.costs, context.prefix_hash]
    except AssemblyError as error:
        return [evidence(error)]
    return [
        *found,
        [id(message.message) for message in context.dropped],
        [(r.before, r.after) for r in context.report.rows],
    ]


DOORS: list[Callable[[Assembler], Any]] = [planned, built, Assembler.costs, Assembler.available_for_messages]


def everything_of(assembler: Assembler, first: int = 0) -> list[Any]:
    """All that an assembler reports. `first` is asked first, since it may refresh what the others read."""
    answers = {place % len(DOORS): DOORS[place % len(DOORS)](assembler) for place in range(first, first + len(DOORS))}
    return [answers[place] for place in sorted(answers)]


def agree(assembler: Assembler, model: Model, first: int) -> None:
    """The assembler reports what a fresh one reports. Untouched forks are checked again after the next step."""
    assert everything_of(assembler, first) == model.of_a_fresh_one()


def agrees_with_brute_force(assembler: Assembler, model: Model) -> None:
    """Compares the kept messages and their cost with a brute force, where one is simple."""
    if model.ladder not in SUFFIXES or model.dialect != "plain" or model.bill is not None:
        return
    wanted, cost = model.stays()
    try:
        plan = assembler.plan()
    except ContextLengthError as error:
        assert error.required >= cost > model.limit
        return
    everything = [fields_of(message) for message in model.messages]
    assert [id(everything[place]) for place in plan.kept] == [id(message) for message in wanted]
    assert plan.count.tokens == plan.costs.total == cost <= model.limit
    assert plan.inside.measured.rendered.system == model.system()
    if model.waiting():
        return
    sent = [message["content"] for message in assembler.build().request()["messages"]]
    assert [text for text in sent if text != "gone"] == [message["content"] for message in wanted]


@contextmanager
def switching_often() -> Generator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Life(RuleBasedStateMachine):
    """The states are assemblers with their content. Forks share the message objects of their origin."""

    def __init__(self) -> None:
        super().__init__()
        self.everybody: list[tuple[Assembler, Model]] = []
        self.number = self.steps = 0

    @initialize(
        ladder=st.sampled_from([*SUFFIXES, *LADDERS]),
        dialect=st.sampled_from(["plain", "plain", "openai_chat", "anthropic"]),
        limit=st.integers(10, 120),
        head=st.sampled_from([0, 0, 0, 1, 2]),
        texts=st.one_of(st.just([]), PAST, PAST),
    )
    def born(self, ladder: str, dialect: str, limit: int, head: int, texts: list[tuple[str, bool, bool]]) -> None:
        counter = Flaky()
        model = Model(ladder, dialect, limit, counter)
        self.everybody.append((model.assembled(counter=counter), model))
        self.say(0, ["system"] * head, "", as_object=False)
        for text, steps, as_object in texts:
            self.say(0, ["user"], text, as_object)
            if steps:
                self.call(0, 2, as_object)
                self.answer(0, text, as_object)
            self.say(0, ["assistant"], text, as_object)

    def one(self, who: int) -> tuple[Assembler, Model]:
        return self.everybody[who % len(self.everybody)]

    def adds(self, who: int, as_object: bool, **fields: Any) -> None:
        assembler, model = self.one(who)
        message = SimpleNamespace(**fields) if as_object else fields
        assembler.add_message(message)
        model.messages.append(message)

    # ── What is added ──

    @rule(who=ANYBODY, roles=st.lists(ROLE, min_size=1, max_size=4), text=LONG, as_object=st.booleans())
    def say(self, who: int, roles: list[str], text: str, as_object: bool) -> None:
        for role in [] if self.one(who)[1].waiting() else roles:
            self.number += 1
            self.adds(who, as_object, role=role, content=f"{self.number}{text}")

    @rule(who=ANYBODY, calls=st.integers(1, 2), as_object=st.booleans())
    def call(self, who: int, calls: int, as_object: bool) -> None:
        if not self.one(who)[1].waiting():
            self.number += 1
            ids = [f"c{self.number}_{each}" for each in range(calls)]
            asked = [{"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in ids]
            self.adds(who, as_object, role="assistant", content="so", tool_calls=asked)

    @rule(who=ANYBODY, text=LONG, as_object=st.booleans())
    def answer(self, who: int, text: str, as_object: bool) -> None:
        for waiting in self.one(who)[1].waiting():
            self.adds(who, as_object, role="tool", tool_call_id=waiting, content=text + ".")

    @rule(who=ANYBODY, as_object=st.booleans())
    def answer_one(self, who: int, as_object: bool) -> None:
        for waiting in self.one(who)[1].waiting()[-1:]:
            self.adds(who, as_object, role="tool", tool_call_id=waiting, content="r")

    @rule(who=ANYBODY)
    def refuse_what_breaks_the_law(self, who: int) -> None:
        try:
            self.one(who)[0].add_message({"role": "tool", "tool_call_id": "nobody", "content": "r"})
        except ConversationError:
            return
        raise AssertionError("accepted")

    @rule(who=ANYBODY, text=TEXT)
    def instruct(self, who: int, text: str) -> None:
        assembler, model = self.one(who)
        assembler.add_instruction(text)
        model.instruction = text

    @rule(who=ANYBODY, text=TEXT)
    def know(self, who: int, text: str) -> None:
        assembler, model = self.one(who)
        assembler.add_knowledge(text, type="t")
        model.documents.append(text)

    @rule(who=ANYBODY, text=TEXT)
    def equip(self, who: int, text: str) -> None:
        assembler, model = self.one(who)
        model.tool = {"name": "look", "description": f"Looks {text}."}
        assembler.add_capability([model.tool])

    # ── What is changed ──

    @rule(who=ANYBODY, stop=PLACE, text=LONG)
    def replace(self, who: int, stop: int, text: str) -> None:
        """Sets another list with the same beginning, which may be all of it."""
        assembler, model = self.one(who)
        twin = model.copied()
        del twin.messages[stop % (len(twin.messages) + 1) :]
        if not twin.waiting():
            model.messages = [*twin.messages, {"role": "user", "content": text + "?"}]
            assembler.add_messages(list(model.messages))

    @rule(who=ANYBODY, edits=st.lists(st.tuples(PLACE, EDIT), min_size=1, max_size=4))
    def edit(self, who: int, edits: list[tuple[int, Message]]) -> None:
        """Edits messages in place: their text, a pin, or the role, which can split or join turns."""
        messages = self.one(who)[1].messages
        for place, changes in edits if messages else ():
            fields = fields_of(messages[place % len(messages)])
            if "role" not in changes or (fields["role"] != "tool" and "tool_calls" not in fields):
                fields.update(changes)

    @rule(who=ANYBODY)
    def take_calls_back(self, who: int) -> None:
        """Removes calls in place, so that they need no answer. Not if a fork has answered them."""
        model = self.one(who)[1]
        newest = fields_of(model.messages[-1]) if model.messages else {}
        earlier = (fields_of(message) for _, other in self.everybody for message in other.messages[:-1])
        if "tool_calls" in newest and not any(message is newest for message in earlier):
            del newest["tool_calls"]

    @rule(who=ANYBODY, place=PLACE, text=TEXT)
    def rewrite_a_call(self, who: int, place: int, text: str) -> None:
        asking = [one for one in map(fields_of, self.one(who)[1].messages) if "tool_calls" in one]
        if asking:
            asking[place % len(asking)]["tool_calls"][0]["function"]["arguments"] = json.dumps({"q": text})

    # ── What is asked ──

    @precondition(lambda self: len(self.everybody) < 3)
    @rule(who=ANYBODY)
    def fork(self, who: int) -> None:
        assembler, model = self.one(who)
        self.everybody.append((assembler.fork(), model.copied()))

    @precondition(lambda self: len(self.everybody) < 3)
    @rule(who=ANYBODY, nudge=st.integers(-30, 30))
    def another_budget(self, who: int, nudge: int) -> None:
        model = self.one(who)[1].copied()
        model.limit, model.counter = max(model.limit + nudge, 1), Flaky()
        self.everybody.append((model.assembled(counter=model.counter), model))

    @rule(who=ANYBODY)
    def unpickle(self, who: int) -> None:
        """Replaces the assembler by its pickled copy, which has its own copies of the messages."""
        copies = pickle.loads(pickle.dumps(self.one(who)))
        self.everybody[who % len(self.everybody)] = copies

    @rule(who=ANYBODY, margin=st.integers(0, 40))
    def anchor(self, who: int, margin: int) -> None:
        assembler, model = self.one(who)
        try:
            context = assembler.build()
            model.bill = calibrate(context, context.by_rule.tokens + margin) if margin else None
        except AssemblyError:  # of nothing there is no bill
            return
        assembler.anchor(model.bill)

    @rule(who=ANYBODY, call=st.integers(1, 4), text=TEXT)
    def fail_to_count(self, who: int, call: int, text: str) -> None:
        """The counter fails while a new message, an edited one and new knowledge are priced."""
        assembler, model = self.one(who)
        self.say(who, ["user"], "new" + text, as_object=False)
        self.edit(who, [(call, words(f"{text}{self.number}"))])
        self.know(who, f"{text}{self.number}")
        for door in (assembler.plan, assembler.build, assembler.costs, assembler.available_for_messages):
            model.counter.left = call
            try:
                door()
            except TokenCountError as error:
                assert isinstance(error.__cause__, OSError)
            except (ContextLengthError, ConversationError):
                pass
        model.counter.left = 0

    @rule(who=ANYBODY, window=st.integers(1, 200))
    def ask_what_if(self, who: int, window: int) -> None:
        assembler, model = self.one(who)
        try:
            plan = assembler.plan()
        except AssemblyError:
            return
        try:
            other: Any = plan.what_if(context_window=window)
            found: Any = other.count, other.kept
        except AssemblyError as error:
            found = evidence(error)
        try:
            other = model.assembled(window).plan()
            wanted: Any = other.count, other.kept
        except AssemblyError as error:
            wanted = evidence(error)
        assert found == wanted

    @rule(who=ANYBODY)
    def replay(self, who: int) -> None:
        assembler, model = self.one(who)
        try:
            context = model.assembled(counter=model.counter).build()
            manifest = context.manifest()
        except AssemblyError:
            return
        assert assembler.replay(manifest).request() == context.request()

    @rule(who=ANYBODY, roles=st.lists(st.sampled_from(["user", "assistant", "system"]), min_size=3, max_size=3))
    def build_from_threads(self, who: int, roles: list[str]) -> None:
        """Forks of one base that grow and build at once; some grow in the base's own log."""
        assembler, model = self.one(who)
        if model.waiting():
            return

        def run_session(role: str) -> list[Any]:
            fork = assembler.fork()
            return everything_of(fork.add_message(mine[role])) + everything_of(assembler)

        mine = {role: {"role": role, "content": f"from a thread: {role}"} for role in roles}
        with switching_often(), ThreadPoolExecutor(len(roles)) as threads:
            found = list(threads.map(run_session, roles))
        base = model.of_a_fresh_one()
        for role, answer in zip(roles, found, strict=True):
            twin = model.copied()
            twin.messages.append(mine[role])
            assert answer == everything_of(twin.assembled()) + base

    @invariant()
    def everybody_is_as_if_fresh(self) -> None:
        self.steps += 1
        for assembler, model in self.everybody:
            agree(assembler, model, self.steps)
            agrees_with_brute_force(assembler, model)


TestLifeOfAssemblers = Life.TestCase
TestLifeOfAssemblers.settings = settings(max_examples=examples(0.5), stateful_step_count=12)

ONE: list[tuple[str, bool, bool]] = [("aaaa", False, False)]
"""A turn of ten characters."""
TOO_LONG: list[tuple[str, bool, bool]] = [("x" * 70, False, False)]


def a_sibling_is_told_a_system_message(life: Life) -> None:
    life.born("trim", "plain", 60, 1, [])
    life.fork(0)
    life.everybody_is_as_if_fresh()
    life.say(1, ["system", "user"], "", as_object=False)


def what_did_not_fit_is_shortened(life: Life) -> None:
    life.born("refuse", "plain", 40, 0, TOO_LONG)
    life.everybody_is_as_if_fresh()
    life.edit(0, [(0, words("")), (1, words(""))])


def a_turn_that_went_long_ago_is_pinned(life: Life) -> None:
    life.born("trim", "plain", 20, 0, ONE * 5)
    life.everybody_is_as_if_fresh()
    life.edit(0, [(2, {"pinned": True})])


def the_turn_that_did_not_fit_is_shortened(life: Life) -> None:
    life.born("trim", "plain", 20, 0, [*ONE, *TOO_LONG, *ONE])
    life.everybody_is_as_if_fresh()
    life.edit(0, [(2, words("")), (3, words(""))])


def the_first_of_what_went_becomes_a_system_message(life: Life) -> None:
    life.born("trim", "plain", 20, 0, ONE * 5)
    life.everybody_is_as_if_fresh()
    life.edit(0, [(0, {"role": "system"})])


def what_went_under_a_low_mark_is_shortened(life: Life) -> None:
    life.born("low water", "plain", 40, 0, [*TOO_LONG, *ONE * 7])
    life.everybody_is_as_if_fresh()
    life.edit(0, [(0, words("")), (1, words(""))])


def a_system_message_is_shortened(life: Life) -> None:
    life.born("trim", "plain", 90, 1, ONE)
    life.everybody_is_as_if_fresh()
    life.edit(0, [(0, words("more"))])


def a_long_forgotten_turn_is_shortened(life: Life) -> None:
    life.born("trim", "plain", 20, 0, [*ONE, *TOO_LONG, *ONE * 3])
    life.everybody_is_as_if_fresh()
    life.edit(0, [(1, words("shorter"))])


def calls_are_taken_back_and_the_talk_goes_on(life: Life) -> None:
    life.born("trim", "plain", 60, 0, ONE)
    life.say(0, ["user"], "", as_object=False)
    life.call(0, 1, as_object=False)
    life.take_calls_back(0)
    life.say(0, ["user"], "", as_object=False)


def calls_wait(life: Life) -> None:
    life.born("trim", "plain", 60, 0, ONE)
    life.say(0, ["user"], "", as_object=False)
    life.call(0, 2, as_object=True)


def a_step_is_all_there_is(life: Life) -> None:
    life.born("steps", "plain", 10, 0, [])
    life.call(0, 1, as_object=False)
    life.answer(0, "x" * 30, as_object=False)


def a_billed_talk_ends_with_the_assistant(life: Life) -> None:
    life.born("trim", "anthropic", 90, 0, ONE)
    life.say(0, ["user"], "", as_object=False)
    life.anchor(0, 5)
    assert life.everybody[0][1].bill is not None
    life.say(0, ["assistant"], "", as_object=False)


def a_note_costs_more_than_what_it_stands_for(life: Life) -> None:
    life.born("note", "plain", 20, 0, [])
    life.say(0, ["assistant"], "", as_object=False)
    life.say(0, ["user"], "x" * 70, as_object=False)


def many_threads_grow_one_log(life: Life) -> None:
    life.born("trim", "plain", 60, 0, ONE)
    for _ in range(20):
        life.build_from_threads(0, ["user", "assistant", "system"])


@pytest.mark.parametrize(
    "script",
    [
        a_sibling_is_told_a_system_message,
        what_did_not_fit_is_shortened,
        a_turn_that_went_long_ago_is_pinned,
        the_turn_that_did_not_fit_is_shortened,
        the_first_of_what_went_becomes_a_system_message,
        what_went_under_a_low_mark_is_shortened,
        a_system_message_is_shortened,
        a_long_forgotten_turn_is_shortened,
        calls_are_taken_back_and_the_talk_goes_on,
        calls_wait,
        a_step_is_all_there_is,
        a_billed_talk_ends_with_the_assistant,
        a_note_costs_more_than_what_it_stands_for,
        many_threads_grow_one_log,
    ],
    ids=lambda script: script.__name__,
)
@pytest.mark.parametrize("first", range(len(DOORS)))
def test_a_sequence_of_operations_that_once_went_wrong_goes_right(script: Callable[[Life], None], first: int) -> None:
    life = Life()
    script(life)
    life.steps = first
    life.everybody_is_as_if_fresh()
