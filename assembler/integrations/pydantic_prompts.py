"""Puts Pydantic AI's system prompts and instructions in the order in which its models send them.

Read in pydantic-ai-slim 2.68.0 (2026-11): each model sends the system prompts that open the history before the
instructions (`_map_messages`); Claude's joins these prompts into one block (`_build_system_prompt`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import attrs

from assembler.integrations.pydantic_messages import Piece


def split_prompts(history: Sequence[Piece], dialect: str) -> tuple[list[Piece], list[Piece]]:
    """Return the system prompts that open a history, as they are sent, and the pieces after them."""
    prompts = list(itertools.takewhile(_is_prompt, history))
    after = list(history[len(prompts) :])
    if dialect != "anthropic" or len(prompts) < 2:
        return prompts, after
    text = "\n\n".join(str(piece.message_dict["content"]) for piece in prompts)
    places = tuple(place for piece in prompts for place in (*piece.before, *piece.places, *piece.after))
    return [attrs.evolve(prompts[0], places=places, message_dict={"role": "system", "content": text}, before=())], after


def open_with(heads: Sequence[Piece], dialect: str) -> list[Piece]:
    """Return the system messages of a request with tools, which end Chat's first one: a line break goes before them.

    The text of the assembler is counted as the first one but sent as the last, so this one may cost a token more.
    """
    if dialect != "openai_chat" or not heads:
        return list(heads)
    broken = {**heads[0].message_dict, "content": f"{heads[0].message_dict['content']}\n"}
    return [attrs.evolve(heads[0], message_dict=broken), *heads[1:]]


def _is_prompt(piece: Piece) -> bool:
    """Whether it is a system prompt of the first message: later ones may be sent in their place."""
    return any(at == 0 for at, _ in piece.places) and getattr(piece.sent, "part_kind", None) == "system-prompt"
