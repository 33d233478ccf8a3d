"""Any illegal answer of a user's policy is refused by the policy's name, and nothing is sent."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from assembler import Assembler, Change, Cut, PlanError
from assembler.conversation.messages import Message, read_message, user_message
from assembler.dialects import plain
from assembler.policies.contract import verify_cut
from budgets import Budget

HISTORY = [
    {"role": role, "content": f"{place} and a few words more"} for place in range(6) for role in ("user", "assistant")
]


@attrs.frozen
class Cuts:
    answer: Any

    def cut(self, ledger: Any, room: int, /) -> Any:
        return self.answer


@attrs.frozen
class Rewrites:
    answer: Any

    def rewrites(self, passage: Any, /) -> Any:
        return self.answer


def built(*policies: Any) -> Any:
    budget = Budget(200, counter=len)
    return Assembler(budget, dialect=plain, on_overflow=policies).add_messages(HISTORY).build()


NO_CUTS = [
    None,
    5,
    "first",
    Cut,
    Cut("a", "x"),
    Cut(1.0, "x"),
    Cut(True, "x"),
    Cut(2, 5),
    Cut(2, "x", 5),
    Cut(2, "x", "s"),
    Cut(-2, "before the first message"),
    Cut(12, "nothing stays"),
    Cut(13, "beyond the last"),
    Cut(3, "where no turn begins"),
    Cut(2, "x", attrs.evolve(user_message("s"), role="assistant")),
    Cut(2, "x", failure="a text"),
    Cut(2, "x", failure=ValueError("no error of ours")),
]  # type: ignore[arg-type]
NO_REWRITES = [
    *(None, 5, [5], [None], ["text"], [Change], [Change(5, "x")], [Change({"0": None}, "x")]),  # type: ignore[arg-type]
    *([Change({0: 5}, "x")], [Change({0: {"role": "user", "content": ""}}, "x")], [Change({0: user_message("")}, 5)]),  # type: ignore[arg-type, dict-item]
]


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("answer", NO_CUTS, ids=lambda answer: str(answer)[:40])
def test_a_value_that_is_not_a_cut_is_refused_by_the_name_of_its_policy(answer: object, alone: bool) -> None:
    with pytest.raises(PlanError, match="policy Cuts") as caught:
        built(*([Cuts(answer)] if alone else [Rewrites([]), Cuts(answer)]))
    assert caught.value.policy == "Cuts"
    assert "words" not in str(caught.value)


@pytest.mark.parametrize("answer", NO_REWRITES, ids=lambda answer: str(answer)[:40])
def test_a_value_that_is_not_a_change_is_refused_by_the_name_of_its_policy(answer: object) -> None:
    with pytest.raises(PlanError, match="policy Rewrites"):
        built(Rewrites(answer), Cuts(Cut(10, "the newest turn")))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (5, "cuts with int; return a Cut"),
        (Cut(-2, "x"), "keeps from message -2; it must keep from 0 to 11"),
        (Cut(12, "x"), "keeps from message 12; it must keep from 0 to 11"),
        (Cut(3, "x"), "keeps from message 3, where no turn begins"),
        (
            Cut(2, "x", attrs.evolve(user_message("s"), role="assistant")),
            "returns a summary that is not a new user message",
        ),
        (Cut(2, "x", failure=ValueError()), "reports ValueError as a failure"),
    ],
)
def test_the_error_says_what_is_wrong_with_a_cut(answer: Any, problem: str) -> None:
    with pytest.raises(PlanError, match=f"^policy Cuts {problem}"):
        built(Rewrites([]), Cuts(answer))


def test_the_error_for_wrong_rewrites_names_the_type_that_came() -> None:
    with pytest.raises(PlanError, match=r"^policy Rewrites answers rewrites\(\) with int; yield Change values"):
        built(Rewrites(5), Cuts(Cut(10, "the newest turn")))


def test_an_empty_conversation_keeps_nothing() -> None:
    ledger = Assembler(Budget(9, counter=len), dialect=plain).plan().inside.ledger
    assert verify_cut(Cuts(None), Cut(0, "nothing"), ledger).first_kept == 0
    for first in (-1, 1):
        with pytest.raises(PlanError, match=f"keeps from message {first}"):
            verify_cut(Cuts(None), Cut(first, "nothing"), ledger)


def test_a_cut_at_the_start_of_a_turn_is_accepted() -> None:
    assert built(Rewrites(iter(())), Cuts(Cut(10, "the newest turn"))).messages == HISTORY[10:]


def test_the_error_for_a_wrong_change_names_the_type_that_came() -> None:
    for proposed, called in ((5, "int"), (Change, "the class Change: call it"), ({0: None}, "dict")):
        with pytest.raises(PlanError, match=f"proposes {called}; yield Change"):
            built(Rewrites([proposed]), Cuts(Cut(10, "the newest turn")))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (Change({0: "short"}, "x"), "proposes str for message 0; make the message with edited"),
        (Change({"0": None}, "x"), "proposes a message for str, which is no index; yield Change"),
        (Change([None], "x"), "proposes list; yield Change"),
        (Change({0: None}, None), "gives NoneType as its reason; yield Change"),
    ],
)
def test_the_error_for_a_wrong_change_says_which_part_of_it_is_wrong(change: Any, problem: str) -> None:
    with pytest.raises(PlanError, match=f"^policy Rewrites {problem}"):
        built(Rewrites([change]), Cuts(Cut(10, "the newest turn")))


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
STEP: list[Any] = [
    {"role": "user", "content": "older"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "result"},
    {"role": "assistant", "content": "answer"},
    {"role": "user", "content": "the newest question"},
    {"role": "assistant", "content": "its answer"},
]


def other(role: str, content: str) -> Message:
    return read_message({"role": role, "content": content}, 0)


UNLAWFUL: list[tuple[dict[int, Any], str]] = [
    ({0: None}, "drops message 0, the question of its turn"),
    ({0: None, 1: None, 2: None}, "drops message 0, the question of its turn"),
    ({4: None, 5: None}, "drops message 4, the question of its turn"),
    ({3: None, 6: None}, "changes message 6, which does not stay"),
    ({3: None, -1: None}, "changes message -1, which does not stay"),
    ({3: other("user", "")}, "changes the role, the calls or the results of message 3"),
    ({1: other("assistant", "")}, "changes the role, the calls or the results of message 1"),
    ({2: other("user", "")}, "changes the role, the calls or the results of message 2"),
    ({3: attrs.evolve(other("assistant", "a"), parts=("b",))}, "returns message 3 with a raw form that differs"),
    ({1: None}, "drops a call without its result, or a result without its call"),
    ({2: None}, "drops a call without its result, or a result without its call"),
]


@pytest.mark.parametrize(("messages", "problem"), UNLAWFUL, ids=[problem for _, problem in UNLAWFUL])
def test_a_change_that_breaks_the_conversation_is_refused_with_the_message(
    messages: dict[int, Any], problem: str
) -> None:
    made = Assembler(Budget(20, counter=len), dialect=plain, on_overflow=Rewrites([Change(messages, "x")]))
    with pytest.raises(PlanError, match=f"^policy Rewrites {problem}") as caught:
        made.add_messages(STEP).build()
    assert caught.value.policy == "Rewrites"


@pytest.mark.parametrize("gone", [{1, 2}, {3}, {0, 1, 2, 3}, {5}])
def test_a_change_that_keeps_pairs_and_turns_is_accepted(gone: set[int]) -> None:
    made = Assembler(Budget(47, counter=len), dialect=plain, on_overflow=Rewrites([Change(dict.fromkeys(gone), "x")]))
    kept = [message for place, message in enumerate(STEP) if place not in gone]
    assert made.add_messages(STEP).build().messages == kept


def asked(*names: str) -> dict[str, Any]:
    calls = [{"type": "tool_use", "id": f"c{place}", "name": name, "input": {}} for place, name in enumerate(names)]
    return {"role": "assistant", "content": calls}


def answered(*results: tuple[str, str, bool]) -> dict[str, Any]:
    blocks = [
        {"type": "tool_result", "tool_use_id": call_id, "content": text, **({"is_error": True} if failed else {})}
        for call_id, text, failed in results
    ]
    return {"role": "user", "content": blocks}


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (1, asked("find", "see")),
        (1, {**asked("find", "look"), "content": asked("find", "look")["content"][::-1]}),
        (2, answered(("c0", "none", False), ("c1", "rain", False))),
        (2, answered(("c1", "rain", False), ("c0", "none", True))),
    ],
    ids=["another tool", "calls in another order", "a failure called a success", "results in another order"],
)
def test_a_change_of_what_calls_and_results_mean_is_refused(index: int, message: dict[str, Any]) -> None:
    history = [
        {"role": "user", "content": "older"},
        asked("find", "look"),
        answered(("c0", "nothing is there", True), ("c1", "rain and more rain", False)),
        {"role": "assistant", "content": "answer"},
        {"role": "user", "content": "the newest question"},
    ]
    shorter = read_message(message, index)
    changes = [Change({index: shorter, 3: other("assistant", "")}, "x")]
    made = Assembler(Budget(20, counter=len), dialect=plain, on_overflow=Rewrites(changes)).add_messages(history)
    with pytest.raises(PlanError, match=f"changes the role, the calls or the results of message {index}"):
        made.build()
    texts = answered(("c0", "none", True), ("c1", "rain", False))
    fits = Assembler(
        Budget(60, counter=len), dialect=plain, on_overflow=Rewrites([Change({2: read_message(texts, 2)}, "x")])
    )
    assert fits.add_messages(history).build().messages[2] == texts
