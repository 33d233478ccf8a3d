"""Reads the many spellings of a model's name.

Only fixed rules are applied: a name that merely starts like a known one stays unknown.

| written as                                   | read as                      | rule |
|----------------------------------------------|------------------------------|---|
| `openai/gpt-4o`, `openai:gpt-4o`             | `gpt-4o` of OpenAI           | a route of `ROUTES` before `/` or `:` |
| `models/gemini-2.5-pro`                      | `gemini-2.5-pro`             | Gemini's resource names |
| `ft:gpt-4o-2024-08-06:org::id`               | `gpt-4o-2024-08-06`          | OpenAI's fine-tuned models |
| `us.anthropic.claude-opus-4-1-20250805-v1:0` | `claude-opus-4-1-20250805`   | Bedrock: region, vendor, version |
| `claude-sonnet-4-5@20250929`, `…@default`    | `claude-sonnet-4-5-20250929` | Vertex: `@` before a version |
| `azure/eu/gpt-5`, `bedrock/us-west-2/…`      | the name without the place   | where it is served, and how |
| `gpt-35-turbo`, `claude-v2:1`                | `gpt-3.5-turbo`              | as their hosts write them |
| `…-2025-08-07`, `…-20250929`, `…-latest`     | the name without it          | only when the full name has no row |
| `gemini-…-002`, `gemini-…-preview-05-06`     | the name without it          | Google's versions and dated previews |
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from budgets.errors import BudgetError, named_type
from budgets.lazy_patterns import compile_later

VENDORS = ("openai", "anthropic", "google", "mistral", "deepseek", "meta", "qwen", "xai")
"""The makers of models. A bare name is searched here first, in this order."""

HOSTS = ("groq", "bedrock", "openrouter")
"""Companies that only serve models, sometimes with a smaller window. Searched after the vendors."""

_OWN = {
    "openai": ("openai",),
    "anthropic": ("anthropic",),
    "google": ("google", "gemini", "google-gla", "google_genai", "google-genai", "models"),
    "mistral": ("mistral", "mistralai"),
    "deepseek": ("deepseek", "deepseek-ai"),
    "meta": ("meta", "meta-llama", "meta_llama", "llama"),
    "qwen": ("qwen", "alibaba", "dashscope"),
    "xai": ("xai", "x-ai"),
    "groq": ("groq",),
}
_CLOUDS = (
    "azure",
    "azure_ai",
    "azure_openai",
    "azure-openai",
    "vertex",
    "vertex_ai",
    "google-vertex",
    "google_vertexai",
)

ROUTES: dict[str, tuple[str, ...]] = {
    **{route: (provider,) for provider, routes in _OWN.items() for route in routes},
    **dict.fromkeys(_CLOUDS, VENDORS),
    **dict.fromkeys(("bedrock", "bedrock_converse", "bedrock_mantle", "amazon-bedrock", "aws"), ("bedrock", *VENDORS)),
    "openrouter": ("openrouter", *VENDORS),
}
"""The prefixes that may come before `/` or `:`, and the makers or hosts that they may mean."""

_PLACE = compile_later(
    r"^(?:(?:us|eu|apac|global(?:-standard)?|[a-z]{2}(?:-gov)?-[a-z]+-\d|\d-month-commitment|invoke|converse)/)+"
)
"""Places between the route of a cloud and the model: LiteLLM's table of models 1.109.1, read 2026-11."""
_BEDROCK = compile_later(
    r"(?:(?:us|eu|apac|global|jp|au|ca|in|sa|us-gov)\.)?"
    r"(?P<vendor>amazon|anthropic|deepseek|google|meta|mistral|moonshot(?:ai)?|openai|qwen|xai|zai)\.(?P<model>.+)"
)
_BEDROCK_VERSION = compile_later(r"-v\d+(?::\d+k?)*$|-\d+:\d+$")
_DATE = compile_later(r"-(?:19|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])$")
_GOOGLE_VERSION = compile_later(r"(?<=\w)-(?:00\d|preview-\d\d-(?:20)?\d\d)$")


_VARIANT = compile_later(r":(?!\d+k?$)[\w.-]+$")
"""A variant or size of a model at a gateway: `gpt-4o:online`, `qwen3:8b`."""
_MAKER = compile_later(r"^(?:(?:databricks|fw|anthropic|openai|google|meta|zai)-)+(?=[a-z])")
"""A maker or host before the model's name: `databricks-claude-opus-4-7`, `anthropic-claude-3.5-haiku`."""
_DASHED = compile_later(r"^(gpt|gemini)-(\d)-(\d)(?=-|$)")

_RESPELLED = (
    ("gpt-35-", "gpt-3.5-"),
    ("gpt-4-o-", "gpt-4o-"),
    ("claude-v2:1", "claude-2.1"),
    ("claude-v", "claude-"),
)
"""Azure does not allow the dot, Copilot separates `4o`, and Bedrock calls Claude 2 a second version."""

LONGEST_NAME = 512
"""The most characters of a name. Published names have fewer than a hundred, and full ARNs about two hundred."""


def candidates(name: str) -> Iterator[tuple[str, str]]:
    """The rows that a spelling may mean, as (provider, name), most likely first. At most about a hundred."""
    whole, *taken_apart = _split_routes(_make_plain(name))
    # A route takes precedence over a host whose own names contain slashes: deepseek/deepseek-chat is DeepSeek's.
    for providers, spelled in (*taken_apart, whole):
        for form in _list_forms(spelled):
            for provider in providers:
                yield provider, form


def bare(name: str) -> str:
    """The name in lower case, without route, region, vendor or fine-tuning mark, but with dates and versions.

    It only looks at the spelling, so it accepts unknown names. Raises `BudgetError` for anything but a name.
    """
    *_, (_, spelled) = _split_routes(_make_plain(checked_name(name)))
    own = _VARIANT.sub("", spelled.rsplit("/", 1)[-1])
    if bedrock := _BEDROCK.fullmatch(own):
        own = _BEDROCK_VERSION.sub("", bedrock["model"])
    return _DASHED.sub(r"\1-\2.\3", _MAKER.sub("", own))


def checked_name(name: object) -> str:
    """The name as a plain text: a subclass of `str` may have any methods.

    Raises `BudgetError` for anything but a text, and for a text that is too long to be a name.
    """
    if not isinstance(name, str):
        raise BudgetError(f"model is {named_type(name)}, not a name")
    name = str.__str__(name)
    if len(name) > LONGEST_NAME:
        raise BudgetError(f"model is a text of {len(name)} characters, not a name: names have at most {LONGEST_NAME}")
    return name


def _make_plain(name: str) -> str:
    """Lower case, without the mark of a fine-tuned model or the account part of a Bedrock ARN."""
    plain = name.strip().lower()
    if plain.startswith("arn:aws") and ":bedrock:" in plain:
        plain = plain.rsplit("/", 1)[-1]
    for route in ("openai/", "openai:", "azure/"):
        if plain.startswith(f"{route}ft:"):
            plain = plain.removeprefix(route)
    if plain.startswith("ft:"):
        plain = plain.split(":")[1]
    plain = plain.removesuffix("@default").replace("@", "-")
    for written, meant in _RESPELLED:
        plain = plain.replace(written, meant)
    return plain


def _split_routes(name: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every way to split off routes, outermost first. The last has the fewest prefixes left."""
    allowed: tuple[str, ...] = (*VENDORS, *HOSTS)
    yield allowed, name
    while (split := re.match(r"([^/:]+)[/:](.+)", name)) and split[1] in ROUTES:
        allowed = tuple(provider for provider in ROUTES[split[1]] if provider in allowed)
        name = _PLACE.sub("", split[2])
        yield allowed, name
    if bedrock := _BEDROCK.fullmatch(name):
        yield ("bedrock",), f"{bedrock['vendor']}.{bedrock['model']}"
        yield (bedrock["vendor"],), _BEDROCK_VERSION.sub("", bedrock["model"])


def _list_forms(name: str) -> Iterator[str]:
    """The name itself, then without suffixes for dates and versions."""
    yield name
    undated = _DATE.sub("", name)
    if undated != name:
        yield undated
    if name.endswith("-latest"):
        yield name.removesuffix("-latest")
    if name.startswith("gemini-") and (unversioned := _GOOGLE_VERSION.sub("", name)) != name:
        yield unversioned
