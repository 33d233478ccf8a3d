"""A summary at the exact token, turn and message where the answer changes."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from assembler import MarkupError, SummaryError
from assembler.conversation.messages import user_message
from assembler.policies import Summarize, TrimOldest
from assembler.policies.summarize import HEADING, Answer, Refusal, Summaries, Written
from assembler.pricing.ledger import Ledger

from .build import assembler_of

TURN = 50
TURNS = 5
SPENT = TURN + len(HEADING)
"""The newest turn beside a summary of no words."""


def ledger_of(turns: int = TURNS) -> Ledger:
    """Turns of one message and fifty tokens each."""
    history = [{"role": "user", "content": f"{turn:02}" + "x" * (TURN - 2)} for turn in range(turns)]
    return assembler_of(history, 10_000, TrimOldest()).build().inside.ledger


def silent(dropped: Any, previous: str | None, most: int) -> str:
    raise AssertionError("nobody is asked here")


def written(ledger: Ledger, policy: Summarize, stop: int) -> Written:
    summary = Written(ledger.first, stop, "said", user_message(HEADING + "said"))
    ledger.keepsakes.keep(policy, summary)
    return summary


@pytest.mark.parametrize(
    ("start", "stop", "tokens_left", "settled"),
    [(0, 4, 10, True), (0, 3, 9, True), (0, 5, 10, False), (0, 4, 11, False), (1, 4, 10, False)],
)
def test_a_refusal_covers_every_summary_of_no_more_messages_and_no_more_tokens(
    start: int, stop: int, tokens_left: int, settled: bool
) -> None:
    assert Refusal(0, 4, 10, "why").settles(start, stop, tokens_left) is settled


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_summary_that_saves_no_token_is_refused_with_what_it_would_leave(more: int) -> None:
    ledger, longest = ledger_of(), TURNS * TURN - SPENT
    judged = Answer(0, TURNS - 1, 0, 1_000, "s" * (longest + more)).judged(ledger)
    if more < 0:
        assert judged == Written(0, TURNS - 1, "s" * (longest - 1), judged.message)  # type: ignore[union-attr]
    else:
        whole = TURNS * TURN
        reason = f"a summary was refused: it would leave {whole + more} of {whole} tokens"
        assert judged == Refusal(0, TURNS - 1, 1_000, reason)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_summary_may_cost_all_the_tokens_it_was_given(more: int) -> None:
    judged = Answer(0, TURNS - 1, 0, 10, "s" * (10 + more)).judged(ledger_of())
    assert isinstance(judged, Refusal if more > 0 else Written)


def test_a_summary_that_failed_is_refused_with_its_own_reason() -> None:
    failure = SummaryError("the summarizer returned no text")
    judged = Answer(0, 4, 2, 10, failure).judged(ledger_of())
    assert (judged, judged.failure) == (Refusal(2, 4, 10, str(failure)), failure)  # type: ignore[union-attr]


def test_an_answer_is_kept_for_histories_that_hold_its_messages() -> None:
    ledger, policy = ledger_of(), Summarize(None, 1)
    answer = Answer(0, TURNS - 1, 0, 100, "said")
    ledger.keepsakes.keep(policy, answer)
    policy.cut(ledger.until(TURNS - 1), 90)
    policy.cut(attrs.evolve(ledger, first=1), 90)
    assert ledger.keepsakes.find(policy, Answer) is answer
    cut = policy.cut(ledger, 200)
    assert (cut.first_kept, cut.reason) == (TURNS - 1, "messages 0-3 summarised")
    assert ledger.keepsakes.find(policy, Answer) is None  # it is counted once


def test_a_summary_is_kept_for_histories_that_hold_its_messages() -> None:
    ledger, policy = ledger_of(), Summarize(None, 1)
    stands = written(ledger, policy, TURNS - 1)
    assert policy.remembered(ledger) is stands
    assert policy.remembered(ledger.until(TURNS - 1)) is None
    assert policy.remembered(attrs.evolve(ledger, first=1)) is None


def test_a_summary_stays_while_the_newer_turns_fit_beside_it_to_the_token() -> None:
    ledger, policy = ledger_of(), Summarize(silent, 1)
    stands = written(ledger, policy, 2)
    fits = len(HEADING) + len("said") + 3 * TURN
    assert policy.cut(ledger, fits).summary == stands.message
    found = policy.settled(ledger, fits - 1)
    assert (found.start, found.first, found.spare) == (2, TURNS - 1, fits - 1 - SPENT)  # type: ignore[union-attr]


def test_if_all_turns_are_kept_there_are_too_few_to_summarise() -> None:
    ledger = ledger_of()
    cut = Summarize(silent, TURNS).cut(ledger, 2 * TURN)
    assert (cut.first_kept, cut.reason, cut.summary) == (0, "too few turns to summarise", None)
    policy = Summarize(silent, 2)
    stands = written(ledger, policy, TURNS - 2)
    cut = policy.cut(ledger, 2 * TURN)
    assert (cut.first_kept, cut.reason, cut.summary) == (TURNS - 2, "too few turns to summarise", stands.message)


@pytest.mark.parametrize("more", [0, 1])
def test_a_summary_is_asked_for_where_one_token_is_left_for_it(more: int) -> None:
    found = Summarize(silent, 1).settled(ledger_of(), SPENT + more)
    if more:
        assert found.wanted.max_tokens == 1  # type: ignore[union-attr]
    else:
        assert found.reason == f"no tokens left for a summary: {SPENT} of {SPENT} are taken"  # type: ignore[union-attr]


def test_the_stand_in_for_a_policy_that_may_not_ask_says_so_and_counts_as_asking() -> None:
    ledger, policy = ledger_of(), Summarize(silent, 1)
    for stand_in in (policy.traits.unasked, policy.traits.briefest):
        assert stand_in.traits.unasked is stand_in  # type: ignore[union-attr]
    unasked: Any = policy.traits.unasked
    reason = "the summarizer is not asked for a what-if"
    cut = unasked.cut(ledger, 200)
    assert (cut.first_kept, cut.reason, cut.wanted.max_tokens) == (0, reason, 200 - SPENT)
    stands = written(ledger, policy, TURNS - 1)
    cut = unasked.cut(ledger, 200)
    assert (cut.first_kept, cut.reason, cut.summary, cut.wanted) == (TURNS - 1, reason, stands.message, None)


@pytest.mark.parametrize("more", [0, 1])
def test_the_briefest_summary_is_used_where_a_real_one_would_be_asked_for(more: int) -> None:
    ledger, policy = ledger_of(), Summarize(silent, 1)
    briefest: Any = policy.traits.briefest
    cut = briefest.cut(ledger, SPENT + more)
    if more:
        assert (cut.first_kept, cut.reason) == (TURNS - 1, "the shortest possible summary")
        assert cut.summary is not None
        assert cut.summary.parts == (HEADING,)
    else:
        assert (cut.first_kept, cut.reason, cut.summary) == (0, "the summarizer would not be asked", None)
    stands = written(ledger, policy, TURNS - 1)
    assert briefest.cut(ledger, SPENT + more).summary == stands.message


def test_a_wanted_summary_names_the_messages_and_the_summary_it_was_asked_with() -> None:
    ledger, policy = ledger_of(), Summarize(None, 1)
    asked: Any = policy.settled(ledger, 200)
    asked = asked.wanted.question
    view = ledger._view  # pyright: ignore[reportPrivateUsage]
    assert asked.is_about(view)
    assert not asked.is_about(view.until(TURNS - 1))
    assert not asked.is_about(ledger_of(TURNS - 1)._view)  # pyright: ignore[reportPrivateUsage]
    written(ledger, policy, 1)
    assert not asked.is_about(view)


def test_the_summarizer_gets_a_list_of_its_own() -> None:
    given: list[Any] = []

    def summarise(dropped: list[Any], previous: str | None, most: int) -> str:
        given.append(dropped)
        dropped.clear()
        return "said"

    ledger = ledger_of()
    asked: Any = Summarize(summarise, 1).settled(ledger, 200)
    assert asked.wanted.question.ask() == "said"
    assert given == [[]]
    assert len(asked.wanted.dropped) == TURNS - 1


def test_a_state_with_a_summary_that_is_not_text_is_refused_by_its_name() -> None:
    with pytest.raises(MarkupError, match="summary"):
        Summaries(Summarize(None)).remembered(0, 4, {"text": 7})
