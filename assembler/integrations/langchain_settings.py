"""Reads what a LangChain call asks for besides its messages: tools, a tool choice, a structured answer, thinking.

Read in langchain 1.4.7 (2026-11): `_get_bound_model`, where `model_settings` take the place of a `response_format`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import attrs

from assembler.integrations.call_settings import serial_calls, tool_choice
from assembler.integrations.fitting import Asked, Fitting
from assembler.regions.output_schema import OutputSchema, written_by_the_sdk
from assembler.text.fields import fields_of

if TYPE_CHECKING:
    # The used parts of LangChain, for type checkers without it.
    OutputToolBinding: Any
    ProviderStrategy: Any
    ToolStrategy: Any
    convert_to_openai_function: Callable[..., dict[str, Any]]
    convert_to_openai_tool: Callable[[Any], dict[str, Any]]
    _supports_provider_strategy: Callable[..., bool]
else:
    from langchain.agents.factory import _supports_provider_strategy
    from langchain.agents.structured_output import OutputToolBinding, ProviderStrategy, ToolStrategy
    from langchain_core.utils.function_calling import convert_to_openai_function, convert_to_openai_tool


def asked_of(request: Any, prompt: str | None, fitting: Fitting) -> Asked:
    """Return what the `ModelRequest` of an agent asks for, as it is priced."""
    specs, answer = _read_answer(request)
    tools = fitting.priced([_define_tool(tool) for tool in (*request.tools, *specs)])
    settings: Mapping[str, Any] = request.model_settings or {}
    options = [
        *serial_calls(settings.get("parallel_tool_calls")),
        *_list_thinking(request.model, settings, fitting.dialect),
    ]
    # A format that the settings or the model itself have is sent in place of the agent's, unless that is a tool.
    own = settings.get(
        "response_format", _read_model_kwargs(request.model).get("response_format") if not answer else None
    )
    if own is not None:
        answer = _close_objects(format_of(own), request.model)
        options += [] if answer else _write_wordless_format(own, fitting.dialect)
    # The framework forces a tool where a structured answer is one (`_get_bound_model`).
    choice = "required" if specs else tool_choice(request.tool_choice, tools)
    return Asked(prompt, tools, answer, choice if _sends_choice(request.model) else None, options=tuple(options))


def format_of(given: Any) -> OutputSchema | None:
    """Return the schema of a `response_format` of Chat Completions, or of a class; None for a format without one."""
    if isinstance(given, type):
        return written_by_the_sdk(given)
    fields = fields_of(given) or {}
    spec = fields_of(fields.get("json_schema"))
    if spec is None or not isinstance(spec.get("schema"), Mapping):
        return None
    name, about = cast("str", spec.get("name") or "response_format"), cast("str | None", spec.get("description"))
    return OutputSchema(name, cast("Mapping[str, Any]", spec["schema"]), about, strict=bool(spec.get("strict")))


def _write_wordless_format(given: Any, dialect: str) -> list[tuple[str, Any]]:
    """Return a format without a schema, such as `json_object`, as OpenAI's two APIs spell it."""
    match dialect:
        case "openai_chat":
            return [("response_format", given)]
        case "openai_responses":
            return [("text", {"format": given})]
        case _:
            return []


def _read_model_kwargs(model: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", getattr(model, "model_kwargs", None) or {})


def _is_openais(model: Any) -> bool:
    return str(getattr(model, "_llm_type", "")).endswith("openai-chat")


def _is_claudes(model: Any) -> bool:
    return getattr(model, "_llm_type", "") == "anthropic-chat"


def _sends_choice(model: Any) -> bool:
    """Whether a forced tool is sent: Claude's client leaves the choice out if its model thinks."""
    thinking = fields_of(getattr(model, "thinking", None)) or {}
    return not (_is_claudes(model) and thinking.get("type") in ("enabled", "adaptive"))


def _list_thinking(model: Any, settings: Mapping[str, Any], dialect: str) -> Iterator[tuple[str, Any]]:
    """Yield the setting that turns Claude's thinking on, for which its API bills a prompt."""
    asked = settings.get("thinking", getattr(model, "thinking", None))
    if asked is not None and dialect == "anthropic":
        yield "thinking", asked


def _read_answer(request: Any) -> tuple[list[Any], OutputSchema | None]:
    """Return the request for a structured answer: the tools that it adds, or the schema of the provider's format."""
    asked: Any = request.response_format
    if asked is None:
        return [], None
    if not isinstance(asked, ProviderStrategy | ToolStrategy):  # an AutoStrategy, or the bare schema
        by_provider = _supports_provider_strategy(request.model, tools=request.tools)
        asked = (ProviderStrategy if by_provider else ToolStrategy)(schema=getattr(asked, "schema", asked))
    if isinstance(asked, ProviderStrategy):
        return [], _close_objects(_read_format(asked.schema_spec, request.model), request.model)
    return [OutputToolBinding.from_schema_spec(spec).tool for spec in asked.schema_specs], None


def _read_format(spec: Any, model: Any) -> OutputSchema:
    """Return the provider's answer format. OpenAI's clients write it as they write a function."""
    if not _is_openais(model) or "title" not in spec.json_schema:
        return OutputSchema(spec.name, spec.json_schema, strict=bool(spec.strict))
    sent = convert_to_openai_function(spec.json_schema, strict=bool(spec.strict))
    return OutputSchema(sent["name"], sent["parameters"], sent.get("description"), strict=bool(spec.strict))


def _close_objects(answer: OutputSchema | None, model: Any) -> OutputSchema | None:
    """Return an answer's schema as the model's client sends it: Claude's closes every object."""
    if answer is None or not _is_claudes(model):
        return answer
    client: Any = importlib.import_module("anthropic")
    return attrs.evolve(answer, schema=client.transform_schema(dict(answer.schema)))


def _define_tool(tool: Any) -> dict[str, Any]:
    """Return a tool as it is sent. One that the provider runs is a dict with its type."""
    if isinstance(tool, dict) and cast("dict[str, Any]", tool).get("type", "function") != "function":
        return cast("dict[str, Any]", tool)
    return convert_to_openai_tool(tool)
