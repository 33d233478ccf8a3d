"""Sources are taken best first, and no source left out would fit beside those that stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, CitedSources, Context, ContextLengthError, Placement, Refuse
from assembler.dialects import DIALECTS
from assembler.pricing.pricer import Piece
from assembler.rag import Best, Greedy
from assembler.regions.knowledge import Document
from assembler.regions.regions import Regions
from assembler.strategies import Rendered
from assembler.strategies.sources.selection import Everything
from budgets import Budget
from tests.scaled import scaled

APIS = [
    ("plain", None),
    ("openai_chat", "gpt-4o"),
    ("openai_chat", "some/unknown"),
    ("anthropic", "claude-sonnet-4-5"),
    ("gemini", "gemini-2.5-pro"),
]
SAID = [{"role": "user", "content": text} for text in ("Hello.", "More.", "What was it?")]
texts = st.lists(
    st.text("ab \n", min_size=1, max_size=60).filter(str.strip).map(lambda text: f"{text}."),
    min_size=1,
    max_size=6,
    unique_by=lambda text: " ".join(text.split()),
)


def built(api: tuple[str, str | None], window: int, strategy: CitedSources, facts: dict[int, str]) -> Context:
    budget = Budget(window, model=api[1])
    made = Assembler(budget, dialect=DIALECTS[api[0]], strategy=strategy, on_overflow=Refuse()).add_messages(SAID)
    for place, text in facts.items():
        made.add_knowledge(text, type="rag", source=f"file-{place}", score=1 - place / 10)
    return made.build()


def kept(context: Context, facts: dict[int, str]) -> set[int]:
    shown = f"{context.system}{context.messages}"
    return {place for place in facts if f"file-{place}" in shown}


@scaled(0.5)
@given(
    api=st.sampled_from(APIS),
    given_texts=texts,
    placement=st.sampled_from([Placement.SYSTEM, Placement.QUESTION]),
    selection=st.sampled_from([Greedy(), Best()]),
    cap=st.none() | st.integers(1, 120),
    share=st.floats(0, 1),
)
def test_no_source_that_was_left_out_fits_beside_those_that_stay(
    api: tuple[str, str | None],
    given_texts: list[str],
    placement: Placement,
    selection: Greedy | Best,
    cap: int | None,
    share: float,
) -> None:
    facts = dict(enumerate(given_texts))
    strategy = CitedSources(placement=placement, selection=selection, max_tokens=cap)
    least, most = (built(api, 100_000, strategy, each).count.upper for each in ({}, facts))
    window = least + round(share * (most - least))
    try:
        context = built(api, window, strategy, facts)
    except ContextLengthError:  # the words around no source at all
        return
    stay = kept(context, facts)
    everything = attrs.evolve(strategy, selection=Everything())
    for place in facts.keys() - stay:
        wider = {at: text for at, text in facts.items() if at in stay or at == place}
        if cap is not None and len(kept(built(api, 100_000, strategy, wider), wider)) < len(wider):
            continue  # over the cap
        with pytest.raises(ContextLengthError):
            built(api, window, everything, wider)


def test_two_small_sources_do_not_push_out_a_better_one_that_fills_their_place() -> None:
    """`Best` compares the sums of scores, so it takes the two."""
    facts = {0: "a " * 40, 1: "b " * 10, 2: "c " * 10}
    alone = built(("plain", None), 100_000, CitedSources(), {0: facts[0]}).count.upper
    assert kept(built(("plain", None), alone, CitedSources(), facts), facts) == {0}
    assert kept(built(("plain", None), alone, CitedSources(selection=Best()), facts), facts) == {1, 2}


class Bounded:
    """The better of two sources costs more in the request than alone, and the other does not."""

    question, takes_blocks = "Which?", False
    _left: ClassVar[dict[tuple[str, ...], int]] = {(): 43, ("better",): -7, ("other",): 0}

    def price(self, pieces: Sequence[Piece]) -> list[int]:
        return [{"better": 38, "other": 39}.get(piece.text.split()[-1], 0) for piece in pieces]

    def left(self, rendered: Rendered) -> int:
        return self._left.get(tuple(source.text for source in rendered.sources), -50)


def test_a_source_is_tried_on_its_own_where_a_better_one_of_a_lower_price_does_not_fit() -> None:
    documents = tuple(Document(text, "rag", score=score) for text, score in (("better", 1.0), ("other", 0.5)))
    chosen = CitedSources(placement=Placement.QUESTION).choose(Regions(documents=documents), Bounded())
    assert [source.text for source in chosen.sources] == ["other"]
