"""Anchored after every call: from the second on no bill exceeds the limit, and no cut is undone."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    CalibratedCounter,
    ClearToolResults,
    Context,
    Policy,
    QuestionChunks,
    TrimOldest,
    TrimSteps,
    Truncate,
    calibrate,
)
from assembler.dialects import DIALECTS
from assembler.pricing.calibration import MOST_DRIFT
from assembler.strategies import Strategy
from budgets import Budget, Grade
from tests.assembler.one_price import adds_up
from tests.scaled import scaled

from .drawn import STRATEGIES

CALLS = 50
ON_ITS_OWN = STRATEGIES[0]


@attrs.frozen
class Api:
    """One API's bill of a chat of texts, by hand: characters, and what stands around each message and the request."""

    dialect: str
    model: str | None
    opening: int
    user: int
    assistant: int


APIS = (
    Api("openai_chat", "gpt-4o", opening=3, user=4, assistant=4),
    Api("openai_responses", "gpt-4o", opening=3, user=4, assistant=4),
    Api("anthropic", "claude-sonnet-4-5", opening=4, user=3, assistant=3),
    Api("bedrock", "anthropic.claude-sonnet-4-5", opening=4, user=3, assistant=3),
    Api("gemini", "gemini-2.5-pro", opening=0, user=1, assistant=1),
    Api("mistral", "mistral-small-latest", opening=13, user=2, assistant=1),
    Api("plain", None, opening=0, user=0, assistant=0),
)


def texts_of(value: object) -> list[str]:
    """Every text that a message says, in whatever API's spelling."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return [text for key, inner in fields.items() if key not in ("role", "type") for text in texts_of(inner)]
    return [text for inner in cast("list[object]", value) for text in texts_of(inner)]


def listed(request: dict[str, Any]) -> list[dict[str, Any]]:
    return next(request[key] for key in ("messages", "input", "contents") if key in request)


def price(request: dict[str, Any], api: Api) -> int:
    """The bill of the API's own rules: shares no code with the pricers."""
    bill = api.opening
    for message in listed(request):
        around = api.assistant if message["role"] in ("assistant", "model") else api.user
        bill += around + sum(map(len, texts_of(message)))
    return bill


@attrs.frozen
class Hidden:
    """A provider's hidden cost: its bill for a request that costs so many tokens by rule, at the nth call."""

    share: Fraction = Fraction(1)
    rounded: Callable[[Fraction], int] = math.ceil
    constant: int = 0
    drift: int = 0
    noise: tuple[int, ...] = (0,)
    """Added in turn, so that a drifting bill does not grow evenly."""

    def bill(self, by_rule: int, call: int) -> int:
        added = self.constant + self.drift * call + self.noise[call % len(self.noise)]
        return max(self.rounded(by_rule * self.share) + added, 1)

    @property
    def drifts(self) -> bool:
        return bool(self.drift or any(self.noise))

    def most(self, by_rule: int) -> int:
        """What so much costs at most in any of the calls, and what a bound may say beyond: the most that is a drift."""
        drift = max(self.drift, 0) * CALLS + max(self.noise)
        return math.ceil(by_rule * max(self.share, 1)) + max(self.constant, 0) + drift + MOST_DRIFT + 2


rounding = st.sampled_from([math.floor, math.ceil, round])
hidden_bills = st.one_of(
    st.builds(Hidden, constant=st.integers(-50, 500)),
    st.builds(Hidden, st.fractions(Fraction(1, 2), 2, max_denominator=100), rounding),
    st.builds(Hidden, constant=st.integers(-50, 500), drift=st.integers(-20, 20)),
    st.builds(
        Hidden,
        constant=st.integers(-50, 500),
        drift=st.integers(-20, 20),
        noise=st.lists(st.integers(-7, 7), min_size=1, max_size=7).map(tuple),
    ),
)

policies = st.sampled_from(
    [
        TrimOldest(),
        TrimOldest(low_water=0.5),
        TrimOldest(keep_turns=2),
        TrimOldest(pins={0}),
        TrimOldest(note="Older turns were left out."),
        (TrimOldest(low_water=0.7), TrimOldest()),
        (Truncate(12), TrimOldest()),
        (Truncate(12), TrimOldest(low_water=0.6, note="Older turns were left out.")),
    ]
)
LEAST = (300, 1_600)
"""What fits the newest turns, a note and pins of any of these by rule, and the tools beside them."""
WORDS_AROUND = 700
"""What the facts and the words around them cost at most in any layout."""
lengths = st.lists(st.integers(1, 30), min_size=3, max_size=12)


def talk(turns: int, sizes: list[int]) -> list[dict[str, Any]]:
    """Question and answer in turn, all texts different, of sizes that repeat."""
    history: list[dict[str, Any]] = []
    for turn in range(turns):
        for role in ("user", "assistant"):
            size = sizes[(2 * turn + (role == "assistant")) % len(sizes)]
            history.append({"role": role, "content": f"{turn}{role[0]}" + "x" * size})
    return history


def said_twice(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every question in two messages, which some APIs send as one."""
    halves = [
        [{**one, "content": one["content"][:2]}, {**one, "content": "y" + one["content"][2:]}]
        if one["role"] == "user"
        else [one]
        for one in history
    ]
    return [message for half in halves for message in half]


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"Looks {name} up.", "parameters": {"type": "object", "properties": {}}}


TOOLS = tuple(map(tool, ("weather", "trains", "recipes")))


FACTS = ("The line was closed in May.", "Trains leave at noon.", "The station has two halls.")
"""What the strategies lay out, of 80 characters with the words around them or a few hundred."""


def assembled(
    api: Api, window: int, policy: Policy | tuple[Policy, ...], strategy: Strategy = ON_ITS_OWN, facts: int = 0
) -> Assembler:
    budget = Budget(window, counter=len, model=api.model)
    made = Assembler(budget, dialect=DIALECTS[api.dialect], on_overflow=policy, strategy=strategy)
    for text in FACTS[:facts]:
        made.add_knowledge(text, type="rag", score=0.5)
    return made


def bytes_of(context: Context) -> str:
    return json.dumps(context.request(), sort_keys=True)


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.dialect)
def test_the_oracle_bills_as_the_rules_count(api: Api) -> None:
    context = assembled(api, 10_000, TrimOldest()).add_messages(talk(3, [5, 9])[:-1]).build()
    assert price(context.request(), api) == context.count.tokens


@attrs.define
class Caller:
    """A session that anchors at each bill and compares each request with the one before."""

    api: Api
    hidden: Hidden
    policy: Policy | tuple[Policy, ...]
    window: int
    live: Assembler
    strategy: Strategy = ON_ITS_OWN
    facts: int = 0
    first: int = 0
    before: list[dict[str, Any]] = attrs.field(factory=list[dict[str, Any]])
    anchor: CalibratedCounter | None = None
    drift: int = 0
    """The most that a bill was off more than the one before, as far as that is a drift."""
    length: int = 0
    history: list[dict[str, Any]] = attrs.field(factory=list[dict[str, Any]])
    tools: int = 0

    def call(self, history: list[dict[str, Any]], number: int, tools: int = 0) -> None:
        self.length, self.history = len(self.history), history
        changed, self.tools = tools != self.tools, tools
        context = self.live.set_tools(TOOLS[:tools]).set_messages(history).build()
        bill = self.hidden.bill(context.by_rule.tokens, number)
        if self.anchor is not None:
            over = self.may_be_over(context, bill)
            assert bill <= context.count.upper + over
            assert bill <= self.window + over
            if not changed:  # other tools are another request, whose turns are chosen anew
                assert context.first_kept >= self.first
                if self.facts == 0 and self.strategy is ON_ITS_OWN:  # else words around the question may move on
                    self.keeps_its_prefix(context)
            if number % 9 == 0 or (context.first_kept and not self.first):
                self.is_built_cold_too(context, history)
                adds_up(context)
            grown = bill - context.by_rule.tokens - self.anchor.billed + self.anchor.ours.tokens
            self.drift = max(self.drift, grown if grown <= MOST_DRIFT else 0)
        self.first, self.before = context.first_kept, listed(context.request())
        self.anchor = calibrate(context, bill)
        self.live.anchor(self.anchor)

    def may_be_over(self, context: Context, bill: int) -> int:
        """Tokens that no bill could foretell: of a drift its first step, or one longer than all before; of a share what
        it makes of more tokens than those of which it made none.
        """
        assert self.anchor is not None
        billed, ours = self.anchor.billed, self.anchor.ours.tokens
        if self.hidden.drifts:
            return max(bill - context.by_rule.tokens - (billed - ours) - self.drift, 0)
        exact = billed == ours and self.anchor.ours.grade is Grade.EXACT
        return context.by_rule.tokens // ours + 1 if exact and self.hidden.share != 1 else 0

    def keeps_its_prefix(self, context: Context) -> None:
        """Unless the request would cost too much that goes on from the one before, by each text of its messages."""
        if listed(context.request())[: len(self.before)] != self.before:
            assert self.bound_of_going_on() > self.window

    def bound_of_going_on(self) -> int:
        """What the billed request and all that came since may cost: as much more than by rule and a drift, or a share.

        A message of Claude's may cost a token more than its rule says.
        """
        assert self.anchor is not None
        billed, ours = max(self.anchor.billed, self.anchor.ours.tokens / 2), self.anchor.ours.tokens
        added = [self.history[index] for index in range(self.length, len(self.history))]
        more = sum(len(message["content"]) + 1 for message in added)
        more += sum(self.api.assistant if message["role"] == "assistant" else self.api.user for message in added)
        return math.ceil(max(billed + more + self.drift, (ours + more) * (billed + 1) / ours))

    def is_built_cold_too(self, context: Context, history: list[dict[str, Any]]) -> None:
        cold = assembled(self.api, self.window, self.policy, self.strategy, self.facts).anchor(self.anchor)
        assert bytes_of(cold.set_tools(TOOLS[: self.tools]).add_messages(history).build()) == bytes_of(context)


@scaled(0.3)
@given(
    api=st.sampled_from(APIS),
    hidden=hidden_bills,
    policy=policies,
    sizes=lengths,
    twice=st.booleans(),
    tools=st.lists(st.sampled_from([0, 0, 0, 1, 2, 3]), min_size=1, max_size=3),
    spare=st.integers(0, 200),
    knows=st.tuples(st.sampled_from(STRATEGIES), st.integers(0, 3)),
)
def test_from_the_second_call_on_no_bill_exceeds_the_limit_and_no_cut_is_undone(
    api: Api,
    hidden: Hidden,
    policy: Policy,
    sizes: list[int],
    twice: bool,
    tools: list[int],
    spare: int,
    knows: tuple[Strategy, int],
) -> None:
    """No tokens are kept free beyond the errors that bills have shown. Tools change every seventeen calls."""
    window = hidden.most(LEAST[max(tools) > 0] + WORDS_AROUND) + spare
    messages = talk(CALLS + 1, sizes)
    caller = Caller(api, hidden, policy, window, assembled(api, window, policy, *knows), *knows)
    for number in range(CALLS):
        history = messages[: 2 * number + 1]
        caller.call(said_twice(history) if twice else history, number, tools[number // 17 % len(tools)])


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.dialect)
def test_300_hidden_tokens_are_never_forgotten_by_the_call_after_the_next(api: Api) -> None:
    """An anchor at an anchored count left out the 300 at every second call: 19 of 40 requests were too large."""
    budget = Budget(1_200, counter=len, model=api.model)
    live = Assembler(budget, dialect=DIALECTS[api.dialect], on_overflow=TrimOldest())
    kept: list[int] = []
    for number, message in enumerate(talk(40, [30, 50])):
        live.add_message(message)
        if message["role"] == "user":
            context = live.build()
            bill = price(context.request(), api) + 300
            assert bill <= (1_200 if number else 1_500)
            assert not number or bill <= context.count.upper
            if kept and kept[-1] == context.first_kept:
                assert bill == context.count.tokens
            kept.append(context.first_kept)
            live.anchor(calibrate(context, bill))
    assert kept == sorted(kept)
    assert kept[-1] > 0


def test_a_cold_process_keeps_the_whole_that_a_live_one_keeps() -> None:
    """A bill below the rules can make the whole cheaper than what a cut leaves, so the whole is tried first."""
    history = talk(8, [40])[:-1]
    api = APIS[0]
    roomy = assembled(api, 2_000, TrimOldest()).add_messages(history[:-2])
    first = roomy.build()
    bill = calibrate(first, first.count.tokens - 200)
    window = first.count.tokens - 40
    cold = assembled(api, window, TrimOldest()).anchor(bill).add_messages(history).build()
    assert len(cold.messages) == len(history)
    assert cold.count.upper <= window
    adds_up(cold)


def working(turns: int) -> list[dict[str, Any]]:
    """Turns of a question, a call with a result of 60 characters, and an answer."""
    history: list[dict[str, Any]] = []
    for turn in range(turns):
        call = {"id": f"call-{turn:04}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        history += [
            {"role": "user", "content": f"{turn:02}" + "q" * 18},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": f"{turn:02}" + "r" * 58},
            {"role": "assistant", "content": f"{turn:02}" + "a" * 18},
        ]
    return history


@pytest.mark.parametrize("renewed", [True, False])
@pytest.mark.parametrize(
    "policy",
    [
        TrimOldest(low_water=0.5),
        TrimOldest(low_water="auto"),
        TrimOldest(low_water=0.5, note="Older turns were left out."),
        (ClearToolResults(1), TrimOldest(low_water=0.5)),
        (Truncate(30), ClearToolResults(1), TrimSteps(0), TrimOldest(low_water=0.5)),
    ],
    ids=["trimming", "auto", "noting", "clearing", "of four"],
)
def test_a_bill_leaves_a_mark_with_few_cuts(policy: Policy, renewed: bool) -> None:
    """A ladder that clears results chose again at each bill; a single bill made each later build cut."""
    assembler, before, first, moved = assembled(APIS[0], 1_200, policy), list[dict[str, Any]](), 0, 0
    for number in range(40):
        context = assembler.add_messages(working(40)[: 4 * number + 1]).build()
        moved += listed(context.request())[: len(before)] != before
        assert context.first_kept >= first
        first, before = context.first_kept, listed(context.request())
        if renewed or number == 5:
            assembler.anchor(calibrate(context, context.by_rule.tokens + 100))
    assert 3 <= moved <= 12


def test_the_work_after_a_bill_does_not_grow_with_the_calls() -> None:
    """A ladder without a mark changes the request at each call: after 200 calls a build made 200 passes."""
    assembler = assembled(APIS[0], 700, (ClearToolResults(1), TrimSteps(1), TrimOldest()))
    assembler.add_message({"role": "user", "content": "q"})
    times: list[int] = []
    for message in [message for number in range(60) for message in _step(number)]:
        assembler.add_message(message)
        if message["role"] == "tool":
            context = assembler.build()
            bill = calibrate(context, context.by_rule.tokens + 50)
            assembler.anchor(bill)
            assert bill.kept is not None
            times.append(len(bill.kept.made))
    assert 10 < max(times) <= 20


def _step(number: int) -> list[dict[str, Any]]:
    return working(number + 1)[4 * number + 1 : 4 * number + 3]


@pytest.mark.parametrize("hidden", [-20, 30, 150])
@pytest.mark.parametrize("sizes", [[30, 50], [10, 90, 40], [25]])
def test_a_cut_is_not_taken_back_where_the_words_around_the_question_move_on(hidden: int, sizes: list[int]) -> None:
    """The question of the call before is sent without the words, so no later request begins like the billed one."""
    budget, policy = Budget(1_200, counter=len), TrimOldest(low_water=0.3)
    live = Assembler(budget, dialect=APIS[0].dialect, on_overflow=policy, strategy=QuestionChunks())
    first = 0
    for message in talk(60, sizes):
        live.add_message(message)
        if message["role"] == "user":
            context = live.build()
            assert context.first_kept >= first
            first = context.first_kept
            live.anchor(calibrate(context, context.by_rule.tokens + hidden))
    assert first > 0
