"""Checks a dialect's promises: it loses nothing silently, shares nothing, and bills what it emits."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.conversation.messages import Call, Message, Result, read_message
from assembler.count_request import count_request
from assembler.dialects import Api, Dialect, Emission, Opening
from assembler.dialects.by_name import read_dialect
from assembler.dialects.dialect import GrowingDialect
from assembler.drawn.engine import SearchStrategy, given, st
from assembler.errors import ConversationError, UnsupportedContentError
from assembler.fit_request import fit_request
from assembler.pricing.pricer import Piece
from assembler.regions.layout import Layout
from assembler.regions.tools import read_tools
from assembler.testing.conformance.checking import (
    AMPLE,
    WORDS,
    Checked,
    History,
    Texts,
    examples,
    failure_of,
    list_histories,
    note_case,
    quotes,
    refuse_class,
    texts_of,
    with_own,
)
from assembler.testing.conformance.dialect_cases import (
    COMPLETE,
    STRANGER,
    Rules,
    SeldomCases,
    containers,
    strings,
)
from assembler.testing.conformance.dialect_histories import GROWING, NEIGHBOURS, TOOL, UNNAMED
from assembler.testing.conformance.own_messages import OwnMessages
from assembler.testing.conversations import requests
from assembler.text.fields import object_in
from assembler.verify import DIALECTS as KNOWN
from assembler.verify import verify
from budgets import Budget, Grade

_OTHER_KEYS = "a key that carries no region stays"
_OTHER_BODIES = "it reads requests of its own API alone"
_OTHER_KEY = "another_key"
"""A key that no API has, as a model or a temperature is to a dialect."""
_A_WORD = 3
"""The longest name that a note may contain by chance."""


def check_dialect(
    dialect: Dialect | str,
    *,
    model: str | None = None,
    rules: Rules | None = None,
    texts: Texts | None = None,
    histories: Iterable[History] = (),
    max_examples: int = 50,
) -> None:
    """Raise `ContractError` unless `dialect`, a value or its name, keeps what every dialect promises.

    The check draws and emits conversations with tools and calls. Each request is plain JSON, the same each time, and
    shares no list or dict with the arguments, which stay unchanged. Every text, argument and name, and every word of a
    tool's definition, is in the request, or a note says that something was folded or left out. So is the output schema,
    and a tool choice changes the request. No note quotes a text. What is longer costs more. `parse` reads the request
    back to the same request, and `count_request` of it equals the context's count. An unknown part raises
    `UnsupportedContentError`, or leaves a note. Call ids may repeat, and calls without an id get different ids, or none
    in the request either. `emit_after` gives the same request as `emit`.

    A key of no region stays in a fitted request, a body of another API raises `ConversationError`, and no price has a
    better grade than its counter. Every conversation is also priced for an unknown model. Its count is an estimate,
    unless the dialect has its own tokenizer, or declares the one vocabulary of its API.
    Parts of other APIs, such as calls of custom tools, are billed as they are sent. A block for a source, if the API
    declares any, is sent unchanged, and billed. Messages in the API's own shape that `set_messages` reads can be edited
    and answered.

    `rules` returns the faults of a request. By default it is `assembler.verify`, for the dialects that it knows;
    without any, nothing shows that the API accepts what is sent. `texts` (a list, or a Hypothesis strategy) are drawn
    besides the check's own, and whole `histories`, in any spelling that the library reads, are checked as well.
    """
    __tracebackhide__ = True
    refuse_class(dialect, "check_dialect")
    resolved = read_dialect(dialect)
    checked = _CheckedDialect(resolved.name, resolved, model, rules or _find_rules(resolved))
    if (failure := failure_of(checked.name, lambda: checked.check(texts, histories, max_examples))) is not None:
        raise failure


def _replace_ids(request: dict[str, Any], *, repeated: str | None) -> dict[str, Any]:
    """The same conversation; with `repeated`, the calls of every step have the same ids with this prefix."""
    named: dict[str, str] = {}
    for message in request["messages"] if repeated is not None else ():
        for place, call in enumerate(message.get("tool_calls", ())):
            named[call["id"]] = f"{repeated}{place}"
            call["id"] = f"{repeated}{place}"
        if message["role"] == "tool":
            message["tool_call_id"] = named[message["tool_call_id"]]
    return request


class _EstimatingCounter:
    """A counter of characters that calls itself an estimate."""

    name, grade = "estimating", Grade.ESTIMATED

    def __call__(self, text: str) -> int:
        return len(text)


_LEFT_TO_CALLERS = {"plain": ("N1", "N3")}
"""Rules that a dialect of no API leaves to its callers: it sends a greeting before the first question and repeated call
ids as they came."""


def _find_rules(dialect: Dialect) -> Rules | None:
    if dialect.name not in KNOWN:
        return None
    left = _LEFT_TO_CALLERS.get(dialect.name, ())
    return lambda request: [found for found in verify(request, dialect=dialect.name) if found.rule not in left]


@attrs.define(eq=False)
class _CheckedDialect(Checked):
    """A dialect under check."""

    dialect: Dialect
    model: str | None
    rules: Rules | None

    def check(self, texts: Texts | None, histories: Iterable[History], max_examples: int) -> None:
        given = list_histories(histories)
        self.declares_its_members()
        self.refuses_nothing_and_the_unknown()
        self._check_drawn(with_own(WORDS, texts), max_examples)
        for history in (*GROWING, NEIGHBOURS):
            self.check_conversation({"messages": [*history], "tools": [TOOL]}, None)
        self._check_given(given)
        body = self.build_ordinary_request()
        self.gives_each_call_an_id()
        self.keeps_other_keys(body)
        self.refuses_other_bodies(body)
        self.grades_as_its_counter(body)
        self.estimates_for_an_unknown_model(body)
        SeldomCases(self.name, self.dialect, self.rules).check(body)
        OwnMessages(self.name, self.dialect).check()

    def _check_drawn(self, texts: SearchStrategy[str], max_examples: int) -> None:
        built = 0

        @examples(max_examples)
        @given(requests("openai_chat", max_turns=3, texts=texts), st.sampled_from((None, "again.")), st.none() | texts)
        def each(request: dict[str, Any], repeated: str | None, instruction: str | None) -> None:
            nonlocal built
            with note_case(request):
                built += self.check_conversation(_replace_ids(request, repeated=repeated), instruction)

        each()
        if not built:
            raise self.broken("it can write an ordinary conversation", "every one that was drawn is refused")

    def _check_given(self, histories: Sequence[History]) -> None:
        for place, history in enumerate(histories):
            with note_case(f"histories[{place}]"):
                if not self.check_conversation({"messages": history, "tools": [TOOL]}, None):
                    raise self.broken("it can write the histories that are given", f"histories[{place}] is refused")

    def declares_its_members(self) -> None:
        name, opening, api = self.dialect.name, self.dialect.opening, self.dialect.api
        for value, kind in ((name, str), (opening, Opening), (api, Api)):
            if not isinstance(value, kind):
                raise self.broken("its members are declared", f"{value!r} is no {kind.__name__}")

    def emit_twice(self, layout: Layout) -> Emission:
        """Emit a layout, and check the result's type and that it is the same each time."""
        first, again = self.dialect.emit(layout), self.dialect.emit(layout)
        if not isinstance(cast(object, first), Emission):
            raise self.broken("emit returns an Emission", f"got {type(first)}")
        notes: object = first.notes
        lines = isinstance(notes, tuple) and all(isinstance(note, str) for note in notes)
        if not lines:
            raise self.broken("its notes are a tuple of texts", f"got {notes!r}")
        same = first.request == again.request and first.notes == again.notes
        if not same:
            raise self.broken("it emits the same each time", "two emissions of one layout differ")
        return first

    def refuses_nothing_and_the_unknown(self) -> None:
        try:
            self.dialect.emit(Layout())
        except ConversationError:
            pass
        except Exception as error:
            problem = f"an empty layout raised {type(error).__name__}; raise ConversationError"
            raise self.broken("it refuses by ConversationError", problem) from error
        texts = [{"type": "text", "text": "look"}, {"type": "hologram", "data": "x"}]
        unknown = Layout(messages=[read_message({"role": "user", "content": texts}, 0)])
        try:
            emission = self.emit_twice(unknown)
        except UnsupportedContentError:
            return
        counted = bool(emission.notes) or "hologram" in json.dumps(emission.request, default=repr)
        if not counted:
            raise self.broken(
                "what it cannot express raises UnsupportedContentError", "an unknown part is lost silently"
            )

    def check_conversation(self, request: dict[str, Any], instruction: str | None) -> bool:
        """Check one conversation. False if the dialect refuses it."""

        def built(model: str | None) -> Context[Any]:
            budget = None if model is None else Budget(AMPLE, model=model)
            assembler = Assembler(budget, dialect=self.dialect).set_tools(request.get("tools", []))
            return assembler.set_messages(request["messages"]).set_instruction(instruction or "").build()

        before = copy.deepcopy(request)
        try:
            context = built(self.model)
        except ConversationError:
            return False
        layout = context.inside.layout
        emission = self._emit_apart(layout, request, before)
        self._check_plain(emission.request)
        self._check_complete(emission, layout)
        self._check_growth(emission, layout)
        self._read_back(emission)
        self._check_bill(context, self.model)
        broken = [] if self.rules is None else list(self.rules(context.request()))
        if broken:
            raise self.broken("its requests are valid", "; ".join(map(str, broken[:3])))
        self._check_bill(built(STRANGER), STRANGER)
        return True

    def _emit_apart(self, layout: Layout, given: Mapping[str, Any], before: Mapping[str, Any]) -> Emission:
        """Emit, and check that nothing given was changed since `before`, and that nothing of it is in the request."""
        seen = copy.deepcopy([message.seen for message in layout.messages])
        emission = self.emit_twice(layout)
        if given != before:
            raise self.broken("it changes nothing that it is given", "the caller's messages changed")
        if [message.seen for message in layout.messages] != seen:
            raise self.broken("it changes nothing that it is given", "what was read of a message changed")
        theirs = {id(value) for value in containers(given)}
        if any(id(value) in theirs for value in containers(emission.request)):
            raise self.broken("it shares no list or dict with the caller", "one in the request is the caller's own")
        return emission

    def build_ordinary_request(self) -> dict[str, Any]:
        return (
            Assembler(dialect=self.dialect)
            .set_instruction("Be brief.")
            .set_tools([TOOL])
            .add_message(("user", "Look around."))
            .build()
            .request()
        )

    def gives_each_call_an_id(self) -> None:
        """Check that calls without ids get one each, which their answers name; or none, or become text."""
        unnamed = Layout(messages=[read_message(message, index) for index, message in enumerate(UNNAMED)])
        try:
            read = self.dialect.parse(self.emit_twice(attrs.evolve(unnamed, tools=read_tools([TOOL]))).request)
        except (ConversationError, UnsupportedContentError):
            return
        parts = [part for message in read.messages for part in message.parts]
        asked = Counter(part.id for part in parts if isinstance(part, Call) and part.id is not None)
        answered = Counter(part.call_id for part in parts if isinstance(part, Result) and part.call_id is not None)
        if asked != answered or set(asked.values()) - {1}:
            problem = f"{sum(asked.values())} calls go by {len(asked)} ids; name them by CallIds"
            raise self.broken("calls without ids are told apart", problem)

    def keeps_other_keys(self, body: Mapping[str, Any]) -> None:
        """Check that a key of no region is among the options, and in the fitted body."""
        if self.dialect.api.history not in body:
            return  # a prompt: one text, beside which nothing is read
        whole = {**body, _OTHER_KEY: 0.5}
        if self.dialect.parse(whole).options.get(_OTHER_KEY) != 0.5:
            problem = (
                "parse leaves a key out of Layout.options; fill it by options_in(request, the keys that parse reads)"
            )
            raise self.broken(_OTHER_KEYS, problem)
        fitted = fit_request(whole, dialect=self.dialect, assembler=Assembler().set_instruction("Be kind."))
        if fitted.get(_OTHER_KEY) != 0.5:
            raise self.broken(_OTHER_KEYS, "fit_request drops a key that parse leaves to Layout.options")

    def refuses_other_bodies(self, body: Mapping[str, Any]) -> None:
        """Check that a body without the history's key is refused."""
        try:
            self.dialect.parse({f"{key}_elsewhere": value for key, value in body.items()})
        except ConversationError:
            return
        except Exception as error:
            problem = f"one without its keys raised {type(error).__name__}; raise ConversationError"
            raise self.broken(_OTHER_BODIES, problem) from error
        raise self.broken(
            _OTHER_BODIES, f"one without {self.dialect.api.history!r} is read as nothing; raise ConversationError"
        )

    def grades_as_its_counter(self, body: Mapping[str, Any]) -> None:
        layout, pricer = self.dialect.parse(body), self.dialect.pricer(self.model, _EstimatingCounter())
        fixed = pricer.fixed([Piece("instruction", "system", "Be brief.")], layout.head, layout.tools)
        prices = [*fixed.pieces, *fixed.tools, *map(pricer.message, layout.messages)]
        best = min(price.grade for price in prices)
        if best < Grade.ESTIMATED:
            problem = f"a counter that estimates makes prices that are {best}; return graded_pricer(…, count)"
            raise self.broken("its prices are graded no higher than their counter", problem)

    def estimates_for_an_unknown_model(self, body: Mapping[str, Any]) -> None:
        """Check that an unknown model's count is an estimate with another model's counter, or the one of all models."""
        law = "it guesses for a model that nobody knows"
        counted = count_request(body, dialect=self.dialect, model=STRANGER)
        if vocabulary := self.dialect.api.vocabulary:
            usual = count_request(body, dialect=self.dialect)
            if counted != usual:
                problem = f"its count for one is {counted}, without a model {usual}; declare no Api.vocabulary"
                raise self.broken(f"{vocabulary!r} is the vocabulary of every model, as it declares", problem)
            return
        asks = counted.tokens != count_request(body, dialect=self.dialect, counter=len).tokens
        if asks and counted.grade is not Grade.ESTIMATED:  # else it has a tokenizer of its own
            step = "return unknown_model_pricer(rules, model, count), or declare Api.vocabulary if all models have one"
            raise self.broken(law, f"its count for one is {counted.grade}; {step}")

    def _check_plain(self, request: Mapping[str, Any]) -> None:
        try:
            json.dumps(request, allow_nan=False, default=_write_octets)
        except (TypeError, ValueError, RecursionError) as error:
            raise self.broken("its requests are plain JSON", str(error)) from error

    def _check_complete(self, emission: Emission, layout: Layout) -> None:
        texts = [text for message in (*layout.head, *layout.messages) for text in _list_words(message)]
        sent = [*strings(emission.request)]
        written = "\n".join(sent)
        for text, times in Counter(texts).items():
            if len(text) > _A_WORD and any(quotes(note, text) for note in emission.notes):
                raise self.broken("its notes quote no text", f"a note holds {text!r}")
            if written.count(text) < times and not emission.notes:
                raise self.broken(COMPLETE, f"{text!r} is gone without a note")
        finished = self.dialect.api.history not in emission.request  # a rendered prompt, which holds everything
        for tool in layout.tools:
            if tool.name not in (written if finished else sent) and not emission.notes:
                raise self.broken(COMPLETE, f"the tool {tool.name!r} is gone without a note")

    def _check_growth(self, emission: Emission, layout: Layout) -> None:
        """Check that `emit_after` from each beginning equals `emit` of the whole."""
        if not isinstance(growing := cast(object, self.dialect), GrowingDialect):
            return
        for stop in range(1, len(layout.messages)):
            try:
                before = self.dialect.emit(attrs.evolve(layout, messages=layout.messages[:stop]))
            except ConversationError:  # this beginning cannot be sent yet
                continue
            grown = growing.emit_after(before, layout.messages[stop:])
            if grown is not None and (grown.request, grown.notes) != (emission.request, emission.notes):
                raise self.broken("it grows as it emits", f"emit_after differs from emit, message {stop} on")

    def _read_back(self, emission: Emission) -> None:
        request = copy.deepcopy(emission.request)
        try:
            again = self.dialect.emit(self.dialect.parse(request)).request
        except ConversationError as error:
            raise self.broken("what it emits it reads, and emits again", str(error)) from error
        options = self.dialect.parse(request).options
        if {**options, **again} != {**options, **request}:
            raise self.broken("what it emits it reads, and emits again", "the second request differs from the first")

    def _check_bill(self, context: Context[Any], model: str | None) -> None:
        counted = count_request(context.request(), dialect=self.dialect, model=model)
        if context.count != counted:
            priced = f"the context costs {context.count}, its request {counted}"
            raise self.broken("it bills what it emits", priced if model is self.model else f"for {model!r} {priced}")


def _list_words(message: Message) -> Iterator[str]:
    """Every text of a message, and the names and words of its calls."""
    yield from texts_of(message)
    for part in message.parts:
        if isinstance(part, Call):
            yield part.name
            yield from (text for text in strings(object_in(part.arguments)) if text.isidentifier())


def _write_octets(value: object) -> str:
    if isinstance(value, bytes):
        return value.hex()  # media, which an SDK encodes
    raise TypeError(f"a request holds a {type(value).__name__}, which JSON cannot carry")
