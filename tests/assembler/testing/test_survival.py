"""Planted facts are where they are said to be, and only facts in the request count as surviving."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from assembler.dialects import openai_chat
from assembler.policies import KeepRelevant, Refuse, TrimOldest
from assembler.testing import Fact, Planted, planted, survival, survival_table
from assembler.verify import verify
from budgets import Budget, BudgetError
from tests.assembler import by_hand

CHARACTERS = Budget(4_000, counter=len)


@pytest.mark.parametrize(("seed", "turns", "facts"), [(0, 80, 20), (1, 13, 12), (2, 40, 5), (3, 2, 1)])
def test_every_fact_stands_once_in_the_turn_that_it_names(seed: int, turns: int, facts: int) -> None:
    conversation = planted(seed, turns=turns, facts=facts)
    assert conversation == planted(seed, turns=turns, facts=facts)
    assert len(conversation.facts) == facts
    assert not verify({"messages": list(conversation.messages)}, dialect=openai_chat)
    turn = -1
    found: dict[str, list[int]] = {fact.needle: [] for fact in conversation.facts}
    for message in conversation.messages:
        turn += message["role"] == "user"
        for needle in found:
            found[needle] += [turn] * str(message["content"]).count(needle)
    assert turn == turns - 1
    assert found == {fact.needle: [fact.turn] for fact in conversation.facts}
    assert all(fact.needle not in fact.question for fact in conversation.facts)


@pytest.mark.parametrize(("turns", "facts"), [(5, 5), (5, 20), (0, 0), (3, -1)])
def test_facts_that_do_not_go_into_the_turns_are_refused(turns: int, facts: int) -> None:
    """Of 20 facts in 5 turns, 16 were missing."""
    with pytest.raises(BudgetError, match=f"{facts} facts"):
        planted(1, turns=turns, facts=facts)


def test_only_the_facts_that_a_policy_keeps_survive() -> None:
    conversations = [planted(seed, turns=13, facts=12) for seed in range(2)]
    everything = survival(Refuse(), conversations, budget=Budget(1_000_000, counter=len))
    assert everything.facts.share == 1
    assert everything.facts.planted == 24
    assert sum(share.planted for share in everything.ages.values()) == 24
    assert everything.unfit == 0
    # A request that only ever grows sends each message once behind its prefix.
    whole = sum(
        len(json.dumps(one, ensure_ascii=False, separators=(",", ":")))
        for conversation in conversations
        for one in conversation.messages[:-1]
    )
    assert everything.fresh == whole
    oldest_first = survival(TrimOldest(), conversations, budget=CHARACTERS)
    assert 0 < oldest_first.facts.share < 1
    assert oldest_first.ages["oldest quarter"].share == 0
    relevant = survival(KeepRelevant(), conversations, budget=CHARACTERS)
    assert relevant.facts.share > 2 * oldest_first.facts.share


def test_a_function_is_measured_by_the_yardstick_of_the_policies() -> None:
    conversations = [planted(4, turns=12, facts=6)]

    def newest_turns(messages: list[dict[str, Any]], room: int) -> Sequence[dict[str, Any]]:
        """What TrimOldest keeps, worked out by hand."""
        starts = [at for at, one in enumerate(messages) if one["role"] == "user"]
        for start in starts:
            texts = [str(one["content"] or "") for one in messages[start:]]
            calls = [call["function"] for one in messages[start:] for call in one.get("tool_calls", [])]
            cost = sum(map(len, texts)) + sum(len(call["name"]) + len(call["arguments"]) for call in calls)
            if cost <= room:
                return messages[start:]
        return messages[starts[-1] :]

    from assembler.dialects import plain

    ours = survival(TrimOldest(), conversations, budget=CHARACTERS, dialect=plain)
    theirs = survival(newest_turns, conversations, budget=CHARACTERS)
    assert (ours.kinds, ours.ages, ours.requests) == (theirs.kinds, theirs.ages, theirs.requests)


@pytest.mark.parametrize(
    "trim", [lambda messages, room: messages, lambda messages, room: [], lambda messages, room: messages[-1:]]
)
def test_a_request_that_does_not_fit_or_is_broken_counts_as_unfit_and_holds_no_facts(trim: Any) -> None:
    outcome = survival(trim, [planted(5, turns=40, facts=10)], budget=Budget(3_000, counter=len))
    assert outcome.unfit > 0
    refused = survival(Refuse(), [planted(5, turns=40, facts=10)], budget=Budget(3_000, counter=len))
    assert refused.unfit > 0
    assert refused.facts.share == 0


def test_an_own_conversation_with_its_facts_is_accepted() -> None:
    messages = by_hand.talk("My sister is called Ada.", "Noted.", "And what is the weather?", "Rain.")
    mine = Planted(messages, [Fact("family", 0, "What is my sister called?", "Ada")], 2)
    outcome = survival(TrimOldest(), [mine], budget=Budget(60, counter=len))
    assert outcome.kinds["family"].survived == 0
    outcome = survival(TrimOldest(), [mine], budget=Budget(200, counter=len))
    assert outcome.kinds["family"].survived == 1
    assert outcome.to_dict()["kinds"] == {"family": {"survived": 1, "planted": 1}}


def test_a_table_has_a_line_for_each_and_columns_that_stand() -> None:
    conversation = planted(6, turns=6, facts=5)
    outcome = survival(TrimOldest(), [conversation])
    table = survival_table({"a": outcome, "a longer name": outcome})
    lines = table.split("\n")
    assert len(lines) == 3
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split()[:3] == ["facts", "name", "number"]
    assert str(outcome) == survival_table({"": outcome})
    assert outcome == survival(TrimOldest(), [conversation])


def test_a_value_that_is_not_a_conversation_is_refused() -> None:
    with pytest.raises(BudgetError, match="planted"):
        survival(TrimOldest(), [[{"role": "user", "content": "q"}]])  # type: ignore[list-item]
