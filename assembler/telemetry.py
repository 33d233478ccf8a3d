"""The numbers of a build as attributes for spans and fields for logs.

Attributes begin with `context_assembler.`, so that our counts before the call are not mistaken for the provider's bill,
which is `gen_ai.usage.*`. The model and the provider are known before the call and also get their conventional names,
`gen_ai.request.model` and `gen_ai.provider.name` (OpenTelemetry semantic conventions for generative AI, registry of the
repository semantic-conventions-genai, read 2026-11).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

from assembler.context import Context
from assembler.dialects.api import Api
from assembler.errors import WrongTypeError
from assembler.plan import Plan
from assembler.report.figures import Value, fields_of, figures_of, figures_of_overflow
from assembler.validation import wrong
from budgets import ContextLengthError
from budgets.errors import from_extra
from budgets.lazy_names import FromFolders

NAMESPACE = "context_assembler."
"""The prefix of every attribute."""


class Span(Protocol):
    """The part of OpenTelemetry's span that is used."""

    def set_attributes(self, attributes: Mapping[str, Value], /) -> None:
        """Set attributes."""
        ...


_APIS: Mapping[str, Api] = FromFolders("assembler.dialects", "api", "API")
PROVIDERS: Mapping[str, str] = {name: api.provider for name, api in _APIS.items() if api.provider}
"""The well-known `gen_ai.provider.name` of each dialect that has one. Other providers with OpenAI's format are "openai"
too, because the conventions use the name for the kind of API."""


def attributes(subject: Context[Any] | Plan | ContextLengthError) -> dict[str, Value]:
    """Tokens by region, the budget, what was kept and dropped; for an error what was needed and free. O(messages)."""
    found = _find_figures(subject)
    own = {NAMESPACE + name: value for name, value in found.items()}
    if "model" in found:
        own["gen_ai.request.model"] = found["model"]
    provider = PROVIDERS.get(str(found.get("dialect")))
    return own if provider is None else {**own, "gen_ai.provider.name": provider}


def fields(subject: Context[Any] | Plan | ContextLengthError) -> dict[str, Value]:
    """The numbers of a build as keyword arguments for a structured logger, named as in the library's records.

    `structlog.get_logger().info("built", **fields(context))`.
    """
    return fields_of(_find_figures(subject))


def _find_figures(subject: Context[Any] | Plan | ContextLengthError) -> dict[str, Value]:
    match subject:
        case Context() | Plan():
            return figures_of(subject.inside)
        case ContextLengthError():
            return figures_of_overflow(subject)
        case _:
            raise WrongTypeError(f"expected a Context, a Plan or a ContextLengthError, got {type(subject).__name__}")


def set_attributes(subject: Context[Any] | Plan | ContextLengthError, *, span: Span | None = None) -> None:
    """Set the numbers of a build on a span, by default OpenTelemetry's current one.

    Raises `MissingExtraError` if the current one is needed and OpenTelemetry is not installed.
    """
    if span is not None and not callable(getattr(span, "set_attributes", None)):
        raise WrongTypeError(wrong("span", "a span of OpenTelemetry", span))
    (_find_current_span() if span is None else span).set_attributes(attributes(subject))


def note(subject: Context[Any] | ContextLengthError) -> None:
    """Set the numbers of a build on the current span of a framework, if OpenTelemetry is in use and recording.

    The framework's own attributes under `gen_ai.` are not changed.
    """
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is not None and (span := trace.get_current_span()).is_recording():
        span.set_attributes({name: value for name, value in attributes(subject).items() if name.startswith(NAMESPACE)})


def _find_current_span() -> Span:
    with from_extra("opentelemetry", needed_for="assembler.telemetry"):
        trace: Any = import_module("opentelemetry.trace")
    span: Span = trace.get_current_span()
    return span


__all__ = ["NAMESPACE", "PROVIDERS", "Span", "Value", "attributes", "fields", "note", "set_attributes"]
