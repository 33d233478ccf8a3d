"""The last line of an error, word for word: what to change, by how many tokens, and the window that would do."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, calibrate
from assembler.dialects import openai_chat, openai_responses, plain
from assembler.errors import ConversationError
from assembler.pipeline.summarizing import MOST_QUESTIONS
from assembler.policies import ClearReasoning, Refuse, Summarize, TrimOldest, TrimSteps, Truncate
from assembler.policies.traits import Traits
from assembler.pricing.ledger import Cut
from assembler.pricing.pricer import Piece
from assembler.strategies import Needs, Rendered
from budgets import Budget, ContextLengthError, Limit

from .test_offload import talk

DOCUMENTS = ["d" * 60, "e" * 60, "f" * 20]
TOOL = {"name": "f", "description": "d" * 50, "parameters": {"type": "object", "properties": {}}}
SHORTER = "shorten its messages by {} tokens."
BEHIND = "shorten its messages by {} tokens, or put Truncate({}) after it."
SHORTENED = "shorten its messages by {} tokens, or put Truncate({}) at the end of on_overflow."
NEWEST = "The newest turn alone needs {} and {} are left for it: "
PINNED = "The turns of the pinned messages 0 need 20 besides the newest turn: pin fewer of them. "
ALONE = "Dropping turns cannot help: the fixed regions alone need {}. "
BESIDE = "Dropping turns is not enough: the fixed regions alone need {}. "
FEWER = (
    ", or let documents go: Budget(…, limits={{'knowledge': Limit(cap={})}}) keeps those that fit, "
    "and strategy=CitedSources() the best of them. "
)
NO_MORE = "A larger context_window does not help: "


def turns(*sizes: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "x" * size} for size in sizes]


def assembler_of(messages: Any, budget: Budget, policy: Any, asked: dict[str, Any]) -> Assembler:
    assembler = Assembler(budget, dialect=plain, on_overflow=policy).add_messages(messages)
    for document in asked.get("documents", ()):
        assembler = assembler.add_knowledge(document, type="t")
    if "tool" in asked:
        assembler = assembler.add_capability([asked["tool"]])
    return assembler.add_instruction("i" * asked["instruction"]) if "instruction" in asked else assembler


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":"' + "b" * 40 + '"}'}}
CALLED = [
    {"role": "user", "content": "qu"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "r"},
]

CASES: list[tuple[Any, Any, dict[str, Any], dict[str, Any], str]] = [
    (
        CALLED,  # no text in it is long enough to help
        TrimOldest(),
        {"context_window": 1},
        {},
        "The newest turn alone needs 52 and 1 are left for it. Choose a context_window of 52.",
    ),
    (
        turns(10, 10, 10),
        Refuse(),
        {"context_window": 25},
        {},
        "Dropping old turns would help: pass on_overflow=TrimOldest(). Or choose a context_window of 30.",
    ),
    (
        turns(10, 10, 10),
        [Truncate(50), ClearReasoning()],
        {"context_window": 29},
        {},
        "Dropping old turns would help: end on_overflow with TrimOldest(). Or choose a context_window of 30.",
    ),
    (
        turns(30, 100),
        Truncate(20),
        {"context_window": 30},
        {},
        "Dropping old turns would help: end on_overflow with TrimOldest(). Or choose a context_window of 40.",
    ),
    (
        turns(20, 9, 20),
        [ClearReasoning(), TrimOldest(pins={0}, keep_turns=2)],
        {"context_window": 45},
        {},
        "Dropping old turns would help: end on_overflow with TrimOldest(). Or choose a context_window of 49.",
    ),
    (
        turns(50),
        TrimOldest(),
        {"context_window": 100, "max_input_tokens": 25},
        {},
        NEWEST.format(50, 25) + SHORTENED.format(25, 18) + f" {NO_MORE}max_input_tokens is 25.",
    ),
    (
        turns(45),
        TrimOldest(),
        {"context_window": 60, "max_output_tokens": 20, "max_input_tokens": 50},
        {},
        NEWEST.format(45, 40) + SHORTENED.format(5, 30) + " Or choose a context_window of 65.",
    ),
    (
        turns(30),
        Refuse(),
        {"context_window": 40, "overhead": 10, "safety_margin": 5},
        {},
        NEWEST.format(30, 25) + SHORTENED.format(5, 18) + " Or choose a context_window of 45.",
    ),
    (
        turns(10),
        TrimOldest(),
        {"context_window": 25},
        {"instruction": 30},
        ALONE.format(30) + "Shorten the instruction by 15 tokens. Or choose a context_window of 40.",
    ),
    (
        turns(25),
        TrimOldest(),
        {"context_window": 25},
        {"instruction": 30},  # no more than it has
        ALONE.format(30) + "Shorten the instruction by 30 tokens. Or choose a context_window of 55.",
    ),
    (
        turns(100, 5),
        Refuse(),
        {"context_window": 25},
        {"instruction": 30},
        BESIDE.format(30)
        + "Shorten the instruction by 10 tokens, and let TrimOldest() drop the older turns. "
        + "Or choose a context_window of 135.",
    ),
    (
        turns(100),
        Refuse(),
        {"context_window": 25},
        {"instruction": 30},
        BESIDE.format(30)
        + "Shorten the instruction and the newest turn by 105 tokens. Or choose a context_window of 130.",
    ),
    (
        [],
        TrimOldest(),
        {"context_window": 1},
        {"instruction": 4},
        ALONE.format(4) + "Shorten the instruction by 3 tokens. Or choose a context_window of 4.",
    ),
    (
        turns(10),
        TrimOldest(),
        {"context_window": 200},
        {"instruction": 30, "documents": DOCUMENTS},
        ALONE.format(314)
        + "Shorten the instruction or the knowledge by 124 tokens"
        + FEWER.format(158)
        + "Or choose a context_window of 324.",
    ),
    (
        turns(10),
        TrimOldest(),
        {"context_window": 225},
        {"instruction": 30, "documents": DOCUMENTS, "tool": TOOL},
        ALONE.format(440)
        + "Shorten the instruction, the tools or the knowledge by 225 tokens. "
        + "Or choose a context_window of 450.",
    ),
    (
        turns(10),
        TrimOldest(),
        {"context_window": 25},
        {"documents": DOCUMENTS[:1]},
        ALONE.format(106) + "Shorten the knowledge by 91 tokens. Or choose a context_window of 116.",
    ),
    (
        talk("r" * 20, "r" * 20, "r" * 20),
        TrimOldest(),
        {"context_window": 60},
        {},
        NEWEST.format(79, 60) + "end on_overflow with TrimSteps(). Or choose a context_window of 79.",
    ),
    (
        talk("r" * 20, "r" * 20, "r" * 20),
        TrimOldest(),
        {"context_window": 40},
        {},
        NEWEST.format(79, 40) + "end on_overflow with TrimSteps(keep=0). Or choose a context_window of 79.",
    ),
    (
        talk("r" * 20, "r" * 20, "r" * 20),
        TrimSteps(keep=2),
        {"context_window": 40},
        {},
        NEWEST.format(53, 40) + "end on_overflow with TrimSteps(keep=0). Or choose a context_window of 53.",
    ),
    (
        [*turns(30), *talk("r" * 20, "r" * 20, "r" * 20)],
        Refuse(),
        {"context_window": 60},
        {},
        NEWEST.format(79, 60) + "end on_overflow with TrimOldest(), TrimSteps(). Or choose a context_window of 109.",
    ),
    (
        [{"role": "user", "content": "p" * 10, "pinned": True}, *talk("r" * 20, "r" * 20, "r" * 20)],
        [Truncate(500), TrimOldest()],  # neither has anything to do: the only older turn is pinned
        {"context_window": 70},
        {},
        NEWEST.format(79, 70) + "end on_overflow with TrimSteps(). Or choose a context_window of 89.",
    ),
    (
        turns(100),
        Truncate(50),  # which would leave the text as long if the caller's were 90
        {"context_window": 40},
        {},
        NEWEST.format(50, 40) + SHORTENED.format(60, 30) + " Or choose a context_window of 50.",
    ),
    (
        [{"role": "user", "content": [{"type": "text", "text": "x" * size} for size in (100, 45)]}],
        Truncate(50),
        {"context_window": 40},
        {},
        NEWEST.format(95, 40) + SHORTER.format(105) + " Or choose a context_window of 95.",
    ),
    (
        [{"role": "user", "content": [{"type": "text", "text": "x" * 100}] * 300}],
        TrimOldest(),
        {"context_window": 7_000},
        {},
        NEWEST.format(30_000, 7_000) + SHORTENED.format(23_000, 20) + " Or choose a context_window of 30000.",
    ),
    (
        turns(30, 50),
        Refuse(),
        {"context_window": 40},
        {},
        f"{NEWEST.format(50, 40)}end on_overflow with TrimOldest(), and "
        f"{BEHIND.format(10, 30)}"
        " Or choose a context_window of 80.",
    ),
    (
        turns(20, 9, 20, 9, 20),
        TrimOldest(pins={0, 2}),
        {"context_window": 59},
        {},
        "The turns of the pinned messages 0, 2 need 40 besides the newest turn: pin fewer of them. "
        "Or choose a context_window of 60.",
    ),
    (
        turns(20, 9, 20, 9, 50),
        TrimOldest(pins={0, 2}),
        {"context_window": 50},
        {},
        "The turns of the pinned messages 0, 2 need 40 besides the newest turn: pin fewer of them. "
        "Or choose a context_window of 90.",
    ),
    (
        turns(20, 9, 20, 9, 51),
        TrimOldest(pins={0, 2}),
        {"context_window": 50},
        {},
        NEWEST.format(51, 50) + SHORTER.format(41) + " Or choose a context_window of 91.",
    ),
    (
        turns(20, 9, 20),
        TrimOldest(pins={0, 2}),  # the newest is pinned too, and counted once
        {"context_window": 35},
        {},
        PINNED + "Or choose a context_window of 40.",
    ),
    (
        turns(20, 9, 20),
        TrimOldest(pins={0}, note="n" * 10),
        {"context_window": 30},
        {},
        PINNED + "Or choose a context_window of 49.",
    ),
    (
        turns(20, 12, 20),
        TrimOldest(pins={0}, note="n" * 10),  # nor would the newest fit beside the note
        {"context_window": 29},
        {},
        "What cannot be dropped is too large: " + SHORTER.format(21) + " Or choose a context_window of 50.",
    ),
    (
        turns(20, 12, 20),
        TrimOldest(pins={0}, note="n" * 10),  # which alone would fill the window
        {"context_window": 20},
        {},
        "What cannot be dropped is too large: " + SHORTER.format(30) + " Or choose a context_window of 50.",
    ),
    (
        turns(10, 10, 30),
        TrimOldest(),
        {"context_window": 100, "limits": {"conversation": Limit(cap=25)}},
        {},
        "The conversation needs 30 tokens and its limits leave it 25: shorten it by 5 tokens, or raise its cap. "
        f"{NO_MORE}the limits leave no more.",
    ),
    (
        turns(80),
        TrimOldest(),
        {"context_window": 100, "max_input_tokens": 90, "limits": {"conversation": Limit(cap=0.1)}},
        {},
        "The conversation needs 80 tokens and its limits leave it 9: shorten it by 71 tokens, or raise its cap. "
        f"{NO_MORE}max_input_tokens is 90 and the limits leave no more.",
    ),
    (
        turns(10),
        TrimOldest(),
        {"context_window": 300, "limits": {"capability": Limit(cap=50)}},
        {"tool": TOOL},
        "The capability needs 126 tokens and its limits leave it 50: shorten it by 76 tokens, or raise its cap. "
        f"{NO_MORE}the limits leave no more.",
    ),
    (
        turns(40, 40),
        TrimOldest(),
        {"context_window": 100, "limits": {"conversation": Limit(floor=60)}},
        {"instruction": 50},
        "The instruction needs 50 tokens and its limits leave it 40: shorten it by 10 tokens, "
        "or lower the floors, shares and priorities of the others. Or choose a context_window of 110.",
    ),
    (
        turns(40, 40),
        TrimOldest(),
        {"context_window": 100, "limits": {"conversation": Limit(share=0.6)}},
        {"instruction": 50},
        "The instruction needs 50 tokens and its limits leave it 40: shorten it by 10 tokens, "
        "or lower the floors, shares and priorities of the others. Or choose a context_window of 123.",
    ),
    (
        turns(40, 40),
        TrimOldest(),
        {"context_window": 100, "limits": {"conversation": Limit(priority=1)}},
        {"instruction": 50},
        "The instruction needs 50 tokens and its limits leave it 20: shorten it by 30 tokens, "
        "or lower the floors, shares and priorities of the others. Or choose a context_window of 130.",
    ),
    (
        turns(40, 40),
        TrimOldest(),
        {"context_window": 100, "limits": {"conversation": Limit(floor=60), "instruction": Limit(cap=45)}},
        {"instruction": 50},
        "The instruction needs 50 tokens and its limits leave it 40: shorten it by 10 tokens, "
        "or raise its cap and lower the floors, shares and priorities of the others. "
        f"{NO_MORE}the limits leave no more.",
    ),
    (
        turns(80),
        TrimOldest(),
        {"context_window": 100, "limits": {"conversation": Limit(floor=60)}},
        {"instruction": 50},
        "The instruction needs 50 tokens and its limits leave it 40: shorten it by 30 tokens. "
        "Or choose a context_window of 130.",
    ),
    (
        turns(10),
        TrimOldest(),
        {"context_window": 300, "limits": {"instruction": Limit(cap=40), "capability": Limit(cap=50)}},
        {"instruction": 50, "tool": TOOL},
        "The instruction needs 50 tokens and its limits leave it 40: shorten it by 10 tokens, "
        f"and the capability by 76 tokens. {NO_MORE}the limits leave no more.",
    ),
    (
        turns(10),
        TrimOldest(),
        {"context_window": 100, "limits": {"instruction": Limit(cap=40), "conversation": Limit(cap=5)}},
        {"instruction": 50},
        "The instruction needs 50 tokens and its limits leave it 40: shorten it by 10 tokens, "
        f"and the turns that stay by 5 tokens. {NO_MORE}the limits leave no more.",
    ),
    (
        turns(60, 60),
        TrimOldest(),
        {"context_window": 100, "limits": {"conversation": Limit(cap=50, priority=1)}},
        {"instruction": 20},
        "The conversation needs 60 tokens and its limits leave it 50: shorten it by 10 tokens, "
        f"or raise its cap and lower all floors, shares and priorities. {NO_MORE}the limits leave no more.",
    ),
    (
        turns(50),
        TrimOldest(),
        {"context_window": 60},
        {"instruction": 20},
        NEWEST.format(50, 40) + SHORTENED.format(10, 30) + " Or choose a context_window of 70.",
    ),
    (
        turns(10),
        TrimOldest(),
        {"context_window": 200, "limits": {"knowledge": Limit(cap=150, select=lambda items, *_: range(len(items)))}},
        {"instruction": 30, "documents": DOCUMENTS},
        ALONE.format(314)
        + "Shorten the instruction or the knowledge by 124 tokens. "  # its owner has said how documents give way
        + "Or choose a context_window of 324.",
    ),
    (
        turns(30, 30, 30),
        Summarize(lambda *_: "s" * 500, 1),  # which was asked at this window
        {"context_window": 89},
        {},
        "Dropping old turns would help: end on_overflow with TrimOldest(). Or choose a context_window of 90.",
    ),
    (
        turns(30, 30, 30),
        Summarize(lambda *_: "s" * 500, 1),
        {"context_window": 69},
        {},
        "Dropping old turns would help: end on_overflow with TrimOldest(). "
        "A context_window of 90 works without a new summary; with one, a smaller window may work, but only the "
        "summarizer can tell.",
    ),
]


@pytest.mark.parametrize(("messages", "policy", "budget", "asked", "advice"), CASES)
def test_the_last_line_of_an_error_has_exactly_these_words(
    messages: Any, policy: Any, budget: dict[str, Any], asked: dict[str, Any], advice: str
) -> None:
    with pytest.raises(ContextLengthError) as caught:
        assembler_of(messages, Budget(counter=len, **budget), policy, asked).build()
    assert caught.value.advice == advice
    window = caught.value.smallest_window
    assert advice.endswith(f"context_window of {window}.") is (window is not None)
    assert caught.value.excess == caught.value.required - caught.value.available > 0


@pytest.mark.parametrize(
    ("limits", "asked", "required", "available"),
    [
        ({"capability": Limit(cap=50)}, {"tool": TOOL}, 136, 60),
        ({"conversation": Limit(cap=7)}, {}, 10, 7),
        ({"conversation": Limit(cap=7)}, {"instruction": 20}, 30, 27),
        ({"instruction": Limit(cap=15)}, {"instruction": 20}, 30, 25),
        ({"instruction": Limit(cap=15)}, {"instruction": 20, "tool": TOOL}, 156, 151),
    ],
)
def test_a_region_over_its_limit_is_told_what_its_limit_lacks_in_the_whole_request(
    limits: dict[str, Limit], asked: dict[str, Any], required: int, available: int
) -> None:
    with pytest.raises(ContextLengthError) as caught:
        assembler_of(turns(10, 10), Budget(300, counter=len, limits=limits), TrimOldest(), asked).build()
    assert (caught.value.required, caught.value.available) == (required, available)
    assert caught.value.region == next(iter(limits))


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_a_share_of_the_window_may_ask_for_a_window_a_hundred_times_as_large(share: float) -> None:
    budget = Budget(20, counter=len, limits={"conversation": Limit(cap=share)})
    with pytest.raises(ContextLengthError) as caught:
        assembler_of(turns(15), budget, TrimOldest(), {}).build()
    assert caught.value.smallest_window == 15 / share


class Filling:
    """Lays out one token more than are left, so that no window is large enough."""

    needs = Needs.QUESTION

    def __init__(self) -> None:
        self.asked = 0

    def render(self, regions: Any) -> Rendered:
        return Rendered((Piece("knowledge", "k", "k"),))

    def choose(self, regions: Any, space: Any) -> Rendered:
        self.asked += 1
        return Rendered((Piece("knowledge", "k", "k" * (space.left(Rendered()) + 1)),))


class Joined:
    """Lays out all documents as one piece."""

    def render(self, regions: Any) -> Rendered:
        return Rendered((Piece("knowledge", "k", "".join(one.text for one in regions.documents)),))


def test_knowledge_laid_out_as_one_is_told_what_its_limit_lacks() -> None:
    budget = Budget(300, counter=len, limits={"knowledge": Limit(cap=100)})
    made = Assembler(budget, dialect=plain, strategy=Joined()).add_messages(turns(10))
    for document in DOCUMENTS:
        made.add_knowledge(document, type="t")
    with pytest.raises(ContextLengthError) as caught:
        made.build()
    assert (caught.value.required, caught.value.available) == (150, 110)
    assert caught.value.advice.startswith(
        "The knowledge needs 140 tokens and its limits leave it 100: shorten it by 40 tokens, or raise its cap. "
    )


def test_no_window_is_advised_if_the_laid_out_knowledge_grows_with_it() -> None:
    filling = Filling()
    with pytest.raises(ContextLengthError) as caught:
        Assembler(Budget(100, counter=len), dialect=plain, strategy=filling).add_messages(turns(10)).build()
    assert filling.asked <= 8  # a few windows show it
    one = SHORTER.format(1).replace("1 tokens", "1 token")
    assert caught.value.advice == f"{NEWEST.format(10, 9)}{one} {NO_MORE}the content grows with the window."
    assert (caught.value.required, caught.value.smallest_window) == (101, None)


def test_messages_that_change_at_each_question_are_reported_so() -> None:
    asked: list[int] = []

    def restless(dropped: list[Any], previous: str | None, most: int) -> str:
        asked.append(most)
        dropped[0]["content"] += "x"
        return "s"

    history = turns(30, 30, 30)
    with pytest.raises(ConversationError) as caught:
        Assembler(Budget(80, counter=len), dialect=plain, on_overflow=Summarize(restless, 1)).add_messages(
            history
        ).build()
    text = "messages change while they are summarised; leave them alone until build() returns"
    assert (str(caught.value), len(asked)) == (text, MOST_QUESTIONS)


@pytest.mark.parametrize(
    ("newest", "expected"), [(30, "The turns of the pinned messages 0 need 20 beside"), (50, "newest")]
)
def test_pins_are_blamed_only_if_the_newest_turn_alone_would_fit(newest: int, expected: str) -> None:
    assembler = assembler_of(turns(20, 5, newest), Budget(40, counter=len), TrimOldest(pins={0}), {})
    with pytest.raises(ContextLengthError) as raised:
        assembler.build()
    assert expected in raised.value.advice
    assert ("pin fewer of them" in raised.value.advice) is (newest == 30)


@pytest.mark.parametrize(("less", "expected"), [(0, " at most, {} expected"), (1, "")])
def test_the_error_distinguishes_the_bound_from_an_expected_count_that_would_fit(less: int, expected: str) -> None:
    def assembler(window: int) -> Assembler:
        made = Assembler(Budget(window, model="made-up-1"), dialect=openai_chat).add_instruction("Be brief. " * 40)
        return made.add_message({"role": "user", "content": "hi"})

    fixed = assembler(10_000).plan().inside.fixed
    assert fixed.tokens < fixed.upper
    with pytest.raises(ContextLengthError) as raised:
        assembler(fixed.tokens - less).build()
    assert f"the fixed regions alone need {fixed.upper}{expected.format(fixed.tokens)}. " in raised.value.advice


def test_held_tokens_are_not_blamed_on_a_region() -> None:
    made = Assembler(Budget(40, counter=len), dialect=openai_responses).hold(60).add_messages(turns(3))
    with pytest.raises(ContextLengthError) as raised:
        made.build()
    assert raised.value.advice == ALONE.format(64).replace(". ", ", of which the server holds 60. ") + (
        "Call hold(None), and send the whole conversation: its old turns can be dropped. "
        "Or choose a context_window of 71."
    )


class Pinning:
    """Pins the first message, and drops nothing."""

    traits = Traits(pins=frozenset([0]))

    def cut(self, ledger: Any, tokens_left: int) -> Cut:
        return Cut(ledger.first, "nothing goes")


def test_pins_are_not_blamed_if_the_policy_drops_nothing() -> None:
    with pytest.raises(ContextLengthError) as raised:
        assembler_of(turns(20, 9, 20), Budget(35, counter=len), Pinning(), {}).build()
    assert raised.value.advice == (
        PINNED.replace("them.", "them, and end on_overflow with TrimOldest().") + "Or choose a context_window of 49."
    )


def test_a_newest_turn_that_fits_by_rule_is_not_blamed_under_a_bill() -> None:
    made = Assembler(Budget(100, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(turns(50))
    made.anchor(calibrate(made.build(), 90)).add_message(("assistant", "y" * 20))
    with pytest.raises(ContextLengthError) as raised:
        made.build()
    assert raised.value.advice.startswith("What cannot be dropped is too large: shorten its messages by ")


@pytest.mark.parametrize("briefest", [None, TrimOldest(), Refuse()])
def test_no_window_is_the_smallest_if_only_a_model_knows_how_brief_it_can_be(briefest: Any) -> None:
    class Asking:
        traits = Traits(unasked=Refuse(), briefest=briefest)

        def cut(self, turns: Any, tokens_left: int) -> Cut:
            return Cut(turns.first, "the model was asked in vain")

    budget = Budget(25, counter=len)
    with pytest.raises(ContextLengthError) as caught:
        assembler_of(turns(10, 10, 10), budget, Asking(), {}).build()
    named = caught.value.smallest_window == 30
    assert named is isinstance(briefest, Refuse)
    assert ("A context_window of 30 works without a new summary" in caught.value.advice) is not named
