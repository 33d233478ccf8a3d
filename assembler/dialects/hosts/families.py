"""Open models and their hosts: what a chat template puts around the texts of a request. The rows: `families.toml`.

The numbers were read off recorded bills; of models without recordings, off the open template. How, and how well they
hold: docs/how-it-counts-hosts.md. `assemble calibrate` prints such a row for recordings of one's own.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Iterable, Mapping

import attrs

from assembler.dialects.families import Readers, Row, first_match, guess, is_forwarded, table_in, template_name
from budgets.count import NOTHING, Count, Grade, TokenCounter, Tokens
from budgets.errors import UnknownModelError


@attrs.frozen
class StandIn:
    """How a hidden vocabulary differs from the bundled one that stands in for it: docs/how-it-counts-others.md."""

    typical: float = 1.0
    """Its tokens for one of the other."""
    ceiling: float = 1.0
    """The most that it needs for one of the other."""
    flat: Tokens = 0
    """Added to the ceiling once for all texts of a message."""


def price_texts(texts: Iterable[str], count: TokenCounter, stand_in: StandIn | None) -> Count:
    """The price of several texts that a message keeps apart. None: `count` is the model's own, at its word."""
    tokens = sum(count(text) for text in texts if text)
    if stand_in is None:
        return Count(tokens)
    if not tokens:
        return NOTHING
    typical = round(tokens * stand_in.typical)
    ceiling = math.ceil(tokens * stand_in.ceiling) + stand_in.flat
    return Count(typical, Grade.ESTIMATED, upper=max(typical, ceiling))


class Definitions(enum.Enum):
    """How a template writes the definitions of tools and the schemas of answers."""

    SPACED = "JSON with a blank after each comma and colon"
    COMPACT = "JSON without blanks"
    INDENTED = "JSON with each value on a line, indented by four"
    DECLARED = "tools and calls as gpt-oss is shown them, schemas as spaced JSON"


_IN_TAGS = guess(0, 4)


@attrs.frozen(kw_only=True)
class Family(Row):
    """One chat template on its hosts: what stands around the texts, in tokens, and which vocabulary prices them."""

    vocabulary: str = "o200k_base"
    """The bundled vocabulary that counts the texts."""
    stand_in: StandIn | None = None
    """How the model's own differs from it; None where they are the same."""
    definitions: Definitions = Definitions.SPACED
    opening: Count
    """What every request costs, the reply's primer included."""
    no_system: Count = NOTHING
    """What the host puts in place of a missing system text."""
    responses: Count = NOTHING
    """What the /responses API adds to the chat API."""
    thinking: Count = NOTHING
    """What `thinking: {"type": "enabled"}` adds."""
    schema: Count = NOTHING
    """The preamble of a requested answer format, beyond the schema itself."""
    system: Count = NOTHING
    user: Count = NOTHING
    assistant: Count = NOTHING
    spoken: Count = NOTHING
    """What an assistant's message costs more that says something."""
    calling: Count = NOTHING
    """What an assistant's message costs more that calls tools, however many."""
    tool_role: Count = NOTHING
    """A message that carries results, beyond each result's own framing."""
    tooling: Count = NOTHING
    """The hidden preamble that any tool brings along."""
    tool: Count = NOTHING
    escapes: Mapping[int, str] = attrs.field(factory=dict[int, str], repr=False)
    """How characters are escaped in definitions, beyond what JSON asks for: a table of `str.translate`."""
    forced: Count = NOTHING
    """What a tool that must be called costs more."""
    call: Count = NOTHING
    thought: Count = _IN_TAGS
    """Reasoning that goes back, beyond its words. Most templates drop that of past turns: the safe side is to pay."""
    argument: Count = NOTHING
    """What each argument of a past call costs beside its name and value, where a template tags them one by one."""
    result: Count = NOTHING
    hides_tools_unchosen: bool = False
    """Whether tools are left out where none may be called."""
    hides_schemas: bool = False
    """Whether the schema of an answer is enforced and not shown. The bound pays for it."""
    silent_beside_calls: bool = False
    """Whether what is said beside calls is left out. The bound pays for it."""
    forgets_thoughts: bool = False
    """Whether the host bills no past reasoning of an answer without calls. The bound pays for it."""
    forgets_callers: bool = False
    """Whether it bills none beside calls either."""


_ESCAPES: Mapping[str, Mapping[int, str]] = {
    "none": {},
    "jinja": str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "'<>&"}),
}
"""What Jinja's own filter `tojson` escapes, and that of transformers does not: Groq and Cerebras write a description's
apostrophes so (13 recordings of 3 families)."""

READERS: Readers = {
    # Hosts put their own words before and after the name of a model: the pattern may stand anywhere in it.
    "names": lambda pattern: re.compile(rf"(?s).*?(?:{pattern})"),
    "vocabulary": str,
    "stand_in": lambda written: StandIn(**written),
    "definitions": lambda written: Definitions[written.upper()],
    "escapes": _ESCAPES.__getitem__,
}
"""How the fields of a row are read."""

FAMILIES = table_in(__name__, Family, READERS)


def family_of(model: str) -> Family:
    """The chat template of a model name, its host's prefix ignored. Raises `UnknownModelError`: nothing is guessed."""
    family = first_match(FAMILIES, template_name(model))
    if family is None:
        raise UnknownModelError(model, nearest=[row.name for row in FAMILIES])
    return _on_any_host(family) if is_forwarded(model) else family


def _on_any_host(family: Family) -> Family:
    """The family with room for what a host may write that is in no recording: a gateway chooses the host.

    The room is what two recorded hosts of one model differ by at most, where neither hides a prompt of its own.
    """
    return attrs.evolve(
        family,
        opening=_with_slack(family.opening, 6),
        tooling=_with_slack(family.tooling, 40),
        tool=_with_slack(family.tool, 10),
        call=_with_slack(family.call, 10),
    )


def _with_slack(price: Count, tokens: Tokens) -> Count:
    return guess(price.tokens, price.upper + tokens)
