"""What each SDK's own request types say of a request: strictly, unknown keys forbidden, lazy lists walked.

The types of openai and anthropic are TypedDicts with `Iterable` fields, which pydantic checks only when they are
walked: `drain` walks them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import pydantic

from .emitted import MODELS, Request

adapter = functools.cache(pydantic.TypeAdapter)


def drain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: drain(item) for key, item in value.items()}
    if isinstance(value, str | bytes | int | float | None):
        return value
    return [drain(item) for item in value]


def strictly(type_: Any, request: Mapping[str, Any]) -> None:
    drain(adapter(type_).validate_python(request, strict=True, extra="forbid"))


def openai_chat(request: Request) -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    messages = [_unnamed_result(message) for message in request["messages"]]
    strictly(CompletionCreateParamsNonStreaming, {"model": MODELS["openai_chat"], **request, "messages": messages})


def _unnamed_result(message: Request) -> Request:
    """The caller's own `name` on a tool's message goes through untouched: the API bills it, the SDK's type has none."""
    return {key: value for key, value in message.items() if (key, message["role"]) != ("name", "tool")}


def openai_responses(request: Request) -> None:
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

    strictly(ResponseCreateParamsNonStreaming, {"model": MODELS["openai_responses"], **request})


def anthropic(request: Request) -> None:
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    strictly(MessageCreateParamsNonStreaming, {"model": MODELS["anthropic"], "max_tokens": 1, **request})


def gemini(request: Request) -> None:
    from google.genai import types

    contents, config = request["contents"], request.get("config", {})
    adapter(list[types.Content]).validate_python(contents)
    types.GenerateContentConfig.model_validate(config)
    assert set(request) <= {"contents", "config"}, f"unexpected keys in {sorted(request)}"


def mistral(request: Request) -> None:
    """The SDK's type, and the validator of mistral-common: v11 demands ids of nine, v13 and v15 pair by them."""
    from mistral_common.protocol.instruct import validator
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistralai.client.models import ChatCompletionRequestTypedDict

    body = {"model": MODELS["mistral"], **request}
    strictly(ChatCompletionRequestTypedDict, body)
    for version in (validator.MistralRequestValidatorV11, validator.MistralRequestValidatorV13):
        version(mode=validator.ValidationMode.serving).validate_request(ChatCompletionRequest(**body))


@functools.cache
def _converse() -> Any:
    import botocore.session

    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    return model.operation_model("Converse").input_shape


def bedrock(request: Request) -> None:
    from botocore.validate import ParamValidator

    report = ParamValidator().validate({"modelId": MODELS["bedrock"], **request}, _converse())
    assert not report.has_errors(), report.generate_report()


SHAPES: dict[str, Callable[[Request], None]] = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
    "mistral": mistral,
}
"""Raises on what the SDK's types do not allow."""
