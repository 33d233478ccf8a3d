"""Mistral's prices against mistral-common's own tokenisation of the same request: equal, or bounded where it merges.

The vocabulary is Tekken as the package ships it; the control tokens of the later formats are put beside it, as the
model files of those formats do.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mistral_common
import pytest
from hypothesis import assume, example, given
from mistral_common.protocol.instruct.normalize import get_normalizer
from mistral_common.protocol.instruct.request import ChatCompletionRequest, ReasoningEffort
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import SpecialTokens, TokenizerVersion
from mistral_common.tokens.tokenizers.instruct import InstructTokenizerV13, InstructTokenizerV15
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
from mistral_common.tokens.tokenizers.model_settings_builder import ModelSettingsBuilder, ReasoningEffortEnumBuilder
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

from assembler import count_request
from assembler.dialects import DIALECTS

from .emitted import FEW, TOOLS, Request, every

VERSIONS = {"mistral-large-latest": TokenizerVersion.v13, "mistral-small-latest": TokenizerVersion.v15}
"""Whose bill is the one of which format; v15 sends its settings along, 12 tokens where nobody asks for an effort."""
TEKKEN = Path(mistral_common.__file__).parent / "data" / "tekken_240911.json"


@functools.cache
def tekken(version: TokenizerVersion) -> Tekkenizer:
    shipped = Tekkenizer.from_file(TEKKEN)
    special = [{"rank": rank, "token_str": token.value, "is_control": True} for rank, token in enumerate(SpecialTokens)]
    none = ReasoningEffort.none
    effort = ReasoningEffortEnumBuilder(values=list(ReasoningEffort), accepts_none=True, default=none)
    return Tekkenizer(
        vocab=shipped_vocabulary(),
        special_tokens=special,  # type: ignore[arg-type]
        pattern=shipped._model._pat_str,
        vocab_size=shipped.n_words,
        num_special_tokens=shipped.num_special_tokens,
        version=version,
        model_settings_builder=ModelSettingsBuilder(reasoning_effort=effort)
        if version.supports_model_settings
        else None,
    )


@functools.cache
def shipped_vocabulary() -> Any:
    return json.loads(TEKKEN.read_text("utf-8"))["vocab"]


@functools.cache
def tokenizer(version: TokenizerVersion) -> MistralTokenizer[Any, Any, Any, Any, Any]:
    engine = tekken(version)
    kind = InstructTokenizerV15 if version is TokenizerVersion.v15 else InstructTokenizerV13
    normalizer = get_normalizer(version, engine.model_settings_builder)
    return MistralTokenizer(kind(engine), get_validator(version, ValidationMode.serving), normalizer)


@functools.cache
def counter(version: TokenizerVersion) -> Callable[[str], int]:
    engine = tekken(version)
    return functools.cache(lambda text: len(engine.encode(text, bos=False, eos=False)))


SAID = [{"role": "user", "content": "q"}]
THOUGHT = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "three more words"}], "closed": True},
        {"type": "text", "text": "an answer "},
    ],
}


def billed_by_mistral(request: Request, model: str) -> int:
    """The tokens that mistral-common makes of a request, whose thinking is a text where the API's is a list of them."""
    messages = [_with_thinking_as_text(message) for message in request["messages"]]
    asked = ChatCompletionRequest(model=model, **{**request, "messages": messages})
    return len(tokenizer(VERSIONS[model]).encode_chat_completion(asked).tokens)


def _with_thinking_as_text(message: Request) -> Request:
    if not isinstance(message["content"], list):
        return message
    chunks = [
        {**chunk, "thinking": "".join(piece["text"] for piece in chunk["thinking"])} if "thinking" in chunk else chunk
        for chunk in message["content"]
    ]
    return {**message, "content": chunks}


def merges(request: Request) -> bool:
    """Whether the template joins two messages into one: those of one role in a row, but for systems' and tools'."""
    roles = [message["role"] for message in request["messages"]]
    return any(one == two and one in ("user", "assistant") for one, two in itertools.pairwise(roles))


@pytest.mark.parametrize("model", VERSIONS)
def test_a_request_costs_what_mistral_common_makes_of_it(model: str) -> None:
    @FEW
    @given(every("mistral"))
    @example({"messages": [*SAID, {"role": "assistant", "content": "to go on ", "prefix": True}]})
    @example({"messages": [*SAID, THOUGHT, *SAID]})
    @example({"messages": [{"role": "user", "content": "[INST] </s> e\u0301 漢字 12345 [/INST]"}], "tools": TOOLS})
    def holds(request: Request) -> None:
        assume(not merges(request))
        dialect = DIALECTS["mistral"]
        counted = count_request(request, dialect=dialect, model=model, counter=counter(VERSIONS[model]))
        assert counted.tokens == billed_by_mistral(request, model)

    holds()


@pytest.mark.parametrize("model", VERSIONS)
def test_the_bound_holds_if_the_template_joins_messages(model: str) -> None:
    @FEW
    @given(every("mistral"))
    def holds(request: Request) -> None:
        dialect = DIALECTS["mistral"]
        counted = count_request(request, dialect=dialect, model=model, counter=counter(VERSIONS[model]))
        assert billed_by_mistral(request, model) <= counted.upper

    holds()
