"""Open models on their hosts: the tokens that a chat template adds to a request. The rows are in `families.toml`.

The numbers come from recorded bills, or from the open template for models without recordings:
docs/how-it-counts-hosts.md. `assemble calibrate` prints such a row for your own recordings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping

import attrs

from assembler.dialects.hosts.forms import FORMS, Form
from assembler.dialects.prices.families import Readers, Row, first_match, guess, is_forwarded, table_in, template_name
from budgets.count import NOTHING, Count, Grade, TokenCounter, Tokens
from budgets.errors import UnknownModelError

_DIGITS = 3
"""The most digits in a piece of a bundled vocabulary that replaces another."""
_NUMBER = re.compile(r"\d{2,}")
_SOUTHERN = re.compile("[\u0590-\u1cff]")
"""Hebrew, Arabic, the scripts of India, Thai, Georgian, Khmer and others."""


def _count_digits_apart(text: str, most: int) -> Tokens:
    """How many more pieces the numbers of a text have if a piece has at most so many digits."""
    if most >= _DIGITS:
        return 0
    numbers = map(len, _NUMBER.findall(text))
    return sum(math.ceil(digits / most) - math.ceil(digits / _DIGITS) for digits in numbers)


@attrs.frozen
class StandIn:
    """How an unpublished vocabulary differs from the bundled one that replaces it: docs/how-it-counts-others.md."""

    typical: float = 1.0
    """Its tokens for one of the bundled vocabulary's."""
    ceiling: float = 1.0
    """The most tokens that it needs for one of the bundled vocabulary's."""
    flat: Tokens = 0
    """Added to the ceiling once for all texts of a message."""
    digits: int = _DIGITS
    """The most digits in one of its pieces."""
    southern: Tokens = 0
    """Added to the ceiling for each letter of the scripts from Hebrew to Georgian, of which it has few pieces."""


def price_texts(texts: Collection[str], count: TokenCounter, stand_in: StandIn | None) -> Count:
    """Price several separate texts of a message. Without a `stand_in`, `count` is the model's own counter."""
    if stand_in is None:
        return Count(sum(count(text) for text in texts if text))
    tokens = sum(count(text) + _count_digits_apart(text, stand_in.digits) for text in texts if text)
    if not tokens:
        return NOTHING
    typical = round(tokens * stand_in.typical)
    ceiling = math.ceil(tokens * stand_in.ceiling) + stand_in.flat
    if stand_in.southern:
        ceiling += stand_in.southern * sum(len(_SOUTHERN.findall(text)) for text in texts)
    return Count(typical, Grade.ESTIMATED, upper=max(typical, ceiling))


_IN_TAGS = guess(0, 4)


@attrs.frozen(kw_only=True)
class Family(Row):
    """One chat template on its hosts: the framing around the texts, in tokens, and the vocabulary that counts them."""

    vocabulary: str = "o200k_base"
    """The bundled vocabulary that counts the texts."""
    stand_in: StandIn | None = None
    """How the model's own vocabulary differs from it; None if they are the same."""
    form: Form = FORMS["spaced"]
    """How tools, schemas, past calls and results are written."""
    keeps_order: bool = False
    """Whether a stand-in's constants were fitted to definitions as they are sent, and not as recorders sort them."""
    opening: Count
    """The cost of every request, with the primer of the reply."""
    no_system: Count = NOTHING
    """The host's own text in place of a missing system text."""
    responses: Count = NOTHING
    """What the /responses API adds to the chat API."""
    thinking: Count = NOTHING
    """What `thinking: {"type": "enabled"}` adds, unless little effort is asked for."""
    thinks_unasked: bool = False
    """Whether it thinks unless that is disabled."""
    schema: Count = NOTHING
    """The preamble of a requested answer format, beyond the schema itself."""
    system: Count = NOTHING
    user: Count = NOTHING
    assistant: Count = NOTHING
    saying: Count = NOTHING
    """What an assistant's message costs more if it has a text."""
    calling: Count = NOTHING
    """What an assistant's message costs more if it calls tools, however many."""
    beside_calls: Count = NOTHING
    """What a text beside calls costs more, also an empty one."""
    tool_role: Count = NOTHING
    """The framing of a message with results, without that of each result."""
    tooling: Count = NOTHING
    """The hidden preamble of a request with tools."""
    tools_alone: Count = NOTHING
    """The template's own system text where a request has tools and none of its own."""
    tool: Count = NOTHING
    escapes: Mapping[int, str] = attrs.field(factory=dict[int, str], repr=False)
    """The characters that definitions escape beyond what JSON demands: a table of `str.translate`."""
    forced: Count = NOTHING
    """What a forced tool costs more."""
    call: Count = NOTHING
    thought: Count = _IN_TAGS
    """The framing of reasoning that is sent back. Priced to be safe: most templates drop that of past turns."""
    behind_thought: Count = NOTHING
    """The hidden reasoning that the shown one brings back, in an answer without calls on Chat."""
    before_calls: Count = NOTHING
    """The tag that opens reasoning beside calls, where the one that closes it is there without any."""
    argument: Count = NOTHING
    """What each argument of a past call costs on top of its name and value, if the template tags them separately."""
    result: Count = NOTHING
    quotes_results: bool = False
    """Whether the text of a result is written as a JSON string."""
    hides_tools_unchosen: bool = False
    """Whether tools are left out if none may be called."""
    hides_other_tools: bool = False
    """Whether a tool that must be called is shown alone. The bound includes the others."""
    hides_schemas: bool = False
    """Whether an output schema is enforced and not shown. The bound includes it."""
    silent_beside_calls: bool = False
    """Whether the text of a message with calls is left out. The bound includes it."""
    forgets_thoughts: bool = False
    """Whether the host bills no past reasoning of an answer without calls. The bound includes it."""
    forgets_callers: bool = False
    """Whether the host bills no past reasoning of an answer with calls either."""


_ESCAPES: Mapping[str, Mapping[int, str]] = {
    "none": {},
    "jinja": str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "'<>&"}),
}
"""The escapes of Jinja's own filter `tojson`, which that of transformers does not make: Groq and Cerebras escape the
apostrophes of descriptions (13 recordings of 3 families)."""

READERS: Readers = {
    # Hosts add words before and after the name of a model, so the pattern may match anywhere in it.
    "names": lambda pattern: re.compile(rf"(?s).*?(?:{pattern})"),
    "vocabulary": str,
    "stand_in": lambda written: StandIn(**written),
    "form": FORMS.__getitem__,
    "escapes": _ESCAPES.__getitem__,
}
"""The readers of a row's fields."""

FAMILIES = table_in(__name__, Family, READERS)


def family_of(model: str) -> Family:
    """The chat template of a model, ignoring its host's prefix. Raises `UnknownModelError` for others."""
    family = first_match(FAMILIES, template_name(model))
    if family is None:
        raise UnknownModelError(model, nearest=[row.name for row in FAMILIES])
    return _widen_for_any_host(family) if is_forwarded(model) else family


def _widen_for_any_host(family: Family) -> Family:
    """Widen the bounds of a family for an unknown host, since a gateway chooses the host.

    The slack is the largest difference between two recorded hosts of one model without a hidden prompt of their own.
    """
    return attrs.evolve(
        family,
        opening=_add_slack(family.opening, 6),
        tooling=_add_slack(family.tooling, 40),
        tool=_add_slack(family.tool, 10),
        call=_add_slack(family.call, 10),
    )


def _add_slack(price: Count, tokens: Tokens) -> Count:
    return guess(price.tokens, price.upper + tokens)
