"""Gemini's generations: what Google bills around the texts of a request, in tokens. The rows: `families.toml`.

Each number was read off recorded bills: the texts, counted with Gemma 3's vocabulary, leave whole numbers behind. Which
number rests on how much is in docs/how-it-counts-gemini.md, section Gemini.
"""

from __future__ import annotations

import enum
import re

import attrs

from assembler.dialects.families import Row, estimate_with_slack, first_match, guess, table_in
from assembler.pricing.media.gemini import Flat, Rates, Tiles
from budgets.count import Count, Grade, Tokens
from budgets.models.names import bare

VOCABULARY = "gemma"


@attrs.frozen
class Signature:
    """What the thought signature of a call costs, by the characters of its base64: `rate` of them, less a fixed part.

    A signature is the model's own reasoning, encrypted; a request does not show how much of it the server reads.
    """

    rate: float
    less: Tokens
    ceiling: float
    """The largest share of its characters that a signature was billed for."""

    def price(self, characters: int) -> Count:
        """The price of one signature. Never below nothing."""
        typical = max(0, round(self.rate * characters) - self.less)
        return guess(typical, max(typical, round(self.ceiling * characters)))


class Answers(enum.Enum):
    """What the schema of an answer costs."""

    BILLED = "`response_schema` by its words, `response_json_schema` nothing"
    FREE = "nothing"
    UNSETTLED = "mostly nothing; Gemini 3 on Vertex was billed the text of one (2 recordings), 2.5 a part of one (1)"


_FREE = Count(0, Grade.BOUNDED)
_UP_TO_1 = estimate_with_slack(0, 1)


@attrs.frozen(kw_only=True)
class Family(Row):
    """One generation of Gemini on one host: what stands around the texts, in tokens."""

    opening: Count
    """Every request, whatever is in it."""
    content: Count
    """Each entry of `contents`; the system instruction is one more."""
    tool: Count
    described: Count = _FREE
    """The description of a declaration, beside its words."""
    parameters: Count
    """The schema of a declaration, whatever is in it."""
    object: Count = _FREE
    """Properties at the root of that schema."""
    argument: Count
    """Each property of a schema, beyond its key and description."""
    argument_described: int = 0
    """What the description of a property adds or saves, beside its words."""
    optional: Count = _FREE
    """Each property that is not required."""
    nested: Count
    """Each object inside a schema."""
    items: Count = _FREE
    """What an array says of its items."""
    value: Count = _FREE
    """Each value of an enum, beside its word."""
    keyword: Count
    """Each further keyword of a schema: a default, a bound."""
    alternative: Count
    """Each schema of a choice between several."""
    titled: Count | None = None
    """A schema's title, beside its words; None where titles are not billed."""
    root_described: Count | None = None
    """The description of the whole schema, beside its words; None where it is not billed."""
    response: Count
    """The schema of a declaration's answer, beside its own price."""
    hides_json_schemas: bool = False
    """Whether a declaration whose arguments are a JSON Schema is billed without them. The bound pays for them."""
    call: Count = _UP_TO_1
    call_argument: Count = _FREE
    result: Count = _UP_TO_1
    result_key: Count = _FREE
    whole_numbers: bool = False
    """Whether a number in what a call or a response carries is one token, however many digits it has."""
    signature: Signature
    forgets_signatures: bool = False
    """Whether those before the user's last words are free."""
    answers: Answers = Answers.FREE
    rates: Rates = attrs.field(factory=Tiles)
    """What its images, pages and films cost."""
    ceiling: float = 1.0
    """Tokens of its vocabulary for one of Gemma's, at most."""

    @property
    def described_argument(self) -> Count:
        """One property that has a description, beyond its words."""
        tokens = self.argument.tokens + self.argument_described
        return attrs.evolve(self.argument, tokens=tokens, upper=self.argument.upper + max(self.argument_described, 0))


_ROWS = table_in(
    __name__,
    Family,
    {
        "signature": lambda written: Signature(**written),
        "answers": lambda written: Answers[written.upper()],
        "rates": {"tiles": Tiles(), "flat": Flat()}.__getitem__,
    },
)
FAMILIES = tuple(row for row in _ROWS if row.name.startswith("gemini"))
ON_VERTEX = tuple(row for row in _ROWS if row.name.startswith("vertex"))

_VERTEX = re.compile(r"(google[-_])?vertex(_?ai)?[/:]")


def family_of(model: str) -> Family:
    """The generation of a model name on its host, Vertex if a prefix says so; an unknown name is the newest one."""
    name = model.strip().lower()
    table = ON_VERTEX if _VERTEX.match(name) else FAMILIES
    return first_match(table, bare(name)) or table[-1]
