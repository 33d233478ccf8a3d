"""The window that all sources fill holds all sources, even if each price is rounded up."""

from __future__ import annotations

import pytest

from assembler import Assembler, CitedSources
from assembler.strategies import Placement
from assembler.strategies.sources.selection import Best, Diverse, Greedy, Selection
from budgets import Budget

UNKNOWN = "nobody-knows-this-model"


def built(window: int, sources: int, strategy: CitedSources, model: str) -> Assembler:
    made = Assembler(Budget(window, model=model), dialect="openai_chat", strategy=strategy).add_instruction("Be brief.")
    for place in range(sources):
        text = f"Fact {place} of the walrus. {'It eats clams. ' * place}"
        made.add_knowledge(text, type="rag", source=f"{place}.md", score=(place + 1) / 10)
    return made.add_message({"role": "user", "content": "Why?"})


@pytest.mark.parametrize("model", [UNKNOWN, "gpt-4o", "gpt-4"])
@pytest.mark.parametrize("placement", [Placement.SYSTEM, Placement.QUESTION])
@pytest.mark.parametrize("sources", range(1, 6))
def test_the_window_that_all_sources_fill_holds_all_sources(sources: int, placement: Placement, model: str) -> None:
    strategy = CitedSources(placement=placement)
    whole = built(1_000_000, sources, strategy, model).build()
    exactly = built(whole.count.upper, sources, strategy, model).build()
    assert (exactly.count, exactly.request()) == (whole.count, whole.request())


@pytest.mark.parametrize("selection", [Greedy(), Best(), Diverse()])
def test_no_source_is_left_out_that_would_fit_whatever_selects_them(selection: Selection) -> None:
    strategy = CitedSources(selection=selection)
    whole = built(1_000_000, 4, strategy, UNKNOWN).build()
    exactly = built(whole.count.upper, 4, strategy, UNKNOWN).build()
    assert exactly.count.upper == whole.count.upper


def test_sources_beyond_max_tokens_stay_out_although_the_window_holds_them() -> None:
    context = built(1_000_000, 4, CitedSources(max_tokens=120), UNKNOWN).build()
    kept = [row for row in context.report.rows if row.name.startswith("[Source")]
    assert 0 < len(kept) < 4
    assert sum(row.after for row in kept) <= 120
