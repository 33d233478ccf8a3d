"""A build in numbers and names, for spans and logs.

Attributes stand under `context_assembler.`: what a provider billed is `gen_ai.usage.*`, and what we counted before the
call must never be taken for it. The model and the provider are known before the call, and go by the names of the
conventions, `gen_ai.request.model` and `gen_ai.provider.name`, too (OpenTelemetry semantic conventions for generative
AI, registry of the repository semantic-conventions-genai, read 2026-11).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

from assembler.context import Context
from assembler.errors import WrongTypeError
from assembler.plan import Plan
from assembler.report.figures import Value, fields_of, figures_of, figures_of_overflow
from assembler.validation import wrong
from budgets import ContextLengthError
from budgets.errors import from_extra

NAMESPACE = "context_assembler."
"""How every attribute begins."""


class Span(Protocol):
    """What is used of OpenTelemetry's span."""

    def set_attributes(self, attributes: Mapping[str, Value], /) -> None:
        """Note attributes."""
        ...


PROVIDERS: Mapping[str, str] = {
    "anthropic": "anthropic",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "openai_chat": "openai",
    "openai_responses": "openai",
}
"""The well-known `gen_ai.provider.name` of each dialect whose API is a provider's. Others that speak OpenAI's format
are "openai" there too: the conventions read the name as the flavour of the API."""


def attributes(subject: Context[Any] | Plan | ContextLengthError) -> dict[str, Value]:
    """Tokens by region, the budget, what was kept and dropped; of an overflow what was needed and free. O(messages)."""
    found = _figures(subject)
    own = {NAMESPACE + name: value for name, value in found.items()}
    if "model" in found:
        own["gen_ai.request.model"] = found["model"]
    provider = PROVIDERS.get(str(found.get("dialect")))
    return own if provider is None else {**own, "gen_ai.provider.name": provider}


def fields(subject: Context[Any] | Plan | ContextLengthError) -> dict[str, Value]:
    """The numbers of a build as keyword arguments of a structured logger, named as in the library's records.

    `structlog.get_logger().info("built", **fields(context))`.
    """
    return fields_of(_figures(subject))


def _figures(subject: Context[Any] | Plan | ContextLengthError) -> dict[str, Value]:
    match subject:
        case Context() | Plan():
            return figures_of(subject.inside)
        case ContextLengthError():
            return figures_of_overflow(subject)
        case _:
            raise WrongTypeError(f"expected a Context, a Plan or a ContextLengthError, got {type(subject).__name__}")


def set_attributes(subject: Context[Any] | Plan | ContextLengthError, *, span: Span | None = None) -> None:
    """Note the numbers of a build on a span; without one on OpenTelemetry's current span.

    Raises `MissingExtraError` where that is asked for and OpenTelemetry is not installed.
    """
    if span is not None and not callable(getattr(span, "set_attributes", None)):
        raise WrongTypeError(wrong("span", "a span of OpenTelemetry", span))
    (_current_span() if span is None else span).set_attributes(attributes(subject))


def note(subject: Context[Any] | ContextLengthError) -> None:
    """Note the numbers of a build on the span of a framework, where OpenTelemetry is in use and records.

    What the framework itself says of its call, under `gen_ai.`, is left as it is.
    """
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is not None and (span := trace.get_current_span()).is_recording():
        span.set_attributes({name: value for name, value in attributes(subject).items() if name.startswith(NAMESPACE)})


def _current_span() -> Span:
    with from_extra("opentelemetry", needed_for="assembler.telemetry"):
        trace: Any = import_module("opentelemetry.trace")
    span: Span = trace.get_current_span()
    return span


__all__ = ["NAMESPACE", "PROVIDERS", "Span", "Value", "attributes", "fields", "note", "set_attributes"]
