"""The mistakes that people make first, each with its exact error and the step that it advises.

The texts stand in test_likely_mistakes.yaml, <DIALECTS> and <CHECKED> for the names of the dialects. To see what
changed: `python -m tests.assembler.test_likely_mistakes`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pydantic
import pytest
import tokenizers
import yaml

from assembler import (
    Assembler,
    CalibratedCounter,
    ChatRegions,
    CitedSources,
    Context,
    Defer,
    Strategy,
    Summarize,
    TrimOldest,
    Truncate,
    calibrate,
    count_request,
    register_reader,
    repair,
    verify,
)
from assembler.conversation.messages import reading
from assembler.dialects import DIALECTS, chat_template, openai_chat
from assembler.verify import DIALECTS as CHECKED
from budgets import Budget, Limit, provider_counter, tiktoken_counter, toktok_counter, transformers_counter

TEXTS = Path(__file__).with_suffix(".yaml")
SHOWN: dict[str, str] = yaml.safe_load(TEXTS.read_text(encoding="utf-8"))

USER = {"role": "user", "content": "Where is my order?"}
SMALL = Budget(30, model="gpt-4o")
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
CHUNKS: list[dict[str, Any]] = [
    {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"at": place}}}]} for place in ("Oslo", "Rome")
]
ANSWERS: dict[str, Any] = {
    "role": "user",
    "parts": [{"function_response": {"name": "f", "response": {"output": output}}} for output in ("rain", "sun")],
}
NAMELESS = {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}}]}
CONVERSED: dict[str, Any] = {"output": {"message": {"role": "assistant", "content": [{"text": "Shipped."}]}}}


class BatchEncoding(dict[str, Any]):
    pass


class HuggingFaceTokenizer:
    def __call__(self, text: str) -> BatchEncoding:
        return BatchEncoding(input_ids=[1, 2])

    def apply_chat_template(self, messages: object) -> str:
        return ""


class Encoding:
    def encode(self, text: str) -> list[int]:
        return [1]


class ChatCompletion:
    choices = (SimpleNamespace(message=SimpleNamespace(role="assistant", content="hi")),)
    usage = SimpleNamespace(prompt_tokens=5)


class ChatCompletionChunk:
    """As the SDK's: a model of pydantic, which says all of itself."""

    def model_dump(self, **_: bool) -> dict[str, Any]:
        return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "a"}}]}


class Response:
    output: tuple[object, ...] = ()


class GenerateContentResponse:
    candidates: tuple[object, ...] = ()


class Answered:
    output = (
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]},
    )


class Generated:
    candidates = (SimpleNamespace(content={"role": "user", "parts": [{"text": "Hi"}]}),)


class Template:
    """What `chat_template` asks of a tokenizer."""

    chat_template = "{{ messages }}"

    def apply_chat_template(self, messages: list[dict[str, Any]], tokenize: bool = True, **_: object) -> object:
        text = "".join(message["content"] for message in messages)
        return self.encode(text) if tokenize else text

    def __call__(self, text: str, **_: object) -> dict[str, list[int]]:
        return {"input_ids": [ord(character) for character in text]}

    def encode(self, text: str, **_: object) -> list[int]:
        return [ord(character) for character in text]


def search(query: str) -> str:
    """Look something up."""
    return query


class Model(pydantic.BaseModel):
    """Look something up."""

    query: str


class Held:
    name, description, parameters = "search", "Look something up.", {"type": "object", "properties": {}}


DEFINED = {"name": "search", "description": "Look something up.", "parameters": {"type": "object"}}
ANSWERED = {"name": "f", "response": {"output": "x"}}


async def speaking() -> object:
    return USER


def billed() -> CalibratedCounter:
    return calibrate(Assembler(SMALL).add_message(USER).build(), ChatCompletion.usage)


async def answering(dropped: object, previous: object, most: object) -> str:
    return "x"


async def counting(text: str) -> int:
    return 1


def waiting() -> object:
    coroutine = answering(1, 2, 3)
    try:
        return Assembler().add_message(coroutine)
    finally:
        coroutine.close()


def built(messages: list[Any], **given: Any) -> Context[Any]:
    return Assembler(**given).add_messages(messages).build()


def counted(counter: Any) -> object:
    return built([USER], budget=Budget(100, counter=counter))


def of_knowledge(
    budget: Budget = SMALL,
    strategy: Strategy = ChatRegions(),  # noqa: B008 - frozen
    *,
    words: int = 1,
) -> object:
    assembler = Assembler(budget, on_overflow=TrimOldest(), strategy=strategy).add_message(("user", "Hi"))
    for name in ("one", "two", "three"):
        assembler.add_knowledge(f"{name} " * words, type="r")
    return assembler.build()


def of_tools(budget: Budget = SMALL) -> object:
    tools = [{"name": f"tool{i}", "description": "does things", "parameters": {"type": "object"}} for i in range(5)]
    return Assembler(budget, on_overflow=TrimOldest()).add_capability(tools).add_message(USER).build()


MISTAKES: dict[str, Callable[[], object]] = {
    "a tokenizer as counter": lambda: counted(HuggingFaceTokenizer()),
    "a tokenizer's method as counter": lambda: counted(Encoding().encode),
    "an encoding as counter": lambda: counted(Encoding()),
    "an encoding's name as counter": lambda: counted("o200k_base"),
    "an async counter": lambda: counted(counting),
    "a counter that returns a float": lambda: counted(lambda text: len(text) / 4),
    "a chat response as message": lambda: Assembler().add_message(ChatCompletion()),
    "a chat response's dict as message": lambda: Assembler().add_message({"choices": [{"message": USER}]}),
    "a chunk of a stream as message": lambda: Assembler().add_message(ChatCompletionChunk()),
    "a chunk's dict as message": lambda: Assembler().add_message(
        {"choices": [{"index": 0, "delta": {"content": "a"}}]}
    ),
    "a response of Responses as message": lambda: Assembler().add_message(Response()),
    "a response of Bedrock as message": lambda: Assembler().add_message(CONVERSED),
    "the items of Responses as message": lambda: Assembler().add_message(Answered.output),
    "a Gemini response as message": lambda: Assembler().add_message(GenerateContentResponse()),
    "a choice as message": lambda: Assembler().add_message(ChatCompletion.choices[0]),
    "a coroutine as message": waiting,
    "a text as message": lambda: Assembler().add_message("Hello"),
    "a text as messages": lambda: Assembler().add_messages("Hello"),
    "a message as messages": lambda: Assembler().add_messages(USER),
    "a request as messages": lambda: Assembler().add_messages({"model": "gpt-4o", "messages": [USER]}),
    "a context as messages": lambda: Assembler().add_messages(Assembler().add_message(USER).build()),
    "a message without a role": lambda: Assembler().add_message({"content": "Hello"}),
    "a message without content": lambda: Assembler().add_message({"role": "user"}),
    "a role that no API has": lambda: Assembler().add_message({"role": "bot", "content": "Hello"}),
    "messages as one message": lambda: Assembler().add_message([USER]),
    "a result that is no text": lambda: Assembler().add_message(
        {"role": "tool", "tool_call_id": "c1", "content": {"a": 1}}
    ),
    "a pair the wrong way round": lambda: Assembler().add_message(("Hello", "user")),
    "a result with an id for a call without": lambda: built(
        [USER, NAMELESS, {"role": "tool", "tool_call_id": "f", "content": "x"}]
    ),
    "a result without its call": lambda: built([USER, {"role": "tool", "tool_call_id": "c1", "content": "x"}]),
    "a call without its result": lambda: built([USER, CALL, USER]),
    "the chunks of Gemini's answer as contents": lambda: built([USER, *CHUNKS, ANSWERS]),
    "a window as model": lambda: Budget("gpt-4o"),  # type: ignore[arg-type]
    "a window as text": lambda: Budget("128000"),  # type: ignore[arg-type]
    "an answer's length by the APIs' name": lambda: Budget(1_000, max_tokens=100),  # type: ignore[call-arg]
    "an answer's length by OpenAI's name": lambda: Budget.for_model("gpt-4o", max_completion_tokens=9),  # type: ignore[call-arg]
    "a window by another name": lambda: Budget(n_ctx=4_096),  # type: ignore[call-arg]
    "a misspelled number": lambda: Budget(4_096, max_output_token=9),  # type: ignore[call-arg]
    "an answer's length by place": lambda: Budget.for_model("gpt-4o", 1_000),  # type: ignore[call-arg]
    "an answer's length behind the window": lambda: Budget(128_000, 1_000),  # type: ignore[call-arg]
    "a role and a text as two arguments": lambda: Assembler().add_message("user", "hi"),  # type: ignore[call-arg]
    "a role and a text by name": lambda: Assembler().add_message(role="user", content="hi"),  # type: ignore[call-arg]
    "an API by place": lambda: Assembler(SMALL, "openai_chat"),  # type: ignore[call-overload]
    "a document without its type": lambda: Assembler().add_knowledge("a"),  # type: ignore[call-arg]
    "a document's type by place": lambda: Assembler().add_knowledge("a", "document"),  # type: ignore[call-arg]
    "a model's name without its window": lambda: Budget(model="gpt-4o"),  # type: ignore[call-arg]
    "a model without a budget": lambda: Assembler(model="gpt-4o"),  # type: ignore[call-overload]
    "a model as budget": lambda: Assembler("gpt-4o"),  # type: ignore[call-overload]
    "a counter's class": lambda: counted(HuggingFaceTokenizer),
    "tools as the name of a region": lambda: Budget(100, limits={"tools": Limit(cap=0.4)}),
    "a summarizer of two arguments": lambda: Summarize(lambda dropped, previous: ""),  # type: ignore[arg-type, misc]
    "a part of Gemini's as message": lambda: Assembler().add_message({"function_response": ANSWERED}),
    "a block of Anthropic's as message": lambda: Assembler().add_message(
        {"type": "tool_result", "tool_use_id": "c1", "content": "x"}
    ),
    "a result without the id of its call": lambda: Assembler().add_message({"role": "tool", "content": "x"}),
    "a state as text": lambda: Assembler().add_message(USER).restore('{"state": 1}'),  # type: ignore[arg-type]
    "a state before its messages": lambda: Assembler().restore(Assembler().add_message(USER).build().state()),
    "a class that is no pydantic model as answer": lambda: Assembler().set_output_schema(Held),
    "Anthropic's word for a tool that must be called": lambda: Assembler().set_tools([search], choice="any"),
    "a tool must be called and there is none": lambda: Assembler().set_tools([], choice="required"),
    "a misspelt tool as choice": lambda: Assembler().set_tools([search], choice="serch"),
    "the name of a tokenizer": lambda: transformers_counter("bert"),
    "a provider's name as its endpoint": lambda: provider_counter("anthropic"),  # type: ignore[arg-type]
    "dict as a message class": lambda: register_reader(dict, dict),
    "an estimate that is too large": lambda: built(
        [USER], budget=Budget(10, model="my-finetune-7b"), dialect="openai_chat"
    ),
    "a policy by another name": lambda: Assembler(SMALL, policy=TrimOldest()),  # type: ignore[call-overload]
    "turns to keep by another name": lambda: TrimOldest(keep=2),  # type: ignore[call-arg]
    "a model without a table": lambda: Budget.for_model("my-finetune-7b"),
    "an answer larger than the window": lambda: Budget(1_000, max_output_tokens=2_000),
    "a number as budget": lambda: Assembler(128_000),  # type: ignore[call-overload]
    "a share as limit": lambda: Budget(100, limits={"knowledge": 0.4}),  # type: ignore[dict-item]
    "a percentage as limit": lambda: Limit(cap=40.0),
    "a limit of no region": lambda: Budget(100, limits={"docs": Limit(cap=0.4)}),
    "a policy's class": lambda: Assembler(SMALL, on_overflow=TrimOldest),  # type: ignore[call-overload]
    "a policy's name": lambda: Assembler(SMALL, on_overflow="trim_oldest"),  # type: ignore[arg-type]
    "the name of a policy that takes arguments": lambda: Assembler(SMALL, on_overflow=["truncate"]),  # type: ignore[list-item]
    "a policy by a peer's name": lambda: Assembler(SMALL, on_overflow="sliding_window"),  # type: ignore[arg-type]
    "too much by thousands": lambda: built([("user", "word " * 4_000)], budget=Budget(3_000)),
    "too much knowledge by thousands": lambda: of_knowledge(Budget(4_000), words=1_500),
    "a strategy's class": lambda: Assembler(SMALL, strategy=CitedSources),  # type: ignore[call-overload]
    "tokens as low water": lambda: TrimOldest(low_water=50),
    "no turn kept": lambda: TrimOldest(keep_turns=0),
    "a summary as summarizer": lambda: Summarize("a summary"),  # type: ignore[arg-type]
    "an API by another name": lambda: Assembler(dialect="openai"),
    "a model as dialect": lambda: count_request({"messages": [USER]}, dialect="gpt-4o"),
    "a long text as dialect": lambda: Assembler(dialect="secret " * 10),
    "a dialect's class": lambda: Assembler(dialect=type(openai_chat)),  # type: ignore[call-overload]
    "a tokenizer as dialect": lambda: Assembler(dialect=HuggingFaceTokenizer()),  # type: ignore[call-overload]
    "messages where a request is counted": lambda: count_request([USER], dialect="openai_chat"),  # type: ignore[arg-type]
    "another API's request": lambda: count_request({"contents": []}, dialect="openai_chat"),
    "a request held against an API by another name": lambda: verify({"messages": [USER]}, dialect="openai"),
    "a response as bill": lambda: calibrate(Assembler(SMALL).add_message(USER).build(), ChatCompletion()),
    "a bill as anchor": lambda: Assembler().anchor(ChatCompletion.usage),  # type: ignore[arg-type]
    "too much by default": lambda: built([USER, ("assistant", "word " * 20), USER], budget=SMALL),
    "a newest message that is too long": lambda: built(
        [("user", "word " * 50)], budget=SMALL, on_overflow=TrimOldest()
    ),
    "too much knowledge": of_knowledge,
    "too many tools": of_tools,
    "documents in one call": lambda: Assembler().add_knowledge(["a", "b"], type="rag"),  # type: ignore[arg-type]
    "an instruction in pieces": lambda: Assembler().set_instruction(["a", "b"]),  # type: ignore[arg-type]
    "the class of a selection": lambda: Limit(select=Defer),  # type: ignore[arg-type]
    "a score as text": lambda: Assembler().add_knowledge("a", type="rag", score="0.9"),  # type: ignore[arg-type]
    "a LangChain document": lambda: Assembler().add_knowledge(
        SimpleNamespace(page_content="x"),  # type: ignore[arg-type]
        type="rag",
    ),
    "a message as instruction": lambda: Assembler().add_instruction(
        {"role": "system", "content": "x"}  # type: ignore[arg-type]
    ),
    "a tool's name as tool": lambda: Assembler().add_capability(["search"]),
    "a lambda as tool": lambda: Assembler().add_capability([lambda x: x]),
    "a name with a space": lambda: Assembler().add_capability([{"name": "my tool", "parameters": {}}]),
    "a choice of no tool": lambda: Assembler().add_capability([{"name": "a", "parameters": {}}], choice="b"),
    "an answer at the end": lambda: built([USER, ("assistant", "Hi")], dialect="anthropic"),
    "a conversation without a question": lambda: Assembler(dialect="anthropic").add_instruction("x").build().request(),
}


class Counter:
    def __call__(self, text: str) -> int:
        return len(text)


@dataclasses.dataclass
class Order:
    number: str


STATE = json.dumps(Assembler().add_message(USER).build().state())


def answered(parts: list[Any]) -> None:
    """A call of Gemini's without an id, and these parts as its answer."""
    call = {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}}]}
    kept([USER, call, {"role": "user", "parts": parts}])


def kept(messages: list[Any], **given: Any) -> None:
    """Checks that a build of these messages keeps them."""
    assert built(messages, **given).messages


def of_response(response: Any) -> object:
    return response.choices[0].message


def awaited() -> object:
    return asyncio.run(Assembler(Budget(100, counter=counting)).add_message(USER).abuild())


def registers_a_subclass() -> None:
    with reading(BatchEncoding, dict):
        assert Assembler().add_message(BatchEncoding(USER)).build().messages == [USER]


def deltas(chunks: list[dict[str, Any]]) -> str:
    return "".join(chunk["choices"][0]["delta"]["content"] for chunk in chunks)


class Fast(HuggingFaceTokenizer):
    """One with a fast tokenizer inside, of one token a character."""

    backend_tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE({chr(at): at for at in range(32, 127)}, []))


FOLLOWED: dict[str, Callable[[], object]] = {
    "a tokenizer as counter": lambda: counted(transformers_counter(Fast())),
    "a tokenizer's method as counter": lambda: counted(lambda text: len(Encoding().encode(text))),
    "an encoding as counter": lambda: counted(lambda text: len(Encoding().encode(text))),
    "an encoding's name as counter": lambda: [counted(tiktoken_counter("o200k_base")), Budget(100, model="gpt-4o")],
    "an async counter": awaited,
    "a counter that returns a float": lambda: counted(lambda text: math.ceil(len(text) / 4)),
    "a chat response as message": lambda: Assembler().add_message(of_response(ChatCompletion())),
    "a chat response's dict as message": lambda: Assembler().add_message(
        {"choices": [{"message": USER}]}["choices"][0]["message"]
    ),
    "a chunk of a stream as message": lambda: kept(
        [USER, {"role": "assistant", "content": deltas([ChatCompletionChunk().model_dump()])}, USER]
    ),
    "a chunk's dict as message": lambda: kept(
        [USER, {"role": "assistant", "content": deltas([ChatCompletionChunk().model_dump()])}, USER]
    ),
    "a response of Responses as message": lambda: [Assembler().add_message(item) for item in Answered.output],
    "a response of Bedrock as message": lambda: Assembler().add_message(CONVERSED["output"]["message"]),
    "the items of Responses as message": lambda: [Assembler().add_message(item) for item in Answered.output],
    "a Gemini response as message": lambda: kept([Generated.candidates[0].content], dialect="gemini"),
    "a choice as message": lambda: Assembler().add_message(ChatCompletion.choices[0].message),
    "a coroutine as message": lambda: Assembler().add_message(asyncio.run(speaking())),
    "a text as message": lambda: kept([("user", "Hello")]),
    "a text as messages": lambda: [kept([("user", "Hello")]), Assembler().add_message(("user", "Hello"))],
    "a message as messages": lambda: [kept([USER]), Assembler().add_message(USER)],
    "a request as messages": lambda: kept({"model": "gpt-4o", "messages": [USER]}["messages"]),
    "a context as messages": lambda: kept(built([USER]).messages),
    "a message without a role": lambda: kept([{"role": "user", "content": "Hello"}]),
    "a message without content": lambda: kept([{"role": "user", "content": "Hello"}]),
    "a role that no API has": lambda: kept([USER, {"role": "model", "content": "Hello"}, USER]),
    "messages as one message": lambda: Assembler().set_messages([USER]),
    "a result that is no text": lambda: kept(
        [USER, CALL, {"role": "tool", "tool_call_id": "c1", "content": json.dumps({"a": 1})}]
    ),
    "a pair the wrong way round": lambda: kept([("user", "Hello")]),
    "a result with an id for a call without": lambda: kept(
        [USER, NAMELESS, {"role": "tool", "name": "f", "content": "x"}]
    ),
    "a result without its call": lambda: kept(
        repair([USER, {"role": "tool", "tool_call_id": "c1", "content": "x"}])[0]
    ),
    "a call without its result": lambda: kept(repair([USER, CALL, USER])[0]),
    "the chunks of Gemini's answer as contents": lambda: kept(
        [USER, {"role": "model", "parts": [part for chunk in CHUNKS for part in chunk["parts"]]}, ANSWERS]
    ),
    "a window as model": lambda: Budget.for_model("gpt-4o"),
    "a window as text": lambda: Budget(int("128000")),
    "an answer's length by the APIs' name": lambda: Budget(context_window=1_000, max_output_tokens=100),
    "an answer's length by OpenAI's name": lambda: Budget.for_model("gpt-4o", max_output_tokens=9),
    "a window by another name": lambda: Budget(context_window=4_096),
    "a misspelled number": lambda: Budget(4_096, max_output_tokens=9),
    "a model's name without its window": lambda: Budget.for_model("gpt-4o"),
    "a model without a budget": lambda: Assembler(Budget.for_model("gpt-4o")),
    "a model as budget": lambda: Assembler(Budget.for_model("gpt-4o")),
    "a counter's class": lambda: counted(Counter()),
    "tools as the name of a region": lambda: Budget(100, limits={"capability": Limit(cap=0.4)}),
    "a summarizer of two arguments": lambda: Summarize(lambda dropped, previous, most: ""),
    "a part of Gemini's as message": lambda: answered([{"function_response": ANSWERED}]),
    "a block of Anthropic's as message": lambda: kept(
        [USER, CALL, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x"}]}]
    ),
    "a result without the id of its call": lambda: answered(
        [{"function_response": {"name": "f", "response": {"output": "x"}}}]
    ),
    "a state as text": lambda: Assembler().add_message(USER).restore(json.loads(STATE)),
    "a state before its messages": lambda: Assembler().set_messages([USER]).restore(json.loads(STATE)),
    "a class that is no pydantic model as answer": lambda: Assembler().set_output_schema(
        pydantic.TypeAdapter(Order).json_schema()
    ),
    "a misspelt tool as choice": lambda: Assembler().set_tools([search], choice="search"),
    "Anthropic's word for a tool that must be called": lambda: Assembler().set_tools([search], choice="required"),
    "a tool must be called and there is none": lambda: [
        Assembler().set_tools([]),
        Assembler().set_tools([search], choice="required"),
    ],
    "the name of a tokenizer": lambda: counted(transformers_counter(Fast())),
    "a provider's name as its endpoint": lambda: counted(provider_counter(len)),
    "dict as a message class": registers_a_subclass,
    "an estimate that is too large": lambda: built(
        [USER], budget=Budget(103, model="my-finetune-7b"), dialect="openai_chat"
    ),
    "an answer's length by place": lambda: Budget.for_model("gpt-4o", max_output_tokens=1_000),
    "an answer's length behind the window": lambda: Budget(context_window=128_000, max_output_tokens=1_000),
    "a role and a text as two arguments": lambda: Assembler().add_message(("user", "hi")),
    "a role and a text by name": lambda: Assembler().add_message(("user", "hi")),
    "an API by place": lambda: Assembler(SMALL, dialect="openai_chat", on_overflow=TrimOldest()),
    "a document without its type": lambda: Assembler().add_knowledge("a", type="document"),
    "a document's type by place": lambda: Assembler().add_knowledge("a", type="document"),
    "the name of a policy that takes arguments": lambda: Assembler(SMALL, on_overflow=[Truncate(20)]),
    "a policy by a peer's name": lambda: Assembler(SMALL, on_overflow=TrimOldest()),
    "too much by thousands": lambda: built([("user", "word " * 4_000)], budget=Budget(4_001)),
    "too much knowledge by thousands": lambda: [
        of_knowledge(Budget(4_000, limits={"knowledge": Limit(cap=3_999)}), words=1_500),
        of_knowledge(Budget(4_000), CitedSources(), words=1_500),
    ],
    "a policy by another name": lambda: Assembler(SMALL, on_overflow=TrimOldest()),
    "turns to keep by another name": lambda: TrimOldest(keep_turns=2),
    "a model without a table": lambda: Budget.for_model("my-finetune-7b", context_window=4_096, max_output_tokens=100),
    "an answer larger than the window": lambda: [
        Budget(3_000, max_output_tokens=2_000),
        Budget(1_000, max_output_tokens=200),
    ],
    "a number as budget": lambda: Assembler(Budget(context_window=128_000)),
    "a share as limit": lambda: Budget(100, limits={"knowledge": Limit(cap=0.4)}),
    "a percentage as limit": lambda: Limit(cap=0.4),
    "a limit of no region": lambda: Budget(100, limits={"knowledge": Limit(cap=0.4)}),
    "a policy's class": lambda: Assembler(SMALL, on_overflow=TrimOldest()),
    "a policy's name": lambda: Assembler(SMALL, on_overflow=TrimOldest()),
    "a strategy's class": lambda: Assembler(SMALL, strategy=CitedSources()),
    "tokens as low water": lambda: TrimOldest(low_water=0.5),
    "no turn kept": lambda: TrimOldest(keep_turns=1),
    "a summary as summarizer": lambda: Summarize(lambda dropped, previous, most: "a summary"),
    "an API by another name": lambda: Assembler(dialect="openai_chat"),
    "a model as dialect": lambda: count_request({"messages": [USER]}, dialect="openai_chat", model="gpt-4o"),
    "a long text as dialect": lambda: Assembler(dialect="gemini"),
    "a dialect's class": lambda: [Assembler(dialect=openai_chat), Assembler(dialect="openai_chat")],
    "a tokenizer as dialect": lambda: Assembler(dialect=chat_template(Template())),
    "messages where a request is counted": lambda: count_request({"messages": [USER]}, dialect="openai_chat"),
    "another API's request": lambda: count_request({"messages": [USER]}, dialect="openai_chat"),
    "a request held against an API by another name": lambda: verify({"messages": [USER]}, dialect="openai_chat"),
    "a response as bill": lambda: billed(),
    "a bill as anchor": lambda: Assembler(SMALL).add_message(USER).anchor(billed()).build(),
    "too much by default": lambda: [
        built([USER, ("assistant", "word " * 20), USER], budget=SMALL, on_overflow=TrimOldest()),
        built([USER, ("assistant", "word " * 20), USER], budget=Budget(46, model="gpt-4o")),
    ],
    "a newest message that is too long": lambda: [
        built([("user", "word " * 50)], budget=SMALL, on_overflow=[TrimOldest(), Truncate(20)]),
        built([("user", "word " * 50)], budget=Budget(58, model="gpt-4o"), on_overflow=TrimOldest()),
    ],
    "too much knowledge": lambda: [
        of_knowledge(Budget(30, model="gpt-4o", limits={"knowledge": Limit(cap=18)})),
        of_knowledge(SMALL, CitedSources()),
        of_knowledge(Budget(54, model="gpt-4o")),
    ],
    "too many tools": lambda: of_tools(Budget(85, model="gpt-4o")),
    "documents in one call": lambda: [Assembler().add_knowledge(text, type="rag") for text in ("a", "b", "a\nb")],
    "an instruction in pieces": lambda: Assembler().set_instruction("a\nb"),
    "the class of a selection": lambda: Limit(select=Defer(5)),
    "a score as text": lambda: Assembler().add_knowledge("a", type="rag", score=float("0.9")),
    "a LangChain document": lambda: Assembler().add_knowledge(
        SimpleNamespace(page_content="x").page_content, type="rag"
    ),
    "a message as instruction": lambda: Assembler().add_instruction("x"),
    "a tool's name as tool": lambda: [Assembler().add_capability([tool]) for tool in (search, Model, DEFINED, Held())],
    "a lambda as tool": lambda: Assembler().add_capability([search]),
    "a name with a space": lambda: Assembler().add_capability([{"name": "my_tool", "parameters": {}}]),
    "a choice of no tool": lambda: Assembler().add_capability([{"name": "a", "parameters": {}}], choice="a"),
    "an answer at the end": lambda: [
        built([USER, ("assistant", "Hi"), USER], dialect="anthropic"),
        built([USER], dialect="anthropic"),
        Assembler(dialect="anthropic").add_messages([USER, ("assistant", "Hi")]).plan().report,
    ],
    "a conversation without a question": lambda: built([USER], dialect="anthropic").request(),
}


def error_text(name: str, monkeypatch: pytest.MonkeyPatch | None = None) -> str:
    try:
        MISTAKES[name]()
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return text.replace(", ".join(CHECKED), "<CHECKED>").replace(", ".join(DIALECTS), "<DIALECTS>")
    return "nothing"


@pytest.mark.parametrize("name", MISTAKES)
def test_a_likely_mistake_is_answered_with_what_to_do(name: str) -> None:
    assert error_text(name) == SHOWN[name].strip()


@pytest.mark.parametrize("name", FOLLOWED)
def test_the_step_that_each_error_advises_works(name: str) -> None:
    FOLLOWED[name]()


def test_the_plan_of_a_conversation_that_ends_with_an_answer_says_what_the_error_says() -> None:
    plan = Assembler(dialect="anthropic").add_messages([USER, ("assistant", "Hi")]).plan()
    assert "; ".join(plan.report.notes).startswith(
        "no request yet: anthropic needs a conversation that ends with a user"
    )
    assert plan.count.tokens > 0


def test_a_report_writes_the_numbers_of_its_notes_as_those_of_its_table() -> None:
    bot = Assembler(Budget(9_000, model="gpt-4o")).add_message(("user", "word " * 2_000))
    bot.anchor(calibrate(bot.build(), SimpleNamespace(prompt_tokens=3_000)))
    assert "anchored: 3,000 billed where 2,008 were counted (+992)" in str(bot.build().report)


def test_every_text_of_the_table_belongs_to_a_mistake() -> None:
    assert SHOWN.keys() == MISTAKES.keys() == FOLLOWED.keys()


def test_a_missing_package_is_answered_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "toktok", None)
    monkeypatch.setitem(__import__("sys").modules, "toktok_rs", None)
    with pytest.raises(ImportError, match=r"pip install 'context-assembler\[toktok\]'$"):
        toktok_counter()


if __name__ == "__main__":
    print(yaml.safe_dump({name: error_text(name) for name in MISTAKES}, allow_unicode=True, width=118, sort_keys=False))
