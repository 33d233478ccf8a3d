"""LangChain and LangGraph: a middleware that lays out every model call of an agent.

    agent = create_agent(model, tools, middleware=[AssemblerMiddleware(assembler)])

Read in langchain 1.4.7, langchain-core 1.7.2 and langchain-openai 1.7.3 (2026-11): what a chat model is sent of a
message is what `_convert_message_to_dict` of langchain-openai spells. Middlewares wrap from the left: put this one
last, so that it sees what the others made of the request.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from assembler.assembler import Assembler
from assembler.conversation.messages import Call, Message, Part, Result
from assembler.integrations.fitting import Fitting, LastCall, priced_tools
from assembler.integrations.own_objects import aligned, kept_objects
from budgets import MissingExtraError

try:
    from langchain.agents.middleware import AgentMiddleware  # type: ignore[import-not-found,unused-ignore]
except ImportError as absent:
    raise MissingExtraError("langchain", needed_for="assembler.integrations.langchain") from absent

if TYPE_CHECKING:
    # What else is used of LangChain, for type checkers that do not have it.

    HumanMessage: Any
    OutputToolBinding: Any
    SystemMessage: Any
    ToolStrategy: Any
    convert_to_openai_data_block: Callable[[Any], dict[str, Any]]
    convert_to_openai_tool: Callable[[Any], dict[str, Any]]
    is_data_content_block: Callable[[Any], bool]
else:
    from langchain.agents.structured_output import OutputToolBinding, ToolStrategy
    from langchain_core.messages import (
        HumanMessage,
        SystemMessage,
        convert_to_openai_data_block,
        is_data_content_block,
    )
    from langchain_core.utils.function_calling import convert_to_openai_tool

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
_UNSENT = frozenset({"tool_use", "tool_call", "function_call", "code_interpreter_call", "server_tool_call"})
"""Content blocks that say again what `tool_calls` says, or that a Chat Completions request leaves out."""


class AssemblerMiddleware(LastCall, AgentMiddleware):  # type: ignore[misc,type-arg,unused-ignore]
    """Fits each model call into the assembler's budget: system prompt, tools, knowledge and messages together.

    The assembler is a base, forked for each call; its instruction and knowledge follow the agent's system prompt. The
    tools are the request's, and that of a `response_format`, whatever the base holds. The state keeps every message:
    what gives way is only not sent.

    One middleware may serve many agents, threads and tasks. `last_context` and `report` are those of the latest call
    of any of them; `context_of(thread_id or run_id)` those of one conversation.
    """

    def __init__(self, assembler: Assembler) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        self.tools: Sequence[Any] = ()
        self._fitting = Fitting(assembler)
        self.context_of = self._fitting.context_of

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the model with what fits. Raises what `build` raises, as it is."""
        return handler(self._fitted(request))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Await the model with what fits. Nothing here waits; the first count of a process loads its vocabulary."""
        return await handler(self._fitted(request))

    def _fitted(self, request: Any) -> Any:
        own: Any = request.system_message
        listed: list[Any] = [] if own is None or isinstance(own.content, str) else [own]
        prompt: str | None = None if own is None or listed else own.content
        tools = [_definition(tool) for tool in (*request.tools, *_answer_tools(request.response_format))]
        kept, system = _fit(
            self._fitting,
            [*listed, *request.messages],
            system=prompt,
            tools=priced_tools(tools, self._fitting.assembler),
            run=_run_of(request.runtime),
        )
        changed = request.override(messages=kept[len(listed) :])
        if system in (None, prompt):
            return changed
        # Its id, its role and the blocks of a listed prompt, cache marks and all, stay the very objects.
        content = [*listed[0].content, {"type": "text", "text": system}] if listed else system
        head = SystemMessage(content=system) if own is None else own.model_copy(update={"content": content})
        return changed.override(system_message=head)


class PreModelHook(LastCall):
    """The same for LangGraph's older `create_react_agent(model, tools, pre_model_hook=PreModelHook(assembler))`.

    That hook sees messages only. Give the tools and the instruction to the assembler: the instruction and the
    knowledge go out as a system message in front, so pass no `prompt` to the agent. The state keeps every message.
    """

    __name__ = "assembler"  # LangGraph names the node after it

    def __init__(self, assembler: Assembler) -> None:
        self._fitting = Fitting(assembler)

    def __call__(self, state: Any) -> dict[str, Any]:
        """The messages to send, beside those of the state. Raises what `build` raises, as it is."""
        messages: Any = cast("Mapping[str, Any]", state)["messages"] if isinstance(state, Mapping) else state.messages
        kept, system = _fit(self._fitting, messages, system=None, tools=None, run=None)
        return {"llm_input_messages": kept if system is None else [SystemMessage(content=system), *kept]}


def _fit(
    fitting: Fitting, messages: Sequence[Any], *, system: str | None, tools: Sequence[Any] | None, run: Any
) -> tuple[list[Any], str | None]:
    """The messages that stay, the very objects, and the system text."""
    spoken = [_spoken(message) for message in messages]
    plan, context = fitting.fit(spoken, system=system, tools=tools, run=run)
    return kept_objects(plan, messages, rewritten=_rewritten, said=_said), context.system


def _run_of(runtime: Any) -> Any:
    info = getattr(runtime, "execution_info", None)
    return None if info is None else info.thread_id or info.run_id


def _answer_tools(answer: Any) -> list[Any]:
    """The tools that a structured answer adds. Where it is asked for as the provider's own format, about as long."""
    if answer is None:
        return []
    specs: Any = getattr(answer, "schema_specs", None)
    if specs is None:
        specs = ToolStrategy(schema=getattr(answer, "schema", answer)).schema_specs
    return [OutputToolBinding.from_schema_spec(spec).tool for spec in specs]


def _definition(tool: Any) -> dict[str, Any]:
    """A tool as it is sent; what a provider runs is a dict that names it by its type."""
    if isinstance(tool, dict) and cast("dict[str, Any]", tool).get("type", "function") != "function":
        return cast("dict[str, Any]", tool)
    return convert_to_openai_tool(tool)


def _spoken(message: Any) -> dict[str, Any]:
    """A message as a Chat Completions request spells it: what is not sent costs nothing."""
    kind = message.type.removesuffix("MessageChunk").lower()
    spoken: dict[str, Any] = {"role": _ROLES.get(kind) or getattr(message, "role", kind)}
    content = message.content
    spoken["content"] = content if isinstance(content, str) else [said for _, said in _blocks(content) if said]
    if kind == "tool":
        return {**spoken, "tool_call_id": message.tool_call_id}
    if message.name:
        spoken["name"] = message.name
    if kind == "ai" and (calls := _calls(message)):
        spoken["tool_calls"] = calls
        spoken["content"] = spoken["content"] or None
    return spoken


def _calls(message: Any) -> list[dict[str, Any]]:
    """Calls as they are sent: arguments as `json.dumps` writes them, spaces and all."""
    made = [(call, json.dumps(call["args"], ensure_ascii=False)) for call in message.tool_calls]
    failed = [(call, call["args"] or "") for call in message.invalid_tool_calls]
    return [
        {"id": call["id"], "type": "function", "function": {"name": call["name"] or "", "arguments": arguments}}
        for call, arguments in (*made, *failed)
    ]


def _blocks(content: Sequence[Any]) -> Iterator[tuple[Any, dict[str, Any] | None]]:
    """Each content block, with what is sent of it; None for one that is not sent as content."""
    for block in content:
        if isinstance(block, str):
            yield block, {"type": "text", "text": block}
        elif block.get("type") in _UNSENT:
            yield block, None
        elif block.get("type") == "text":
            yield block, {"type": "text", "text": block["text"]}
        elif block.get("type") in ("reasoning", "reasoning_content"):
            # Carried only where the API takes reasoning back: the dialect knows, once it is told what this is.
            yield block, {"type": "thinking", "thinking": str(block.get("reasoning", ""))}
        elif is_data_content_block(block):
            yield block, convert_to_openai_data_block(block)
        else:
            yield block, dict(block)


def _rewritten(message: Any, before: Message, after: Message) -> Any:
    """A copy of the message, its id and metadata with it, only the texts as the policy left them."""
    became = [new for _, new in aligned(before.parts, after.parts)]
    if isinstance(answer := became[0] if became else None, Result):
        return message.model_copy(update={"content": "\n".join(text for text in answer.parts if isinstance(text, str))})
    changes: dict[str, Any] = {"content": _content(message.content, became)}
    arguments = {part.id: part.arguments for part in became if isinstance(part, Call)}
    if arguments:
        calls = [{**call, "args": json.loads(arguments[call["id"]])} for call in message.tool_calls]
        changes["tool_calls"] = calls
    return message.model_copy(update=changes)


def _content(content: Any, became: Sequence[Part | None]) -> Any:
    if isinstance(content, str):
        return became[0] if became and isinstance(became[0], str) else ""
    parts = iter(became)
    kept: list[Any] = []
    for block, said in _blocks(content):
        part = next(parts) if said else ""
        if part is None:
            continue
        changed = said and isinstance(part, str) and part != said.get("text")
        kept.append({"type": "text", **(block if isinstance(block, dict) else {}), "text": part} if changed else block)
    return kept


def _said(summary: Message) -> Any:
    return HumanMessage(content="\n".join(part for part in summary.parts if isinstance(part, str)))
