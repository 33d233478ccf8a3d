"""Engines that put a question into the memory only after its answer, and retrieve documents for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.llms.openai import OpenAI

from assembler import Assembler, ContextLengthError, Summarize, TrimOldest, Truncate, count_request, verify
from assembler.integrations.llama_index import AssemblerMemory
from budgets import Budget
from tests.integrations.provider import providing
from tests.integrations.script import Summarizer

LIMIT = 400
RETRIEVED = 140
"""More tokens than the document and the engines' prompts around it."""


class Found(BaseRetriever):
    """Finds the same document for every question."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="The sea is wide. " * 20), score=1.0)]


def base(on_overflow: Any = None, overhead: int = RETRIEVED) -> Assembler:
    budget = Budget(LIMIT + 100, max_output_tokens=100, model="gpt-4o", overhead=overhead)
    return Assembler(budget, on_overflow=on_overflow or TrimOldest())


def question(turn: int) -> str:
    return f"Question {turn}: " + "how wide is it? " * 15


@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
def test_a_question_that_an_engine_sends_after_the_memory_fits_too(kind: Any) -> None:
    memory = AssemblerMemory.from_defaults(assembler=base())
    with providing(hosted=(), thinks=False) as provider:
        model = OpenAI(model="gpt-4o", api_key="x", api_base=f"{provider.url}/v1")
        engine = kind.from_defaults(retriever=Found(), memory=memory, llm=model, system_prompt="You know.")
        for turn in range(10):
            if turn % 2:
                engine.chat(question(turn))
            else:
                asyncio.run(engine.achat(question(turn)))
    assert len(provider.bodies) >= 10
    for body in provider.bodies:
        assert count_request(body, dialect="openai_chat").upper <= LIMIT
        assert verify({"messages": body["messages"]}, dialect="openai_chat", model="gpt-4o") == []
    last = [message["content"] for message in provider.bodies[-1]["messages"]]
    assert question(9) in last[-1]
    assert sum("Question" in content for content in last) < 10, "meant to overflow"
    assert len(memory.get_all()) == 20


def history(turns: int) -> list[ChatMessage]:
    both = (("user", question), ("assistant", lambda turn: f"Answer {turn}."))
    return [ChatMessage(text(turn), role=role) for turn in range(turns) for role, text in both]


def test_the_question_is_counted_and_not_returned() -> None:
    memory = AssemblerMemory.from_defaults(chat_history=history(4), assembler=base(overhead=0))
    without = memory.get()
    kept = memory.get(input=question(9) * 3)
    assert 0 < len(kept) < len(without)
    assert kept == without[-len(kept) :]
    assert memory.report is not None
    sent = [{"role": message.role.value, "content": message.content} for message in kept]
    asked = {"messages": [*sent, {"role": "user", "content": question(9) * 3}]}
    assert memory.report.count == count_request(asked, dialect="openai_chat", model="gpt-4o")


def test_a_question_that_is_in_the_memory_is_not_counted_twice() -> None:
    """As an agent asks for the memory."""
    asked = [*history(1), ChatMessage(question(1), role="user")]
    memory = AssemblerMemory.from_defaults(chat_history=asked, assembler=base())
    assert memory.get(input=question(1)) == asked
    assert asyncio.run(memory.aget(input=question(1))) == asked


def test_a_question_that_cannot_fit_raises_and_is_not_counted_as_if_it_were_shortened() -> None:
    memory = AssemblerMemory.from_defaults(chat_history=history(2), assembler=base([TrimOldest(), Truncate(20)]))
    with pytest.raises(ContextLengthError):
        memory.get(input="word " * 300)
    assert memory.get_all() == history(2)


def test_a_stored_memory_of_an_engine_summarises_no_more_often() -> None:
    written: list[list[int]] = []
    for stored in (False, True):
        summarizer = Summarizer()
        assembler = base([Summarize(summarizer, keep_turns=1), TrimOldest()])
        memory = AssemblerMemory.from_defaults(assembler=assembler)
        for turn in range(12):
            if stored:
                memory = AssemblerMemory.from_string(memory.to_string(), assembler=assembler)
            memory.get(input=question(turn))
            memory.put(ChatMessage(question(turn), role="user"))
            memory.put(ChatMessage(f"Answer {turn}.", role="assistant"))
        written.append(summarizer.written)
    assert written[0]
    assert written[0] == written[1]
