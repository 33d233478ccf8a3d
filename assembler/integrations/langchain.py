"""LangChain and LangGraph: a middleware that lays out every model call of an agent.

    agent = create_agent(model, tools, middleware=[AssemblerMiddleware(assembler)])

Read in langchain 1.4.7 and langchain-core 1.7.2 (2026-11). Middlewares wrap from the left: put this one last, so that
it sees what the others made of the request. For a `ChatOpenAI(use_responses_api=True)`, give the assembler
`dialect=openai_responses`: only then are reasoning and the provider's own calls priced as they are sent.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.integrations.fitting import CONVERSATIONS, Asked, Fitting, LastCall, priced_tools
from assembler.integrations.own_objects import kept_groups, kept_objects
from assembler.regions.output_schema import OutputSchema
from budgets.errors import from_extra

with from_extra("langchain", needed_for="assembler.integrations.langchain"):
    from langchain.agents.middleware import AgentMiddleware  # type: ignore[import-not-found,unused-ignore]

from assembler.integrations import langchain_items as items
from assembler.integrations import langchain_messages as chat

if TYPE_CHECKING:
    # What else is used of LangChain, for type checkers that do not have it.

    OutputToolBinding: Any
    ProviderStrategy: Any
    SystemMessage: Any
    ToolStrategy: Any
    convert_to_openai_tool: Callable[[Any], dict[str, Any]]
    _supports_provider_strategy: Callable[..., bool]
else:
    from langchain.agents.factory import _supports_provider_strategy
    from langchain.agents.structured_output import OutputToolBinding, ProviderStrategy, ToolStrategy
    from langchain_core.messages import SystemMessage
    from langchain_core.utils.function_calling import convert_to_openai_tool


class AssemblerMiddleware(LastCall, AgentMiddleware):  # type: ignore[misc,type-arg,unused-ignore]
    """Fits each model call into the assembler's budget: system prompt, tools, knowledge and messages together.

    The assembler is a base, forked for each call; its instruction and knowledge follow the agent's system prompt. The
    tools are the request's, whatever the base holds; a `response_format` is priced as a tool or as the provider's own
    answer format, whichever it goes out as. The state keeps every message: what gives way is only not sent. A call
    that another middleware makes by itself (`SummarizationMiddleware`) does not come by here: use `Summarize` instead.

    One middleware may serve many agents, threads and tasks. `last_context` and `report` are those of the latest call
    of any of them; `context_of(thread_id or run_id)` those of one conversation. The `conversations` that were called
    last are gone on with; one that comes back after so many others may be summarised anew.
    """

    def __init__(self, assembler: Assembler, *, conversations: int = CONVERSATIONS) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        self.tools: Sequence[Any] = ()
        self._fitting = Fitting(assembler, conversations=conversations)
        self.context_of = self._fitting.context_of

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the model with what fits. Raises what `build` raises, as it is."""
        call = self._read(request)
        return handler(call.fitted(self._fitting.fit(call.spoken, call.asked, run=call.run)))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Await the model with what fits: the build runs in a thread, and async summarizers are awaited."""
        call = self._read(request)
        return await handler(call.fitted(await self._fitting.afit(call.spoken, call.asked, run=call.run)))

    def _read(self, request: Any) -> _ModelCall:
        own: Any = request.system_message
        listed: list[Any] = [] if own is None or isinstance(own.content, str) else [own]
        prompt: str | None = None if own is None or listed else own.content
        history = _History.of([*listed, *request.messages], self._fitting)
        return _ModelCall(request, history, len(listed), prompt, self._asked(request, prompt))

    def _asked(self, request: Any, prompt: str | None) -> Asked:
        specs, answer = _answer(request)
        tools = [_definition(tool) for tool in (*request.tools, *specs)]
        priced = priced_tools(tools, self._fitting.assembler)
        return Asked(prompt, priced, answer)


class PreModelHook(LastCall):
    """The same for LangGraph's older `create_react_agent(model, tools, pre_model_hook=PreModelHook(assembler))`.

    That hook sees messages only. Give the tools and the instruction to the assembler: the instruction and the
    knowledge go out as a system message in front, so pass no `prompt` to the agent. The state keeps every message. A
    `response_format` of that agent makes a call of its own with the whole state, which no hook sees: do without it, or
    take `create_agent`.
    """

    __name__ = "assembler"  # LangGraph names the node after it

    def __init__(self, assembler: Assembler, *, conversations: int = CONVERSATIONS) -> None:
        self._fitting = Fitting(assembler, conversations=conversations)

    def __call__(self, state: Any) -> dict[str, Any]:
        """The messages to send, beside those of the state. Raises what `build` raises, as it is."""
        named = cast("Mapping[str, Any]", state if isinstance(state, Mapping) else type(state).model_fields)  # pyright: ignore[reportUnknownMemberType]
        if "structured_response" in named:
            warnings.warn(_OWN_CALL, stacklevel=2)
        messages: Any = cast("Mapping[str, Any]", state)["messages"] if isinstance(state, Mapping) else state.messages
        history = _History.of(messages, self._fitting)
        context = self._fitting.fit(history.spoken, Asked())
        kept, system = history.kept(context), context.system
        return {"llm_input_messages": kept if system is None else [SystemMessage(content=system), *kept]}


_OWN_CALL = (
    "the agent has a response_format: it makes a call of its own with the whole history, which no hook sees and no "
    "budget holds; take create_agent(…, response_format=…, middleware=[AssemblerMiddleware(assembler)])"
)


@attrs.frozen(eq=False)
class _History:
    """The messages of a call, and each as what its API has for it: one message, or the items of the Responses API."""

    messages: Sequence[Any]
    entries: Sequence[Sequence[dict[str, Any]]]
    as_items: bool

    @classmethod
    def of(cls, messages: Sequence[Any], fitting: Fitting) -> _History:
        as_items = fitting.dialect == "openai_responses"
        entries = [items.items_of(each) if as_items else [chat.spoken(each)] for each in messages]
        return cls(messages, entries, as_items)

    @property
    def spoken(self) -> list[dict[str, Any]]:
        """All of it, in order."""
        return [entry for listed in self.entries for entry in listed]

    def kept(self, context: Context) -> list[Any]:
        """The messages that stay, the very objects."""
        if not self.as_items:
            return kept_objects(context.inside, self.messages, rewritten=chat.rewritten, said=chat.said)
        counts = [*map(len, self.entries)]
        return kept_groups(context.inside, self.messages, counts, rewritten=items.rewritten, said=chat.said)


@attrs.frozen(eq=False)
class _ModelCall:
    """One request as it was read."""

    request: Any
    history: _History
    listed: int
    """How many of its messages are a system prompt of blocks."""
    prompt: str | None
    asked: Asked

    @property
    def spoken(self) -> list[dict[str, Any]]:
        """The messages as they are priced."""
        return self.history.spoken

    @property
    def run(self) -> Any:
        """The thread, or the run where there is none; None for a call outside of any graph."""
        runtime = self.request.runtime
        info = None if runtime is None else runtime.execution_info
        return None if info is None else info.thread_id or info.run_id

    def fitted(self, context: Context) -> Any:
        """The request with what the context holds."""
        kept, own, system = self.history.kept(context), self.request.system_message, context.system
        changed = self.request.override(messages=kept[self.listed :])
        if system in (None, self.prompt):
            return changed
        # Its id, its role and the blocks of a listed prompt, cache marks and all, stay the very objects.
        content = [*own.content, {"type": "text", "text": system}] if self.listed else system
        head = SystemMessage(content=system) if own is None else own.model_copy(update={"content": content})
        return changed.override(system_message=head)


def _answer(request: Any) -> tuple[list[Any], OutputSchema | None]:
    """How a structured answer is asked for: the tools that it adds, or the schema of the provider's own format."""
    asked: Any = request.response_format
    if asked is None:
        return [], None
    if isinstance(asked, ProviderStrategy):
        return [], _format(asked)
    if isinstance(asked, ToolStrategy):
        return [OutputToolBinding.from_schema_spec(spec).tool for spec in asked.schema_specs], None
    schema: Any = getattr(asked, "schema", asked)  # an AutoStrategy, or the bare schema: the model decides
    if _supports_provider_strategy(request.model, tools=request.tools):
        return [], _format(ProviderStrategy(schema=schema))
    specs = ToolStrategy(schema=schema).schema_specs
    return [OutputToolBinding.from_schema_spec(spec).tool for spec in specs], None


def _format(strategy: Any) -> OutputSchema:
    spec = strategy.schema_spec
    return OutputSchema(spec.name, spec.json_schema, strict=bool(spec.strict))


def _definition(tool: Any) -> dict[str, Any]:
    """A tool as it is sent; what a provider runs is a dict that names it by its type."""
    if isinstance(tool, dict) and cast("dict[str, Any]", tool).get("type", "function") != "function":
        return cast("dict[str, Any]", tool)
    return convert_to_openai_tool(tool)
