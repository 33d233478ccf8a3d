"""`ClearToolResults` clears old results one by one, with the arguments of their calls. Call and result stay."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import cast

import attrs
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler
from assembler.conversation.messages import Result
from assembler.policies import Change, ClearToolResults, Passage, with_parts
from tests.assembler import by_hand
from tests.assembler.by_hand import History

from .build import assembler_of, built, check, left, sent, wanted
from .drawn import NAMES, any_session, unmarked

excluded = st.sampled_from([(), ("read",), ("read", "run"), NAMES])


@given(unmarked, st.integers(0, 4), excluded, st.data())
def test_results_are_cleared_oldest_first_and_as_few_as_needed(
    history: History, keep: int, exclude: tuple[str, ...], data: st.DataObject
) -> None:
    whole = by_hand.cost(history)
    limit = max(whole - data.draw(st.integers(0, whole)), 1)
    policy = ClearToolResults(keep, exclude=exclude)
    assert left(history, limit, policy) == wanted(by_hand.without_bodies(history, limit, keep, exclude))


@given(any_session, st.integers(0, 2), excluded, st.data())
def test_a_cleared_history_stays_valid_and_the_callers_objects_stay_unchanged(
    history: History, keep: int, exclude: tuple[str, ...], data: st.DataObject
) -> None:
    before = copy.deepcopy(history)
    limit = max(by_hand.cost(history) - data.draw(st.integers(1, 60)), 1)
    assembler = assembler_of(history, limit, ClearToolResults(keep, exclude=exclude))
    if built(history, limit, ClearToolResults(keep, exclude=exclude)) is None:
        assert history == before
        return
    context, again = assembler.build(), assembler.fork().build()
    check(context, history, limit)
    assert by_hand.canonical(context.request()) == by_hand.canonical(again.request())
    assert history == before
    for original, message in zip(history, sent(context), strict=True):
        assert by_hand.named_calls(message) == by_hand.named_calls(original)
        assert by_hand.results_of(message) == by_hand.results_of(original)
        assert all(json.loads(c["function"]["arguments"]) is not None for c in message.get("tool_calls", []))
    touched = [item.index for item in context.dropped]
    assert touched == [at for at, kept in enumerate(context.messages) if kept is not history[at]]
    assert all(not history[at].get("pinned") for at in touched)


ANSWERED: History = [{"role": "assistant", "content": "ok"}, {"role": "user", "content": "n"}]


def calls(*arguments: str) -> History:
    asked = [
        {"id": f"c{place}", "type": "function", "function": {"name": "f", "arguments": text}}
        for place, text in enumerate(arguments)
    ]
    answers = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in asked]
    return [{"role": "user", "content": "q"}, {"role": "assistant", "content": None, "tool_calls": asked}, *answers]


def test_arguments_of_parallel_calls_are_emptied_one_after_the_other() -> None:
    history = calls('{"a": "xxxxxxxx"}', '{"b": "yyyyyyyy"}', '{"c": "zzzzzzzz"}')
    whole = by_hand.cost(history)
    for emptied in range(4):
        messages = left(history, whole - 15 * emptied, ClearToolResults(0))
        assert messages is not None
        spelled = [call["function"]["arguments"] for call in messages[1]["tool_calls"]]
        assert [text == "{}" for text in spelled] == [place < emptied for place in range(3)]


def test_a_body_that_saves_nothing_stays_and_its_arguments_may_be_emptied() -> None:
    history = calls('{"a": "xxxxxxxx"}')
    messages = left(history, by_hand.cost(history) - 1, ClearToolResults(0))
    assert messages is not None
    assert messages[2]["content"] == "ok"
    assert messages[1]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_arguments_that_cost_no_more_than_none_stay_as_they_are() -> None:
    history = calls(*['{"a": "xxxxxxxx"}', "[]"] * 10)  # so many that one change empties several
    for message in history[2:]:
        message["content"] = "[cleared]"
    messages = left(history, by_hand.cost(history) - 150, ClearToolResults(0))
    assert messages is not None
    assert [call["function"]["arguments"] for call in messages[1]["tool_calls"]] == ["{}", "[]"] * 10


def session(*bodies: str) -> History:
    used = [{"type": "tool_use", "id": f"c{at}", "name": f"f{at}", "input": {}} for at in range(len(bodies))]
    blocks = [{"type": "tool_result", "tool_use_id": f"c{at}", "content": body} for at, body in enumerate(bodies)]
    return [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": used},
        {"role": "user", "content": blocks},
    ]


class Saying:
    """Replaces the second result of message 2 by a text that may change between two builds."""

    text = "x" * 30

    def rewrites(self, passage: Passage) -> Iterator[Change]:
        message = passage.current(2)
        result = attrs.evolve(cast(Result, message.parts[1]), parts=(self.text,), given=None)
        yield Change({2: with_parts(message, {1: result})}, "said otherwise")


def results_of(assembler: Assembler) -> list[str]:
    return [result["content"] for result in sent(assembler.build())[2]["content"]]


def test_a_result_that_another_policy_changed_since_is_cleared_as_it_is_now() -> None:
    first, history = Saying(), [*session("a" * 40, "b" * 40), *ANSWERED]
    assembler = assembler_of(history, by_hand.cost(history) - 30, [first, ClearToolResults(1)])
    assert results_of(assembler) == ["[cleared]", "x" * 30]
    first.text = "y" * 30
    for message in ANSWERED:
        assembler.add_message(message)
    assert results_of(assembler) == ["[cleared]", "y" * 30]


def test_results_in_one_message_are_cleared_one_by_one() -> None:
    history = session("a" * 40, "b" * 40, "ok", "d" * 40)
    whole = by_hand.cost(history)
    for policy, cleared in [
        (ClearToolResults(0), "0"),
        (ClearToolResults(0, exclude=["f0"]), "1"),
        (ClearToolResults(3), "0"),
        (ClearToolResults(0, exclude=("f0", "f1")), "3"),
    ]:
        messages = left(history, whole - 31, policy)
        assert messages is not None
        bodies = [block["content"] for block in messages[2]["content"]]
        assert [str(at) for at, body in enumerate(bodies) if body == "[cleared]"] == [cleared]


def test_results_that_save_nothing_keep_no_later_one_from_being_cleared() -> None:
    history = session(*["ok"] * 20, *["x" * 40] * 20)  # so many that one change clears several
    messages = left(history, by_hand.cost(history) - 31 * 20, ClearToolResults(0))
    assert messages is not None
    assert [block["content"] for block in messages[2]["content"]] == ["ok"] * 20 + ["[cleared]"] * 20


def test_the_arguments_of_a_cleared_result_may_still_be_emptied() -> None:
    history = calls('{"a": "xxxxxxxx"}')
    history[2]["content"] = "[cleared]"
    assert built(history, by_hand.cost(history) - 15, ClearToolResults(0)) is not None


def test_an_own_placeholder_is_priced_like_any_text() -> None:
    history = calls("{}")
    history[2]["content"] = "x" * 50
    context = built(history, 20, ClearToolResults(0, placeholder="(gone)"))
    assert context is not None
    assert sent(context)[2]["content"] == "(gone)"
    assert context.count.tokens == by_hand.cost(sent(context)) == 1 + 1 + 2 + 6


def test_a_single_name_excludes_one_tool_and_not_its_letters() -> None:
    assert ClearToolResults(exclude="read").exclude == {"read"}  # type: ignore[arg-type]
