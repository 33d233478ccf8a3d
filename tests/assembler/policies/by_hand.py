"""The models that the oracles of policies try: of APIs that bill each message alone, and of those that merge them."""

from __future__ import annotations

from typing import Any

MODELS = [
    *[("openai_chat", model) for model in ("gpt-4o", "gpt-5-mini", "llama-3.3-70b-versatile", "a-model-of-tomorrow")],
    *[("openai_responses", model) for model in ("gpt-5", "gpt-4o")],
    *[("anthropic", model) for model in ("claude-sonnet-4-5", "claude-3-haiku-20240307")],
    *[("gemini", model) for model in ("gemini-2.5-flash", "gemini-3-pro-preview")],
    *[("bedrock", model) for model in ("anthropic.claude-sonnet-4-5", "amazon.nova-lite-v1:0")],
    ("bedrock", "meta.llama3-1-70b-instruct-v1:0"),
    *[("mistral", model) for model in ("mistral-large-latest", "mistral-small-latest")],
]
TOOLS: list[Any] = [
    {"name": name, "description": f"Does {name}.", "parameters": {"type": "object", "properties": {"a": {}}}}
    for name in ("search", "run")
]
