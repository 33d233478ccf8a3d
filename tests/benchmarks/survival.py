"""What policies, and the trimmers of other projects, forget: facts planted in conversations, then asked about.

    python tests/benchmarks/survival.py [--conversations 3]

Conversations of 80 turns, about 16,000 tokens each, in a window of 2,048. Projects that are not installed are left out:
`pip install langchain-core llama-index-core`. The summaries are made offline: the first sentence of each message.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from assembler.policies import (
    BM25,
    ClearToolResults,
    KeepRelevant,
    Offload,
    Policy,
    Summarize,
    TrimOldest,
    TrimSteps,
    first_user,
)
from assembler.testing import Survival, planted, survival, survival_table
from budgets import memoised, tiktoken_counter

Messages = list[dict[str, Any]]
Trimmer = Callable[[Messages, int], list[Any]]

COUNT = memoised(tiktoken_counter())


def first_sentences(dropped: Sequence[Any], before: str | None, most: int) -> str:
    """The first sentence of each message that goes, the newest kept, within the tokens left."""
    sentences = [str(message["content"]).split(".")[0] for message in dropped if message.get("content")]
    text = "\n".join([*(before or "").split("\n"), *sentences])
    lines = text.split("\n")
    while lines and COUNT("\n".join(lines)) > most // 2:
        lines = lines[len(lines) // 8 + 1 :]
    return "\n".join(lines) or "-"


def ours() -> dict[str, Policy | Sequence[Policy]]:
    return {
        "TrimOldest()": TrimOldest(),
        "TrimOldest(low_water=0.5)": TrimOldest(low_water=0.5),
        "TrimOldest(pins=first_user)": TrimOldest(pins=first_user),
        "[ClearToolResults(1), TrimOldest()]": [ClearToolResults(1), TrimOldest()],
        "[Offload({}), TrimOldest()]": [Offload({}, min_tokens=100, preview=80), TrimOldest()],
        "Summarize(first sentences)": [Summarize(first_sentences), TrimOldest(), TrimSteps()],
        "KeepRelevant()": KeepRelevant(BM25()),
        "KeepRelevant(low_water=0.5, questions=1)": KeepRelevant(BM25(), low_water=0.5, questions=1),
        "KeepRelevant(low_water=0.5)": KeepRelevant(BM25(), low_water=0.5),
        "KeepRelevant(low_water=0.75)": KeepRelevant(BM25(), low_water=0.75),
        "KeepRelevant(low_water=0.9)": KeepRelevant(BM25(), low_water=0.9),
    }


def _tokens(messages: Sequence[Any]) -> int:
    calls = (call for message in messages for call in getattr(message, "tool_calls", ()) or ())
    tokens = sum(4 + COUNT(str(message.content or "")) for message in messages)
    return tokens + sum(COUNT(str(call["name"])) + COUNT(str(call["args"])) for call in calls)


def langchain() -> Iterator[tuple[str, Trimmer]]:
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages

    advised: dict[str, Any] = {"start_on": "human", "end_on": ("human", "tool"), "include_system": True}
    for name, options in (("as it comes", {}), ("as its docs advise", advised)):

        def trim(messages: Messages, room: int, options: dict[str, Any] = options) -> list[Any]:
            known = convert_to_messages(messages)
            kept = trim_messages(known, max_tokens=room, token_counter=_tokens, strategy="last", **options)
            spelled = convert_to_openai_messages(kept)
            return spelled if isinstance(spelled, list) else [spelled]

        yield f"langchain-core trim_messages, {name}", trim


def llama_index() -> Iterator[tuple[str, Trimmer]]:
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import ChatMemoryBuffer

    def trim(messages: Messages, room: int) -> list[Any]:
        known = [
            ChatMessage(
                role=one["role"],
                content=one["content"],
                additional_kwargs={"place": place, **{key: one[key] for key in one if key.startswith("tool_call")}},
            )
            for place, one in enumerate(messages)
        ]
        memory = ChatMemoryBuffer.from_defaults(
            chat_history=known, token_limit=room, tokenizer_fn=lambda text: range(COUNT(text))
        )
        return [messages[one.additional_kwargs["place"]] for one in memory.get()]

    yield "llama-index-core ChatMemoryBuffer", trim


def last_messages(messages: Messages, room: int) -> list[Any]:
    """What many write by hand."""
    return messages[-20:]


def peers() -> Iterator[tuple[str, Trimmer]]:
    for project in (langchain, llama_index):
        try:
            yield from project()
        except ImportError as absent:
            print(f"left out: {absent}")
    yield "messages[-20:]", last_messages


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--conversations", type=int, default=3)
    conversations = [planted(seed) for seed in range(asked.parse_args().conversations)]
    outcomes: dict[str, Survival] = {name: survival(ladder, conversations) for name, ladder in ours().items()}
    outcomes |= {name: survival(trim, conversations) for name, trim in peers()}
    print(survival_table(outcomes))


if __name__ == "__main__":
    main()
