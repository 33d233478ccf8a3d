"""The tokens left that a strategy sees are what the request would leave with its pieces, to the token."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, Context, ContextLengthError, Refuse, TrimOldest, first_user
from assembler.dialects import plain
from assembler.errors import WrongTypeError
from assembler.pipeline.space import _Weighings  # pyright: ignore[reportPrivateUsage]
from assembler.policies import KeepRelevant, Summarize, Truncate
from assembler.pricing.pricer import Piece
from assembler.strategies import Around, Needs, Omitted, Rendered
from budgets import Budget, BudgetError, Limit, tiktoken_counter
from tests.scaled import scaled

WINDOW = 1_000
OLD, QUESTION = "an older turn of the user's", "What is it?"


class Asking:
    """Keeps what it is given, and lays out nothing."""

    needs = Needs.QUESTION

    def __init__(self) -> None:
        self.space: Any = None

    def render(self, regions: Any) -> Rendered:
        return Rendered()

    def choose(self, regions: Any, space: Any) -> Rendered:
        self.space = space
        return Rendered()


def space_of(counter: Any, limits: dict[str, Limit], *texts: str, policy: Any = None) -> Any:
    asking = Asking()
    budget = Budget(WINDOW, counter=counter, limits=limits)
    assembler = Assembler(budget, dialect=plain, strategy=asking, on_overflow=policy or TrimOldest())
    assembler.add_messages([("user", text) for text in texts]).build()
    return asking.space


def pieces(region: Any, texts: list[str]) -> tuple[Piece, ...]:
    return tuple(Piece(region, f"{region}{place}", text) for place, text in enumerate(texts))


COUNTERS = {"by characters": len, "by o200k": tiktoken_counter("o200k_base")}
texts = st.lists(st.sampled_from(["a\n", "b c\n", "<d>\n", "\n", " e\n", "f", "/g\n", ""]), max_size=3)
tagged = st.lists(st.sampled_from(["<a>\n", "<b>c\n", "<d>e f</d>\n"]), max_size=2)
"""In the system text pieces meet where a line ends and a tag begins: so a strategy promises."""


@pytest.mark.parametrize("counter", COUNTERS.values(), ids=list(COUNTERS))
@given(
    system=tagged,
    knowledge=tagged,
    before=texts,
    after=texts,
    cap=st.sampled_from([None, 5, 0.01, 400]),
    floor=st.sampled_from([0, 3, 60, 0.05, 0.5]),
)
def test_the_tokens_left_are_those_that_the_request_leaves_with_these_pieces(
    counter: Any, system: list[str], knowledge: list[str], before: list[str], after: list[str], cap: Any, floor: Any
) -> None:
    limits = {"knowledge": Limit(cap=cap), "conversation": Limit(floor=floor)}
    space = space_of(counter, {name: limit for name, limit in limits.items() if limit != Limit()}, OLD, QUESTION)
    around = Around(pieces("knowledge", before), pieces("knowledge", after)) if before or after else None
    rendered = Rendered((*pieces("instruction", system), *pieces("knowledge", knowledge)), around)
    asked = "".join([*before, QUESTION, *after])
    added = counter(asked) - counter(QUESTION)
    prices = [count.upper for count in space.prices(rendered).pieces]
    own = len(rendered.pieces)
    assert space.question == QUESTION
    assert (sum(prices[:own]), sum(prices[own:])) == (counter("".join([*system, *knowledge])), max(added, 0))
    assert space.price(rendered.every_piece) == [counter(piece.text) for piece in rendered.every_piece]
    least, whole = counter(QUESTION), counter(QUESTION) + counter(OLD)
    promised = min(int(floor * WINDOW) if isinstance(floor, float) else floor, whole)
    left = WINDOW - least - sum(prices) - max(promised - least, 0)
    knows = sum(price for price, piece in zip(prices, rendered.every_piece, strict=True) if piece.region == "knowledge")
    most = WINDOW if cap is None else int(cap * WINDOW) if isinstance(cap, float) else cap
    assert space.left(rendered) == (min(left, most - knows) if cap is not None or floor else left)


def test_without_a_budget_the_tokens_left_are_unlimited_and_without_a_question_no_text_is_around_it() -> None:
    asking = Asking()
    Assembler(dialect=plain, strategy=asking).add_messages([("user", QUESTION)]).build()
    assert asking.space.left(Rendered(pieces("knowledge", ["a"]))) is None
    empty = space_of(len, {})
    assert (empty.question, empty.left(Rendered(pieces("knowledge", ["abc"])))) == (None, WINDOW - 3)
    with pytest.raises(ValueError, match=r"look at Space\.question first"):
        empty.left(Rendered((), Around(pieces("knowledge", ["a"]))))


class Noting:
    """A price list that records which pieces are priced together."""

    def __init__(self, behind: Any) -> None:
        self.behind, self.asked = behind, list[list[str]]()

    def fixed(self, priced: Any, head: Any, tools: Any) -> Any:
        self.asked.append([piece.text for piece in priced])
        return self.behind.fixed(priced, head, tools)


@pytest.mark.parametrize(
    ("counter", "at_once"), [(tiktoken_counter("o200k_base"), [["<a>\n", "<b>\n"]]), (len, [["<a>\n"], ["<b>\n"]])]
)
def test_a_piece_is_priced_once_however_often_it_is_asked_about(counter: Any, at_once: list[list[str]]) -> None:
    space = space_of(counter, {}, QUESTION)
    asked = pieces("knowledge", ["<a>\n", "<b>\n"])
    noting = Noting(space._pricer)
    space = attrs.evolve(space, pricer=noting)
    assert space.price(asked) == space.price(asked) == [counter("<a>\n"), counter("<b>\n")]
    assert space.price(asked[::-1]) == [counter("<b>\n"), counter("<a>\n")]
    assert noting.asked == at_once


def test_if_counts_add_no_text_is_counted_again_for_text_put_before_it() -> None:
    class Adding:
        additive_at_tag_seams = True

        def __init__(self) -> None:
            self.asked: list[str] = []

        def __call__(self, text: str) -> int:
            self.asked.append(text)
            return len(text)

    counter = Adding()
    space = space_of(counter, {}, QUESTION)
    around = Around(pieces("knowledge", ["<a>\n", "<b>\n", "<c>\n"]))
    counter.asked.clear()
    assert space.left(Rendered((), around)) == WINDOW - len(QUESTION) - 12
    assert [text for text in counter.asked if "<a>" in text] == ["<a>\n"]


@pytest.mark.parametrize(
    ("policy", "stays"),
    [
        (TrimOldest(), [QUESTION]),
        (TrimOldest(pins=first_user), ["first", QUESTION]),
        ([TrimOldest(keep_turns=2), TrimOldest(pins={0})], ["first", QUESTION]),
        (TrimOldest(pins=first_user, note="gone"), ["first", "gone", QUESTION]),
        (Refuse(), ["first", OLD, QUESTION]),
        ([Truncate(5), TrimOldest()], [QUESTION]),
        (KeepRelevant(keep_turns=2), [OLD, QUESTION]),
        (Summarize(lambda *_: "s", 1), ["first", OLD, QUESTION]),
    ],
)
def test_knowledge_is_left_what_the_least_conversation_leaves_that_the_policies_would_keep(
    policy: Any, stays: list[str]
) -> None:
    space = space_of(len, {}, "first", OLD, QUESTION, policy=policy)
    assert space.left(Rendered()) == WINDOW - len("".join(stays))


class LaysOut:
    """Lays out what it is given, and keeps how many tokens that leaves."""

    needs = Needs.QUESTION

    def __init__(self, rendered: Rendered) -> None:
        self.rendered, self.left = rendered, 0

    def render(self, regions: Any) -> Rendered:
        return self.rendered

    def choose(self, regions: Any, space: Any) -> Rendered:
        self.left = space.left(self.rendered)
        return self.rendered


full_texts = st.lists(
    st.sampled_from(["a", "b c", " d", "<e>", "é", "\n", "word ", "12"]), min_size=1, max_size=30
).map(lambda words: f"{''.join(words)}.")
MERGING = [
    ("anthropic", "claude-sonnet-4-5"),
    ("bedrock", "amazon.nova-pro-v1:0"),
    ("gemini", "gemini-of-tomorrow"),
    ("openai_chat", "some/unknown"),
]


@pytest.mark.parametrize("api", MERGING, ids=str)
@scaled(0.5)
@given(
    before=st.lists(full_texts.map("{}\n".format), max_size=3),
    after=st.lists(full_texts.map("{}\n".format), max_size=2),
    system=st.lists(full_texts.map("<a>{}\n".format), max_size=2),
    turns=st.lists(full_texts, min_size=1, max_size=2),  # the first is pinned
)
def test_a_strategy_that_asks_near_the_edge_is_told_what_the_request_leaves_to_the_token(
    api: tuple[str, str], before: list[str], after: list[str], system: list[str], turns: list[str]
) -> None:
    """A host may be merged with other messages as it is sent, and estimates are rounded up once for all."""
    around = Around(pieces("knowledge", before), pieces("knowledge", after)) if before or after else None
    strategy = LaysOut(Rendered(pieces("knowledge", system), around, omitted=(Omitted("fact", None, "elsewhere"),)))

    def built(window: int) -> Context:
        budget = Budget(window, model=api[1])
        made = Assembler(budget, dialect=api[0], strategy=strategy, on_overflow=TrimOldest(pins=first_user))
        return made.add_knowledge("A fact.", type="fact").add_messages([("user", text) for text in turns]).build()

    built(WINDOW)
    about = WINDOW - strategy.left
    for window in range(about - 2, about + 3):
        try:
            context = built(window)
        except ContextLengthError:
            assert strategy.left < 0
        else:
            assert strategy.left == window - context.count.upper >= 0


class LaysOutText:
    def render(self, regions: object) -> Any:
        return "Facts: none"


def test_the_error_for_a_strategy_without_a_layout_says_what_to_return() -> None:
    assembler = Assembler(strategy=LaysOutText()).add_knowledge("A fact.", type="fact")
    with pytest.raises(WrongTypeError, match=r"LaysOutText: it laid the regions out as str; return a Rendered"):
        assembler.build()


class LaysOutNothing:
    """A strategy that lays out no document, as if it forgot to return its text."""

    def __init__(self, *omitted: Omitted) -> None:
        self.omitted = omitted

    def render(self, regions: object) -> Rendered:
        return Rendered(omitted=self.omitted)


def test_the_error_for_a_strategy_that_loses_documents_names_them() -> None:
    """Only the contract's check reported it; a build sent the question without the documents."""
    knowing = Assembler(strategy=LaysOutNothing()).add_knowledge("A fact.", type="fact")
    with pytest.raises(BudgetError, match=r"LaysOutNothing: it lost 1 document\(s\).*in omitted"):
        knowing.build()
    with pytest.raises(BudgetError, match=r"LaysOutNothing: it lost the instruction"):
        Assembler(strategy=LaysOutNothing()).add_instruction("Be brief.").plan()
    assert not Assembler(strategy=LaysOutNothing()).build().messages
    named = LaysOutNothing(Omitted("fact", None, "does not matter"))
    rows = Assembler(strategy=named).add_knowledge("A fact.", type="fact").build().report.rows
    assert ("fact", "does not matter") in [(row.name, row.reason) for row in rows]


def test_a_layout_is_weighed_unless_two_others_show_plainly_whether_it_fits() -> None:
    weighed = _Weighings()
    assert weighed.predict(50) is None
    for estimated, left in ((0, -10), (100, 90)):
        assert weighed.add(estimated, left) == left
    found = {estimated: weighed.predict(estimated) for estimated in (-150, -20, 40, 80, 100, 300, 301)}
    assert found == {-150: -160, -20: -30, 40: None, 80: None, 100: 90, 300: 290, 301: None}
