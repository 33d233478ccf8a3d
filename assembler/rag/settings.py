"""The settings that the RAG source system reads from the environment, once, when one of its objects is made."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import cast

import attrs

from assembler.validation import A_TEXT, must_be
from budgets import BudgetError, Tokens
from budgets.numbers import whole_tokens

MODEL = "gemini-1.5-pro-latest"
MODEL_MAX_TOKENS: Tokens = 1_048_576
MAX_OUTPUT_TOKENS: Tokens = 8_192
TEMPERATURE = 0.1
"""The source system's own defaults."""


def _must_be_whole_tokens(_owner: object, field: attrs.Attribute[Tokens], value: object) -> None:
    whole_tokens(value, field.name)


def _must_be_temperature(_owner: object, field: attrs.Attribute[float], value: object) -> None:
    must_be(field.name, value, (int, float), "a number, 0 or more")
    if not 0 <= cast(float, value) < math.inf:
        raise BudgetError(f"{field.name} is {value}: a number, 0 or more, is expected")


@attrs.frozen
class Settings:
    """The model, its window, the reserve for the answer, and the temperature, which is only passed through."""

    generation_model: str = attrs.field(default=MODEL, validator=A_TEXT)
    model_max_tokens: Tokens = attrs.field(default=MODEL_MAX_TOKENS, validator=_must_be_whole_tokens)
    max_output_tokens: Tokens = attrs.field(default=MAX_OUTPUT_TOKENS, validator=_must_be_whole_tokens)
    temperature: float = attrs.field(default=TEMPERATURE, validator=_must_be_temperature)


def settings_from(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of the environment, or the defaults. Raises `BudgetError` naming an invalid variable."""
    given = os.environ if environment is None else environment
    return Settings(
        generation_model=given.get("GENERATION_MODEL", "").strip() or MODEL,
        model_max_tokens=_read_tokens(given, "MODEL_MAX_TOKENS", MODEL_MAX_TOKENS),
        max_output_tokens=_read_tokens(given, "MAX_OUTPUT_TOKENS", MAX_OUTPUT_TOKENS),
        temperature=_read_temperature(given.get("TEMPERATURE", "").strip()),
    )


def _read_tokens(given: Mapping[str, str], name: str, default: Tokens) -> Tokens:
    text = given.get(name, "").strip()
    if not text:
        return default
    digits = text.replace("_", "").replace(",", "")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 12):
        raise BudgetError(f"environment variable {name} is not a whole number; write digits, such as {default}")
    return int(digits)


def _read_temperature(text: str) -> float:
    try:
        number = float(text) if text else TEMPERATURE
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise BudgetError("environment variable TEMPERATURE is not a number of 0 or more; write one, such as 0.1")
    return number
