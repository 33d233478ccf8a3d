"""`PromptBuilder`: the greedy source system's interface to the pipeline, from a question and chunks to one text.

The encoder's own tokenizer counts the whole input.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Mapping, Sequence, Set, Sized
from typing import Any, cast

import attrs

from assembler.context import context_of
from assembler.conversation.history import History
from assembler.dialects import plain
from assembler.errors import PromptError
from assembler.greedy.config import Configured
from assembler.loggers import logger
from assembler.pipeline.build import build
from assembler.pipeline.draft import Draft
from assembler.pipeline.settings import Settings
from assembler.policies import Refuse
from assembler.prompts.control_text import ControlTexts
from assembler.regions.knowledge import Document
from assembler.regions.regions import Regions
from assembler.strategies.question_chunks import QuestionChunks
from assembler.text.checked import checked_text
from assembler.validation import iterates, offers, wrong
from budgets import Budget, BudgetError, TokenCounter
from budgets.errors import named_type

_LOG = logger("greedy")


class PromptBuilder:
    """Writes prompts that an encoder can read whole.

    `cfg` is any object with `generator.encoder_max_tokens`; `tokenizer` is the encoder's own (any Hugging Face one), or
    any counter. A fast tokenizer is copied, once, and never changed. Raises BudgetError for a limit that is no whole
    number above 0.
    """

    __slots__ = ("_control", "_settings")

    def __init__(self, cfg: Configured, tokenizer: object) -> None:
        if not hasattr(getattr(cfg, "generator", None), "encoder_max_tokens"):
            raise BudgetError(wrong("cfg", "a configuration such as Config(Generator(512))", cfg))
        budget = Budget(cfg.generator.encoder_max_tokens, counter=counter_of(tokenizer))
        self._control = ControlTexts.of(tokenizer)
        self._settings = Settings.of(budget, plain, Refuse(), QuestionChunks())

    def build(self, question: str, accepted_chunks: Sequence[str]) -> str:
        """The prompt, never above the limit as the tokenizer counts it, special tokens included. It keeps chunks from
        the first on and stops at the first that does not fit; if there is none, a placeholder line takes its place. If
        the question or a chunk contains a control token (`</s>`), a blank is put inside it, and a line is logged. It
        changes none of its arguments. Raises ContextLengthError if even the placeholder does not fit.
        """
        given: object = accepted_chunks
        if isinstance(given, str | Mapping | Set) or not iterates(given):
            raise PromptError(f"accepted_chunks is {named_type(accepted_chunks)}: pass a list of texts")
        texts = [checked_text(chunk, field=f"accepted_chunks[{place}]") for place, chunk in enumerate(accepted_chunks)]
        *broken, asked = map(self._control.broken, [*texts, checked_text(question, field="question")])
        if changed := sum(map(operator.ne, broken, texts)) + (asked != question):
            _LOG.warning("%d texts held control tokens of the tokenizer, which were broken up", changed)
        chunks = tuple(Document(text, type="chunk") for text in broken)
        message = {"role": "user", "content": asked}
        context = build(Draft(Regions(documents=chunks), History.of([message])), self._settings, context_of)
        return cast("dict[str, str]", context.messages[0])["content"]


@attrs.frozen
class EncoderInput:
    """Counts the ids of `tokenizer(text)`, including the special tokens that it adds."""

    tokenizer: Any

    @property
    def name(self) -> str:
        """The tokenizer's own name."""
        return str(getattr(self.tokenizer, "name_or_path", "") or type(self.tokenizer).__name__)

    def __call__(self, text: str, /) -> Any:
        """Count the encoder's input for `text`, or return the result of a counter unchanged."""
        if not callable(self.tokenizer):  # tokenizers.Tokenizer
            return len(cast(Sized, self.tokenizer.encode(text).ids))
        answer: object = self.tokenizer(text)
        if isinstance(answer, Mapping):
            return _count_ids(cast("Mapping[str, Any]", answer)["input_ids"])
        return answer


def _count_ids(ids: Any) -> int:
    """Count the ids of one text: with `return_tensors` they are a row of a table, with overflowing parts several."""
    rows: list[Sized] = list(ids)
    is_table = getattr(ids, "ndim", 1) > 1 or any(isinstance(row, list) for row in rows)
    return sum(map(len, rows)) if is_table else len(rows)


def counter_of(tokenizer: object) -> TokenCounter:
    """A counter for a Hugging Face tokenizer, fast or slow, a `tokenizers.Tokenizer`, or a counter.

    A callable that returns `{"input_ids": […]}` is a tokenizer. A fast one, and a `tokenizers.Tokenizer`, is copied
    without truncation and padding, because these are state that calls change. Raises BudgetError for an object that
    cannot be called or copied.
    """
    if isinstance(tokenizer, str | type) or not (callable(tokenizer) or offers(tokenizer, "encode")):
        raise BudgetError(f"tokenizer is {named_type(tokenizer)}: pass a Hugging Face tokenizer or a counter")
    return EncoderInput(
        _find_own_tokenizer(tokenizer) if hasattr(_find_engine(tokenizer), "no_truncation") else tokenizer
    )


def _find_engine(tokenizer: Any) -> Any:
    """The `tokenizers.Tokenizer` inside a fast tokenizer, or the object itself."""
    return getattr(tokenizer, "backend_tokenizer", tokenizer)


def _find_own_tokenizer(tokenizer: object) -> object:
    try:
        own = copy.deepcopy(tokenizer)
    except Exception as failure:
        raise BudgetError(f"tokenizer cannot be copied ({type(failure).__name__}): pass a counter") from failure
    engine = _find_engine(own)
    engine.no_truncation()
    engine.no_padding()
    return own
