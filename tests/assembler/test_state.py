"""A session that is rebuilt from a database at every turn continues like one that stayed in its process."""

from __future__ import annotations

import json
import logging
import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, AssemblyError, StateError, TrimOldest, calibrate
from assembler.dialects import plain
from assembler.policies import ClearToolResults, Policy, Summarize, TrimSteps, Truncate
from assembler.policies.summarize import HEADING
from budgets import Budget
from tests.scaled import scaled

from . import by_hand
from .policies.drawn import any_session, ladders, low_ladders, low_summaries

History = list[dict[str, Any]]
REBUILT: dict[str, History] = json.loads(Path(__file__).with_name("test_state.rebuilt.json").read_text())


class Writer:
    """A summarizer that fails and writes too much now and then, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def __call__(self, dropped: Sequence[Any], previous: str | None, most: int) -> str:
        self.asked.append([json.dumps(list(dropped)), previous, most])
        if len(self.asked) % 5 == 3:
            raise TimeoutError
        if len(self.asked) % 5 == 4:
            return "s" * (most + 1)
        return f"{previous or ''}/{len(dropped)}"[-most:]


def asking(ladder: Sequence[Policy], writer: Writer) -> list[Policy]:
    return [Summarize(writer, rung.keep_turns) if isinstance(rung, Summarize) else rung for rung in ladder]


def new(limit: int, ladder: Sequence[Policy]) -> Assembler:
    return Assembler(Budget(limit, counter=len), dialect=plain, on_overflow=ladder)


Turn = Callable[[list[Any]], Any]


def in_one_process(limit: int, ladder: Sequence[Policy], factor: float | None) -> Turn:
    assembler = new(limit, ladder)

    def turn(history: list[Any]) -> Any:
        context = assembler.add_messages(history).build()
        if factor is not None:
            assembler.anchor(calibrate(context, max(int(context.by_rule.tokens * factor), 1)))
        return context

    return turn


def rebuilt(limit: int, ladder: Sequence[Policy], factor: float | None) -> Turn:
    stored: list[str] = []

    def turn(history: list[Any]) -> Any:
        messages = json.loads(json.dumps(history))
        assembler = new(limit, ladder).add_messages(messages)
        if stored:
            assembler.restore(json.loads(stored[-1]))
        context = assembler.build()
        usage = None if factor is None else max(int(context.by_rule.tokens * factor), 1)
        stored.append(json.dumps(context.state(usage)))
        return context

    return turn


def life(turn: Turn, history: History) -> list[tuple[str, list[str]]]:
    """The request at every message that a model could answer, up to the first build that fails."""
    outcomes: list[tuple[str, list[str]]] = []
    for length in range(1, len(history) + 1):
        if not by_hand.pairs_hold(history[:length]):
            continue
        try:
            context = turn(history[:length])
        except AssemblyError as error:
            return [*outcomes, (type(error).__name__, [str(error)])]
        outcomes.append((json.dumps(context.request()), [str(warning) for warning in context.warnings]))
    return outcomes


@scaled(0.5)
@given(
    any_session,
    st.one_of(ladders, low_ladders, low_summaries, low_summaries),
    st.floats(0.3, 0.9),
    st.sampled_from([None, None, 0.9, 1.2]),
)
def test_a_session_rebuilt_at_every_turn_sends_the_same_bytes_and_asks_the_same(
    history: History, ladder: list[Policy], share: float, factor: float | None
) -> None:
    limit = max(int(by_hand.cost(history) * share), 1)
    one, other = Writer(), Writer()
    lived = life(in_one_process(limit, asking(ladder, one), factor), history)
    again = life(rebuilt(limit, asking(ladder, other), factor), history)
    assert again == lived
    assert other.asked == one.asked


@pytest.mark.parametrize("history", REBUILT.values(), ids=REBUILT)
def test_a_session_rebuilt_under_a_bill_clears_what_one_process_clears(history: History) -> None:
    ladder = [Summarize(gist, keep_turns=1), ClearToolResults(3), TrimOldest(low_water=0.3)]
    limit, one, other = int(by_hand.cost(history) * 0.56), Writer(), Writer()
    lived = life(in_one_process(limit, asking(ladder, one), 1.2), history)
    assert life(rebuilt(limit, asking(ladder, other), 1.2), history) == lived


def working(turns: int) -> History:
    """Turns of a question, two calls with long results, and an answer."""
    history: History = []
    for turn in range(turns):
        calls = [
            {"id": f"{turn}-{place}", "type": "function", "function": {"name": "f", "arguments": '{"q": "abcdefgh"}'}}
            for place in range(2)
        ]
        history += [
            {"role": "user", "content": f"{turn:02}" + "q" * 18},
            {"role": "assistant", "content": None, "tool_calls": calls},
            *({"role": "tool", "tool_call_id": call["id"], "content": f"{turn:02}" + "r" * 58} for call in calls),
            {"role": "assistant", "content": "a" * 20},
        ]
    return history


@pytest.mark.parametrize("factor", [None, 0.8])
@pytest.mark.parametrize(
    "ladder",
    [
        [Summarize(print, 1), TrimOldest(0.4)],
        [ClearToolResults(keep=2), Truncate(30), Summarize(print, 2), TrimOldest(0.4)],
        [Truncate(30), ClearToolResults(keep=0), TrimSteps(keep=0), Summarize(print, 3), TrimOldest(0.6)],
    ],
    ids=["plain", "clearing", "cutting"],
)
def test_a_restored_ladder_with_a_mark_continues_from_where_it_was_held(
    ladder: list[Policy], factor: float | None
) -> None:
    history = working(12)
    one, other = Writer(), Writer()
    lived = life(in_one_process(900, asking(ladder, one), factor), history)
    assert life(rebuilt(900, asking(ladder, other), factor), history) == lived
    assert other.asked == one.asked
    assert one.asked


def talk(turns: int, size: int = 20) -> History:
    return [{"role": "user", "content": f"{turn:02}" + "x" * (size - 2)} for turn in range(turns)]


def summarised() -> tuple[dict[str, Any], History]:
    history = talk(8)
    context = new(119, [Summarize(lambda *_: "told", 2)]).add_messages(history).build()
    return context.state(), history


class Never:
    def __call__(self, dropped: Any, previous: Any, most: int) -> str:
        raise AssertionError("asked again")


def test_a_summary_is_not_asked_for_again() -> None:
    state, history = summarised()
    context = new(119, [Summarize(Never(), 2)]).add_messages(history).restore(state).build()
    assert context.messages == [{"role": "user", "content": HEADING + "told"}, *history[6:]]


def test_the_state_holds_no_text_but_the_summary_and_stays_small() -> None:
    history = talk(400)
    assembler = new(600, [ClearToolResults(), Truncate(30), Summarize(lambda *_: "told", 2), TrimOldest(0.5)])
    for message in history:
        context = assembler.add_message(message).build()
    state = context.state(700)
    text = json.dumps(state)
    assert json.loads(text) == state  # lists, no tuples
    assert "xx" not in text
    assert "told" in text
    assert len(text) < 2_000


def test_if_nothing_is_remembered_the_state_says_so() -> None:
    assert new(1000, [TrimOldest()]).add_messages(talk(3)).build().state() == {
        "state": 2,
        "policies": [],
        "held": None,
        "anchor": None,
        "server": None,
    }


EDITS: list[tuple[str, Callable[[History], History]]] = [
    ("edited", lambda history: [{"role": "user", "content": "z"}, *history[1:]]),
    ("deleted", lambda history: history[1:]),
    ("cut short", lambda history: history[:4]),
    ("another's", lambda history: [dict(message, content=message["content"] + "!") for message in history]),
    ("in another order", lambda history: [history[1], history[0], *history[2:]]),
    ("with a mark", lambda history: [dict(history[0], pinned=True), *history[1:]]),
]


@pytest.mark.parametrize(("how", "edit"), EDITS, ids=[how for how, _ in EDITS])
def test_a_summary_of_other_messages_is_ignored_with_a_warning_and_asked_for_again(
    how: str, edit: Callable[[History], History], caplog: pytest.LogCaptureFixture
) -> None:
    state, history = summarised()
    messages, ladder = edit(history), [Summarize(lambda *_: "new", 2)]
    found = new(119, ladder).add_messages(messages).restore(state).build()
    assert found.request() == new(119, ladder).add_messages(messages).build().request()
    assert "told" not in json.dumps(found.request())
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert record.getMessage() == "ignored what Summarize remembered: its messages have changed"


def test_messages_after_the_summary_may_be_edited() -> None:
    state, history = summarised()
    edited = [*history[:6], {"role": "user", "content": "z"}, history[7]]
    context = new(119, [Summarize(Never(), 2)]).add_messages(edited).restore(state).build()
    assert context.messages == [{"role": "user", "content": HEADING + "told"}, *edited[6:]]


def test_another_ladder_ignores_memories_that_it_has_no_place_for(caplog: pytest.LogCaptureFixture) -> None:
    state, history = summarised()
    new(119, [TrimOldest()]).add_messages(history).restore(state).build()
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [
        "ignored what Summarize remembered: another policy is in its place"
    ]


@pytest.mark.parametrize(
    ("sizes", "ladder", "why"),
    [
        ([20] * 8, [Truncate(20), TrimOldest(low_water=0.5)], "the policies have changed"),
        ([20] * 7 + [30], None, "its messages have changed"),
        ([20] * 8, None, None),
    ],
)
def test_a_held_request_that_is_ignored_is_reported_with_the_reason(
    sizes: list[int], ladder: Any, why: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    held = [Summarize(lambda *_: "told", 1), TrimOldest(low_water=0.5)]
    state = new(150, held).add_messages(talk(8)).build().state()
    history = [{"role": "user", "content": f"{turn:02}" + "x" * (size - 2)} for turn, size in enumerate(sizes)]
    new(150, ladder or held).add_messages(history).restore(state)
    warned = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert [one for one in warned if "decision of the policies" in one] == (
        [] if why is None else [f"ignored the last decision of the policies: {why}"]
    )


@pytest.mark.parametrize("state", [7, "a secret", b"a secret", [1]])
def test_the_error_for_a_wrong_state_names_its_type_and_says_to_parse_a_text(state: Any) -> None:
    cure = r"; pass json.loads\(text\)" if isinstance(state, str | bytes) else ""
    with pytest.raises(StateError, match=f"expected what context.state.. returned, got {type(state).__name__}{cure}$"):
        new(119, [TrimOldest()]).add_messages(talk(3)).restore(state)


@pytest.mark.parametrize("state", [{}, {"state": None}, {"a secret": 2}])
def test_a_dict_that_is_no_state_is_refused_with_what_starts_a_session(state: Any) -> None:
    """The error said that a state was expected and that a dict was given, which a state is."""
    with pytest.raises(StateError, match=r"^state: it has no version.*, or None for a new session$"):
        new(119, [TrimOldest()]).add_messages(talk(3)).restore(state)
    new(119, [TrimOldest()]).add_messages(talk(3)).restore(None)


@pytest.mark.parametrize("place", [-2, -1, 1, 2])
def test_the_state_stores_each_policys_memory_by_its_place_in_the_ladder(
    place: int, caplog: pytest.LogCaptureFixture
) -> None:
    state, history = summarised()
    state["policies"][0]["place"] = place
    new(119, [Summarize(lambda *_: "new", 2)]).add_messages(history).restore(state)
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING][:1] == [
        "ignored what Summarize remembered: another policy is in its place"
    ]


def test_held_tokens_of_the_server_are_restored() -> None:
    assembler = new(100, [TrimOldest()]).add_messages(talk(3)).hold(60)
    context = assembler.build()
    again = new(100, [TrimOldest()]).add_messages(talk(3)).restore(context.state()).build()
    assert len(context.messages) == 2
    assert again.request() == context.request()


def test_a_state_of_another_version_is_ignored_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    state, history = summarised()
    new(119, [TrimOldest()]).add_messages(history).restore({**state, "state": 1}).build()
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [
        "ignored a state: its version is not 2"
    ]


@pytest.mark.parametrize("bill", [None, 70])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("ladder", [[TrimOldest()], [Summarize(lambda *_: "told", 2)]], ids=["empty", "a summary"])
def test_a_state_restored_before_the_messages_is_refused_with_the_right_order(
    ladder: list[Policy], version: int, bill: int | None
) -> None:
    state = new(119, ladder).add_messages(talk(8)).build().state(bill)
    with pytest.raises(StateError, match=r"after set_messages"):
        new(119, ladder).restore({**state, "state": version})


def of_model(model: str | None, dialect: str | None = None) -> Assembler:
    return Assembler(Budget(1000, counter=len, model=model), dialect=dialect).add_messages(talk(3))


@pytest.mark.parametrize(
    ("model", "dialect", "same"),
    [
        ("gpt-4o", None, True),
        ("claude-sonnet-4-5", None, False),
        ("gpt-4o-mini", None, False),
        ("gpt-4o", "openai_responses", False),
        (None, "openai_chat", False),
    ],
)
def test_the_bill_of_another_model_or_dialect_is_left_out_with_a_warning(
    model: str | None, dialect: str | None, same: bool, caplog: pytest.LogCaptureFixture
) -> None:
    state = json.loads(json.dumps(of_model("gpt-4o").build().state(333)))
    context = of_model(model, dialect).restore(state).build()
    assert (context.calibration is not None) is same
    assert same or context.count == of_model(model, dialect).build().count
    warned = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warned == ([] if same else ["ignored a provider's bill: it is of another model or dialect"])


def test_a_bill_whose_state_names_no_model_is_taken_as_before() -> None:
    state = of_model("gpt-4o").build().state(333)
    del state["anchor"]["dialect"], state["anchor"]["model"]
    assert of_model("gpt-4o").restore(state).build().count.tokens == 333


EMPTY: dict[str, Any] = {"state": 2, "policies": [], "held": None, "anchor": None, "server": None}
NO_STATES: list[tuple[Any, str]] = [
    ("{}", "state"),
    ({}, "state"),
    ({"state": 2}, "policies"),
    ({"state": "1"}, "state"),
    ({"state": 2, "policies": [{"place": 0}], "held": None, "anchor": None, "server": None}, "policies.0"),
    ({"state": 2, "policies": [], "held": {"stop": "secret"}, "anchor": None, "server": None}, "held"),
    ({"state": 2, "policies": [], "held": None, "anchor": {"billed": "secret"}, "server": None}, "anchor"),
    ({**EMPTY, "server": {"tokens": 1, "grade": 9, "upper": 1}}, "its server is not what"),
    ({**EMPTY, "server": {"tokens": 3, "grade": 0, "upper": 1}}, "its server is not what"),
    ({"state": 2, "policies": [], "held": object(), "anchor": None, "server": None}, "value"),
]


@pytest.mark.parametrize(("state", "place"), NO_STATES)
def test_a_wrong_state_is_refused_by_the_place_that_is_wrong(state: Any, place: str) -> None:
    with pytest.raises(StateError, match=place) as caught:
        new(119, [TrimOldest()]).add_messages(talk(3)).restore(state)
    assert "secret" not in str(caught.value)
    found = re.match(r"state: its (\S+) is not", str(caught.value))
    assert caught.value.place == (None if found is None or found[1] == "value" else found[1])


class Unreadable(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("secret")

    def __iter__(self) -> Iterator[str]:
        return iter(["state"])

    def __len__(self) -> int:
        return 1


def test_a_state_whose_own_method_raises_is_refused_as_one_of_the_callers() -> None:
    with pytest.raises(
        StateError, match=r"^state: a method of its own raised RuntimeError; pass plain dicts"
    ) as caught:
        new(119, [TrimOldest()]).add_messages(talk(3)).restore(Unreadable())
    assert "secret" not in str(caught.value)


def test_a_bill_with_an_illegal_count_is_refused_by_its_name() -> None:
    state = of_model("gpt-4o").build().state(333)
    state["anchor"]["ours"]["upper"] = 0
    with pytest.raises(StateError, match="its anchor is not what") as caught:
        of_model("gpt-4o").restore(state)
    assert caught.value.place == "anchor"


@pytest.mark.parametrize("field", ["turns", "billed", "drift", "limit", "most"])
def test_a_bill_with_a_number_below_0_is_refused_by_its_name(field: str) -> None:
    """The next build raised a `BudgetError` that named no state."""
    state = of_model("gpt-4o").build().state(333)
    state["anchor"][field] = -1
    with pytest.raises(StateError) as caught:
        of_model("gpt-4o").restore(state)
    assert caught.value.place == f"anchor.{field}"


@pytest.mark.parametrize("stop", [-1, -(10**9)])
def test_a_bill_of_a_request_that_ends_before_the_history_begins_is_not_continued(stop: int) -> None:
    """The next build raised a bare `IndexError`, or a `PlanError` for a policy that did no wrong."""
    policies = [TrimOldest(low_water=0.5)]
    state = new(119, policies).add_messages(talk(2)).build().state(110)
    state["anchor"]["kept"]["stop"] = stop
    context = new(119, policies).add_messages(talk(9)).restore(json.loads(json.dumps(state))).build()
    assert context.messages
    assert context.count.upper <= 119


@pytest.mark.parametrize("field", ["text", "start", "stop"])
def test_an_illegal_summary_is_refused_or_ignored(field: str) -> None:
    state, history = summarised()
    part = state["policies"][0]
    broken = {**part, "what": {**part["what"], "text": 7}} if field == "text" else {**part, field: -1}
    assembler = new(119, [Summarize(lambda *_: "new", 2)]).add_messages(history)
    if field == "text":
        with pytest.raises(StateError) as caught:
            assembler.restore({**state, "policies": [broken]})
        assert caught.value.place == "policies"
    else:
        assembler.restore({**state, "policies": [broken]})
        assert "told" not in json.dumps(assembler.build().request())


@pytest.mark.parametrize(
    "broken",
    [
        {"first_kept": 8},
        {"first_kept": 10**9},
        {"first_kept": -5},
        {"made": [[8, -9, 0, [[2]]]]},
        {"made": [[8, 0, 0, []]]},
        {"made": [[8, 0, 0, [[]]]]},
    ],
    ids=str,
)
def test_a_held_request_of_another_history_is_left_out(broken: dict[str, Any]) -> None:
    ladder = [Truncate(20), Summarize(lambda *_: "told", 1), TrimOldest(low_water=0.5)]
    context = new(150, ladder).add_messages(talk(8)).build()
    state = json.loads(json.dumps(context.state()))
    assert state["held"]["first_kept"] == 7
    state["held"] |= broken
    assert new(150, ladder).add_messages(talk(8)).restore(state).build().request() == context.request()


def gist(dropped: Any, before: str | None, most: int) -> str:
    return f"{before or ''}/{len(dropped)}"[-most:]


@pytest.mark.parametrize("through", [pickle.dumps, None])
def test_a_pickled_session_keeps_its_memory(through: Callable[[Any], bytes] | None) -> None:
    history = talk(60)
    ladder: list[Policy] = [Summarize(gist, 2), TrimOldest(0.5)]
    lived, moved = new(300, ladder), new(300, ladder)
    for message in history:
        first = lived.add_message(message).build()
        moved = pickle.loads(pickle.dumps(moved.add_message(message)))
        assert moved.build().request() == first.request()


def test_a_message_with_another_order_of_keys_is_the_same() -> None:
    asked = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    history: History = [
        {"role": "user", "content": "x" * 60},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "c", "content": "y" * 30},
        *talk(4),
    ]
    state = new(119, [Summarize(lambda *_: "told", 2)]).add_messages(history).build().state()
    back = [dict(reversed(message.items())) for message in json.loads(json.dumps(history))]
    context = new(119, [Summarize(Never(), 2)]).add_messages(back).restore(state).build()
    assert "told" in str(context.messages[0])
