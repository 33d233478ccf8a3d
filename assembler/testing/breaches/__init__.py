"""How a valid request is made to break one rule: one file an API, one line here."""

from __future__ import annotations

from collections.abc import Mapping

from assembler.testing.breaches.anthropic import ANTHROPIC
from assembler.testing.breaches.bedrock import BEDROCK
from assembler.testing.breaches.breach import Breach
from assembler.testing.breaches.chat import MISTRAL, OPENAI_CHAT, PLAIN
from assembler.testing.breaches.gemini import GEMINI
from assembler.testing.breaches.responses import OPENAI_RESPONSES

BREACHES: Mapping[str, Mapping[str, Breach]] = {
    "anthropic": ANTHROPIC,
    "bedrock": BEDROCK,
    "gemini": GEMINI,
    "mistral": MISTRAL,
    "openai_chat": OPENAI_CHAT,
    "openai_responses": OPENAI_RESPONSES,
    "plain": PLAIN,
}
"""By dialect, by the id of the rule as `assembler.verify.rules` lists it."""

__all__ = ["BREACHES", "Breach"]
