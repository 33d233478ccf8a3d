"""LangChain and LangGraph: a middleware that fits every model call of an agent.

    agent = create_agent(model, tools, middleware=[AssemblerMiddleware(assembler)])

Read in langchain 1.4.7 and langchain-core 1.7.2 (2026-11). The first middleware is the outermost: put this one last, so
that it sees the request after the others have changed it. For `ChatOpenAI(use_responses_api=True)`, pass
`dialect=openai_responses`: only then are reasoning and the provider's own calls priced as they are sent.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict, cast

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.conversation.messages import Message
from assembler.integrations.fitting import CONVERSATIONS, STORED_AS, Asked, Fitting, LastCall, State
from assembler.integrations.kept_objects import kept_groups, kept_objects
from assembler.integrations.retries import Retries
from budgets.errors import from_extra

with from_extra("langchain", needed_for="assembler.integrations.langchain"):
    from langchain.agents.middleware import AgentMiddleware  # type: ignore[import-not-found,unused-ignore]

from assembler.integrations import langchain_claude as claude
from assembler.integrations import langchain_items as items
from assembler.integrations import langchain_messages as chat
from assembler.integrations.langchain_settings import asked_of, format_of

if TYPE_CHECKING:
    # The other used parts of LangChain, for type checkers without it.
    class AgentState(TypedDict):
        """The framework's own."""

    Command: Any
    ExtendedModelResponse: Any
    HumanMessage: Any
    PrivateStateAttr: Any
    RunnableLambda: Any
    SystemMessage: Any
else:
    from langchain.agents.middleware import AgentState, ExtendedModelResponse
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain_core.messages import HumanMessage, SystemMessage
    from langchain_core.runnables import RunnableLambda
    from langgraph.types import Command


class AssemblerState(AgentState):
    """The state of an agent, with what a conversation remembers besides its messages. Checkpoints save it."""

    context_assembler: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class AssemblerMiddleware(LastCall, AgentMiddleware):  # type: ignore[misc,type-arg,unused-ignore]
    """Fits each model call into the assembler's budget: system prompt, tools, knowledge and messages together.

    The assembler is a base, forked for each call; its instruction and knowledge follow the agent's system prompt. The
    tools of the request are sent, and the base's are not. A `response_format` is priced as it is sent: as a tool, or as
    the provider's own answer format. The agent's state keeps every message; dropped ones are only left out of the
    request. It also keeps `context.state()`, so that another process can continue a thread from its checkpoint.

    If the provider still refuses a call as too long (`overflow_of`), a smaller one is made, up to three times.

    A call that another middleware makes itself, such as `SummarizationMiddleware`, does not pass through this one. Use
    `Summarize` instead.

    One middleware may serve many agents, threads and tasks. `last_context` and `report` belong to the latest call of
    any of them, `context_of(thread_id or run_id)` to one conversation. It remembers the most recent `conversations`.
    One that returns later may be summarised again.
    """

    state_schema = AssemblerState

    def __init__(self, assembler: Assembler[Any], *, conversations: int = CONVERSATIONS) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        self.tools: Sequence[Any] = ()
        self._fitting = Fitting(assembler, conversations=conversations)
        self.context_of = self._fitting.context_of

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the model with the messages that fit. Raises the errors of `build`."""
        call = self._read_call(request)
        state = call.state
        while True:
            context = self._fitting.fit(call.message_dicts, call.asked, run=call.run, state=state)
            try:
                response = handler(call.fitted(context))
            except Exception as error:
                if (state := self._fitting.learn(context, error)) is None:
                    raise
            else:
                return _add_state(response, self._fitting.settle(context, _read_bill(response.result)))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Await the model with the messages that fit. The build runs in a thread, and async summarizers are awaited."""
        call = self._read_call(request)
        state = call.state
        while True:
            context = await self._fitting.afit(call.message_dicts, call.asked, run=call.run, state=state)
            try:
                response = await handler(call.fitted(context))
            except Exception as error:
                if (state := await self._fitting.alearn(context, error)) is None:
                    raise
            else:
                return _add_state(response, await self._fitting.asettle(context, _read_bill(response.result)))

    def _read_call(self, request: Any) -> _ModelCall:
        own: Any = request.system_message
        listed: list[Any] = [] if own is None or isinstance(own.content, str) else [own]
        prompt: str | None = None if own is None or listed else own.content
        history = _History.of([*listed, *request.messages], self._fitting)
        return _ModelCall(request, history, len(listed), prompt, asked_of(request, prompt, self._fitting))


def _add_state(response: Any, state: State) -> Any:
    """Return the model's response with an update of the graph's state."""
    return ExtendedModelResponse(model_response=response, command=Command(update={STORED_AS: state}))


def _read_bill(messages: Sequence[Any]) -> int | None:
    """Return the input tokens of the first message that has them. LangChain includes cached ones."""
    usages = (getattr(message, "usage_metadata", None) for message in messages)
    return next((usage["input_tokens"] for usage in usages if usage), None)


class PreModelHook(LastCall):
    """For LangGraph's older agents: `create_react_agent(model, tools, pre_model_hook=PreModelHook(assembler))`.

    This hook sees messages only. Give the tools and the instruction to the assembler. It sends the instruction and the
    knowledge as a system message at the front, so pass no `prompt` to the agent. The agent's state keeps every message.
    Pass `state_schema=` with a field `context_assembler: NotRequired[dict]`, and it keeps `context.state()` too.

    Pass the agent `hook.around(model)` in place of the model. A call that the provider refuses as too long is then made
    again, smaller, up to three times. A `response_format` makes a second call with the whole state, which no hook sees:
    that call is then fitted too.
    """

    __name__ = "assembler"  # LangGraph names the node after it

    def __init__(self, assembler: Assembler[Any], *, conversations: int = CONVERSATIONS) -> None:
        self._fitting = Fitting(assembler, conversations=conversations)
        self._retries = Retries(self._fitting)
        self._answers = False

    def around(self, model: Any) -> Any:
        """A copy of the chat model that makes refused calls again, and fits the call for a structured answer."""
        self._answers = True
        laid_out, retries, kind = self._lay_out, self._retries, cast("Any", type(model))

        class Answering(kind):  # type: ignore[misc,valid-type,unused-ignore]
            def invoke(self, input: Any, *settings: Any, **more: Any) -> Any:
                return retries.call(_list_messages(input), lambda given: kind.invoke(self, given, *settings, **more))

            async def ainvoke(self, input: Any, *settings: Any, **more: Any) -> Any:
                return await retries.acall(
                    _list_messages(input), lambda given: kind.ainvoke(self, given, *settings, **more)
                )

            def with_structured_output(self, schema: Any, **more: Any) -> Any:
                chain: Any = kind.with_structured_output(self, schema, **more)
                bound: Mapping[str, Any] = chain.first.kwargs
                asked = Asked(tools=bound.get("tools") or [], output=format_of(bound.get("response_format")))

                def fitted(messages: Any) -> list[Any]:
                    return laid_out(messages, asked)

                return RunnableLambda(fitted) | chain

        copied = model.model_copy()
        copied.__class__ = Answering
        return copied

    def __call__(self, state: Any) -> dict[str, Any]:
        """Return the messages to send, under a separate key of the state. Raises the errors of `build`."""
        named = cast("Mapping[str, Any]", state if isinstance(state, Mapping) else type(state).model_fields)  # pyright: ignore[reportUnknownMemberType]
        if "structured_response" in named and not self._answers:
            warnings.warn(_OWN_CALL, stacklevel=2)
        messages: Any = cast("Mapping[str, Any]", state)["messages"] if isinstance(state, Mapping) else state.messages
        kept: Any = cast("Mapping[str, Any]", state).get(STORED_AS) if isinstance(state, Mapping) else None
        self._settle_last(messages)
        sent = self._lay_out(messages, Asked(), kept)
        assert self.last_context is not None
        return {"llm_input_messages": sent, STORED_AS: self.last_context.state()}

    def _settle_last(self, messages: Any) -> None:
        """Take the bill of the last call from its answer, which is now in the state."""
        history = _History.of(messages, self._fitting)
        if (last := self._fitting.before(history.message_dicts)) is not None:
            context, length = last
            self._fitting.settle(context, _read_bill(history.answer_to(length)))

    def _lay_out(self, messages: Any, asked: Asked, state: Any = None) -> list[Any]:
        history = _History.of(messages, self._fitting)
        context = self._fitting.fit(history.message_dicts, asked, state=state)
        kept, system = history.kept(context), context.system
        sent = kept if system is None else [SystemMessage(content=system), *kept]
        self._retries.add(sent, context, lambda learned: self._lay_out(messages, asked, learned))
        return sent


def _list_messages(given: Any) -> Any:
    """Return a model's input as its messages; a text stays one."""
    return given.to_messages() if hasattr(given, "to_messages") else given


_OWN_CALL = (
    "the agent has a response_format: it makes a call of its own with the whole history, which no hook sees and no "
    "budget holds; give the agent hook.around(model) in place of the model"
)


_FORMS = {"anthropic": (claude.as_claude, claude.rewrite_message)}
"""How a message is read and rewritten for an API of a form of its own."""


@attrs.frozen(eq=False)
class _History:
    """The messages of a call, and each in its API's form: one message, or several items of the Responses API."""

    messages: Sequence[Any]
    entries: Sequence[Sequence[dict[str, Any]]]
    as_items: bool
    rewrite: Callable[[Any, Message, Message], Any]

    @classmethod
    def of(cls, messages: Sequence[Any], fitting: Fitting) -> _History:
        as_items = fitting.dialect == "openai_responses"
        read, rewrite = _FORMS.get(fitting.dialect, (chat.as_chat, chat.rewrite_message))
        entries = [items.items_of(each) if as_items else [read(each)] for each in messages]
        return cls(messages, entries, as_items, rewrite)

    @property
    def message_dicts(self) -> list[dict[str, Any]]:
        return [entry for listed in self.entries for entry in listed]

    def answer_to(self, count: int) -> Sequence[Any]:
        """Return the message after the first `count` entries, or nothing at the end."""
        starts = list(itertools.accumulate(map(len, self.entries), initial=0))
        return self.messages[starts.index(count) :][:1] if count in starts else ()

    def kept(self, context: Context) -> list[Any]:
        plan, own = context.inside, self.messages
        if not self.as_items:
            kept = kept_objects(plan, own, rewritten=self.rewrite, of_summary=HumanMessage)
            return list(claude.join_answers(kept)) if context.dialect == "anthropic" else kept
        counts = [*map(len, self.entries)]
        return kept_groups(plan, own, counts, rewritten=items.rewrite_items, of_summary=HumanMessage)


@attrs.frozen(eq=False)
class _ModelCall:
    """One request, and its messages in the API's form."""

    request: Any
    history: _History
    listed: int
    """The number of its messages that are a system prompt of blocks."""
    prompt: str | None
    asked: Asked

    @property
    def message_dicts(self) -> list[dict[str, Any]]:
        return self.history.message_dicts

    @property
    def state(self) -> Any:
        """The conversation's state in the checkpoint; None before its first call."""
        return None if self.request.state is None else self.request.state.get(STORED_AS)

    @property
    def run(self) -> Any:
        """The thread's id, or the run's if there is none; None for a call outside of a graph."""
        runtime = self.request.runtime
        info = None if runtime is None else runtime.execution_info
        return None if info is None else info.thread_id or info.run_id

    def fitted(self, context: Context) -> Any:
        kept, own, system = self.history.kept(context), self.request.system_message, context.system
        changed = self.request.override(messages=kept[self.listed :])
        if system in (None, self.prompt):
            return changed
        # Its id, its role and the blocks of a prompt, including cache marks, stay the same objects.
        content = [*own.content, {"type": "text", "text": system}] if self.listed else system
        head = SystemMessage(content=system) if own is None else own.model_copy(update={"content": content})
        return changed.override(system_message=head)
