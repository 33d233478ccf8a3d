"""`PromptBuilder`: the greedy source system's face of the pipeline. A question and chunks in, one text out."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence, Set
from typing import cast

from assembler.context import context_of
from assembler.conversation.history import History
from assembler.dialects import plain
from assembler.errors import PromptError
from assembler.greedy.config import Configured
from assembler.greedy.prompt_tokens import counter_of
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
from assembler.validation import iterates, wrong
from budgets import Budget, BudgetError

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
            raise PromptError(f"accepted_chunks is a {type(accepted_chunks).__name__}: pass a list of texts")
        texts = [checked_text(chunk, field=f"accepted_chunks[{place}]") for place, chunk in enumerate(accepted_chunks)]
        *broken, asked = map(self._control.broken, [*texts, checked_text(question, field="question")])
        if changed := sum(map(operator.ne, broken, texts)) + (asked != question):
            _LOG.warning("%d texts held control tokens of the tokenizer, which were broken up", changed)
        chunks = tuple(Document(text, type="chunk") for text in broken)
        said = {"role": "user", "content": asked}
        context = build(Draft(Regions(documents=chunks), History.of([said])), self._settings, context_of)
        return cast("dict[str, str]", context.messages[0])["content"]
