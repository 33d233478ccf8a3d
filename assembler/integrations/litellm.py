"""LiteLLM: hooks that fit every call of its SDK or of its proxy, and a wrapper for one function.

    litellm.callbacks = [AssemblerHook(assembler)]                      # await litellm.acompletion(…), and the router
    completion = fitted(litellm.completion, assembler)                  # synchronous functions, which call no hook
    proxy_hook = AssemblerProxyHook({"gpt-4o": small, "claude": large})  # callbacks: module.proxy_hook, in config.yaml

Read in litellm 1.110.2 (2026-11): only the async functions call `async_pre_call_deployment_hook`, right before each
deployment, and the proxy calls `async_pre_call_hook`, once a request. Use only one of the two: otherwise the
instruction and the knowledge are added twice.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.conversation.summary_request import Wanted
from assembler.dialects import Dialect, anthropic, openai_chat, openai_responses
from assembler.fit_request import Fitted, speaking
from assembler.integrations.fitting import CONVERSATIONS, Fitting, LastCall
from assembler.text.fields import fields_in
from budgets import AssemblyError, BudgetError, ContextLengthError
from budgets.errors import from_extra

if TYPE_CHECKING:
    # The used parts of LiteLLM, for type checkers without it.
    class CustomLogger:
        """LiteLLM's own."""

    BadRequestError: Any
    ContextWindowExceededError: Any
    add_dummy_tool: Callable[[str], list[dict[str, Any]]]
    has_tool_call_blocks: Callable[[Any], bool]
    litellm: Any
    type_to_response_format_param: Callable[[Any], dict[str, Any] | None]
else:
    with from_extra("litellm", needed_for="assembler.integrations.litellm"):
        import litellm
        from litellm import BadRequestError, ContextWindowExceededError
        from litellm.integrations.custom_logger import CustomLogger
        from litellm.utils import add_dummy_tool, has_tool_call_blocks, type_to_response_format_param

Assemblers: TypeAlias = "Assembler[Any] | Mapping[str, Assembler[Any]]"
"""One assembler for every model, or one for each model name. Calls of other models are not changed."""


@attrs.frozen
class _Shape:
    """One of the APIs that LiteLLM's functions copy: the keys of its regions and of its other priced options."""

    dialect: Dialect
    regions: tuple[str, ...]
    options: tuple[str, ...]


_CHAT = _Shape(
    openai_chat,
    ("messages", "tools", "functions"),
    (
        *("tool_choice", "function_call", "response_format", "parallel_tool_calls"),
        *("thinking", "reasoning_effort", "web_search_options"),
    ),
)
_RESPONSES = _Shape(
    openai_responses,
    ("input", "instructions", "tools"),
    (
        *("tool_choice", "text", "text_format", "parallel_tool_calls", "reasoning"),
        *("previous_response_id", "conversation", "prompt"),
    ),
)
_MESSAGES = _Shape(
    anthropic,
    ("messages", "system", "tools"),
    ("tool_choice", "output_config", "output_format", "thinking", "reasoning_effort", "mcp_servers"),
)
_SHAPES = {
    "completion": _CHAT,
    "acompletion": _CHAT,
    "responses": _RESPONSES,
    "aresponses": _RESPONSES,
    "anthropic_messages": _MESSAGES,
    "aanthropic_messages": _MESSAGES,
}
"""The APIs by function name, which is also LiteLLM's name for the kind of a call (`CallTypes`)."""


class _Bodies:
    """Fits the keyword arguments of calls, each model's by its own assembler."""

    def __init__(self, assemblers: Assemblers, conversations: int) -> None:
        given: Mapping[str, object] = assemblers if isinstance(assemblers, Mapping) else {"": assemblers}
        for assembler in given.values():
            if not isinstance(assembler, Assembler):
                kind = type(assembler).__name__
                raise BudgetError(f"expected an Assembler, got {kind}; pass Assembler(budget=…), or a dict of them")
        self.assemblers = cast("Mapping[str, Assembler]", given)
        self.conversations = conversations
        self.last_context: Context | None = None
        self._fittings: dict[tuple[str, str], Fitting] = {}
        self._begun: dict[str, tuple[Fitting, Fitted]] = {}
        """The calls without a bill so far, by LiteLLM's id; at most as many as conversations are remembered."""

    @property
    def fittings(self) -> list[Fitting]:
        """The `Fitting`s so far, one for each model and API."""
        return list(self._fittings.values())

    async def fit(self, call: _Call) -> dict[str, Any]:
        """Return the call with the messages that fit, and remember it until its bill comes."""
        fitted = await call.fitting.afit_body(call.body, call.shape.dialect, run=call.run)
        self.last_context = fitted.context
        if (name := call.call.get("litellm_call_id")) is not None:
            self._begun[name] = (call.fitting, fitted)
            for oldest in list(self._begun)[: -self.conversations]:
                self._begun.pop(oldest, None)
        return call.with_regions(fitted.body)

    async def settle(self, call: Mapping[str, Any], answer: object) -> None:
        """Take the bill of a remembered call from its answer, or from a part of its stream."""
        usage = _find_usage(answer)
        if usage is not None and (begun := self._forget_call(call)) is not None:
            fitting, fitted = begun
            await fitting.asettle(fitted.context, usage, uncounted=fitted.uncounted)

    async def learn(self, call: Mapping[str, Any], error: Exception) -> None:
        """Take a refusal of a remembered call, so that the conversation's next attempt fits, also one by a router."""
        if (begun := self._forget_call(call)) is not None:
            fitting, fitted = begun
            await fitting.alearn(fitted.context, error, uncounted=fitted.uncounted)

    def _forget_call(self, call: Mapping[str, Any]) -> tuple[Fitting, Fitted] | None:
        return self._begun.pop(str(call.get("litellm_call_id")), None)

    def of(self, call: Mapping[str, Any], kind: str, *, own: Hashable = None) -> _Call | None:
        """Return the call to fit; None for one of another kind, or of a model without an assembler."""
        shape = _SHAPES.get(kind)
        name = "" if "" in self.assemblers else str(call.get("model"))
        if shape is None or name not in self.assemblers:
            return None
        if call.get(shape.regions[0]) is None:
            raise AssemblyError(f"{shape.regions[0]} is not a keyword argument, so no hook sees it; pass it by name")
        place = (name, shape.dialect.name)
        if (fitting := self._fittings.get(place)) is None:
            base = speaking(self.assemblers[name], shape.dialect)
            fitting = self._fittings.setdefault(place, Fitting(base, conversations=self.conversations))
        return _Call(call, shape, fitting, _identify_session(call, own))

    def has_begun(self, call: Mapping[str, Any]) -> bool:
        """Return whether a call has LiteLLM's id of one that still runs: LiteLLM makes it to answer that one."""
        return str(call.get("litellm_call_id")) in self._begun


@attrs.frozen(eq=False)
class _Call:
    """One call of a function: its keyword arguments, the API that they are for, and what fits them."""

    call: Mapping[str, Any]
    shape: _Shape
    fitting: Fitting
    run: Hashable

    @property
    def body(self) -> dict[str, Any]:
        """The arguments that are sent to the API and billed."""
        keys = (*self.shape.regions, *self.shape.options)
        body = _respell_body({key: self.call[key] for key in keys if self.call.get(key) is not None}, self.shape)
        return _fill_tools(body) if self._is_sent_to_claude else body

    def with_regions(self, fitted: Mapping[str, Any]) -> dict[str, Any]:
        """The keyword arguments with the regions of a fitted body in place of their own."""
        kept = {key: value for key, value in self.call.items() if key not in self.shape.regions or key in fitted}
        sent = {key: fitted[key] for key in self.shape.regions if key in fitted}
        if self._is_sent_to_claude and "tools" in sent and sent["tools"] == self.body["tools"]:
            del sent["tools"]  # LiteLLM fills them itself
        return kept | sent

    @property
    def _is_sent_to_claude(self) -> bool:
        """Whether LiteLLM writes this call of Chat as one of Messages. A name of a proxy's own does not tell."""
        name = str(self.call.get("model"))
        provider = self.call.get("custom_llm_provider") or name.partition("/")[0]
        of_claude = provider in ("vertex_ai", "azure_ai") and "claude" in name
        return self.shape is _CHAT and (provider == "anthropic" or of_claude or name in litellm.anthropic_models)


def _fill_tools(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with its tools as LiteLLM fills them for Claude.

    A tool without parameters gets some, web search becomes a tool, and calls without tools get one.
    """
    body = dict(body)
    tools = [_with_parameters(tool) for tool in body.get("tools") or ()]
    if isinstance(search := body.pop("web_search_options", None), Mapping):
        tools.append(litellm.AnthropicConfig().map_web_search_tool(search))
    if not tools and has_tool_call_blocks(body["messages"]):
        tools = add_dummy_tool("anthropic")
    return body | ({"tools": tools} if tools else {})


def _with_parameters(tool: Any) -> Any:
    """Return a function's tool with parameters; any other tool unchanged."""
    function = fields_in(tool, "function")
    if not function or "parameters" in function:
        return tool
    return {**fields_in(tool), "function": {**function, "parameters": {"type": "object", "properties": {}}}}


def _respell_body(body: dict[str, Any], shape: _Shape) -> dict[str, Any]:
    """Return a body in the API's own words, as LiteLLM translates what only its functions take."""
    if isinstance(body.get("response_format"), type):
        body["response_format"] = type_to_response_format_param(body["response_format"])
    wanted = body.pop("text_format", None)
    if wanted is not None and "text" not in body:
        asked = type_to_response_format_param(wanted) or {}
        body["text"] = {"format": {"type": "json_schema", **asked.get("json_schema", {})}}
    if shape is _MESSAGES and body.pop("reasoning_effort", "none") != "none":
        body.setdefault("thinking", {"type": "enabled"})
    return body


def _identify_session(call: Mapping[str, Any], own: Hashable) -> Hashable:
    """Return LiteLLM's id of the session, with the proxy's key; None if the call has none."""
    noted: Any = call.get("metadata") or call.get("litellm_metadata") or {}
    session = call.get("litellm_session_id") or noted.get("session_id")
    return None if session is None and own is None else (own, session)


class _Hook(LastCall, CustomLogger):
    """A hook that fits each call with the assembler of its model."""

    def __init__(self, assemblers: Assemblers, *, conversations: int = CONVERSATIONS) -> None:
        super().__init__()
        self._bodies = _Bodies(assemblers, conversations)

    @property
    def last_context(self) -> Context | None:
        """The latest context of any call; None before the first call."""
        return self._bodies.last_context

    def add_summary(self, wanted: Wanted, text: str) -> bool:
        """Give a conversation the summary that its `last_context.wanted` asked for, as other adapters do."""
        return any(fitting.add_summary(wanted, text) for fitting in self._bodies.fittings)

    async def async_post_call_success_deployment_hook(
        self, request_data: dict[str, Any], response: Any, call_type: Any
    ) -> None:
        """Take the bill of this call, so that the conversation's next call counts from it."""
        await self._bodies.settle(request_data, response)

    async def async_post_call_streaming_deployment_hook(
        self, request_data: dict[str, Any], response_chunk: Any, call_type: Any
    ) -> None:
        """Take the bill of a stream from its last part."""
        await self._bodies.settle(request_data, response_chunk)

    async def async_post_call_failure_deployment_hook(
        self, request_data: Mapping[str, Any], exception: Exception, call_type: Any, fallback_depth: int | None = None
    ) -> None:
        """If the provider refused this call as too long, make the conversation's next call fit."""
        await self._bodies.learn(request_data, exception)


def _find_usage(answer: object) -> object:
    """Return the usage of an answer, or of the answer inside a stream's event."""
    if isinstance(answer, Mapping):
        return cast("Mapping[str, object]", answer).get("usage")
    return getattr(getattr(answer, "response", answer), "usage", None)


class AssemblerHook(_Hook):
    """Fits each async call of LiteLLM's SDK and router into its model's budget, right before it is sent.

    It works for `acompletion`, `aresponses` and `anthropic_messages`. Pass messages by keyword (`messages=…`).
    Messages, tools and the answer format are priced together, for the model of the assembler's budget. The assembler is
    a base: its instruction and knowledge are added, and the tools are the call's. Your list of messages is never
    changed. A call that does not fit raises `ContextLengthError`. The hook remembers the most recent `conversations`.
    A call that LiteLLM makes of another one, in another API's form or as one of its `fallbacks`, is fitted once.
    """

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        """Return the call with the messages that fit; None for another kind of call. Raises the errors of `build`.

        With `fallbacks` LiteLLM makes a call for each of them, which comes here too.
        """
        if kwargs.get("fallbacks") is not None or self._bodies.has_begun(kwargs):
            return None
        call = self._bodies.of(kwargs, str(getattr(call_type, "value", call_type)))
        return None if call is None else await self._bodies.fit(call)


class AssemblerProxyHook(_Hook):
    """Fits each request to LiteLLM's proxy into its model's budget, before a deployment is chosen.

    `model` is the name that a client asks for. A request that does not fit raises LiteLLM's
    `ContextWindowExceededError` (400), so that `context_window_fallbacks` work. One that no API accepts raises a
    `BadRequestError`. Neither quotes a text.
    """

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any] | None:
        """Return the request with the messages that fit; None for another kind of request."""
        model = str(data.get("model"))
        try:
            call = self._bodies.of(data, call_type, own=getattr(user_api_key_dict, "api_key", None))
            return None if call is None else await self._bodies.fit(call)
        except ContextLengthError as error:
            raise ContextWindowExceededError(str(error), model=model, llm_provider="") from error
        except AssemblyError as error:
            raise BadRequestError(str(error), model=model, llm_provider="") from error


def fitted(
    function: Callable[..., Any], assemblers: Assemblers, *, conversations: int = CONVERSATIONS
) -> Callable[..., Any]:
    """Wrap `litellm.completion`, or another of its functions, so that each call is fitted. Async ones stay async.

    Do not combine it with an `AssemblerHook`. Raises `BudgetError` for any other function.
    """
    kind = getattr(function, "__name__", "")
    if kind not in _SHAPES:
        raise BudgetError(f"expected one of {', '.join(_SHAPES)} of litellm, got {kind or type(function).__name__}")
    wrapped = _wrap_async if inspect.iscoroutinefunction(function) else _wrap_sync
    return wrapped(function, _Bodies(assemblers, conversations), kind)


def _name_arguments(function: Callable[..., Any], args: tuple[Any, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    return {**dict(zip(inspect.signature(function).parameters, args, strict=False)), **given}


def _wrap_async(function: Callable[..., Any], bodies: _Bodies, kind: str) -> Callable[..., Any]:
    @functools.wraps(function)
    async def called(*args: Any, **given: Any) -> Any:
        named = _name_arguments(function, args, given)
        if (call := bodies.of(named, kind)) is None:
            return await function(**named)
        while True:
            fitted = await call.fitting.afit_body(call.body, call.shape.dialect, run=call.run)
            try:
                answer = await function(**call.with_regions(fitted.body))
            except Exception as error:
                if await call.fitting.alearn(fitted.context, error, uncounted=fitted.uncounted) is None:
                    raise
            else:
                await call.fitting.asettle(fitted.context, _find_usage(answer), uncounted=fitted.uncounted)
                return answer

    return called


def _wrap_sync(function: Callable[..., Any], bodies: _Bodies, kind: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any, **given: Any) -> Any:
        named = _name_arguments(function, args, given)
        if (call := bodies.of(named, kind)) is None:
            return function(**named)
        while True:
            fitted = call.fitting.fit_body(call.body, call.shape.dialect, run=call.run)
            try:
                answer = function(**call.with_regions(fitted.body))
            except Exception as error:
                if call.fitting.learn(fitted.context, error, uncounted=fitted.uncounted) is None:
                    raise
            else:
                call.fitting.settle(fitted.context, _find_usage(answer), uncounted=fitted.uncounted)
                return answer

    return called
