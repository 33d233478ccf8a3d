"""Gemini's generations: the tokens that Google bills around the texts of a request. The rows are in `families.toml`.

The numbers are recorded bills less the texts, counted with Gemma 3's vocabulary. docs/how-it-counts-gemini.md has
the evidence for each.
"""

from __future__ import annotations

import enum
import re

import attrs

from assembler.dialects.gemini.declared import FORMS, Form
from assembler.dialects.prices.families import Row, estimate_with_slack, first_match, guess, table_in
from assembler.pricing.media.gemini import Flat, Rates, Tiles
from budgets.count import Count, Grade, Tokens
from budgets.models.names import bare

VOCABULARY = "gemma"


@attrs.frozen
class Signature:
    """The price of a call's thought signature: `rate` times the characters of its base64, less a fixed part.

    A signature is the model's own reasoning, encrypted. A request does not show how much of it the server reads.
    """

    rate: float
    less: Tokens
    ceiling: float
    """The largest recorded price, as a share of the characters."""

    def price(self, characters: int) -> Count:
        """Price one signature, at least 0."""
        typical = max(0, round(self.rate * characters) - self.less)
        return guess(typical, max(typical, round(self.ceiling * characters)))


class Answers(enum.Enum):
    """Whether output schemas are billed."""

    BILLED = "`response_schema` by its words, `response_json_schema` nothing"
    FREE = "nothing"
    AS_JSON = "about their JSON: 2 recordings of Gemini 3 on Vertex, with 21 tokens more"


_FREE = Count(0, Grade.BOUNDED)
_UP_TO_1 = estimate_with_slack(0, 1)


@attrs.frozen(kw_only=True)
class Family(Row):
    """One generation of Gemini on one host: the framing around the texts, in tokens."""

    opening: Count
    """Every request."""
    content: Count
    """Each entry of `contents`, and the system instruction."""
    shown_as: Form = attrs.field(factory=Form)
    """How the model is shown its tools. The prices of elements are for what that form has no recording of."""
    tool: Count
    described: Count = _FREE
    """What a declaration's description costs on top of its words."""
    bills_line_breaks: bool = False
    """Whether a line break in that description costs about half a token more, at most one."""
    parameters: Count
    """The schema of a declaration."""
    object: Count = _FREE
    """Properties at the root of that schema."""
    argument: Count
    """Each property of a schema, beyond its key and description."""
    argument_described: int = 0
    """What a property's description adds or saves, on top of its words."""
    repeats_required: bool = False
    """Whether the key of a required property is billed again, in the list of them."""
    optional: Count = _FREE
    """Each property that is not required."""
    nested: Count
    """Each object inside a schema."""
    items: Count = _FREE
    """The `items` of an array."""
    value: Count = _FREE
    """What each value of an enum costs on top of its word."""
    keyword: Count
    """Each further keyword of a schema: a default, a bound."""
    alternative: Count
    """Each schema of an `anyOf`."""
    titled: Count | None = None
    """What a schema's title costs on top of its words. None if titles are not billed."""
    root_described: Count | None = None
    """What the description of the whole schema costs on top of its words. None if it is not billed."""
    response: Count
    """What a declaration's response schema costs on top of its own price."""
    hides_json_schemas: bool = False
    """Whether a declaration with a JSON Schema is billed without it. The bound includes it."""
    call: Count = _UP_TO_1
    call_argument: Count = _FREE
    result: Count = _UP_TO_1
    writes_results: bool = False
    """Whether a response is billed as its JSON text. If not, its words alone are."""
    whole_numbers: bool = False
    """Whether a number in a call or a response is one token, however many digits it has."""
    signature: Signature
    forgets_signatures: bool = False
    """Whether signatures before the last user words are free."""
    answers: Answers = Answers.FREE
    rates: Rates = attrs.field(factory=Tiles)
    """The prices of images, pages and videos."""
    ceiling: float = 1.0
    """The most tokens of its vocabulary for one of Gemma's."""

    @property
    def described_argument(self) -> Count:
        """What a property with a description costs on top of its words."""
        tokens = self.argument.tokens + self.argument_described
        return attrs.evolve(self.argument, tokens=tokens, upper=self.argument.upper + max(self.argument_described, 0))


_ROWS = table_in(
    __name__,
    Family,
    {
        "signature": lambda written: Signature(**written),
        "shown_as": FORMS.__getitem__,
        "answers": lambda written: Answers[written.upper()],
        "rates": {"tiles": Tiles(), "flat": Flat()}.__getitem__,
    },
)
FAMILIES = tuple(row for row in _ROWS if row.name.startswith("gemini"))
ON_VERTEX = tuple(row for row in _ROWS if row.name.startswith("vertex"))

_VERTEX = re.compile(r"(google[-_])?vertex(_?ai)?[/:]")


def family_of(model: str) -> Family:
    """The generation of a model on its host, which is Vertex for its prefixes. An unknown name is the newest."""
    name = model.strip().lower()
    table = ON_VERTEX if _VERTEX.match(name) else FAMILIES
    return first_match(table, bare(name)) or table[-1]
