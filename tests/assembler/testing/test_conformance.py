"""The conformance checks find every seeded fault, and the library's dialects and counters pass them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import pytest

from assembler.conversation.messages import Call, Message, Thinking
from assembler.dialects import DIALECTS, Api, Dialect, Emission, Opening, chat_template, mistral, openai_chat
from assembler.dialects.prices.graded import RuledPricer
from assembler.errors import ConversationError, UnsupportedContentError
from assembler.policies import Cut, PricedTurns, TrimOldest
from assembler.pricing.pricer import FixedPrices, Piece, Pricer
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from assembler.strategies import ChatRegions
from assembler.testing import ContractError, check_counter, check_dialect, check_policy, check_reader, check_strategy
from assembler.verify import verify
from budgets import (
    Budget,
    BudgetError,
    Count,
    Grade,
    TokenCounter,
    approximate_counter,
    claude_counter,
    memoised,
    tiktoken_counter,
    toktok_counter,
    total_counter,
)
from budgets.count import Difference

from ..dialects.test_chat_template import TOKENIZERS


@attrs.frozen(kw_only=True)
class Odd:
    """The dialect `rules` under another name, with one fault."""

    name: str = "odd"
    opening: Opening = Opening.ANY
    api: Api = attrs.field(default=Api(shape="openai"))
    emitted: Callable[[Layout, Emission], Any] = lambda _, emission: emission
    read: Callable[[Layout], Layout] = lambda layout: layout
    prepared: Callable[[Layout], Layout] = lambda layout: layout
    rules: Any = openai_chat
    parsed: Callable[[Mapping[str, Any]], Layout] | None = None
    priced: Callable[[Pricer], Pricer] = lambda pricer: pricer

    def parse(self, request: Mapping[str, Any]) -> Layout:
        return self.read((self.parsed or self.rules.parse)(request))

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        return self.priced(self.rules.pricer(model, count))

    def options(self, layout: Layout) -> dict[str, Any]:
        options: dict[str, Any] = self.rules.options(layout)
        return options

    def sends_reasoning(self, thought: Thinking, message: Message) -> bool:
        sent: bool = self.rules.sends_reasoning(thought, message)
        return sent

    def emit(self, layout: Layout) -> Emission:
        emission: Emission = self.emitted(layout, self.rules.emit(self.prepared(layout)))
        return emission


ticks = itertools.count()


def with_messages(emission: Emission, change: Callable[[list[Any]], list[Any]]) -> Emission:
    return Emission({**emission.request, "messages": change(emission.request["messages"])}, emission.notes)


def without_the_first(layout: Layout) -> Layout:
    return attrs.evolve(layout, messages=layout.messages[1:] if len(layout.messages) > 1 else layout.messages)


def raws(layout: Layout, emission: Emission) -> Emission:
    return with_messages(emission, lambda _: [message.raw for message in (*layout.head, *layout.messages)])


def scribbling(layout: Layout, emission: Emission) -> Emission:
    for message in layout.messages:
        raw: Any = message.raw
        raw["seen_by"] = "odd"
    return emission


def smudging(layout: Layout, emission: Emission) -> Emission:
    for message in layout.messages:
        message.seen["content"] = ""
    return emission


def swallowing(layout: Layout) -> Layout:
    kept = [m for m in layout.messages if not any(getattr(part, "kind", "") == "hologram" for part in m.parts)]
    return attrs.evolve(layout, messages=kept or openai_chat.parse({"messages": [{"role": "user"}]}).messages)


def worth_everything(price: Count) -> Count:
    return attrs.evolve(price, grade=Grade.EXACT)


@attrs.frozen
class Boasting:
    """Prices that are exact with any counter."""

    rules: Pricer

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        return self.rules.fixed(pieces, head, tools).each(worth_everything)

    def message(self, message: Message) -> Count:
        return worth_everything(self.rules.message(message))

    def options(self, layout: Layout) -> Count | Difference:
        return self.rules.options(layout)


@attrs.frozen(eq=False)
class PricingLess(RuledPricer):
    """Prices by rule of what is left of a message, where the request holds all of it."""

    left: Callable[[Message], Message]

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        return self.rules.fixed(pieces, head, tools)

    def message(self, message: Message) -> Count:
        return self.rules.message(self.left(message))

    def options(self, layout: Layout) -> Count | Difference:
        return self.rules.options(layout)


def without_passages(message: Message) -> Message:
    return message.with_parts(tuple(part for part in message.parts if getattr(part, "kind", "") != "passage"))


def with_arguments_as_given(message: Message) -> Message:
    """Where an API has functions alone, the text of a custom call goes out as `{"input": …}`; what came was shorter."""
    parts = [
        attrs.evolve(part, arguments=part.arguments.removeprefix('{"input": '))
        if isinstance(part, Call) and part.arguments.startswith('{"input": ')
        else part
        for part in message.parts
    ]
    return message if parts == list(message.parts) else message.with_parts(tuple(parts))


def without_searches(message: Message) -> Message:
    left = tuple(part for part in message.parts if getattr(part, "kind", "") != "web_search_tool_result")
    return message if len(left) == len(message.parts) else message.with_parts(left)


class Stuttering(Odd):
    """Sends the earlier messages again with the first added message."""

    def emit_after(self, before: Emission, added: Sequence[Message]) -> Emission | None:
        growing: Any = openai_chat
        grown: Emission | None = growing.emit_after(before, added)
        return grown and with_messages(grown, lambda messages: [*messages, messages[-1]])


class Deaf(Odd):
    """Declares that it sends no reasoning, but sends it if it is in a field."""

    def sends_reasoning(self, thought: Thinking, message: Message) -> bool:
        return False


@attrs.frozen
class Passages:
    """Blocks for sources of one type, which Chat sends unchanged if nobody knows it."""

    type: str

    def takes(self, model: str | None) -> bool:
        return True

    def block(self, source: str, title: str, text: str) -> dict[str, Any]:
        return {"type": self.type, "source": source, "title": title, "content": [{"type": "text", "text": text}]}


class Knowing(Odd):
    """Prices every model like the one that it knows."""

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        return openai_chat.pricer("gpt-4o", count)


class Unmerging(Odd):
    """Mistral, whose neighbours are sent and billed as one, but by a price list that adds them up for other models."""

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        rules = mistral.pricer(model, count)
        return rules if model is None else PricingLess(rules, lambda message: message)


def reading_anything(request: Mapping[str, Any]) -> Layout:
    return openai_chat.parse({"messages": [], **request})


def one_id_for_all(layout: Layout, emission: Emission) -> Emission:
    if any(part.id is None for message in layout.messages for part in message.parts if isinstance(part, Call)):
        for message in emission.request["messages"]:
            for call in message.get("tool_calls", ()):
                call["id"] = "call"
            if message["role"] == "tool":
                message["tool_call_id"] = "call"
    return emission


def without_pictures_of_results(emission: Emission) -> Emission:
    messages = emission.request["messages"]
    before = [None, *(message["role"] for message in messages)]
    kept = [one for role, one in zip(before, messages, strict=False) if role != "tool" or "image_url" not in str(one)]
    notes = tuple(note for note in emission.notes if "picture" not in note)
    return Emission({**emission.request, "messages": kept}, notes)


def first_words(layout: Layout) -> str:
    texts = [part for message in layout.messages for part in message.parts if isinstance(part, str)]
    return f"left out: {max(texts, key=len, default='')[:20]}…"


def refusing_what_was_read(layout: Layout) -> Layout:
    if "again" in layout.options:
        raise ConversationError("a result answers no open call", index=2)
    return layout


def each_id_once(request: Mapping[str, Any]) -> list[str]:
    ids = [call["id"] for message in request["messages"] for call in message.get("tool_calls", ())]
    return ["an id comes twice"] if len(ids) != len(set(ids)) else []


def quoting(layout: Layout, emission: Emission) -> Emission:
    texts = [part for message in layout.messages for part in message.parts if isinstance(part, str)]
    return attrs.evolve(emission, notes=tuple(f"said {text}" for text in texts))


def with_result_of_a_failure(layout: Layout, emission: Emission) -> Emission:
    return attrs.evolve(emission, notes=tuple(note for note in emission.notes if "failed" not in note))


def shortened(text: object) -> object:
    return text[:500] if isinstance(text, str) else text


def described_as_nothing(layout: Layout) -> Layout:
    return attrs.evolve(layout, tools=tuple(attrs.evolve(tool, description="", seen=None) for tool in layout.tools))


def with_calls(emission: Emission, arguments: str) -> Emission:
    calls = [call for message in emission.request["messages"] for call in message.get("tool_calls", ())]
    for call in copy.deepcopy(calls):
        call["function"]["arguments"] = arguments
    messages = copy.deepcopy(emission.request["messages"])
    for message in messages:
        for call in message.get("tool_calls", ()):
            if "function" in call:
                call["function"]["arguments"] = arguments
    return with_messages(emission, lambda _: messages)


@attrs.frozen(eq=False)
class Freely(RuledPricer):
    """Prices by rule, but what one role says is free."""

    role: str

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        return self.rules.fixed(pieces, head, tools)

    def message(self, message: Message) -> Count:
        return Count(3) if message.role == self.role else self.rules.message(message)

    def options(self, layout: Layout) -> Count | Difference:
        return self.rules.options(layout)


def free_tools(rules: Pricer) -> Pricer:
    @attrs.frozen(eq=False)
    class Free(Freely):
        def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
            return self.rules.fixed(pieces, head, [attrs.evolve(tool, description="") for tool in tools])

    return Free(rules, "nobody")


FAULTS = {
    "an instruction is lost": (
        "is gone|gone without a note|emits again|bills",
        Odd(prepared=lambda layout: attrs.evolve(layout, system=None) if layout.messages else layout),
    ),
    "descriptions are lost": ("of a tool|bills", Odd(prepared=described_as_nothing)),
    "arguments are lost": ("gone without a note|bills", Odd(emitted=lambda _, e: with_calls(e, "{}"))),
    "a schema is lost": ("the schema of the answer", Odd(prepared=lambda layout: attrs.evolve(layout, output=None))),
    "a choice is lost": ("the choice of a tool", Odd(prepared=lambda layout: attrs.evolve(layout, choice=None))),
    "that a call failed is lost": ("that a call failed is gone", Odd(emitted=with_result_of_a_failure)),
    "long texts are cut": (
        "end of a long text",
        Odd(
            emitted=lambda _, e: with_messages(
                e, lambda ms: [{**m, "content": shortened(m["content"])} if "content" in m else m for m in ms]
            )
        ),
    ),
    "early messages are cut": (
        "emits again|early message|bills",
        Odd(emitted=lambda _, e: with_messages(e, lambda ms: ms[-30:])),
    ),
    "answers are free": ("what is longer costs more", Odd(priced=lambda rules: Freely(rules, "assistant"))),
    "results are free": ("what is longer costs more|bills", Odd(priced=lambda rules: Freely(rules, "tool"))),
    "descriptions are free": ("the description of a tool costs", Odd(priced=free_tools)),
    "a message is lost": ("without a note", Odd(prepared=without_the_first)),
    "a text is lost": ("without a note", Odd(emitted=lambda _, e: with_messages(e, lambda ms: ms[-1:]))),
    "a tool is lost": ("without a note", Odd(prepared=lambda layout: attrs.evolve(layout, tools=()))),
    "dicts are the caller's": ("caller's own", Odd(emitted=raws)),
    "messages are changed": ("the caller's messages changed", Odd(emitted=scribbling)),
    "readings are changed": ("changed|the same|gone", Odd(emitted=smudging)),
    "it counts its calls": (
        "emits the same each time",
        Odd(emitted=lambda _, e: Emission({**e.request, "user": str(next(ticks))})),
    ),
    "notes come and go": (
        "emits the same each time",
        Odd(emitted=lambda _, e: attrs.evolve(e, notes=("odd",) * (next(ticks) % 2))),
    ),
    "a set is no JSON": ("plain JSON", Odd(emitted=lambda _, e: Emission({**e.request, "stop": {"x"}}))),
    "no number is no JSON": ("plain JSON", Odd(emitted=lambda _, e: Emission({**e.request, "top_p": float("inf")}))),
    "words of its own are not billed": (
        "bills what it emits|emits again",
        Odd(emitted=lambda _, e: with_messages(e, lambda ms: [*ms, {"role": "user", "content": "Go on."}])),
    ),
    "a reading lacks a message": ("emits again|bills", Odd(read=without_the_first)),
    "a bare dict": ("returns an Emission", Odd(emitted=lambda _, e: e.request)),
    "notes in a list": ("tuple of texts", Odd(emitted=lambda _, e: Emission(e.request, ["note"]))),  # type: ignore[arg-type]
    "notes quote": ("quote no text", Odd(emitted=quoting)),
    "an unknown part is swallowed": ("UnsupportedContentError", Odd(prepared=swallowing)),
    "other keys are forgotten": (
        "options_in",
        Odd(read=lambda layout: attrs.evolve(layout, options={})),
    ),
    "a body of another API is read as nothing": ("of its own API alone", Odd(parsed=reading_anything)),
    "a body of another API is a KeyError": (
        "raise ConversationError",
        Odd(parsed=lambda request: openai_chat.parse({"messages": request["messages"], **request})),
    ),
    "an estimate is called exact": ("graded_pricer", Odd(priced=Boasting)),
    "what is added is said twice": ("grows as it emits.*emit_after differs", Stuttering()),
    "reasoning is sent and said not to be": ("declares the reasoning.*in a field of its own is sent", Deaf()),
    "a source's block is not billed": (
        "bills what it emits; a source costs 0",
        Odd(
            api=Api(shape="openai", sources=Passages("passage")),
            priced=lambda rules: PricingLess(rules, without_passages),
        ),
    ),
    "a source's block is sent as text": (
        "block for a source is sent as its API writes it",
        Odd(api=Api(shape="openai", sources=Passages("search_result"))),
    ),
    "any model is one that it knows": ("nobody knows.*unknown_model_pricer", Knowing()),
    "a vocabulary is said to be of every model": (
        "'o200k_base' is the vocabulary of every model, as it declares; its count for one is",
        Odd(api=Api(shape="openai", vocabulary="o200k_base")),
    ),
    "neighbours are not merged for an unknown model": (
        "for 'nobodys-model-1' the context costs",
        Unmerging(api=Api(shape="mistral"), rules=mistral),
    ),
    "a custom call is priced as it came": (
        "calls a custom tool costs.*adapt_message",
        Odd(priced=lambda rules: PricingLess(rules, with_arguments_as_given)),
    ),
    "a search is sent and not billed": (
        "the result of a search costs.*adapt_message",
        Odd(priced=lambda rules: PricingLess(rules, without_searches)),
    ),
    "an image in a result is gone": (
        "an image in the result of a call is gone without a note",
        Odd(emitted=lambda _, e: without_pictures_of_results(e)),
    ),
    "it refuses what it emitted": (
        "reads, and emits again; message 2: a result answers no open call",
        Odd(read=lambda layout: attrs.evolve(layout, options={"again": True}), prepared=refusing_what_was_read),
    ),
    "a note holds the first words": (
        "quote no text",
        Odd(emitted=lambda layout, e: attrs.evolve(e, notes=(first_words(layout),))),
    ),
    "calls without ids get one id": ("told apart", Odd(emitted=one_id_for_all)),
    "a word for an opening": ("declared", Odd(opening="user")),  # type: ignore[arg-type]
}


def no_texts_alone(request: Mapping[str, Any]) -> list[str]:
    return ["the first message is the user's"] if request["messages"][0]["role"] != "system" else []


@pytest.mark.usefixtures("unshrunk")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_of_a_dialect_is_found(fault: str) -> None:
    breach, dialect = FAULTS[fault]
    with pytest.raises(ContractError, match=breach) as raised:
        check_dialect(dialect, max_examples=25)
    assert raised.value.subject == "odd"


@pytest.mark.usefixtures("unshrunk")
def test_neighbours_of_one_side_are_priced_in_some_case_whatever_is_drawn() -> None:
    breach, dialect = FAULTS["neighbours are not merged for an unknown model"]
    with pytest.raises(ContractError, match=breach):
        check_dialect(dialect, max_examples=1)


def test_an_api_whose_models_have_one_vocabulary_may_be_exact_for_any() -> None:
    check_dialect(Knowing(api=Api(shape="openai", vocabulary="o200k_base")), model="gpt-4o", max_examples=2)


def each_call_apart(layout: Layout, emission: Emission) -> Emission:
    """A message for each call, where the calls came as items."""
    if all(message.shape != "responses" for message in layout.messages):
        return emission
    apart = [
        {**message, "tool_calls": [call]} if call else message
        for message in emission.request["messages"]
        for call in message.get("tool_calls", [None])
    ]
    return with_messages(emission, lambda _: apart)


@pytest.mark.usefixtures("unshrunk")
def test_calls_that_come_item_by_item_are_held_to_the_rules() -> None:
    """An API that wants the results right after the calls was sent one call, another call, and two results."""
    with pytest.raises(ContractError, match="item by item: O2"):
        check_dialect(
            Odd(emitted=each_call_apart), rules=lambda request: verify(request, dialect="openai_chat"), max_examples=2
        )


@pytest.mark.usefixtures("unshrunk")
def test_an_invalid_request_is_found_by_the_rules_that_are_given() -> None:
    passages = Api(shape="openai", sources=Passages("passage"))
    check_dialect(Odd(api=passages), max_examples=2)
    check_dialect(Odd(), rules=lambda request: verify(request, dialect="openai_chat"), max_examples=10)
    with pytest.raises(ContractError, match="valid"):
        check_dialect(Odd(), rules=no_texts_alone, max_examples=25)


@pytest.mark.slow
def test_ids_that_come_again_in_a_later_step_are_drawn() -> None:
    with pytest.raises(ContractError, match="an id comes twice"):
        check_dialect(Odd(), rules=each_id_once, max_examples=25)


@attrs.frozen(kw_only=True)
class Lost(Odd):
    def emit(self, layout: Layout) -> Emission:
        if not layout.messages and not layout.head:
            raise KeyError("messages")
        return openai_chat.emit(layout)


@attrs.frozen(kw_only=True)
class Mute(Odd):
    def emit(self, layout: Layout) -> Emission:
        raise UnsupportedContentError("nothing can be said", kind="text")


@pytest.mark.usefixtures("unshrunk")
@pytest.mark.parametrize(("dialect", "expected"), [(Lost(), "ConversationError"), (Mute(), "ordinary conversation")])
def test_a_dialect_that_fails_differently_or_returns_nothing_is_found(dialect: Dialect, expected: str) -> None:
    with pytest.raises(ContractError, match=expected):
        check_dialect(dialect, max_examples=5)


@pytest.mark.parametrize("name", DIALECTS)
def test_the_library_s_own_dialects_keep_the_contract(name: str) -> None:
    check_dialect(DIALECTS[name], max_examples=12)


def test_a_chat_template_keeps_the_contract() -> None:
    check_dialect(chat_template(TOKENIZERS["chatml"]), max_examples=6)


class Honest:
    """A counter of characters that declares a grade and a name."""

    name, grade, notes, additive_at_tag_seams = "honest", Grade.EXACT, (), True

    def __call__(self, text: str) -> Any:
        return len(text)


@attrs.frozen
class Estimating:
    """A counter that calls its numbers estimates."""

    count: Callable[[str], int]
    grade: Grade = Grade.ESTIMATED

    def __call__(self, text: str) -> int:
        return self.count(text)


class Stateful(Honest):
    asked = 0

    def __call__(self, text: str) -> int:
        self.asked += 1
        return len(text) + self.asked % 7 if text else 0


class Remembering(Honest):
    notes: Any = ()

    def __call__(self, text: str) -> int:
        self.notes = (f"counted {text}",)
        return len(text)


class Spoken:
    """A message that is no collection."""

    def read(self) -> dict[str, Any]:
        return {"role": "user", "content": "Where is it?"}


class Abridging(Honest):
    """Its notes quote the first words of a text."""

    notes: Any = ()

    def __call__(self, text: str) -> int:
        self.notes = (f"counted {text[:20]}…",)
        return len(text)


class Unseamed(Honest):
    def __call__(self, text: str) -> int:
        return len(text) + 1 if text else 0


class Ungraded(Honest):
    grade: Any = "exact"


class Caseless(Honest):
    """Remembers texts by their lower case."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.known.setdefault(text.lower(), len(text) + sum(map(str.isupper, text)))


class Renamed(Honest):
    def __init__(self) -> None:
        self.asked = 0

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"renamed {self.asked}"

    def __call__(self, text: str) -> int:
        self.asked += 1
        return len(text)


COUNTERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "its beginning alone": ("longer text", lambda text: len(text[:100])),
    "the tokenizer's own limit": ("count without truncation", lambda text: min(len(text.split()), 8_192)),
    "always one": ("longer text", lambda text: int(bool(text))),
    "letters of other scripts are free": ("letters costs something", lambda text: len(text.encode("ascii", "ignore"))),
    "upper and lower case are one": ("the same text the same.*WORD", Caseless()),
    "another name each time": ("name stays", Renamed()),
    "a factory in place of a counter": ("call it first", lambda text: len),
    "it fails for long texts": ("every text.*120,000 characters", lambda text: len(text) // (len(text) < 100_000)),
    "below zero": ("0 or more", lambda text: len(text) - 1),
    "one for nothing": ('"" as 0', lambda text: len(text) + 1),
    "a float": ("an int", lambda text: len(text) / 4),
    "a truth": ("an int", lambda text: bool(text)),
    "no ASCII, no count": ("every text", lambda text: len(text.encode("ascii"))),
    "control tokens": ("is text", lambda text: len(text.replace("<|endoftext|>", "."))),
    "by the call": ("the same|lookalike|is text", Stateful()),
    "a seam more": ("tag seams", Unseamed()),
    "a text in a note": ("quotes no text", Remembering()),
    "the first words of a text in a note": ("quotes no text", Abridging()),
    "a word for a grade": ("grade", Ungraded()),
    "an estimate that rounds down": ("errs high", Estimating(lambda text: len(text) // 4)),
}


@pytest.mark.parametrize("fault", COUNTERS)
def test_a_seeded_fault_of_a_counter_is_found(fault: str) -> None:
    breach, counter = COUNTERS[fault]
    with pytest.raises(ContractError, match=breach):
        check_counter(counter)


def test_a_count_that_is_off_by_one_is_found_by_the_known_counts() -> None:
    check_counter(len, known={"hello": 5})
    with pytest.raises(ContractError, match="expected 5"):
        check_counter(lambda text: len(text) + 1 if text else 0, known={"hello": 5})


@pytest.mark.parametrize("grade", [Grade.BOUNDED, Grade.ESTIMATED])
def test_an_estimate_may_exceed_a_known_count_and_never_fall_below(grade: Grade) -> None:
    check_counter(Estimating(len, grade), known={"hello": 2})
    with pytest.raises(ContractError, match=r"errs high.*5.*known to cost 6"):
        check_counter(Estimating(len, grade), known={"hello": 6})


@pytest.mark.parametrize(
    "counter",
    [
        len,
        approximate_counter(),
        claude_counter("claude-opus-4-8"),
        memoised(tiktoken_counter()),
        tiktoken_counter(),
        tiktoken_counter("cl100k_base"),
        toktok_counter(),
        total_counter(lambda text: len(text.split())),
        Honest(),
    ],
    ids=lambda counter: getattr(counter, "name", "plain"),
)
def test_the_library_s_own_counters_keep_the_contract(counter: Callable[[str], int]) -> None:
    check_counter(counter, max_examples=20)


@pytest.mark.parametrize("counter", ["o200k_base", lambda text, encoding: len(text)])
def test_what_is_no_counter_is_refused_as_a_budget_refuses_it(counter: Any) -> None:
    with pytest.raises(BudgetError) as refused:
        Budget(100, counter=counter)
    with pytest.raises(BudgetError) as caught:
        check_counter(counter)
    assert str(caught.value) == str(refused.value)


ONE: list[Any] = [{"role": "user", "content": "Where is it?"}]


@pytest.mark.parametrize(
    ("expected", "check"),
    [
        ("histories[0]: expected a whole conversation.*got dict", lambda: check_policy(TrimOldest(), histories=ONE)),
        ("histories[0]: expected a whole conversation.*got dict", lambda: check_dialect(openai_chat, histories=ONE)),
        ("histories[0]: expected a whole conversation.*got str", lambda: check_policy(TrimOldest(), histories="ab")),
        (
            "histories[0]: expected a whole conversation.*got Spoken",
            lambda: check_reader(Spoken, Spoken.read, histories=[Spoken()]),  # type: ignore[list-item]
        ),
        ("histories: expected a list", lambda: check_policy(TrimOldest(), histories=3)),  # type: ignore[arg-type]
        ("texts: expected a list", lambda: check_policy(TrimOldest(), texts=3)),  # type: ignore[arg-type]
        ("max_examples is a whole number", lambda: check_policy(TrimOldest(), max_examples=0)),
        (
            "documents[0]: expected a Document",
            lambda: check_strategy(ChatRegions(), documents=["Rain."]),  # type: ignore[list-item]
        ),
    ],
)
def test_a_wrong_argument_of_a_check_is_not_blamed_on_what_is_checked(expected: str, check: Callable[[], None]) -> None:
    with pytest.raises(BudgetError, match=expected.replace("[0]", r"\[0\]")):
        check()


class Asked:
    """A policy that must not be asked."""

    def cut(self, ledger: PricedTurns, tokens_left: int) -> Cut:
        raise AssertionError


def test_histories_are_read_before_anything_is_checked() -> None:
    """A long check ran to its end, and then refused its argument."""
    with pytest.raises(BudgetError, match="histories: expected a list"):
        check_policy(Asked(), histories=3)  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="histories: expected a list"):
        check_dialect(Odd(opening="user"), histories=3)  # type: ignore[arg-type]


def test_a_class_in_place_of_its_object_is_refused() -> None:
    with pytest.raises(BudgetError, match=r"Ungraded is a class.*call it"):
        check_counter(Ungraded)
    with pytest.raises(BudgetError, match=r"Odd is a class.*call it"):
        check_dialect(Odd)  # type: ignore[arg-type]


@pytest.mark.usefixtures("unshrunk")
@pytest.mark.parametrize(
    "given", [{"texts": ["%% x"]}, {"histories": [[("user", "%% x")]]}], ids=["texts", "histories"]
)
def test_a_fault_of_a_dialect_with_texts_of_a_form_is_found_in_those_that_are_given(given: dict[str, Any]) -> None:
    def forgetful(layout: Layout, emission: Emission) -> Emission:
        return with_messages(emission, lambda ms: [{**m, "content": ""} if "%%" in str(m) else m for m in ms])

    check_dialect(Odd(emitted=forgetful), max_examples=5)
    with pytest.raises(ContractError, match="gone without a note"):
        check_dialect(Odd(emitted=forgetful), max_examples=20, **given)


def test_a_fault_of_a_counter_with_texts_of_a_form_is_found_in_those_that_are_given() -> None:
    check_counter(lambda text: len(text) - 2 * ("%%" in text), max_examples=5)
    with pytest.raises(ContractError, match="0 or more"):
        check_counter(lambda text: len(text) - 99 * ("%%" in text), texts=["%% x"], max_examples=20)
