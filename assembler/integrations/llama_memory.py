"""A memory of LlamaIndex that returns the messages that fit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self, cast

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.integrations.fitting import CONVERSATIONS, Asked, Fitting, LastCall, State, worth_keeping
from assembler.integrations.kept_objects import kept_objects
from assembler.integrations.llama_messages import message_fields, rewrite_message
from assembler.integrations.retries import Retries
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

    SimpleChatStore: Any
    load_chat_store: Any
else:
    with from_extra("llama-index", needed_for="assembler.integrations.llama_index"):
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

        `input` is a question that the engine sends after them: it is counted. A history that ends with an answer is not
        a request without one: it is cut too, but returned whole if even its newest turn does not fit, so that an agent
        does not fail after it has answered.
        """
        history = _add_question(self.chat_store.get_messages(self.chat_store_key), input)
        fields = self._read_history(history, kwargs)
        if _is_request(fields):
            return self._lay_out(history, fields, self.states.get(_OWN))
        return self._cut_answered(history, fields)

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Return the messages that fit, read by the store's coroutine."""
        history = _add_question(await self.chat_store.aget_messages(self.chat_store_key), input)
        fields = self._read_history(history, kwargs)
        if _is_request(fields):
            return await self._alay_out(history, fields, self.states.get(_OWN))
        return self._cut_answered(history, fields)

    def _lay_out(self, history: Sequence[ChatMessage], fields: Any, state: State | None) -> list[ChatMessage]:
        return self._remember_sent(self._fitting.fit(fields, Asked(), state=state), history, fields)

    async def _alay_out(self, history: Sequence[ChatMessage], fields: Any, state: State | None) -> list[ChatMessage]:
        return self._remember_sent(await self._fitting.afit(fields, Asked(), state=state), history, fields)

    def _remember_sent(self, context: Context, history: Sequence[ChatMessage], fields: Any) -> list[ChatMessage]:
        keep_state(self.states, _OWN, context.state())
        sent = [message for message in insert_system(context.inside, history) if not isinstance(message, _Question)]
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
        pin = {"pinned": True}  # what the engine sends is not shortened
        return [message_fields(message) | (pin if isinstance(message, _Question) else {}) for message in history]

    def _cut_answered(self, history: Sequence[ChatMessage], fields: Sequence[dict[str, Any]]) -> list[ChatMessage]:
        try:
            plan = self._fitting.assembler.fork().set_messages(fields).plan()
        except ContextLengthError:
            return list(history)
        return insert_system(plan.inside, history)


class _Question(ChatMessage):
    """The user's next message, which an engine puts into the memory only after the answer."""


def _add_question(history: list[ChatMessage], question: str | None) -> list[ChatMessage]:
    if not question or (history and _is_request([message_fields(history[-1])])):
        return history
    return [*history, cast("Any", _Question)(question, role="user")]


_OWN = ""
"""The name of a memory's own state. Those of agents have the agents' names."""


def _is_request(fields: Sequence[dict[str, Any]]) -> bool:
    """Whether a model can be called with a history, because it does not end with an answer."""
    return not fields or fields[-1]["role"] != "assistant" or "tool_calls" in fields[-1]


def keep_state(states: dict[str, Any], name: str, state: dict[str, Any]) -> None:
    """Put a state under this name, if it is worth keeping."""
    if worth_keeping(state) is None:
        states.pop(name, None)
    else:
        states[name] = state


def insert_system(plan: Planned, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages that stay, with the assembler's text as a system message after those at the head."""
    kept = keep_messages(plan, messages)
    system = plan.layout.system
    if system is not None:
        kept.insert(plan.view.head, ChatMessage(system, role="system"))
    return kept


def keep_messages(plan: Planned, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages that stay."""
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
