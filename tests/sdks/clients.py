"""The real clients, each pointed at a stub: a function that posts a request, and the body that it must post."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, TypeAlias

from .emitted import MODELS, Request

Post: TypeAlias = Callable[[Request], object]


def openai_chat(url: str) -> Post:
    import openai

    client = openai.OpenAI(api_key="x", base_url=f"{url}/v1", max_retries=0)
    return lambda request: client.chat.completions.create(model=MODELS["openai_chat"], **request)


def openai_responses(url: str) -> Post:
    import openai

    client = openai.OpenAI(api_key="x", base_url=f"{url}/v1", max_retries=0)
    return lambda request: client.responses.create(model=MODELS["openai_responses"], **request)


def anthropic(url: str) -> Post:
    import anthropic as sdk

    client = sdk.Anthropic(api_key="x", base_url=url, max_retries=0)
    return lambda request: client.messages.create(model=MODELS["anthropic"], max_tokens=1, **request)


def gemini(url: str) -> Post:
    from google import genai

    client = genai.Client(api_key="x", http_options=genai.types.HttpOptions(base_url=url))
    return lambda request: client.models.generate_content(model=MODELS["gemini"], **request)


def bedrock(url: str) -> Post:
    client = runtime(url)
    return lambda request: client.converse(modelId=MODELS["bedrock"], **request)


def runtime(url: str) -> Any:
    """A client of Bedrock that asks the server at `url`, once."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "bedrock-runtime",
        region_name="eu-west-1",
        endpoint_url=url,
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=Config(retries={"max_attempts": 0}),
    )


def mistral(url: str) -> Post:
    from mistralai.client import Mistral

    client = Mistral(api_key="x", server_url=url)
    return lambda request: client.chat.complete(model=MODELS["mistral"], **request)


_ALL = (openai_chat, openai_responses, anthropic, gemini, bedrock, mistral)
CLIENTS: dict[str, Callable[[str], Post]] = {one.__name__: one for one in _ALL}


def _gemini_wire(request: Request) -> Request:
    """The SDK's spelling in the wire's: camelCase, `config` spread over the body, a text as a content of one part.

    Of a body that was received it only spells anew what the SDK left in snake_case (`parameters_json_schema`).
    """
    config = {"system_instruction": request.get("systemInstruction"), **request, **request.get("config", {})}
    body = {"contents": [_camel(content) for content in request["contents"]]}
    if system := config.get("system_instruction"):
        if isinstance(system, str):
            system = {"parts": [{"text": system}]}
        body["systemInstruction"] = {"role": "user", **_camel(system)}
    if "tools" in config:
        body["tools"] = _camel(config["tools"])
    return body


_OPAQUE = frozenset({"args", "response", "parametersJsonSchema", "parameters"})
"""What belongs to the caller below these keys is not spelled anew."""


def _camel(value: Any) -> Any:
    if isinstance(value, list):
        return [_camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    spelled: dict[str, Any] = {}
    for key, item in value.items():
        head, *tail = key.split("_")
        name = head + "".join(word.capitalize() for word in tail)
        spelled[name] = _signature(item) if name == "thoughtSignature" else item if name in _OPAQUE else _camel(item)
    return spelled


def _signature(value: str | bytes) -> str:
    return base64.urlsafe_b64encode(value).decode() if isinstance(value, bytes) else value


def _mistral_wire(request: Request) -> Request:
    """The SDK writes out two defaults: a message that is no prefix, a call's place of 0."""
    messages = [_without(message, "prefix", False) for message in request["messages"]]
    for message in messages:
        if message.get("tool_calls"):
            message["tool_calls"] = [_without(call, "index", 0) for call in message["tool_calls"]]
    return {**request, "messages": messages}


def _without(fields: Request, key: str, default: object) -> Request:
    return {name: value for name, value in fields.items() if (name, value) != (key, default)}


WIRES: dict[str, Callable[[Request], Request]] = {"gemini": _gemini_wire, "mistral": _mistral_wire}
"""What a client is known to write otherwise than it was given, with the same meaning."""

ADDED = frozenset({"model", "max_tokens", "stream", "generationConfig"})
"""Keys that this test's call or the client adds, if not emitted."""
