"""Every statement of `ContextLengthError` is true. The oracle only builds fresh assemblers at other windows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assembler import Assembler, Context, Summarize, first_user
from assembler.dialects import DIALECTS, Dialect, plain
from assembler.policies import ClearToolResults, KeepRelevant, Policy, Refuse, TrimOldest, TrimSteps, Truncate
from assembler.strategies import Strategy
from budgets import Budget, BudgetError, ContextLengthError, Limit
from budgets.limit import REGIONS
from tests.assembler import by_hand
from tests.assembler.by_hand import History
from tests.assembler.drawn import STRATEGIES
from tests.scaled import scaled

from .drawn import gist, ladders, low_ladders, low_summaries, rungs, sessions

SUMMARY = "Summary of the conversation so far"
REFUSING = st.one_of(st.just([Refuse()]), st.lists(st.one_of(rungs, st.just(Refuse())), min_size=1, max_size=4))
amounts = st.one_of(st.integers(0, 120), st.sampled_from([0.05, 0.2, 0.5, 0.9]))
caps = st.one_of(st.none(), amounts)


@st.composite
def limit(draw: st.DrawFn) -> Limit:
    try:
        return Limit(cap=draw(caps), floor=draw(st.one_of(st.just(0), amounts)), priority=draw(st.integers(0, 1)))
    except BudgetError:
        return Limit()


limits = st.one_of(
    st.just(dict[str, Limit]()),
    st.dictionaries(st.sampled_from(["instruction", "capability", "knowledge", "conversation"]), limit(), max_size=3),
)


@attrs.frozen
class Draft:
    """The content of all regions, from which a new assembler is made for each window."""

    history: History = attrs.field(repr=len)
    ladder: Sequence[Policy]
    dialect: Dialect = plain
    strategy: Strategy = STRATEGIES[0]
    instruction: str = ""
    knowledge: tuple[int, ...] = ()
    tools: int = 0
    settings: dict[str, Any] = attrs.field(factory=dict[str, Any])

    def at(self, window: int, **changes: Any) -> Context:
        draft = attrs.evolve(self, **changes)
        budget = Budget(window, counter=len, **draft.settings)
        made = Assembler(budget, dialect=draft.dialect, on_overflow=draft.ladder, strategy=draft.strategy)
        made.add_instruction(draft.instruction).add_messages(draft.history)
        made.add_capability([{"name": f"t{n}", "description": "x" * 9, "parameters": {}} for n in range(draft.tools)])
        for number, size in enumerate(draft.knowledge):
            made.add_knowledge("k" * size, type="rag", source=f"d{number}", score=number / 10)
        return made.build()

    def builds(self, window: int, **changes: Any) -> Context | None:
        try:
            return self.at(window, **changes)
        except (ContextLengthError, BudgetError):  # floors that no such window holds are no window either
            return None


dialects = st.one_of(
    st.sampled_from([("openai", plain), ("anthropic", plain)]),
    st.sampled_from([(form, dialect) for dialect in DIALECTS.values() for form in ("openai", "anthropic")]),
)


@st.composite
def drafts(draw: st.DrawFn, ladder: st.SearchStrategy[Any]) -> Draft:
    form, dialect = draw(dialects)
    history = draw(sessions(form, marks=(0, 0, 0, 0, 1)))
    if dialect is not plain or draw(st.booleans()):
        history.append({"role": "user", "content": "and now?"})
    settings: dict[str, Any] = {"limits": draw(limits)}
    if draw(st.integers(0, 3)) == 0:
        settings |= {"overhead": draw(st.integers(0, 9)), "safety_margin": draw(st.integers(0, 9))}
        settings |= {"max_output_tokens": draw(st.integers(0, 20))}
    if draw(st.integers(0, 3)) == 0:
        settings["max_input_tokens"] = draw(st.integers(1, 400))
    return Draft(
        history,
        draw(ladder),
        dialect,
        draw(st.sampled_from(STRATEGIES)),
        draw(st.sampled_from(["", "Be brief."])),
        tuple(draw(st.lists(st.integers(1, 60), max_size=3))),
        draw(st.sampled_from([0, 0, 1] if dialect is plain else [1, 2])),
        settings,
    )


def window_of(draft: Draft, data: st.DataObject) -> int:
    """A window on an edge of this draft where one is known, else any."""
    least = draft.settings.get("max_output_tokens", 0) + 1
    ample = draft.builds(10_000, ladder=[Refuse()], settings={}, strategy=STRATEGIES[0])
    assert ample is not None
    newest = ample.count.upper - ample.costs.conversation + by_hand.cost(by_hand.turns_of(draft.history)[-1])
    edge = data.draw(st.sampled_from([newest, ample.count.upper, data.draw(st.integers(1, ample.count.upper))]))
    free = sum(draft.settings.get(name, 0) for name in ("overhead", "safety_margin", "max_output_tokens"))
    return max(edge + free + data.draw(st.integers(-2, 2)), least)


def error_of(draft: Draft, window: int) -> ContextLengthError | None:
    try:
        draft.at(window)
    except ContextLengthError as error:
        return error
    except BudgetError:
        return None
    return None


def check_advice(draft: Draft, window: int, error: ContextLengthError) -> None:
    """The policies that it names make it fit, and so does a wider cap where it says so."""
    named = re.search(r"(end on_overflow with |pass on_overflow=)((?:\w+\([^)]*\)(?:, )?)+)", error.advice)
    with_more = "and shorten its messages" in error.advice or "pin fewer of them" in error.advice
    if named is not None and not with_more:
        policies = eval(f"[{named[2]}]", {"TrimOldest": TrimOldest, "TrimSteps": TrimSteps})
        ladder = policies if named[1].startswith("pass") else [*draft.ladder, *policies]
        calm = [rung for rung in ladder if not isinstance(rung, Summarize)]  # who may answer otherwise at each window
        assert draft.builds(window, ladder=calm) is not None
    limits, region = draft.settings.get("limits", {}), error.region or ""
    if "or raise its cap." in error.advice:
        wider = {**limits, region: attrs.evolve(limits[region], cap=None)}
        assert draft.builds(window, settings={**draft.settings, "limits": wider}) is not None
    lower = re.search(r"lower (the|all) floors, shares and priorities", error.advice)
    if lower is not None:
        freer = {name: attrs.evolve(limit, floor=0, share=None, priority=0) for name, limit in limits.items()}
        if lower[1] == "the" and region in limits:
            freer[region] = limits[region]
        if "raise its cap and lower" in error.advice:
            freer[region] = attrs.evolve(freer[region], cap=None)
        assert draft.builds(window, settings={**draft.settings, "limits": freer}) is not None
    check_shortening(draft, window, error.advice)
    if "pin fewer of them" in error.advice:
        rung = [TrimOldest()] if "pin fewer of them, and end on_overflow with TrimOldest()" in error.advice else []
        freed = unpinned(draft)
        assert freed.builds(window, ladder=[*calmed(freed), *rung]) is not None
    if "let documents go" in error.advice:
        cap = re.search(r"Limit\(cap=([\d_]+)\)", error.advice)
        assert cap is not None
        capped = {**limits, "knowledge": Limit(cap=int(cap[1]))}
        assert draft.builds(window, ladder=calmed(draft), settings={**draft.settings, "limits": capped}) is not None


def check_shortening(draft: Draft, window: int, advice: str) -> None:
    """The length that it names for texts does, and so does a shorter question, by as much as it says."""
    rung = [TrimOldest()] if "end on_overflow with TrimOldest(), and shorten" in advice else []
    length = re.search(r"Truncate\(([\d_]+)\) (?:at the end of on_overflow|behind it) does", advice)
    if length is not None:
        assert draft.builds(window, ladder=[*calmed(draft), *rung, Truncate(int(length[1]))]) is not None
    less = re.search(r"shorten its messages by (\d+) tokens?", advice)
    if less is None or draft.dialect is not plain:
        return
    shorter = shortened(draft, int(less[1]))
    if shorter is not None:
        assert draft.builds(window, history=shorter, ladder=[*calmed(draft), *rung]) is not None


def calmed(draft: Draft) -> list[Policy]:
    """Without the policies that may answer differently at each window."""
    calm = [rung for rung in draft.ladder if not isinstance(rung, Summarize)]
    return calm or [Refuse()]


def unpinned(draft: Draft) -> Draft:
    ladder = [
        attrs.evolve(rung, pins=frozenset()) if isinstance(rung, TrimOldest | KeepRelevant) else rung
        for rung in draft.ladder
    ]
    history = [{key: held for key, held in message.items() if key != "pinned"} for message in draft.history]
    return attrs.evolve(draft, ladder=ladder, history=history)


def shortened(draft: Draft, less: int) -> History | None:
    """The history whose newest turn says so many characters less; None where it does not say so many.

    Nothing is taken from a step that a policy takes out whole or in part: what has gone anyway frees no token.
    """
    history, steps_go = draft.history, any(isinstance(rung, TrimSteps | ClearToolResults) for rung in draft.ladder)
    newest, shorter = by_hand.turns_of(history)[-1], list(history)
    for place in range(len(history) - len(newest), len(history)):
        if steps_go and (history[place]["role"] == "tool" or history[place].get("tool_calls")):
            continue
        content = history[place].get("content")
        if isinstance(content, str) and less:
            taken = min(less, max(len(content) - 1, 0))
            shorter[place], less = {**history[place], "content": content[taken:]}, less - taken
    return None if less else shorter


def check(draft: Draft, window: int, error: ContextLengthError) -> None:
    assert error.excess == error.required - error.available > 0
    assert error.available <= error.budget.input_limit
    check_advice(draft, window, error)
    smallest = error.smallest_window
    asking = any(isinstance(rung, Summarize) for rung in draft.ladder)
    if smallest is None:
        assert asking or draft.settings.get("max_input_tokens") or draft.settings.get("limits")
        if "helps only with a new summary" in error.advice:
            assert asking
        elif "works without a new summary" not in error.advice:
            assert "context_window does not help" in error.advice
            for times in (2, 1000):
                assert draft.builds(window * times) is None
        return
    assert smallest > window
    context = draft.builds(smallest)
    assert context is not None
    if asking and SUMMARY in str(context.request()):
        assert context.count.upper <= attrs.evolve(error.budget, context_window=smallest).input_limit
    else:
        assert context.count.upper == error.required
        assert context.costs == error.costs
    assert draft.builds(smallest - 1) is None


def check_at_some_window(draft: Draft, data: st.DataObject) -> None:
    window = window_of(draft, data)
    error = error_of(draft, window)
    assume(error is not None)
    assert error is not None
    check(draft, window, error)


@scaled(0.5)
@given(drafts(ladders), st.data())
def test_the_smallest_window_builds_and_one_token_less_does_not(draft: Draft, data: st.DataObject) -> None:
    check_at_some_window(draft, data)


@scaled(0.5)
@given(drafts(st.one_of(low_ladders, low_summaries, REFUSING)), st.data())
def test_the_smallest_window_of_marks_and_of_refusals_works_too(draft: Draft, data: st.DataObject) -> None:
    check_at_some_window(draft, data)


def test_a_summary_that_has_tokens_left_is_not_called_hopeless() -> None:
    """At 147 tokens the summarizer is not called; at 184 it is, and its summary fits."""
    call = {"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"q": "a"}'}}
    history: History = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "a"},
        {"role": "user", "content": "and now?"},
    ]
    ladder = [Summarize(gist, keep_turns=1)]
    draft = Draft(history, ladder, DIALECTS["openai_responses"], tools=1, settings={"max_input_tokens": 184})
    error = error_of(draft, 147)
    assert error is not None
    assert error.smallest_window is None
    assert "helps only with a new summary" in error.advice
    assert draft.builds(184) is not None


unfloored = st.builds(
    Limit,
    cap=caps,
    share=st.sampled_from([None, None, 0.3, 0.7]),
    priority=st.integers(0, 1),
)
droppers = st.sampled_from(
    [
        *(TrimOldest(), TrimOldest(keep_turns=2), TrimOldest(pins=first_user), TrimOldest(note="left out")),
        *(TrimOldest(low_water=0.6), TrimSteps(), Truncate(20), ClearToolResults(0), KeepRelevant(), Refuse()),
    ]
)


@st.composite
def limited(draw: st.DrawFn) -> Draft:
    """A short conversation, documents and a tool, under limits without floors."""
    turns = st.lists(
        st.integers(1, 40).map(talk) | st.lists(st.integers(1, 30), max_size=3).map(lambda it: steps_of(*it))
    )
    history = [message for turn in draw(turns) for message in turn] + talk(draw(st.integers(1, 20)))
    return Draft(
        history,
        draw(st.lists(droppers, min_size=1, max_size=3)),
        instruction=draw(st.sampled_from(["", "Be brief."])),
        knowledge=tuple(draw(st.lists(st.integers(1, 40), max_size=3))),
        tools=draw(st.integers(0, 1)),
        settings={"limits": draw(st.dictionaries(st.sampled_from(REGIONS), unfloored, max_size=3))},
    )


@scaled(0.3)
@given(limited(), st.integers(1, 200), st.data())
def test_limits_without_floors_refuse_every_window_below_the_smallest_and_none_above(
    draft: Draft, window: int, data: st.DataObject
) -> None:
    assume(not drops_steps_as_it_grows(draft))
    error = error_of(draft, window)
    if error is None:
        assert draft.builds(window + data.draw(st.integers(1, 60))) is not None
        return
    smallest = error.smallest_window
    assume(smallest is not None)
    assert smallest is not None
    for below in data.draw(st.lists(st.integers(1, smallest - 1), max_size=6, unique=True)):
        assert draft.builds(below) is None
    for more in data.draw(st.lists(st.integers(0, 150), max_size=4, unique=True)):
        assert draft.builds(smallest + more) is not None


def drops_steps_as_it_grows(draft: Draft) -> bool:
    """Whether a ladder with a low-water mark may drop steps of a turn while it is the newest, and not afterwards."""
    marked = any(isinstance(policy, TrimOldest) and policy.low_water is not None for policy in draft.ladder)
    return marked and any(isinstance(policy, TrimSteps) for policy in draft.ladder)


def test_a_ladder_that_drops_steps_as_it_grows_names_a_window_that_builds_above_one_that_it_refuses() -> None:
    # At 19 the third step is one too many while its turn is the newest. From 20 on only the next question is, and then
    # no policy may drop a step.
    history = steps_of(4, 1, 1) + talk(6)
    draft = Draft(history, [TrimOldest(pins=first_user), TrimOldest(low_water=0.6), TrimSteps()])
    assert draft.builds(19) is not None
    error = error_of(draft, 20)
    assert error is not None
    assert error.smallest_window == 26
    assert draft.builds(26) is not None


def talk(*sizes: int) -> History:
    return [{"role": "user", "content": "x" * size} for size in sizes]


def steps_of(*sizes: int) -> History:
    """A question and steps, each a call of no words and a result of so many characters."""
    history = talk(5)
    for place, size in enumerate(sizes):
        call = {"id": f"c{place}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        history.append({"role": "assistant", "content": None, "tool_calls": [call]})
        history.append({"role": "tool", "tool_call_id": f"c{place}", "content": "r" * size})
    return history


CASES = {
    "a limit in tokens that no window changes": (
        Draft(talk(50, 50), [TrimOldest()], settings={"limits": {"conversation": Limit(cap=30)}}),
        *(100, 50, 30, None),
    ),
    "a share of the window": (
        Draft(talk(50, 50), [TrimOldest()], settings={"limits": {"conversation": Limit(cap=0.2)}}),
        *(100, 50, 20, 250),
    ),
    "a share of the window for the instruction": (
        Draft(talk(5), [Refuse()], instruction="i" * 50, settings={"limits": {"instruction": Limit(cap=0.1)}}),
        *(100, 55, 15, 500),
    ),
    "a cap on the input": (Draft(talk(50), [Refuse()], settings={"max_input_tokens": 40}), *(100, 50, 40, None)),
    "a cap on the input that holds it": (
        Draft(talk(50), [Refuse()], settings={"max_input_tokens": 60, "max_output_tokens": 9}),
        *(40, 50, 31, 59),
    ),
    "a note that would not be written": (
        Draft(talk(1, 20), [TrimOldest(note="left out")]),
        *(20, 21, 20, 21),
    ),
    "a ladder that keeps more in a larger window": (
        Draft(
            [*steps_of(6, 6), *talk(7), *steps_of(9)[1:]],
            [TrimSteps(0), TrimOldest(low_water=0.5, pins=first_user)],
        ),
        *(7, None, 7, None),
    ),
    "a summary that is written where a limit no longer binds": (
        Draft(
            [*steps_of(40, 40), *talk(8)],
            [Summarize(gist, keep_turns=1), TrimOldest(low_water=0.3)],
            DIALECTS["anthropic"],
            tools=1,
            settings={"limits": {"conversation": Limit(priority=1)}},
        ),
        *(483, 459, 274, 668),
    ),
    "more of the pinned turns than of the newest": (
        Draft(talk(40, 10, 10), [TrimOldest(pins=first_user)]),
        *(45, 50, 45, 50),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_the_smallest_cases_of_errors_that_were_once_false(
    case: tuple[Draft, int, int | None, int, int | None],
) -> None:
    draft, window, required, available, smallest = case
    error = error_of(draft, window)
    assert error is not None
    check(draft, window, error)
    assert error.available == available
    if required is not None:
        assert (error.required, error.smallest_window) == (required, smallest)


def test_a_document_is_dropped_for_the_newest_turn_and_the_report_says_so() -> None:
    draft = Draft(talk(9), [TrimOldest()], knowledge=(7,), settings={"limits": {"capability": Limit(cap=0.5)}})
    whole = draft.builds(1_000)
    assert whole is not None
    for less in (0, 1, 9):
        context = draft.builds(whole.count.upper - less)
        assert context is not None
        assert context.messages == draft.history
        left_out = [row.reason for row in context.report.rows if row.region == "knowledge" and not row.after]
        assert left_out == ["so that the smallest conversation fits"] * (less > 0)


def test_a_newest_turn_that_is_too_large_is_shortened_by_no_more_than_it_holds() -> None:
    error = error_of(Draft(talk(30, 30, 30), [TrimOldest(keep_turns=3)]), 20)
    assert error is not None
    assert "end on_overflow with TrimOldest(), and shorten its messages by 10 tokens" in error.advice
    assert Draft(talk(30, 30, 20), [TrimOldest()]).builds(20) is not None


def test_an_error_tries_few_windows() -> None:
    asked: list[int] = []

    class Asked:
        def cut(self, ledger: Any, room: int) -> Any:
            asked.append(room)
            return TrimOldest().cut(ledger, room)

    assert error_of(Draft(talk(*range(10, 400)), [Asked()]), 100) is not None
    assert len(asked) <= 6
    asked.clear()
    reserved = {"max_output_tokens": 10_000}  # the first window tried has them too
    assert error_of(Draft(talk(*range(10, 400)), [Asked()], settings=reserved), 10_100) is not None
    assert len(asked) <= 6
    asked.clear()
    limits = {"conversation": Limit(cap=0.05)}
    assert error_of(Draft(talk(*range(10, 400)), [Asked()], settings={"limits": limits}), 100) is not None
    assert len(asked) <= 40


@pytest.mark.parametrize("ladder", [[Refuse()], [Truncate(1)], [TrimOldest(keep_turns=2)], [TrimOldest()]])
@pytest.mark.parametrize("window", [20, 40, 60])
@pytest.mark.parametrize("instruction", [45, 70, 130])
@pytest.mark.parametrize("newest", [5, 15])
def test_no_region_is_to_be_shortened_by_more_tokens_than_it_has(
    ladder: list[Policy], window: int, instruction: int, newest: int
) -> None:
    """The fixed regions did not fit, nor did old turns that another policy drops: it named the sum of both."""
    history = [{"role": "user", "content": "q" * size} for size in (90, 20, newest)]
    draft = Draft(history, ladder, instruction="i" * instruction)
    error = error_of(draft, window)
    if error is None or "fixed regions alone" not in error.advice:
        return
    less = re.search(
        r"Shorten the instruction by (\d+) tokens?(, and let TrimOldest\(\) drop the older turns)?", error.advice
    )
    assert less is not None
    rung = [TrimOldest()] if less[2] else []
    assert draft.builds(window, instruction="i" * (instruction - int(less[1])), ladder=[*ladder, *rung]) is not None
