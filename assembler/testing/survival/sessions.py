"""Runs sessions under a policy or any trimmer, and asks at the end for every planted fact."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs

from assembler.assembler import Assembler
from assembler.conversation.messages.parts import compact_json
from assembler.dialects import Dialect, openai_chat
from assembler.policies import Policy
from assembler.policies.policy import is_cutting, is_rewriting
from assembler.testing.survival.outcome import AGES, Share, Survival
from assembler.testing.survival.planting import Fact, Message, Planted
from assembler.text.fields import texts_in
from assembler.validation import must_be
from assembler.verify import verify
from budgets import AssemblyError, Budget, Tokens, memoised

Trimmer: TypeAlias = Callable[[list[Message], Tokens], Iterable[Any]]
"""`(messages, tokens) -> messages`: takes all messages so far, as OpenAI's dicts, and returns those to send."""

WINDOW = 2_048


@attrs.define(eq=False)
class _Requests:
    """Counts the requests of the sessions, and their tokens."""

    count: Callable[[str], Tokens]
    requests: int = 0
    unfit: int = 0
    tokens: int = 0
    fresh: int = 0
    before: list[str] = attrs.field(factory=list[str])

    def send(self, messages: Sequence[Message] | None) -> None:
        """Count a request; None for one that could not be made."""
        self.requests += 1
        if messages is None:
            self.unfit += 1
            return
        spelled = [compact_json(message) for message in messages]
        costs = [self.count(text) for text in spelled]
        same = sum(
            1 for _ in itertools.takewhile(lambda two: two[0] == two[1], zip(spelled, self.before, strict=False))
        )
        self.tokens += sum(costs)
        self.fresh += sum(costs[same:])
        self.before = spelled


def survival(
    ladder: Policy | Sequence[Policy] | Trimmer,
    conversations: Iterable[Planted],
    *,
    budget: Budget | None = None,
    dialect: Dialect | str = openai_chat,
) -> Survival:
    """Measure how many planted facts are in the request when they are asked about, by kind and age, and the cost.

    `ladder` is the value of `on_overflow`, or a function `(messages, tokens) -> messages` over OpenAI's dicts: another
    project's trimmer, or a summarizer. `budget` is 2,048 tokens of o200k_base by default. Each conversation is built at
    every message that a model would answer, as in a session. Then each fact's question is asked as the next message,
    each time in a copy of the finished session. A fact survives if its needle is in the request.

    A request is unfit if the policies raise. A function's request is unfit if `verify` finds a fault in it, or if its
    texts alone cost more than the budget. Tokens are those of the messages as JSON. Offline and deterministic.
    O(requests · cost of one).
    """
    tokens_left = Budget(WINDOW) if budget is None else budget
    count = memoised(tokens_left.token_counter)
    kinds, ages = dict[str, Share](), dict[str, Share]()
    every: list[_Requests] = []
    for conversation in conversations:
        must_be("conversations", conversation, (Planted,), "conversations such as planted(seed)")
        requests = _Requests(count)
        every.append(requests)
        for fact, survived in _ask_all(_make_session(ladder, tokens_left, dialect, count), conversation, requests):
            kinds[fact.kind] = kinds.get(fact.kind, Share()) + Share(survived, 1)
            age = AGES[min(fact.turn * len(AGES) // conversation.turns, len(AGES) - 1)]
            ages[age] = ages.get(age, Share()) + Share(survived, 1)
    return Survival(
        kinds,
        {age: ages[age] for age in AGES if age in ages},
        *(sum(getattr(requests, name) for requests in every) for name in ("requests", "unfit", "tokens", "fresh")),
    )


_Session: TypeAlias = Callable[[Sequence[Message]], "list[Message] | None"]
"""Returns what is sent after these messages, or None if nothing can be. Called with one more message each time."""


def _ask_all(session: _Session, conversation: Planted, requests: _Requests) -> Iterator[tuple[Fact, bool]]:
    messages = list(conversation.messages)
    for length in range(1, len(messages) + 1):
        if _is_answered_next(messages, length):
            requests.send(session(messages[:length]))
    for fact in conversation.facts:
        sent = session([*messages, {"role": "user", "content": fact.question}])
        yield fact, any(fact.needle in text for text in texts_in(sent))


def _is_answered_next(messages: Sequence[Message], length: int) -> bool:
    after = messages[length]["role"] if length < len(messages) else "assistant"
    return messages[length - 1]["role"] in ("user", "tool") and after == "assistant"


def _make_session(ladder: object, budget: Budget, dialect: Dialect | str, count: Callable[[str], Tokens]) -> _Session:
    if callable(ladder) and not (is_cutting(ladder) or is_rewriting(ladder)):
        return _make_session_of_function(cast("Trimmer", ladder), budget, dialect, count)
    assembler = Assembler(budget, dialect=dialect, on_overflow=cast("Policy | Sequence[Policy]", ladder))

    def sent(messages: Sequence[Message]) -> list[Message] | None:
        assembler.set_messages(messages)  # recognises the earlier messages
        try:
            return cast("list[Message]", assembler.build().request()["messages"])
        except AssemblyError:
            return None

    return sent


def _make_session_of_function(
    trim: Trimmer, budget: Budget, dialect: Dialect | str, count: Callable[[str], Tokens]
) -> _Session:
    def sent(messages: Sequence[Message]) -> list[Message] | None:
        kept = [dict(cast("Mapping[str, Any]", message)) for message in trim(list(messages), budget.input_limit)]
        tokens = sum(count(text) for message in kept for text in _list_counted_texts(message))
        fits = kept and tokens <= budget.input_limit
        return kept if fits and not verify({"messages": kept}, dialect=dialect) else None

    return sent


def _list_counted_texts(message: Message) -> Iterator[str]:
    """The texts that every trimmer counts: contents, and the names and arguments of calls."""
    yield from texts_in(message.get("content"))
    for call in message.get("tool_calls") or ():
        yield from (call["function"]["name"], call["function"]["arguments"])
