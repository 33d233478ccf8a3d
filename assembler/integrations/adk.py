"""Google ADK: a plugin that fits every model call.

    runner = Runner(…, plugins=[AssemblerPlugin(assembler)])

Read in google-adk 2.13.0 (2026-11): `before_model_callback` gets the finished request, with contents copied from the
session's events. ADK wraps a plugin's errors in a RuntimeError, but not those of an agent's own callback:
`LlmAgent(before_model_callback=AssemblerPlugin(assembler).before_model_callback)`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.conversation.messages import Message
from assembler.errors import ConversationError
from assembler.integrations.call_settings import as_data
from assembler.integrations.fitting import CONVERSATIONS, STORED_AS, Asked, Fitting, LastCall, worth_keeping
from assembler.integrations.kept_objects import kept_objects
from assembler.regions.output_schema import OutputSchema
from budgets.errors import from_extra

if TYPE_CHECKING:
    # The used parts of ADK, for type checkers without it.
    class BasePlugin:
        """ADK's own."""

        def __init__(self, name: str) -> None: ...

    BaseLlm: Any
    Event: Any
    EventActions: Any
    types: Any
else:
    with from_extra("google-adk", needed_for="assembler.integrations.adk"):
        from google.adk.events import Event, EventActions
        from google.adk.models.base_llm import BaseLlm
        from google.adk.plugins.base_plugin import BasePlugin
        from google.genai import types


_HELD_THERE = (
    "contents must be dropped or shortened, but Google's server holds them (previous_interaction_id) and bills them "
    "again at each call; let the session hold them: Gemini(…, use_interactions_api=False)"
)


class AssemblerPlugin(LastCall, BasePlugin):
    """Fits each model call into the assembler's budget: system instruction, tools, knowledge and contents together.

    The assembler is a base, forked for each call; its instruction and knowledge follow the agent's system instruction.
    The request's tools are sent, and the base's are not. Google's own tools, such as search, are priced with bounds, or
    by the budget's `overhead`. The session keeps every event; dropped contents are only left out of the request.
    `last_context` belongs to the latest call of any session. What a conversation remembers besides its events is saved
    in the session's state, so a process that loads the session continues with the same bytes.
    """

    def __init__(
        self, assembler: Assembler[Any], *, name: str = "assembler", conversations: int = CONVERSATIONS
    ) -> None:
        super().__init__(name)
        self._fitting = Fitting(assembler, conversations=conversations)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Fit the request in place. Raises the errors of `build`, and then does not change the request.

        Of a live session ADK shows each typed message alone, and sends it unchanged: nothing is done there.
        """
        if callback_context.get_invocation_context().live_request_queue is not None:
            return
        run = _identify_run(callback_context)
        key = f"{STORED_AS}.{callback_context.agent_name}"
        before = callback_context.state.get(key)
        asked, message_dicts, contents, head = self._read_request(llm_request, callback_context.user_content)
        context = await self._fitting.afit(message_dicts, asked, run=run, state=before)
        _replace_contents(llm_request, context, contents, head)
        if (state := worth_keeping(context.state())) != before:
            callback_context.state[key] = state

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Take the bill of this call, so that the next call counts from it. A stream has it in its last part."""
        usage = llm_response.usage_metadata
        if usage is None or llm_response.partial:
            return
        state = await self._fitting.settle_own(usage.prompt_token_count, _identify_run(callback_context))
        if state is not None:
            callback_context.state[f"{STORED_AS}.{callback_context.agent_name}"] = worth_keeping(state)

    async def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception) -> None:
        """If the provider refused the call as too long, make the session's next call fit. The error is raised again.

        ADK stores nothing of a failed call, so the new limit is stored in a separate event without content.
        """
        state = await self._fitting.learn_own(error, _identify_run(callback_context))
        if state is not None:
            run, author = callback_context.get_invocation_context(), callback_context.agent_name
            actions = EventActions(state_delta={f"{STORED_AS}.{author}": worth_keeping(state)})
            event = Event(invocation_id=run.invocation_id, author=author, actions=actions)
            await run.session_service.append_event(run.session, event)

    def fit(self, llm_request: Any, *, run: Hashable = None) -> None:
        """Replace the contents and the system instruction of an `LlmRequest` by those that fit."""
        asked, message_dicts, contents, head = self._read_request(llm_request)
        context = self._fitting.fit(message_dicts, asked, run=run)
        _replace_contents(llm_request, context, contents, head)

    def _read_request(
        self, llm_request: Any, question: Any = None
    ) -> tuple[Asked, list[dict[str, Any]], list[Any], list[Any]]:
        """Return the `Asked`, all contents as dicts, all contents, and the parts of the system instruction."""
        config = llm_request.config or types.GenerateContentConfig()
        own = config.system_instruction
        head = [] if own is None or isinstance(own, str) else [types.Content(role="system", parts=_list_parts(own))]
        # Built-in tools are priced by their names, with bounds.
        priced = self._fitting.priced(config.tools or (), _is_function)
        tools = [as_data(tool) for tool in priced]
        asked = Asked(own if isinstance(own, str) else None, tools, _read_answer(config))
        sent, summaries = _append_user_content(llm_request), _count_summaries(llm_request)
        summary_contents = [types.Content(role="user", parts=content.parts) for content in sent[:summaries]]
        contents = [*head, *summary_contents, *_join_last_step(sent[summaries:], question)]
        message_dicts = _dump_contents(contents, len(head), summaries)
        if self._fitting.dialect != "gemini":
            _write_objects(message_dicts)
        _pin_question(message_dicts, contents, question)
        return asked, message_dicts, contents, head


def _identify_run(callback_context: Any) -> Hashable:
    return callback_context.session.id, callback_context.agent_name


def _replace_contents(llm_request: Any, context: Context, contents: Sequence[Any], head: Sequence[Any]) -> None:
    config = llm_request.config or types.GenerateContentConfig()
    kept = kept_objects(context.inside, contents, rewritten=_rewrite_content, of_summary=_make_summary)[len(head) :]
    if llm_request.previous_interaction_id and [*map(id, kept)] != [*map(id, contents[len(head) :])]:
        raise ConversationError(_HELD_THERE)
    if context.system is not None:
        parts = [*head[0].parts, types.Part(text=context.system)] if head else []
        system = types.Content(parts=parts) if head else context.system
        config = config.model_copy(update={"system_instruction": system})  # another request may share it
    llm_request.contents, llm_request.config = list(_join_neighbours(kept)), config


def _join_neighbours(contents: Sequence[Any]) -> Iterator[Any]:
    """Join neighbouring contents of one role, as they are priced: ADK sends other agents' words separately.

    Results of functions stay apart from other parts, which Gemini 3 refuses beside them.
    """
    apart = (half for content in contents for half in _split_results(content))
    for (role, _), side_by_side in itertools.groupby(apart, key=_read_role_and_results):
        first, *others = side_by_side
        parts = [part for content in (first, *others) for part in content.parts or ()]
        yield types.Content(role=role, parts=parts) if others else first


def _read_role_and_results(content: Any) -> tuple[str | None, bool]:
    return content.role, any(part.function_response for part in content.parts or ())


def _split_results(content: Any) -> Iterator[Any]:
    """Yield the results of a content and its other parts as contents of their own; the content if it has only one."""
    parts: list[Any] = content.parts or []
    results = [part for part in parts if part.function_response]
    if len(results) in (0, len(parts)):
        yield content
        return
    yield types.Content(role=content.role, parts=results)
    yield types.Content(role=content.role, parts=[part for part in parts if not part.function_response])


def _join_last_step(contents: Sequence[Any], question: Any) -> list[Any]:
    """Return the contents, where those after the last results are one with them, unless the user spoke there.

    In a running turn ADK writes the instruction beside a `static_instruction`, and memories, as the user's, after the
    results. Alone they would begin a turn, and the question and its calls would be an older one.
    """
    listed = list(contents)
    last = next((place for place in reversed(range(len(listed))) if _read_role_and_results(listed[place])[1]), None)
    after = [] if question is None or last is None else listed[last + 1 :]
    if last is None or not after or any(content.role != "user" or content == question for content in after):
        return listed
    parts = [part for content in listed[last:] for part in content.parts or ()]
    return [*listed[:last], types.Content(role="user", parts=parts)]


def _pin_question(message_dicts: Sequence[dict[str, Any]], contents: Sequence[Any], question: Any) -> None:
    """Pin the user's words that began the running invocation, if another turn begins after them.

    ADK writes the words of other agents as the user's, so a question may be older than many turns.
    """
    begins = [content.role == "user" and not _read_role_and_results(content)[1] for content in contents]
    asked = [place for place, content in enumerate(contents) if begins[place] and content == question]
    if asked and any(begins[asked[-1] + 1 :]):
        message_dicts[asked[-1]]["pinned"] = True


def _read_answer(config: Any) -> OutputSchema | None:
    schema: Any = config.response_json_schema or config.response_schema
    if schema is None:
        return None
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return OutputSchema("answer", schema.model_json_schema())
    if isinstance(schema, BaseModel):
        return OutputSchema("answer", schema.model_dump(exclude_none=True, mode="json"))
    return OutputSchema("answer", cast("dict[str, Any]", schema)) if isinstance(schema, dict) else None


def _append_user_content(llm_request: Any) -> Sequence[Any]:
    """Return the contents with the user content that ADK's models append if the last is not the user's.

    It is added here, by ADK's own method, so that it is counted. The model then appends nothing (google-adk 2.13.0,
    `BaseLlm`).
    """
    request = llm_request.model_copy(update={"contents": list(llm_request.contents)})
    appends: Any = getattr(BaseLlm, "_maybe_append_user_content", None)
    if appends is not None:
        appends(None, request)
    return cast("Sequence[Any]", request.contents)


def _list_parts(own: Any) -> list[Any]:
    """Return the parts of a system instruction that is a content, a part, or a list of parts and texts."""
    if isinstance(own, types.Content):
        return list(own.parts or ())
    listed: list[Any] = [*own] if isinstance(own, list) else [own]
    return [types.Part(text=part) if isinstance(part, str) else part for part in listed]


def _is_function(tool: Any) -> bool:
    return bool(getattr(tool, "function_declarations", None))


def _count_summaries(llm_request: Any) -> int:
    """Count the model's contents before the first of the user: the summaries of ADK's compaction.

    They are sent as the user's, because a conversation begins with the user, and are never dropped.
    """
    return sum(1 for _ in itertools.takewhile(lambda content: content.role == "model", llm_request.contents))


def _dump_contents(contents: Sequence[Any], head: int, summaries: int) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = [{"parts": [], **content.model_dump(exclude_none=True)} for content in contents]
    for summary in listed[head : head + summaries]:
        summary["pinned"] = True
    return listed


def _write_objects(message_dicts: Sequence[dict[str, Any]]) -> None:
    """Write arguments and results as `LiteLlm` and `Claude` do, which send them to other APIs than Gemini's."""
    for part in (part for content in message_dicts for part in content["parts"]):
        for name, key in _OBJECTS:
            if isinstance(part.get(name, {}).get(key), dict):
                part[name] = {**part[name], key: json.dumps(part[name][key], ensure_ascii=False, default=str)}


_OBJECTS = (("function_call", "args"), ("function_response", "response"))


def _rewrite_content(own: Any, before: Message, after: Message) -> Any:
    """Return a copy of a content with the texts that the policy left, and the same ids and signatures."""
    listed = cast("Mapping[str, Any]", after.raw)
    changed = {key: listed[key] for key in ("role", "parts") if key in listed}
    return types.Content.model_validate({**changed, "parts": [_read_objects(part) for part in listed.get("parts", ())]})


def _read_objects(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part whose arguments and result are objects again; a shortened text is the only field of one."""
    changed = dict(part)
    for name, key in _OBJECTS:
        if isinstance(text := part.get(name, {}).get(key), str):
            try:
                found = json.loads(text)
            except ValueError:
                found = None
            changed[name] = {**part[name], key: found if isinstance(found, dict) else {"result": text}}
    return changed


def _make_summary(text: str) -> Any:
    return types.Content(role="user", parts=[types.Part(text=text)])
