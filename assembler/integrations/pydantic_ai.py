"""Pydantic AI: a capability that fits every model request.

    agent = Agent(model, tools=[…], capabilities=[FitContext(assembler)])

Read in pydantic-ai-slim 2.68.0 (2026-11): `prepare_model_request` runs before each attempt, with everything that is
sent to the model, and its changes are not persisted. A history processor (`ProcessHistory`) sees neither the tools nor
the instructions, and overwrites the history.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import attrs

from assembler.assembler import Assembler
from assembler.integrations.call_settings import serial_calls, tool_choice
from assembler.integrations.fitting import CONVERSATIONS, Asked, Fitting, LastCall
from assembler.integrations.kept_objects import kept_objects
from assembler.integrations.pydantic_messages import Piece, join_pieces, pieces, rewrite_piece
from assembler.integrations.pydantic_prompts import open_with, split_prompts
from assembler.regions.output_schema import OutputSchema
from budgets.errors import from_extra

with from_extra("pydantic-ai", needed_for="assembler.integrations.pydantic_ai"):
    from pydantic_ai.capabilities import AbstractCapability  # type: ignore[import-not-found,unused-ignore]

if TYPE_CHECKING:
    # The other used parts of Pydantic AI, for type checkers without it.

    InstructionPart: Any
    ModelRequest: Any
    RetryModelRequest: Any
    UserPromptPart: Any
    resolve_tool_choice: Any
else:
    from pydantic_ai.exceptions import RetryModelRequest
    from pydantic_ai.messages import InstructionPart, ModelRequest, UserPromptPart
    from pydantic_ai.models._tool_choice import resolve_tool_choice

_THINK = ("<think>", "</think>")
"""The default tags of reasoning that is sent as text (ModelProfile, thinking_tags)."""

_CARRIED = ("<assistant_thinking>", "</assistant_thinking>")
"""The tags for a model that would imitate reasoning in its own turns: it gets the reasoning as the user's words."""

_MADE_UP = ("test", "function")
"""The provider names of Pydantic AI's test models, whose usage is made up."""


class FitContext(LastCall, AbstractCapability[Any]):  # type: ignore[misc,unused-ignore]
    """Fits each model request into the assembler's budget: instructions, tools, knowledge and history together.

    The assembler is a base, forked for each request; its instruction and knowledge follow the agent's own. The
    request's tools are sent, with those of an `output_type`, and the base's are not. `result.all_messages()` keeps
    every message; dropped ones are only left out of the request.

    One capability may serve many agents and runs at once. `last_context` and `report` belong to the latest request of
    any of them, `context_of(result.conversation_id)` to one conversation.
    """

    def __init__(self, assembler: Assembler[Any], *, conversations: int = CONVERSATIONS) -> None:
        self._fitting = Fitting(assembler, conversations=conversations)
        self.context_of = self._fitting.context_of

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Return None: an agent spec cannot hold an assembler."""
        return None

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Return the request with the messages that fit. Raises the errors of `build`."""
        parameters: Any = request_context.model_request_parameters
        model: Any = request_context.model
        _, sent = model.prepare_request(request_context.model_settings, parameters)
        messages: list[Any] = request_context.messages
        dialect = self._fitting.dialect
        own, heads = _read_instructions(sent.instruction_parts or (), dialect)
        read = list(
            pieces(
                messages,
                model.prepare_messages(messages, sent),
                dialect=dialect,
                tags=_choose_tags(model.profile),
                takes=model.accepts_stateless_artifacts,
            )
        )
        heads += filter(_is_note, read)
        history = [piece for piece in read if not _is_note(piece)]
        settings: Mapping[str, Any] = request_context.model_settings or {}
        options = (*serial_calls(settings.get("parallel_tool_calls")), *_read_thinking(model, settings, sent, dialect))
        tools = self._fitting.priced(_define_tools(sent, dialect))
        choice = tool_choice(_read_choice(model, settings, sent), tools)
        prompts, history = split_prompts(history, dialect)
        opening = open_with([*prompts, *heads], dialect) if tools else [*prompts, *heads]
        sent_pieces = [*opening, *_pin_question(history, messages, ctx)]
        asked = Asked(own, tools, _read_answer(sent, dialect), choice, options=options)
        context = await self._fitting.afit([piece.message_dict for piece in sent_pieces], asked, run=_identify_run(ctx))
        kept = kept_objects(context.inside, sent_pieces, rewritten=rewrite_piece, of_summary=_make_summary)
        own_pieces = [*kept[: len(prompts)], *kept[len(opening) :]]
        changes: dict[str, Any] = {"messages": join_pieces(messages, own_pieces)}
        if context.system not in (None, own):
            added = context.system if own is None else context.system.removeprefix(own).lstrip("\n")
            parts = [*(parameters.instruction_parts or ()), InstructionPart(content=added)]
            changes["model_request_parameters"] = dataclasses.replace(parameters, instruction_parts=parts)
        return dataclasses.replace(request_context, **changes)

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        """Take the response's bill, cached tokens included, so that the next request counts from it."""
        if request_context.model.system not in _MADE_UP:
            await self._fitting.settle_own(response.usage.input_tokens, _identify_run(ctx))
        return response

    async def on_model_request_error(self, ctx: Any, *, request_context: Any, error: Exception) -> Any:
        """If the provider refused the request as too long, make a smaller one, up to three times."""
        if await self._fitting.learn_own(error, _identify_run(ctx)) is None:
            raise error
        raise RetryModelRequest from error


def _read_instructions(parts: Sequence[Any], dialect: str) -> tuple[str | None, list[Piece]]:
    """Return the instructions as the Responses API gets them, as one text, or else as a message for each."""
    filled = [part for part in parts if part.content]
    if dialect == "openai_responses":
        return InstructionPart.join(filled) or None, []
    return None, [Piece(sent=part, message_dict={"role": "system", "content": part.content}) for part in filled]


def _is_note(piece: Piece) -> bool:
    """Whether it is a system message that the framework writes anew for each request, before what it explains.

    It is counted at the head, where no policy drops it: after a cut the framework puts it before what is left.
    """
    return not piece.places and piece.message_dict["role"] == "system" and not (piece.before or piece.after)


def _pin_question(history: Sequence[Piece], messages: Sequence[Any], run: Any) -> list[Piece]:
    """Pin the words that began the run if others come after them, which begin a turn of their own.

    The framework writes as the user's what a tool tells the model beside its result (`ToolReturn.content`), and what is
    enqueued while a run goes on. A run without a prompt goes on from the user's newest words.
    """
    of_user = [place for place, piece in enumerate(history) if getattr(piece.sent, "part_kind", None) == "user-prompt"]
    asked = [place for place in of_user if run.prompt is not None and history[place].sent.content == run.prompt]
    asked = asked or [place for place in of_user if not _is_added(history[place], messages, run)]
    if not asked or asked[-1] == of_user[-1]:
        return list(history)
    question = history[asked[-1]]
    pinned = attrs.evolve(question, message_dict={**question.message_dict, "pinned": True})
    return [*history[: asked[-1]], pinned, *history[asked[-1] + 1 :]]


def _is_added(piece: Piece, messages: Sequence[Any], run: Any) -> bool:
    """Whether words beside results are a tool's: the user's would begin another run, or are the prompt of this one."""
    (at, _), *_ = piece.places
    message = messages[at]
    if message.run_id is None or not any(part.part_kind == "tool-return" for part in message.parts):
        return False
    return message.run_id in (run.run_id, messages[at - 1].run_id)


def _identify_run(ctx: Any) -> Hashable:
    run: Hashable = ctx.conversation_id or ctx.run_id
    return run


def _choose_tags(profile: Mapping[str, Any]) -> tuple[str, str]:
    """Return the tags of reasoning that is sent as text, in the model's own turn or in a turn of the user."""
    if profile.get("mimics_assistant_message_formatting"):
        return _CARRIED
    own: tuple[str, str] = profile.get("thinking_tags", _THINK)
    return own


def _read_choice(model: Any, settings: Mapping[str, Any], sent: Any) -> str | None:
    """Return the tool choice as the models send it; None for the default.

    A call that only an output type forces is not forced if the model thinks, or takes no such choice.
    """
    chosen: Any = resolve_tool_choice(settings, sent)
    mode, names = cast("tuple[str, set[str]]", chosen if isinstance(chosen, tuple) else (chosen, set()))
    if mode != "required":
        return None if mode == "auto" else mode
    asked = settings.get("tool_choice") not in (None, "auto", "none", [])
    takes: bool = model.profile.get("supports_forced_tool_choice", True)
    if not asked and (model._request_thinks(settings, sent) or not takes):
        return None
    return next(iter(names)) if len(names) == 1 else mode


def _read_thinking(model: Any, settings: Mapping[str, Any], sent: Any, dialect: str) -> tuple[tuple[str, Any], ...]:
    """Return the setting that turns Claude's thinking on, as its API spells it. Other models bill no prompt for it."""
    extra: Any = settings.get("bedrock_additional_model_requests_fields") or {}
    asked: Any = settings.get("anthropic_thinking") or extra.get("thinking")
    always: bool = sent.thinking is False and model.profile.get("thinking_always_enabled", False)
    if asked is None and (sent.thinking or always):
        adaptive = any(model.profile.get(f"{maker}_supports_adaptive_thinking") for maker in ("anthropic", "bedrock"))
        asked = {"type": "adaptive" if adaptive else "enabled"}
    if asked is None or dialect not in ("anthropic", "bedrock"):
        return ()
    return (("thinking", asked) if dialect == "anthropic" else ("additionalModelRequestFields", {"thinking": asked}),)


def _define_tools(parameters: Any, dialect: str) -> list[dict[str, Any]]:
    """Return the definitions of functions, output tools, and hosted tools."""
    functions = [
        {"name": tool.name, "description": tool.description or "", "parameters": tool.parameters_json_schema}
        for tool in (*parameters.declared_function_tools, *parameters.output_tools)
    ]
    tools = [{"type": "function", "function": function} for function in functions]
    return [*tools, *(_define_native(tool, dialect) for tool in parameters.native_tools)]


_NATIVE: Mapping[str, Mapping[str, dict[str, Any]]] = {
    "openai_responses": {
        "web_search": {"type": "web_search"},
        "code_execution": {"type": "code_interpreter", "container": {"type": "auto"}},
        "file_search": {"type": "file_search"},
        "image_generation": {"type": "image_generation"},
    },
    "anthropic": {
        "web_search": {"type": "web_search_20250305", "name": "web_search"},
        "web_fetch": {"type": "web_fetch_20250910", "name": "web_fetch"},
        "code_execution": {"type": "code_execution_20250522", "name": "code_execution"},
        "memory": {"type": "memory_20250818", "name": "memory"},
    },
    "gemini": {
        "web_search": {"google_search": {}},
        "code_execution": {"code_execution": {}},
        "web_fetch": {"url_context": {}},
    },
}
"""The hosted tools in the form of each API. Others are priced by their bound."""


def _define_native(tool: Any, dialect: str) -> dict[str, Any]:
    """Return a hosted tool with its settings, whose words are part of its price."""
    chosen = {field.name: getattr(tool, field.name) for field in dataclasses.fields(tool) if field.name != "kind"}
    settings = json.loads(json.dumps({name: held for name, held in chosen.items() if held is not None}, default=str))
    known = _NATIVE.get(dialect, {}).get(tool.kind, {"type": tool.kind, "name": tool.kind})
    return {**settings, **known} if "type" in known else dict.fromkeys(known, settings)


def _read_answer(parameters: Any, dialect: str) -> OutputSchema | None:
    """Return the schema of the provider's own answer format. In `prompted` mode it is in the instructions."""
    answer = parameters.output_object
    if answer is None or parameters.output_mode != "native":
        return None
    strict = answer.strict is not False
    description = None if dialect == "anthropic" else answer.description  # which sends the schema alone
    return OutputSchema(answer.name or "final_result", answer.json_schema, description, strict=strict)


def _make_summary(text: str) -> Piece:
    return Piece(sent=ModelRequest(parts=[UserPromptPart(content=text)]))
