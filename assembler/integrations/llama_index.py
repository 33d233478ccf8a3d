"""LlamaIndex: a memory that returns the messages that fit, and a function agent that fits its model calls.

    memory = AssemblerMemory.from_defaults(assembler=assembler)
    agent = AssemblerFunctionAgent(assembler=assembler, tools=…, llm=…)

Read in llama-index-core 0.14.25 (2026-11). A memory does not see the agent's system prompt and tools, nor, in a
`FunctionAgent`, the tool rounds of the running turn, which are in a scratchpad until it ends. Only the agent sees them.
`assembler.integrations.llama_messages` reads and writes a `ChatMessage`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self, cast

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.integrations.call_settings import serial_calls, tool_choice
from assembler.integrations.fitting import CONVERSATIONS, STORED_AS, Asked, Fitting, LastCall, State, worth_keeping
from assembler.integrations.kept_objects import kept_objects
from assembler.integrations.llama_messages import message_fields, rewrite_message
from assembler.integrations.llama_scratchpad import OneCall
from assembler.integrations.retries import Retries
from assembler.pipeline.draft import Draft
from assembler.pipeline.planned import Planned
from budgets import AssemblyError, ContextLengthError
from budgets.errors import from_extra

if TYPE_CHECKING:
    # The used parts of LlamaIndex and its pydantic, for type checkers without it.
    from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

    class ChatMessage(BaseModel):
        """LlamaIndex's own."""

        def __init__(self, content: str, *, role: str) -> None: ...

    class BaseChatStoreMemory(BaseModel):
        """LlamaIndex's own."""

        chat_store: Any
        chat_store_key: str

    class FunctionAgent(BaseModel):
        """LlamaIndex's own."""

        scratchpad_key: str
        output_cls: Any
        structured_output_fn: Any
        system_prompt: str | None
        name: str
        llm: Any
        initial_tool_choice: str | None
        allow_parallel_tool_calls: bool

        async def take_step(self, ctx: Any, llm_input: Any, tools: Any, memory: Any) -> Any:
            """LlamaIndex's own."""

        def run(self, *args: Any, **kwargs: Any) -> Any:
            """LlamaIndex's own."""

    SimpleChatStore: Any
    load_chat_store: Any
    generate_structured_response: Any
    messages_to_xml_format: Any
else:
    with from_extra("llama-index", needed_for="assembler.integrations.llama_index"):
        from llama_index.core.agent.utils import generate_structured_response, messages_to_xml_format
        from llama_index.core.agent.workflow import FunctionAgent
        from llama_index.core.llms import ChatMessage
        from llama_index.core.memory.types import BaseChatStoreMemory
        from llama_index.core.storage.chat_store import SimpleChatStore
        from llama_index.core.storage.chat_store.loading import load_chat_store
        from pydantic import ConfigDict, Field, PrivateAttr


class AssemblerMemory(LastCall, BaseChatStoreMemory):
    """Keeps every message, and returns those that fit the assembler's budget, its instruction and knowledge first.

    For chat engines, and for agents that store nothing besides the memory. Give the tools and the system prompt to the
    assembler, since the memory cannot see the engine's or the agent's own prompt. Without an assembler it returns every
    message, as an `AssemblerFunctionAgent` needs. With an assembler it is left out of a serialized workflow context,
    with a warning: pass it to each run.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    assembler: Assembler | None = Field(default=None, exclude=True)
    conversations: int = CONVERSATIONS
    states: dict[str, Any] = Field(default_factory=dict)
    _fitting: Fitting = PrivateAttr()
    _retries: Retries = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Fork the assembler, so that later changes have no effect."""
        super().model_post_init(context)
        assembler = Assembler() if self.assembler is None else self.assembler
        self._fitting = Fitting(assembler, conversations=self.conversations)
        self._retries = Retries(self._fitting)

    def around(self, llm: Any) -> Any:
        """A copy of the LLM for an engine with this memory: a call that is refused as too long is made again, smaller.

        Up to three times. The memory keeps what the refusals said.
        """
        return _make_retrying(llm, self._retries)

    @classmethod
    def class_name(cls) -> str:
        """The name in LlamaIndex's serialized form."""
        return "AssemblerMemory"

    @classmethod
    def from_defaults(
        cls,
        chat_history: list[Any] | None = None,
        llm: object = None,
        *,
        assembler: Assembler[Any] | None = None,
        chat_store: Any = None,
        chat_store_key: str = "chat_history",
        **kwargs: Any,
    ) -> Self:
        """Make a memory over a chat store. `llm` is ignored: the budget has the window."""
        store = SimpleChatStore() if chat_store is None else chat_store
        if chat_history is not None:
            store.set_messages(chat_store_key, chat_history)
        return cls(assembler=assembler, chat_store=store, chat_store_key=chat_store_key, **kwargs)

    def to_string(self) -> str:
        """Return the memory as JSON, without its assembler."""
        return self.model_dump_json()

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the memory as plain data, in which an assembler stays an object.

        JSON cannot carry that object. So a workflow's context, which is saved as JSON between runs, leaves the memory
        out with a warning, instead of continuing with a memory that fits nothing.
        """
        own = {} if self.assembler is None else {"assembler": self.assembler}
        return {**self.model_dump(**kwargs), **own}

    @classmethod
    def from_string(cls, json_str: str, *, assembler: Assembler[Any] | None = None) -> Self:
        """Read the output of `to_string`, and give the memory the assembler, if one is passed."""
        return cls.from_dict(json.loads(json_str), assembler=assembler)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, assembler: Assembler[Any] | None = None, **kwargs: Any) -> Self:
        """Read the output of `to_dict`. `data` is not changed; LlamaIndex must be able to load its store."""
        store = load_chat_store(dict(data["chat_store"]))
        assembler = data.get("assembler") if assembler is None else assembler
        left = {key: value for key, value in data.items() if key in ("chat_store_key", "conversations", "states")}
        return cls(assembler=assembler, chat_store=store, **left, **kwargs)

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Return the messages that fit. Raises the errors of `build`.

        A history that ends with an answer is not a request: it is cut too, but returned whole if even its newest turn
        does not fit, so that an agent does not fail after it has answered.
        """
        history = self.chat_store.get_messages(self.chat_store_key)
        fields = self._read_history(history, kwargs)
        if _is_request(fields):
            return self._lay_out(history, fields, self.states.get(_OWN))
        return self._cut_answered(history, fields)

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Return the messages that fit, read by the store's coroutine."""
        history = await self.chat_store.aget_messages(self.chat_store_key)
        fields = self._read_history(history, kwargs)
        if _is_request(fields):
            return await self._alay_out(history, fields, self.states.get(_OWN))
        return self._cut_answered(history, fields)

    def _lay_out(self, history: Sequence[ChatMessage], fields: Any, state: State | None) -> list[ChatMessage]:
        return self._remember_sent(self._fitting.fit(fields, Asked(), state=state), history, fields)

    async def _alay_out(self, history: Sequence[ChatMessage], fields: Any, state: State | None) -> list[ChatMessage]:
        return self._remember_sent(await self._fitting.afit(fields, Asked(), state=state), history, fields)

    def _remember_sent(self, context: Context, history: Sequence[ChatMessage], fields: Any) -> list[ChatMessage]:
        _keep_state(self.states, _OWN, context.state())
        sent = _insert_system(context.inside, history)
        self._retries.add(
            sent, context, partial(self._lay_out, history, fields), partial(self._alay_out, history, fields)
        )
        return sent

    def _read_history(self, history: Sequence[ChatMessage], asked: dict[str, Any]) -> list[dict[str, Any]]:
        if asked.get("initial_token_count"):
            raise AssemblyError(
                "initial_token_count: tokens of a prefix that the assembler cannot see; "
                "put the prefix into its instruction"
            )
        return [message_fields(message) for message in history]

    def _cut_answered(self, history: Sequence[ChatMessage], fields: Sequence[dict[str, Any]]) -> list[ChatMessage]:
        try:
            plan = self._fitting.assembler.fork().set_messages(fields).plan()
        except ContextLengthError:
            return list(history)
        return _insert_system(plan.inside, history)


_OWN = ""
"""The name of a memory's own state. Those of agents have the agents' names."""


def _keep_state(states: dict[str, Any], name: str, state: dict[str, Any]) -> None:
    if worth_keeping(state) is None:
        states.pop(name, None)
    else:
        states[name] = state


def _is_request(fields: Sequence[dict[str, Any]]) -> bool:
    """Whether a model can be called with a history, because it does not end with an answer."""
    return not fields or fields[-1]["role"] != "assistant" or "tool_calls" in fields[-1]


class AssemblerFunctionAgent(LastCall, FunctionAgent):
    """A `FunctionAgent` that fits each model call into the assembler's budget.

    It counts the system prompt, the assembler's instruction and knowledge after it, the tools, the memory's messages
    and the tool rounds of the running turn. The separate call for the answer of an `output_cls` is fitted too. The
    agent's tools are sent, and the assembler's are not. Memory and scratchpad stay whole. The default memory returns
    every message; another one may cut before this agent does.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    assembler: Assembler = Field(exclude=True)
    conversations: int = CONVERSATIONS
    _fitting: Fitting = PrivateAttr()
    _answer_cls: Any = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:
        """Fork the assembler, so that later changes have no effect. Take over the call for a structured answer."""
        super().model_post_init(context)
        self._fitting = Fitting(self.assembler, conversations=self.conversations)
        if self.output_cls is not None:
            self._answer_cls, self.output_cls = self.output_cls, None
            self.structured_output_fn = self._make_answer

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run as `FunctionAgent` does, by default with a memory that returns every message."""
        if kwargs.get("memory") is None and len(args) < _MEMORY_PLACE + 1:
            kwargs["memory"] = AssemblerMemory.from_defaults()
        return super().run(*args, **kwargs)

    async def _make_answer(self, messages: list[ChatMessage]) -> Any:
        """Make LlamaIndex's separate call for the structured answer, with a history that fits."""
        prompt = [ChatMessage(self.system_prompt, role="system")] if self.system_prompt else []
        base = self._fitting.assembler
        kept = await asyncio.to_thread(_fit_answer, base, [*prompt, *messages], self._answer_cls)
        return await generate_structured_response(messages=kept, llm=self.llm, output_cls=self._answer_cls)

    async def take_step(self, ctx: Any, llm_input: list[ChatMessage], tools: Sequence[Any], memory: Any) -> Any:
        """Make one fitted model call. Raises the errors of `build` before the model is asked."""
        if isinstance(memory, AssemblerMemory) and memory.assembler is not None:
            raise AssemblyError("the memory has an assembler too: give it to the agent or to the memory, not to both")
        rounds = await ctx.store.get(self.scratchpad_key, default=[])
        own = isinstance(memory, AssemblerMemory)
        states: dict[str, Any] = memory.states if own else await ctx.store.get(STORED_AS, default={})
        aside = OneCall(ctx, self.scratchpad_key)
        try:
            context, output = await self._call_model(aside, [*llm_input, *rounds], tools, memory, states)
        finally:
            if not own:
                await ctx.store.set(STORED_AS, states)
        await ctx.store.set(self.scratchpad_key, [*rounds, *aside.scratchpad])
        _keep_state(states, self.name, await self._fitting.asettle(context, _find_usage(output.raw)))
        if not own:
            await ctx.store.set(STORED_AS, states)
        return output

    async def _call_model(
        self, ctx: Any, messages: list[ChatMessage], tools: Sequence[Any], memory: Any, states: dict[str, Any]
    ) -> tuple[Context, Any]:
        """Make a call, and a smaller one after each refusal as too long. Returns its context and its result."""
        while True:
            context, fitted = await self._fit_call(messages, tools, states)
            try:
                return context, await super().take_step(ctx, fitted, tools, memory)
            except Exception as error:
                state = await self._fitting.alearn(context, error)
                if state is None:
                    raise
                _keep_state(states, self.name, state)

    async def _fit_call(
        self, messages: list[ChatMessage], tools: Sequence[Any], states: dict[str, Any]
    ) -> tuple[Context, list[ChatMessage]]:
        fields = [message_fields(message) for message in messages]
        # The provider's own tools are in the settings of the LLM.
        sent = [*(getattr(self.llm, "built_in_tools", None) or ())]
        sent += [tool.metadata.to_openai_tool(skip_length_check=True) for tool in tools]
        # A workflow's context has a new memory object in each run, so conversations are recognised by their beginning.
        first = bool(fields) and fields[-1]["role"] == "user"  # the agent forces its tool on no later call
        own = dict(_list_settings(self.llm, self._fitting.dialect))
        choice = tool_choice(self.initial_tool_choice, sent) if first and "tool_choice" not in own else None
        options = dict(serial_calls(self.allow_parallel_tool_calls)) | own
        asked = Asked(tools=sent, choice=choice, options=tuple(options.items()))
        context = await self._fitting.afit(fields, asked, run=self.name, state=states.get(self.name))
        _keep_state(states, self.name, context.state())
        return context, _insert_system(context.inside, messages)


def _list_settings(llm: Any, dialect: str) -> Iterator[tuple[str, Any]]:
    """Yield what the LLM itself adds to each call, if it may cost tokens. On Chat it takes the place of the agent's."""
    extra: Mapping[str, Any] = getattr(llm, "additional_kwargs", None) or {}
    priced = ("text",) if dialect == "openai_responses" else ("tool_choice", "response_format", "parallel_tool_calls")
    yield from ((key, extra[key]) for key in priced if key in extra)


def _find_usage(raw: Any) -> object:
    """Return the provider's usage from its raw answer, or from the last event of its stream; None without one."""
    fields = cast("Mapping[str, object]", raw if isinstance(raw, Mapping) else {})
    return fields.get("usage") or fields.get("usage_metadata")


_MEMORY_PLACE = 2
"""The position of the memory among the arguments of `run`: after the message and the history."""


def _insert_system(plan: Planned, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages that stay, with the assembler's text as a system message after those at the head."""
    kept = _keep_messages(plan, messages)
    system = plan.layout.system
    if system is not None:
        kept.insert(plan.view.head, ChatMessage(system, role="system"))
    return kept


def _fit_answer(base: Assembler, messages: Sequence[ChatMessage], answer: Any) -> list[ChatMessage]:
    """Return the messages of a finished conversation that fit into the one message that LlamaIndex makes of it.

    The schema is priced both as a tool and as an answer format, because the LLM decides which is sent.
    """
    draft, settings = base.inside
    bare = Assembler.around(Draft(), attrs.evolve(settings, budget=None))
    bare.set_tools([answer]).set_output_schema(answer)
    fields = [message_fields(message) for message in messages]
    budget, extra = settings.budget, 0
    while True:
        if budget is not None:
            settings = attrs.evolve(settings, budget=attrs.evolve(budget, overhead=budget.overhead + extra))
        plan = Assembler.around(draft, settings).set_messages(fields).plan().inside
        kept = _keep_messages(plan, messages)
        sent = bare.set_messages([message_fields(message) for message in messages_to_xml_format(kept)])
        over = 0 if budget is None else sent.plan().count.upper - budget.input_limit
        if over <= 0:
            return kept
        extra += over


def _keep_messages(plan: Planned, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    return kept_objects(
        plan, messages, rewritten=rewrite_message, of_summary=lambda text: ChatMessage(text, role="user")
    )


def _make_retrying(llm: Any, retries: Retries) -> Any:
    """Return a copy of the LLM that makes a call again, smaller, after a refusal as too long."""
    kind = cast("Any", type(llm))

    class Answering(kind):  # type: ignore[misc,valid-type,unused-ignore]
        def chat(self, messages: Any, **more: Any) -> Any:
            return retries.call(messages, lambda given: kind.chat(self, given, **more))

        async def achat(self, messages: Any, **more: Any) -> Any:
            return await retries.acall(messages, lambda given: kind.achat(self, given, **more))

        def stream_chat(self, messages: Any, **more: Any) -> Any:
            return retries.stream(messages, lambda given: kind.stream_chat(self, given, **more))

        async def astream_chat(self, messages: Any, **more: Any) -> Any:
            return await retries.astream(messages, lambda given: kind.astream_chat(self, given, **more))

    copied = llm.model_copy()
    copied.__class__ = Answering
    return copied
