"""Strands Agents: a conversation manager that fits every model call.

    agent = Agent(model=…, tools=…, conversation_manager=AssemblerConversationManager(assembler))

Read in strands-agents 1.62.0 (2026-11): `strands.middleware.InvokeModelStage` provides copies of messages, system
prompt and tool specs right before each call, streamed or not.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.integrations.call_settings import as_data
from assembler.integrations.fitting import CONVERSATIONS, STORED_AS, Asked, Fitting, LastCall, worth_keeping
from assembler.integrations.kept_objects import kept_objects
from assembler.integrations.strands_forms import (
    NOVA,
    TAKES_BLOCKS,
    Block,
    join_prompt,
    messages_in_form_of,
    rewrite_message,
)
from assembler.text.runs import runs
from budgets import AssemblyError
from budgets.errors import from_extra

if TYPE_CHECKING:
    # The used parts of Strands, for type checkers without it.
    class ConversationManager:
        """Strands' own."""

        def register_hooks(self, registry: Any, **kwargs: Any) -> None:
            """Strands' own."""

    class ContextWindowOverflowException(Exception):  # noqa: N818
        """Strands' own."""

    AfterModelCallEvent: Any
    AgentInitializedEvent: Any
    InvokeModelStage: Any
else:
    with from_extra("strands", needed_for="assembler.integrations.strands"):
        from strands.agent.conversation_manager import ConversationManager
        from strands.hooks import AfterModelCallEvent, AgentInitializedEvent
        from strands.middleware import InvokeModelStage
        from strands.types.exceptions import ContextWindowOverflowException


class AssemblerConversationManager(LastCall, ConversationManager):
    """Fits each model call into the assembler's budget: system prompt, tools, knowledge and history together.

    The assembler is a base, forked for each call; its instruction and knowledge follow the agent's system prompt. The
    agent's tools are sent, and the base's are not. `agent.messages` stays whole; dropped ones are only left out of the
    request. The agent raises an error of this library unchanged, not inside an EventLoopException. Several agents may
    share one manager; `last_context` then belongs to the latest call of any. What a conversation remembers besides its
    messages is saved in `agent.state`, so an agent that is rebuilt from its session continues with the same bytes.
    """

    def __init__(self, assembler: Assembler[Any], *, conversations: int = CONVERSATIONS) -> None:
        super().__init__()
        self._fitting = Fitting(assembler, conversations=conversations)

    def register_hooks(self, registry: Any, **kwargs: Any) -> None:
        """Register for the agent's model calls once the agent is initialised."""
        super().register_hooks(registry, **kwargs)
        registry.add_callback(AgentInitializedEvent, self._join_agent)
        registry.add_callback(AfterModelCallEvent, self._settle_call)

    def _join_agent(self, event: Any) -> None:
        event.agent.add_middleware(InvokeModelStage.Input, self._fit_call)

    async def _fit_call(self, call: Any) -> Any:
        try:
            read = _Read.of(call, self._fitting.dialect)
            kept = call.agent.state.get(STORED_AS)
            sent, asked = read.message_dicts(self._fitting.dialect), read.asked(self._fitting.dialect)
            context = await self._fitting.afit(sent, asked, run=id(call.agent), state=kept)
            return read.fitted(context, kept)
        except AssemblyError as error:
            # The only error that the event loop does not wrap, at any depth: it is passed to `reduce_context`.
            raise ContextWindowOverflowException(str(error)) from error

    async def _settle_call(self, event: Any) -> None:
        if event.stop_response is None:
            state = await self._fitting.learn_own(event.exception, id(event.agent))
            if state is not None:
                _keep_state(event.agent, state)
                event.retry = True
            return
        usage: Mapping[str, int] | None = event.stop_response.message.get("metadata", {}).get("usage")
        if usage is None:
            return  # a hook has cancelled the call
        # Some APIs include cached tokens in the input, others do not; the total always includes them.
        state = await self._fitting.settle_own(usage["totalTokens"] - usage["outputTokens"], id(event.agent))
        if state is not None:
            _keep_state(event.agent, state)

    def fitted(self, call: Any) -> Any:
        """Return the `InvokeModelContext` with the system prompt and messages that fit. Raises as `build` does."""
        read = _Read.of(call, self._fitting.dialect)
        kept = call.agent.state.get(STORED_AS)
        sent = read.message_dicts(self._fitting.dialect)
        return read.fitted(
            self._fitting.fit(sent, read.asked(self._fitting.dialect), run=id(call.agent), state=kept), kept
        )

    def apply_management(self, agent: Any, **kwargs: Any) -> None:
        """Do nothing: the history belongs to the agent and its session, and each call is fitted when it is made."""

    def reduce_context(self, agent: Any, e: Exception | None = None, **kwargs: Any) -> None:
        """Raise `e`, or this library's error that it wraps.

        A provider's own overflow means that the count was too low: raise the budget's `safety_margin`.
        """
        if e is not None:
            raise e.__cause__ if isinstance(e.__cause__, AssemblyError) else e


@attrs.frozen(eq=False)
class _Read:
    """One model call."""

    call: Any
    own: str | list[Block] | None
    """The system prompt."""
    head: int
    """1 if the prompt is the first of the messages: one of blocks, for an API that takes blocks."""
    messages: list[Block]

    @classmethod
    def of(cls, call: Any, dialect: str) -> _Read:
        own = _read_prompt(call.system_prompt)
        taken = isinstance(own, list) and dialect in TAKES_BLOCKS
        head = [{"role": "system", "content": own}] if taken else []
        return cls(call, own, len(head), [*head, *cast("list[Block]", call.messages)])

    @property
    def prompt(self) -> str | None:
        """The system prompt as one text; None if it is the first of the messages."""
        if isinstance(self.own, list):
            return None if self.head else join_prompt(self.own)
        return self.own

    def message_dicts(self, dialect: str) -> list[Block]:
        """Return the messages as an API gets them."""
        form = _form_of(self.call.model, dialect)
        return [*self.messages[: self.head], *messages_in_form_of(form, self.messages[self.head :])]

    def asked(self, dialect: str) -> Asked:
        """Return the prompt, the tools with those in the model's settings, the forced tool, and Claude's thinking."""
        tools = [*_list_tools(self.call), *_list_built_in_tools(self.call.model)]
        thinking = tuple(_list_thinking(_read_settings(self.call.model), dialect))
        return Asked(self.prompt, tools, choice=_read_choice(self.call.tool_choice), options=thinking)

    def fitted(self, context: Context, before: Any) -> Any:
        """Return the call with the context's content, and put the context's state into `agent.state`."""
        if worth_keeping(state := context.state()) != before:
            _keep_state(self.call.agent, state)
        rewritten = functools.partial(rewrite_message, dialect=_form_of(self.call.model, context.dialect))
        kept = kept_objects(context.inside, self.messages, rewritten=rewritten, of_summary=_make_summary)
        messages = list(_join_turns(kept[self.head :]))
        return self.call.replace(messages=messages, system_prompt=_write_prompt(self, context.system))


def _form_of(model: Any, dialect: str) -> str:
    """Return the form in which a model's client writes messages: its dialect, or Nova's of Bedrock."""
    return NOVA if dialect == "bedrock" and "amazon.nova" in str(_read_settings(model).get("model_id")) else dialect


def _keep_state(agent: Any, state: dict[str, Any]) -> None:
    agent.state.set(STORED_AS, worth_keeping(state))


def _list_tools(call: Any) -> list[Any]:
    """Return the agent's tools, or only the forced one when Strands sends no other (1.62.0, `event_loop`)."""
    specs: list[Any] = list(call.tool_specs or ())
    forced = _read_choice(call.tool_choice)
    supports: object = getattr(call.model, "_supports_structured_output", False)
    if call.structured_output_model is None or supports is True or forced in (None, *_WORDS.values()):
        return specs
    return [spec for spec in specs if spec["name"] == forced]


def _list_built_in_tools(model: Any) -> list[Any]:
    """Return the provider's own tools in the settings of the model."""
    config = _read_settings(model)
    params = cast("Mapping[str, Any]", config.get("params") or {})
    own = (params.get("tools"), *map(config.get, ("gemini_tools", "anthropic_tools")))
    return [as_data(tool) for tools in own for tool in cast("Sequence[Any]", tools or ())]


def _read_settings(model: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", model.get_config()) if hasattr(model, "get_config") else {}


def _list_thinking(config: Mapping[str, Any], dialect: str) -> Iterator[tuple[str, Any]]:
    """Yield the setting that turns Claude's thinking on, as its API spells it."""
    params: Any = config.get("params") or {}
    extra: Any = config.get("additional_request_fields") or {}
    if dialect == "anthropic" and "thinking" in params:
        yield "thinking", params["thinking"]
    if dialect == "bedrock" and "thinking" in extra:
        yield "additionalModelRequestFields", {"thinking": extra["thinking"]}


_WORDS = {"auto": "auto", "any": "required"}
"""Strands' names of tool choices, and ours."""


def _read_choice(chosen: Mapping[str, Any] | None) -> str | None:
    if not chosen:
        return None
    (kind,) = chosen
    return _WORDS[kind] if kind in _WORDS else cast(str, chosen["tool"]["name"])


def _read_prompt(prompt: str | list[Block] | None) -> str | list[Block] | None:
    """Return the system prompt; a single text block, which Strands makes of a text, becomes the text again."""
    if not isinstance(prompt, list):
        return prompt
    if len(prompt) == 1 and prompt[0].keys() == {"text"}:
        return cast(str, prompt[0]["text"])
    return prompt or None


def _write_prompt(read: _Read, rendered: str | None) -> str | list[Block] | None:
    """Return the agent's system prompt with the assembler's text. Blocks, including cache points, stay blocks.

    Strands puts a line break before the text where it joins blocks.
    """
    if rendered is None or rendered == read.prompt:
        return read.own
    if not isinstance(read.own, list):
        return rendered
    if not read.prompt:
        return [*read.own, {"text": rendered}]
    if not rendered.startswith(read.prompt):
        return [{"text": rendered}]
    return [*read.own, {"text": rendered.removeprefix(read.prompt).removeprefix("\n")}]


def _join_turns(messages: Sequence[Block]) -> Iterator[Block]:
    """Join neighbouring messages of one role.

    Converse refuses a user message after a user message, which a cut or a summary can cause (langchain-aws#130 and
    #192, read 2026-11). Strands sends the messages unchanged.
    """
    for turn in runs(messages, lambda message, before: message["role"] == before["role"]):
        content = [block for message in turn for block in message["content"]]
        yield {**turn[0], "content": content} if len(turn) > 1 else turn[0]


def _make_summary(text: str) -> Block:
    return {"role": "user", "content": [{"text": text}]}
