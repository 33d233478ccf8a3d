"""Microsoft Agent Framework: a chat middleware that fits every model call of an agent.

    agent = Agent(client=client, instructions="…", tools=[…], middleware=[AssemblerMiddleware(assembler)])

Read in agent-framework-core 1.23 (2026-11): a `ChatMiddleware` runs before each call of a chat client, also in a stream
and in each round of tools, with the messages and options of that call. `OpenAIChatClient` uses the Responses API: give
the assembler `dialect=openai_responses` for it, and none for an `OpenAIChatCompletionClient`.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.errors import ConversationError
from assembler.integrations.agent_framework_messages import (
    chat_messages_of,
    drop_unsendable,
    items_of,
    messages_of,
    rewrite_message,
)
from assembler.integrations.call_settings import serial_calls, tool_choice
from assembler.integrations.fitting import CONVERSATIONS, STORED_AS, Asked, Fitting, LastCall
from assembler.integrations.kept_objects import kept_groups
from assembler.regions.output_schema import OutputSchema, written_by_the_sdk
from budgets.errors import from_extra

if TYPE_CHECKING:
    # The used parts of the framework, for type checkers without it.
    class ChatMiddleware:
        """The framework's own."""

    FunctionTool: Any
    OwnMessage: Any
    ResponseStream: Any
else:
    with from_extra("agent-framework", needed_for="assembler.integrations.agent_framework"):
        from agent_framework import ChatMiddleware, FunctionTool, ResponseStream
        from agent_framework import Message as OwnMessage


_HELD_THERE = (
    "the service holds the beginning of this conversation (conversation_id), and how long that is nobody says here; "
    'let the session hold it: Agent(…, default_options={"store": False})'
)
_LOADED_BENEATH = (
    "the framework loads this agent's history beneath all middleware (require_per_service_call_history_persistence, "
    "which HandoffBuilder asks for); give the agent client=middleware.around(client) in place of middleware=[…]"
)
_MARK_OF_THAT = "agent_framework_local_history_persistence"
"""The framework's conversation id in that case."""


class AssemblerMiddleware(LastCall, ChatMiddleware):
    """Fits each model call into the assembler's budget: instructions, tools, knowledge and messages together.

    The assembler is a base, forked for each call; its instruction and knowledge follow the agent's instructions. The
    tools and the `response_format` of the call are sent, and the base's are not. The session keeps every message;
    dropped ones are only left out of the request. It also keeps `context.state()`, so that another process can load it
    from a store and continue. A call raises an error if the service holds the beginning of its conversation
    (`conversation_id`), or if the framework loads the history below the middleware, as for `HandoffBuilder`: give such
    an agent `client=middleware.around(client)` in place of `middleware=[…]`.

    One middleware may serve many agents and sessions at once. `last_context` and `report` belong to the latest call of
    any of them, `context_of(session_id)` to one session. It remembers the most recent `conversations`. Put it last, so
    that it sees what other middleware and context providers added to the call.
    """

    def __init__(self, assembler: Assembler[Any], *, conversations: int = CONVERSATIONS) -> None:
        self._fitting = Fitting(assembler, conversations=conversations)
        self.context_of = self._fitting.context_of

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        """Call the model with the messages that fit. Raises the errors of `build`.

        If the provider still refuses the call as too long (`overflow_of`), a smaller one is made, up to three times. A
        refused stream raises when it is read, and the session's next call fits.
        """
        options: Mapping[str, Any] = context.options or {}
        if held := options.get("conversation_id"):
            raise ConversationError(_LOADED_BENEATH if held == _MARK_OF_THAT else _HELD_THERE)
        call = _Call(self._fitting, context, context.messages, options)
        context.stream_result_hooks.append(call.settle)
        await call.make(call_next)

    def around(self, client: Any) -> Any:
        """A copy of a chat client that fits each call beneath all middleware, where the whole history is.

        For the agents of a `HandoffBuilder`. Give them no `AssemblerMiddleware` besides.
        """
        fitting, kind = self._fitting, cast("Any", type(client))

        class Fitted(kind):  # type: ignore[misc,valid-type,unused-ignore]
            def _middleware_handler(self, context: Any) -> Any:
                return _call_beneath(fitting, context, lambda: kind._middleware_handler(self, context))

        copied = copy.copy(client)
        copied.__class__ = Fitted
        copied.chat_middleware = [*client.chat_middleware, _Passing()]
        copied._cached_chat_middleware_pipeline = None
        return copied


class _Passing(ChatMiddleware):  # type: ignore[misc,unused-ignore]
    """Does nothing: without any middleware a client makes its calls in another way."""

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        await call_next()


def _call_beneath(fitting: Fitting, context: Any, send: Callable[[], Any]) -> Any:
    """Make a call from the handler to which a client's middleware leads, and return what that returns."""
    call = _Call(fitting, context, context.messages, context.options or {})
    if context.stream:
        whole: list[Any] = []

        def response(_: object) -> Any:
            return whole[-1]

        return ResponseStream(call.updates(send, whole), finalizer=response)

    async def send_once() -> None:
        context.result = await send()

    async def made() -> Any:
        await call.make(send_once)
        return context.result

    return made()


_FORMS = {"openai_responses": items_of, "openai_chat": chat_messages_of}
"""How a message is read for an API of a form of its own."""


@attrs.define(eq=False)
class _Call:
    """One model call, with its original messages and options."""

    fitting: Fitting
    context: Any
    messages: Sequence[Any]
    options: Mapping[str, Any]
    fitted: Context | None = None

    async def lay_out(self) -> None:
        """Put the messages that fit into the call."""
        context, as_items = self.context, self.fitting.dialect == "openai_responses"
        own = drop_unsendable(self.messages) if as_items else list(self.messages)
        entries_of = _FORMS.get(self.fitting.dialect, messages_of)
        entries = [entries_of(message) for message in own]
        session = context.session
        self.fitted = await self.fitting.afit(
            [entry for listed in entries for entry, _ in listed],
            self._read_asked(),
            run=None if session is None else session.session_id,
            state=None if session is None else session.state.get(STORED_AS),
        )
        self._keep_state(self.fitted.state())
        context.messages = kept_groups(
            self.fitted.inside,
            own,
            [*map(len, entries)],
            rewritten=lambda message, became: rewrite_message(message, entries_of(message), became),
            of_summary=lambda text: OwnMessage("user", [text]),
        )
        if self.fitted.system not in (None, self.options.get("instructions")):
            context.options = {**self.options, "instructions": self.fitted.system}

    def _read_asked(self) -> Asked:
        options = self.options
        tools = self.fitting.priced([_define_tool(tool) for tool in _list_tools(options.get("tools"))])
        chosen = options.get("tool_choice")
        allowed = _read_allowed_tools(chosen) if self.fitting.dialect == "openai_responses" else ()
        return Asked(
            options.get("instructions"),
            tools,
            _read_answer(options.get("response_format")),
            choice=None if allowed else tool_choice(chosen, tools),
            options=(*serial_calls(options.get("allow_multiple_tool_calls")), *allowed),
        )

    async def make(self, send: Callable[[], Awaitable[None]]) -> None:
        """Send the call, and a smaller one after each refusal as too long. A stream's bill comes with its result."""
        while True:
            await self.lay_out()
            try:
                await send()
            except Exception as error:
                if not await self.learns(error):
                    raise
            else:
                break
        if self.context.stream and self.context.result is not None:
            self.context.result.with_pull_context_manager(self.read)
        elif self.context.result is not None:
            await self.settle(self.context.result)

    async def updates(self, send: Callable[[], Any], whole: list[Any]) -> AsyncIterator[Any]:
        """Yield a stream's parts, of a smaller call after each refusal as too long. Add its response to `whole`."""
        while True:
            await self.lay_out()
            stream: Any = send()
            begun = False
            try:
                async for update in stream:
                    begun = True
                    yield update
                break
            except Exception as error:
                if begun or not await self.learns(error):
                    raise
        whole.append(await stream.get_final_response())
        await self.settle(whole[-1])

    async def settle(self, response: Any) -> None:
        """Take the bill of the call."""
        if self.fitted is not None:
            billed = _read_bill(response.usage_details or {}, self.fitting.dialect)
            self._keep_state(await self.fitting.asettle(self.fitted, billed))

    @contextmanager
    def read(self) -> Generator[None]:
        """Wrap the reading of a stream's part: if the provider refuses the call, make the next call fit."""
        try:
            yield
        except Exception as error:
            state = None if self.fitted is None else self.fitting.learn(self.fitted, error)
            if state is not None:
                self._keep_state(state)
            raise

    async def learns(self, error: Exception) -> bool:
        """Return True if the call was refused as too long, and should be made again."""
        state = None if self.fitted is None else await self.fitting.alearn(self.fitted, error)
        if state is not None:
            self._keep_state(state)
        return state is not None

    def _keep_state(self, state: dict[str, Any]) -> None:
        if self.context.session is not None:
            self.context.session.state[STORED_AS] = state


def _read_bill(usage: Mapping[str, Any], dialect: str) -> int:
    """Return the input tokens of a call. For Claude's APIs the framework counts cached ones separately."""
    apart = ("cache_creation_input_token_count", "cache_read_input_token_count")
    counted = ("input_token_count", *(apart if dialect in ("anthropic", "bedrock") else ()))
    return sum(usage.get(name) or 0 for name in counted)


def _read_allowed_tools(choice: Any) -> tuple[tuple[str, Any], ...]:
    """Return a choice among some tools as the Responses API gets it, whose price the dialect knows."""
    fields: Mapping[str, Any] = cast("Mapping[str, Any]", choice) if isinstance(choice, Mapping) else {}
    if fields.get("allowed_tools") is None:
        return ()
    tools = [{"type": "function", "name": name} for name in fields["allowed_tools"]]
    return (("tool_choice", {"type": "allowed_tools", "mode": fields.get("mode"), "tools": tools}),)


def _list_tools(tools: Any) -> list[Any]:
    if tools is None:
        return []
    return list(cast("list[Any]", tools)) if isinstance(tools, list | tuple) else [tools]


def _define_tool(tool: Any) -> dict[str, Any]:
    """Return a tool as it is sent. One that the provider runs is a dict with its type."""
    if isinstance(tool, Mapping):
        return dict(cast("Mapping[str, Any]", tool))
    made: Any = tool if isinstance(tool, FunctionTool) else FunctionTool(name=tool.__name__, func=tool)
    definition: dict[str, Any] = made.to_json_schema_spec()
    return definition


def _read_answer(asked: Any) -> OutputSchema | None:
    if asked is None or isinstance(asked, type):
        return None if asked is None else written_by_the_sdk(asked)
    fields = cast("Mapping[str, Any]", asked)
    inner: Mapping[str, Any] = fields.get("json_schema") or fields
    schema: Any = inner.get("schema", inner)
    if not isinstance(schema, Mapping) or "properties" not in schema:
        return None
    return OutputSchema(inner.get("name") or "response", cast("Mapping[str, Any]", schema), inner.get("description"))
