"""LlamaIndex: a memory that returns the messages that fit, and a function agent that fits its model calls.

    memory = AssemblerMemory.from_defaults(assembler=assembler)
    agent = AssemblerFunctionAgent(assembler=assembler, tools=…, llm=…)

Read in llama-index-core 0.14.25 (2026-11). A memory does not see the agent's system prompt and tools, nor, in a
`FunctionAgent`, the tool rounds of the running turn, which are in a scratchpad until it ends. Only the agent sees them.
The memory is in `assembler.integrations.llama_memory`; `assembler.integrations.llama_messages` reads and writes a
`ChatMessage`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.integrations.call_settings import serial_calls, tool_choice
from assembler.integrations.fitting import CONVERSATIONS, STORED_AS, Asked, Fitting, LastCall
from assembler.integrations.llama_memory import AssemblerMemory as AssemblerMemory
from assembler.integrations.llama_memory import insert_system, keep_messages, keep_state
from assembler.integrations.llama_messages import message_fields
from assembler.integrations.llama_scratchpad import OneCall
from assembler.pipeline.draft import Draft
from budgets import AssemblyError
from budgets.errors import from_extra

if TYPE_CHECKING:
    # The used parts of LlamaIndex and its pydantic, for type checkers without it.
    from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

    from assembler.integrations.llama_memory import ChatMessage

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

    generate_structured_response: Any
    messages_to_xml_format: Any
else:
    with from_extra("llama-index", needed_for="assembler.integrations.llama_index"):
        from llama_index.core.agent.utils import generate_structured_response, messages_to_xml_format
        from llama_index.core.agent.workflow import FunctionAgent
        from llama_index.core.llms import ChatMessage
        from pydantic import ConfigDict, Field, PrivateAttr


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
        keep_state(states, self.name, await self._fitting.asettle(context, _find_usage(output.raw)))
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
                keep_state(states, self.name, state)

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
        keep_state(states, self.name, context.state())
        return context, insert_system(context.inside, messages)


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
        kept = keep_messages(plan, messages)
        sent = bare.set_messages([message_fields(message) for message in messages_to_xml_format(kept)])
        over = 0 if budget is None else sent.plan().count.upper - budget.input_limit
        if over <= 0:
            return kept
        extra += over
