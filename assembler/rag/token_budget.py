"""`TokenBudgetManager`: the source system's interface to `budgets.Budget`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import attrs

from assembler.dialects import Dialect, plain
from assembler.errors import PromptError
from assembler.rag.other_vocabulary import PlainForOtherVocabulary
from assembler.rag.reserve import FixedReserve, OutputReserve
from assembler.rag.result import as_list
from assembler.rag.settings import MODEL, Settings, settings_from
from assembler.strategies.sources.selection import Candidate, Greedy
from assembler.text.checked import checked_text
from assembler.validation import is_number, name_of_value, wrong
from budgets import Budget, BudgetError, TokenCounter, Tokens, tiktoken_counter
from budgets.models import encoding_of
from budgets.numbers import as_whole_number

ENCODING = "cl100k_base"
"""The source system's encoding, exact only for gpt-4 and gpt-3.5. For other models counts are estimates, and prompts
must also fit by the model's own rule. Pass `counter` if you have the model's own."""

SAFETY_MARGIN: Tokens = 100
"""The source system's default."""

_FIXED = FixedReserve()
_ASSUMED = (
    f"the upper bound is counted for {MODEL}, the default; "
    "name yours: TokenBudgetManager(generation_model=…) or GENERATION_MODEL"
)


class BudgetInfo(TypedDict):
    """The result of `calculate_budget`. All but the last are tokens."""

    total_budget: Tokens
    query_tokens: Tokens
    system_tokens: Tokens
    output_tokens: Tokens
    safety_margin: Tokens
    context_budget: Tokens
    budget_exceeded: bool


class TokenBudgetManager:
    """Counts tokens, divides a model's window, and selects texts that fit.

    Missing arguments are read from the environment once, here (see `assembler.rag.settings`). `counter` is any callable
    from a text to its tokens; without one, a prompt must also fit by the rule of `generation_model`. Immutable. Raises
    BudgetError for impossible numbers.
    """

    def __init__(
        self,
        model_max_tokens: Tokens | None = None,
        max_output_tokens: Tokens | None = None,
        *,
        safety_margin: Tokens = SAFETY_MARGIN,
        counter: TokenCounter | None = None,
        output_reserve: OutputReserve = _FIXED,
        generation_model: str | None = None,
    ) -> None:
        if isinstance(output_reserve, type) or not callable(getattr(output_reserve, "tokens", None)):
            raise BudgetError(wrong("output_reserve", "a rule such as FixedReserve()", output_reserve))
        self._settings = settings_from()
        if generation_model is not None:
            self._settings = attrs.evolve(self._settings, generation_model=generation_model)
        self._reserve = output_reserve
        self._budget = Budget(
            self._settings.model_max_tokens if model_max_tokens is None else model_max_tokens,
            max_output_tokens=self._settings.max_output_tokens if max_output_tokens is None else max_output_tokens,
            safety_margin=safety_margin,
            counter=tiktoken_counter(ENCODING) if counter is None else counter,
        )
        self._counter = self._budget.token_counter
        model = self._settings.generation_model
        assumed = () if generation_model is not None or model != MODEL else (_ASSUMED,)
        own = counter is not None or encoding_of(model) == ENCODING
        self._dialect = plain if own else PlainForOtherVocabulary(model=model, notes=assumed)

    @property
    def dialect(self) -> Dialect:
        """The dialect that prices prompts: by their texts, and by the model's own rule too if it lacks cl100k_base."""
        return self._dialect

    @property
    def settings(self) -> Settings:
        """The settings. Model and temperature are for the caller and have no effect here."""
        return self._settings

    @property
    def model_max_tokens(self) -> Tokens:
        """The model's window."""
        return self._budget.context_window

    @property
    def max_output_tokens(self) -> Tokens:
        """The maximum length of the model's answer."""
        return self._budget.max_output_tokens

    def count_tokens(self, text: str) -> Tokens:
        """Count the tokens of `text`. Raises TokenCountError."""
        return self._counter(text)

    def budget_for(self, query: str) -> Budget:
        """The budget of a prompt for `query`: the window less the answer's reserve and the safety margin."""
        checked_text(query, field="query")
        return Budget(
            self._budget.context_window,
            max_output_tokens=self._reserve.tokens(query, self._budget.max_output_tokens),
            safety_margin=self._budget.safety_margin,
            counter=self._counter,
        )

    def calculate_budget(self, query: str, system_prompt: str) -> BudgetInfo:
        """The window and its parts. `context_budget` is left for the sources and the text around them.

        If query and system prompt alone are too long, it is negative and `budget_exceeded` is True.
        """
        output = self.budget_for(query).max_output_tokens
        query_tokens, system_tokens = self.count_tokens(query), self.count_tokens(system_prompt)
        total, margin = self._budget.context_window, self._budget.safety_margin
        left = total - query_tokens - system_tokens - output - margin
        return {
            "total_budget": total,
            "query_tokens": query_tokens,
            "system_tokens": system_tokens,
            "output_tokens": output,
            "safety_margin": margin,
            "context_budget": left,
            "budget_exceeded": left < 0,
        }

    def truncate_to_budget(self, texts: Sequence[str], scores: Sequence[float], budget: Tokens) -> list[int]:
        """The indexes of the texts that fit into `budget` tokens together, best first.

        A text that does not fit is skipped. Each text is counted alone, so pass whole blocks with separators. A
        negative budget keeps nothing. Raises PromptError unless there is a score for each text.
        """
        texts, scores = as_list(texts, "texts"), as_list(scores, "scores")
        if len(texts) != len(scores):
            raise PromptError(f"{len(texts)} texts and {len(scores)} scores: give a score for each text")
        for score in scores:
            if not is_number(score):
                kind = "nan" if isinstance(score, float) else name_of_value(score)
                raise PromptError(f"a score is not a number ({kind}): give 0 where there is none")
        ranked = sorted(range(len(texts)), key=lambda at: (-scores[at], at))
        candidates = [Candidate(self.count_tokens(texts[at]), scores[at]) for at in ranked]
        return [ranked[at] for at in Greedy().pick(candidates, as_whole_number(budget, "budget"), lambda _: 0)]
