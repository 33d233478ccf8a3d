"""A bot without a framework, turn by turn, in three APIs: the loop that the docs show, over any client."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import attrs

from assembler import Assembler, Context, TrimOldest
from assembler.dialects import bedrock, openai_responses
from assembler.dialects.anthropic.dialect import Anthropic
from budgets import Budget
from tests.integrations.script import looked_up, question

Body: TypeAlias = dict[str, Any]
Post: TypeAlias = Callable[[Body], Body]

LOOK_UP: Body = {
    "name": "look_up",
    "description": "Look a question up in the almanac.",
    "parameters": {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]},
}
SCHEMA: Body = {
    "type": "object",
    "properties": {"town": {"type": "string"}},
    "required": ["town"],
    "additionalProperties": False,
}


@attrs.frozen
class Api:
    """What the loop needs to know of an API: its dialect, its own tools, and what of an answer to add."""

    dialect: Any
    model: str
    path: str
    hosted: tuple[Body, ...]
    kinds: tuple[str, ...]
    window: int
    more: Body
    """Sent beside what is assembled."""
    added: Callable[[Body], list[Body]]
    calls: Callable[[Body], Iterator[tuple[str, str]]]
    answered: Callable[[list[tuple[str, str]]], list[Body]]


def _calls_of_items(answer: Body) -> Iterator[tuple[str, str]]:
    for item in answer["output"]:
        if item["type"] == "function_call":
            yield item["call_id"], json.loads(item["arguments"])["question"]


def _outputs(results: list[tuple[str, str]]) -> list[Body]:
    return [{"type": "function_call_output", "call_id": name, "output": text} for name, text in results]


def _calls_of_blocks(answer: Body) -> Iterator[tuple[str, str]]:
    for block in answer["content"]:
        if block["type"] == "tool_use":
            yield block["id"], block["input"]["question"]


def _results(results: list[tuple[str, str]]) -> list[Body]:
    blocks = [{"type": "tool_result", "tool_use_id": name, "content": text} for name, text in results]
    return [{"role": "user", "content": blocks}] if blocks else []


RESPONSES = Api(
    dialect=openai_responses,
    model="gpt-5",
    path="/v1/responses",
    hosted=(
        {"type": "web_search"},
        {"type": "file_search", "vector_store_ids": ["vs_1"]},
        {"type": "code_interpreter", "container": {"type": "auto"}},
    ),
    kinds=("web_search", "file_search", "code_interpreter"),
    window=13_000,
    more={"store": False, "include": ["reasoning.encrypted_content"]},
    added=lambda answer: answer["output"],
    calls=_calls_of_items,
    answered=_outputs,
)
THINKING: Body = {"type": "enabled", "budget_tokens": 2_000}
ANTHROPIC = Api(
    dialect=Anthropic(thinking=THINKING),
    model="claude-sonnet-4-5",
    path="/v1/messages",
    hosted=({"type": "web_search_20250305", "name": "web_search"},),
    kinds=("web_search",),
    window=13_000,
    more={"max_tokens": 4_000, "thinking": THINKING},
    added=lambda answer: [{"role": "assistant", "content": answer["content"]}],
    calls=_calls_of_blocks,
    answered=_results,
)


def _calls_of_converse(answer: Body) -> Iterator[tuple[str, str]]:
    for block in answer["output"]["message"]["content"]:
        if "toolUse" in block and "type" not in block["toolUse"]:
            yield block["toolUse"]["toolUseId"], block["toolUse"]["input"]["question"]


def _results_of_converse(results: list[tuple[str, str]]) -> list[Body]:
    blocks = [{"toolResult": {"toolUseId": name, "content": [{"text": text}]}} for name, text in results]
    return [{"role": "user", "content": blocks}] if blocks else []


CONVERSE = Api(
    dialect=bedrock,
    model="amazon.nova-lite-v1:0",
    path="/model/amazon.nova-lite-v1:0/converse",
    hosted=({"systemTool": {"name": "nova_grounding"}},),
    kinds=("nova_grounding",),
    window=13_000,
    more={},
    added=lambda answer: [answer["output"]["message"]],
    calls=_calls_of_converse,
    answered=_results_of_converse,
)


def lived_through(api: Api, post: Post, turns: int) -> tuple[Assembler, list[Context]]:
    """The assembler after so many turns, and the context of every call."""
    budget = Budget.for_model(api.model, context_window=api.window, max_output_tokens=1_000)
    assembler = Assembler(budget, dialect=api.dialect, on_overflow=TrimOldest())
    assembler.add_instruction("You plan trips.").add_capability([LOOK_UP, *api.hosted])
    assembler.add_output_schema(SCHEMA, name="trip")
    contexts: list[Context] = []
    for turn in range(turns):
        assembler.add_message({"role": "user", "content": question(turn)})
        results: list[tuple[str, str]] | None = None
        while results is None or results:
            contexts.append(assembler.build())
            named = {} if api.model in api.path else {"model": api.model}
            answer = post({**named, **contexts[-1].request(), **api.more})
            results = [(name, looked_up(asked)) for name, asked in api.calls(answer)]
            for message in (*api.added(answer), *api.answered(results)):
                assembler.add_message(message)
    return assembler, contexts
