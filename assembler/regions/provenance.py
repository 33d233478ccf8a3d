"""What a rendered prompt is known by in a report."""

from __future__ import annotations


def provenance(value: object) -> str | None:
    """What a rendered `Prompt` is known by: its name, its source, or both; None for any other text. One line."""
    if type(value) is str or not isinstance(value, str):
        return None
    from assembler.prompts.prompt import Prompt  # loaded already where there is a `Prompt`

    if not isinstance(value, Prompt):
        return None
    known = dict.fromkeys(str(part) for part in (value.name, value.source) if part)
    return " ".join(", ".join(known).split()) or None
