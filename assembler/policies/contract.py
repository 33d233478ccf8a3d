"""Checks what a policy returns against the contract of policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from assembler.conversation.messages import Call, Message, Result, read_message
from assembler.conversation.turns import opens_turn
from assembler.errors import PlanError
from assembler.policies.passage import Change, PassageView
from assembler.policies.policy import RewritingPolicy
from assembler.pricing.ledger import Cut, Ledger
from assembler.validation import name_of_value
from budgets import AssemblyError


def verify_cut(policy: object, cut: Cut, ledger: Ledger) -> Cut:
    """Check a policy's cut: it must not separate a call from its result or drop the question. Raises `PlanError`."""
    name = type(policy).__name__
    if not isinstance(cast(object, cut), Cut) or type(cut.first_kept) is not int or type(cut.reason) is not str:
        raise PlanError(name, f"cuts with {_describe_cut(cut)}; return a Cut of an index and a reason")
    first, summary = cut.first_kept, cut.summary
    if not isinstance(cast(object, cut.failure), AssemblyError | None):
        raise PlanError(
            name, f"reports {name_of_value(cut.failure)} as a failure; report an AssemblyError without text"
        )
    if summary is not None and not (isinstance(cast(object, summary), Message) and opens_turn(summary)):
        raise PlanError(
            name,
            "returns a summary that is not a new user message; use assembler.conversation.messages.user_message(text)",
        )
    if ledger.length == ledger.first == first:
        return cut
    if not ledger.first <= first < ledger.length:
        raise PlanError(name, f"keeps from message {first}; it must keep from {ledger.first} to {ledger.length - 1}")
    if not ledger.begins_turn(first):
        raise PlanError(name, f"keeps from message {first}, where no turn begins; cut at the start of a turn")
    return cut


def _describe_cut(cut: object) -> str:
    if not isinstance(cut, Cut):
        return name_of_value(cut)
    return f"a Cut of {name_of_value(cut.first_kept)} and {name_of_value(cut.reason)}"


def read_changes(policy: RewritingPolicy, passage: PassageView) -> Iterator[Change]:
    """The changes that a policy proposes, in its order. Raises `PlanError` for anything else."""
    answer: object = policy.rewrites(passage)
    if not isinstance(answer, Iterable):
        raise PlanError(type(policy).__name__, f"answers rewrites() with {name_of_value(answer)}; yield Change values")
    for change in cast("Iterable[object]", answer):
        if not isinstance(change, Change) or not isinstance(change.messages, Mapping):
            proposed = name_of_value(change.messages if isinstance(change, Change) else change)
            raise PlanError(type(policy).__name__, f"proposes {proposed}; {_YIELD}")
        if not isinstance(change.reason, str):
            raise PlanError(type(policy).__name__, f"gives {name_of_value(change.reason)} as its reason; {_YIELD}")
        if (wrong := _find_wrong_proposal(cast("Mapping[object, object]", change.messages))) is not None:
            raise PlanError(type(policy).__name__, wrong)
        _refuse_other_roles(type(policy).__name__, passage, change)
        yield change


def _refuse_other_roles(policy: str, passage: PassageView, change: Change) -> None:
    """Raise `PlanError` for a message of another role, before it is priced: it may be none that a dialect knows."""
    for index, message in change.messages.items():
        if message is not None and passage.holds(index) and message.role != passage.current(index).role:
            raise PlanError(policy, f"changes {_KEPT} of message {index}")


_KEPT = "the role, the calls or the results"
_YIELD = "yield Change({index: message or None}, reason)"


def _find_wrong_proposal(messages: Mapping[object, object]) -> str | None:
    """What is wrong with the messages of a change, and what to write instead; None if each has an index."""
    for index, message in messages.items():
        if type(index) is not int:
            return f"proposes a message for {name_of_value(index)}, which is no index; {_YIELD}"
        if not isinstance(message, Message | None):
            kind = name_of_value(message)
            return f"proposes {kind} for message {index}; make the message with edited(message, parts), or pass None"
    return None


def refuse_unlawful(policy: object, passage: PassageView, change: Change) -> None:
    """Raise `PlanError` for a change that breaks the conversation.

    A rewritten message must keep what `kept_by_edits` says of it, and dropped messages must include both sides of each
    pair. A question may be dropped only with the rest of its turn, and the newest question never.
    """
    name = type(policy).__name__
    _refuse_absent(name, passage, change)
    asked: set[str | None] = set()
    answered: set[str | None] = set()
    for index, message in change.messages.items():
        before = passage.current(index)
        if message is None and opens_turn(before) and not _drops_its_turn(passage, change, index):
            raise PlanError(name, f"drops message {index}, the question of its turn; drop the whole turn or keep it")
        if message is not None and read_message(message.raw, 0).parts != message.parts:
            raise PlanError(name, f"returns message {index} with a raw form that differs from its parts; use edited()")
        if message is None:
            asked |= before.call_ids
            answered |= before.result_ids
        elif kept_by_edits(message) != kept_by_edits(before):
            raise PlanError(name, f"changes {_KEPT} of message {index}")
    if asked != answered:
        raise PlanError(name, "drops a call without its result, or a result without its call")


def kept_by_edits(message: Message) -> tuple[object, ...]:
    """What an edit of a message must not change: its role, its calls by id and name, its results by call and failure.

    Calls and results count in their order.
    """
    calls = [(part.id, part.name) for part in message.parts if isinstance(part, Call)]
    results = [(part.call_id, part.name, part.error) for part in message.parts if isinstance(part, Result)]
    return message.role, calls, results


def _drops_its_turn(passage: PassageView, change: Change, question: int) -> bool:
    """Whether a change drops all remaining messages of an older turn, so that none is left without its question."""
    turn = passage.turn_of(question)
    return question < passage.newest and all(change.messages.get(index, _STAYS) is None for index in turn)


_STAYS = object()


def _refuse_absent(policy: str, passage: PassageView, change: Change) -> None:
    absent = next((index for index in change.messages if not passage.holds(index)), None)
    if absent is not None:
        raise PlanError(policy, f"changes message {absent}, which does not stay; change those that the passage shows")
