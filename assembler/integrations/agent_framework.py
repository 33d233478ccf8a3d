"""Microsoft Agent Framework: a chat middleware that lays out every model call of an agent.

    agent = Agent(client=client, instructions="…", tools=[…], middleware=[AssemblerMiddleware(assembler)])

Read in agent-framework-core 1.23 (2026-11): a `ChatMiddleware` runs before each call of a chat client, streamed or not,
every round of tools included, with the messages and options of that call alone. `OpenAIChatClient` speaks the Responses
API: give the assembler `dialect=openai_responses` for it, and none for an `OpenAIChatCompletionClient`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from assembler.assembler import Assembler
from assembler.errors import ConversationError
from assembler.integrations.agent_framework_messages import drop_unsendable, items_of, messages_of, rewrite_message
from assembler.integrations.fitting import CONVERSATIONS, STORED_AS, Asked, Fitting, LastCall
from assembler.integrations.own_objects import kept_groups
from assembler.regions.output_schema import OutputSchema, written_by_the_sdk
from budgets.errors import from_extra

if TYPE_CHECKING:
    # What is used of the framework, for type checkers, which do not have it.
    class ChatMiddleware:
        """The framework's own."""

    FunctionTool: Any
    OwnMessage: Any
else:
    with from_extra("agent-framework", needed_for="assembler.integrations.agent_framework"):
        from agent_framework import ChatMiddleware, FunctionTool
        from agent_framework import Message as OwnMessage


_HELD_THERE = (
    "the service holds the beginning of this conversation (conversation_id), and how long that is nobody says here; "
    'let the session hold it: Agent(…, default_options={"store": False})'
)


class AssemblerMiddleware(LastCall, ChatMiddleware):
    """Fits each model call into the assembler's budget: instructions, tools, knowledge and messages together.

    The assembler is a base, forked for each call; its instruction and knowledge follow the agent's instructions. The
    tools and the `response_format` of the call are sent, and the base's are not. The session keeps every message; what
    is left out is only not sent. The session also keeps `context.state()`, so that another process can load it from a
    store and continue. A call is refused if the service holds the beginning of its conversation (`conversation_id`).

    One middleware may serve many agents and sessions at once. `last_context` and `report` are those of the latest call
    of any of them, `context_of(session_id)` those of one session. `conversations` is how many of them it remembers, the
    latest called. Put it last, so that it sees what other middleware and context providers added to the call.
    """

    def __init__(self, assembler: Assembler[Any], *, conversations: int = CONVERSATIONS) -> None:
        self._fitting = Fitting(assembler, conversations=conversations)
        self.context_of = self._fitting.context_of

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        """Call the model with the messages that fit. Lets through whatever `build` raises."""
        options: Mapping[str, Any] = context.options or {}
        if options.get("conversation_id"):
            raise ConversationError(_HELD_THERE)
        sent = drop_unsendable if self._fitting.dialect == "openai_responses" else list[Any]
        own, prompt = sent(context.messages), options.get("instructions")
        session: Any = context.session
        entries_of = items_of if self._fitting.dialect == "openai_responses" else messages_of
        entries = [entries_of(message) for message in own]
        tools = self._fitting.priced([_definition(tool) for tool in _listed(options.get("tools"))])
        fitted = await self._fitting.afit(
            [entry for listed in entries for entry, _ in listed],
            Asked(prompt, tools, _answer(options.get("response_format"))),
            run=None if session is None else session.session_id,
            state=None if session is None else session.state.get(STORED_AS),
        )
        if session is not None:
            session.state[STORED_AS] = fitted.state()

        async def settle(response: Any) -> None:
            state = await self._fitting.asettle(fitted, _billed(response.usage_details or {}, self._fitting.dialect))
            if session is not None:
                session.state[STORED_AS] = state

        context.stream_result_hooks.append(settle)
        context.messages = kept_groups(
            fitted.inside,
            own,
            [*map(len, entries)],
            rewritten=lambda message, became: rewrite_message(message, entries_of(message), became),
            of_summary=lambda text: OwnMessage("user", [text]),
        )
        if fitted.system not in (None, prompt):
            context.options = {**options, "instructions": fitted.system}
        await call_next()
        if context.result is not None and not context.stream:
            await settle(context.result)


def _billed(usage: Mapping[str, Any], dialect: str) -> int:
    """Input tokens of a call; of the APIs of Claude, the framework's clients count cached ones apart."""
    apart = ("cache_creation_input_token_count", "cache_read_input_token_count")
    counted = ("input_token_count", *(apart if dialect in ("anthropic", "bedrock") else ()))
    return sum(usage.get(name) or 0 for name in counted)


def _listed(tools: Any) -> list[Any]:
    if tools is None:
        return []
    return list(cast("list[Any]", tools)) if isinstance(tools, list | tuple) else [tools]


def _definition(tool: Any) -> dict[str, Any]:
    """A tool as it is sent; what a provider runs is a dict that names it by its type."""
    if isinstance(tool, Mapping):
        return dict(cast("Mapping[str, Any]", tool))
    made: Any = tool if isinstance(tool, FunctionTool) else FunctionTool(name=tool.__name__, func=tool)
    definition: dict[str, Any] = made.to_json_schema_spec()
    return definition


def _answer(asked: Any) -> OutputSchema | None:
    if asked is None or isinstance(asked, type):
        return None if asked is None else written_by_the_sdk(asked)
    fields = cast("Mapping[str, Any]", asked)
    inner: Mapping[str, Any] = fields.get("json_schema") or fields
    schema: Any = inner.get("schema", inner)
    if not isinstance(schema, Mapping) or "properties" not in schema:
        return None
    return OutputSchema(inner.get("name") or "response", cast("Mapping[str, Any]", schema), inner.get("description"))
