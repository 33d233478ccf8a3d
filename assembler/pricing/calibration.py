"""Corrects counts by a provider's bill for one exact request.

If a request begins as the billed one did, that part costs what was billed, and only the rest is priced by our rule. Any
other request is scaled by how far the rule was off, within bounds. The rule may be off by a constant (a prompt of the
provider's own), by a share (another vocabulary), or by more at each call. Nobody knows which, so the upper bound allows
for all three, for the last as far as bills have shown it. There is no average over calls.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Any, Protocol, cast

import attrs

from assembler.pricing.overflow import Overflow
from assembler.text.fields import fields_of
from assembler.validation import offers, wrong
from budgets import BudgetError, Count, Grade, TokenCountError, Tokens
from budgets.errors import OfTheCaller, named_type
from budgets.lazy_names import FromFolders
from budgets.numbers import index_of

if TYPE_CHECKING:
    from assembler.context import Context
    from assembler.pipeline.recipe import Recipe

_NOT_TURNS = frozenset(["system", "tools", "functions"])
"""Lists of objects in a request that are not its conversation, whose key differs from API to API."""

LEAST, MOST = 0.5, 2.0
"""Bounds of a factor. The largest recorded difference between two vocabularies is 1.65 (Opus 4.8 over Claude 2). A
factor beyond 2 means a bill for something else, such as one without its cached tokens."""

MOST_DRIFT = 50
"""The most tokens that count as drift from one bill to the next. A larger step has another cause: a share of many new
tokens, or something new in the request."""

ASSUMED_EXCESS = 1.1
"""How far a refused request is assumed to be over the limit if the provider gave no number. Each refusal lowers the
assumed limit again, so that a few of them lead to a request that is accepted."""


@attrs.frozen
class Fingerprint:
    """A hash of a request up to its first `turns` messages, of its dialect and of its model. It reveals no text.

    It covers the model because another model's tokens differ.
    """

    digest: str
    turns: int
    dialect: str | None = attrs.field(default=None, eq=False)
    """The name of the dialect, or None if it is not known. The digest covers it and the model."""
    model: str | None = attrs.field(default=None, eq=False)

    @classmethod
    def of(
        cls, request: Mapping[str, Any], *, dialect: str = "", model: str | None = None, turns: int | None = None
    ) -> Fingerprint:
        """Hash a whole request, or only up to its first `turns` messages. O(request)."""
        listed = {key: list(value) for key, value in request.items() if key not in _NOT_TURNS and _is_turns(value)}
        longest = max(map(len, listed.values()), default=0)
        kept = longest if turns is None else min(turns, longest)
        cut = {**request, **{key: messages[:kept] for key, messages in listed.items()}}
        text = json.dumps(
            [dialect, model, cut], ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=repr
        )
        return cls(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), kept, dialect, model)


def _is_turns(value: object) -> bool:
    """Whether a value is a list of objects, as every conversation is; the token ids of a prompt are not."""
    if not isinstance(value, list | tuple):
        return False
    kinds = set(map(type, cast("list[object]", value)))
    return all(issubclass(kind, Mapping) for kind in kinds)


@attrs.frozen
class CalibratedCounter:
    """One request with its count by our rule and its bill. It corrects the count of any later context."""

    request: Fingerprint
    ours: Count
    billed: Tokens
    kept: Recipe | None = attrs.field(default=None, repr=False)
    """What stayed in the billed request, and how it was changed. The next one keeps this while it fits."""
    limit: Tokens | None = None
    """The input limit of the billed request; None without a budget."""
    most: Tokens | None = None
    """The most input tokens that the provider accepts, if it has said so by refusing this request or an earlier one."""
    drift: Tokens = 0
    """The most that `margin` has grown from one bill to the next so far, at most `MOST_DRIFT`."""

    @property
    def margin(self) -> Tokens:
        """How many tokens more were billed than counted; negative if fewer."""
        return self.billed - self.ours.tokens

    @property
    def factor(self) -> float:
        """Bill over count, clamped to `LEAST` … `MOST`."""
        return min(max(self.billed / max(self.ours.tokens, 1), LEAST), MOST)

    def count(self, context: Context[Any]) -> Count:
        """The corrected count of a context that was priced with the same settings. O(context).

        Raises `BudgetError` for anything else.
        """
        beginning = _hash_request(context, self.request.turns)
        return self.correct(context.by_rule, beginning)

    def correct(self, ours: Count, beginning: Fingerprint) -> Count:
        """The corrected count of a request that costs `ours` by our rule and begins with `beginning`.

        If it begins as the billed one did: the bill plus the count of what is new, bounded. Otherwise: the count times
        `factor`, estimated, and the upper bound is never lowered. The bound holds if the rule is off by the same number
        of tokens plus at most `drift`, or by the same share, however the provider rounds.
        """
        added = ours.tokens - self.ours.tokens
        if beginning != self.request or added < 0:
            billed, counted = self._ratio
            return Count(_divide_up(ours.tokens * billed, counted), Grade.ESTIMATED, upper=self.bound(ours.upper))
        # The bill has settled what the billed part costs, so the margin of its bound no longer counts.
        settled = max(ours.tokens, ours.upper - (self.ours.upper - self.ours.tokens))
        return Count(
            self._plausible_bill + added, self._grade_correction(ours, settled), upper=self._correct_count(settled)
        )

    def is_of(self, dialect: str, model: str | None) -> bool:
        """Whether it is a bill of this API and model. True if it names no dialect."""
        return self.request.dialect is None or (self.request.dialect, self.request.model) == (dialect, model)

    def allowed(self, limit: Tokens) -> Tokens:
        """`limit`, or what the provider accepts if that is less."""
        return limit if self.most is None else min(limit, self.most)

    def tokens_left(self, limit: Tokens) -> Tokens:
        """The most that a request may cost by our rule so that its corrected bound is at most `limit`."""
        billed, ours = self._ratio
        missed, most = self._plausible_bill - self.ours.tokens + self.drift, self._largest_ratio
        return max(min(limit, limit - missed, limit * ours // billed, (limit + 1) * ours // most), 0)

    def bound(self, by_rule: Tokens) -> Tokens:
        """The corrected bound of any request that costs at most `by_rule`."""
        return max(by_rule, self._correct_count(by_rule))

    def _correct_count(self, by_rule: Tokens) -> Tokens:
        """The most that may be billed for `by_rule` tokens, if the rule is off by as many tokens or as large a share.

        If the provider rounds its share up, it is at most bill over count. If it rounds down, it is less than one token
        more over count, and so is what it makes of `by_rule`.
        """
        billed, ours = self._ratio
        rounded_up = _divide_up(by_rule * billed, ours)
        rounded_down = _divide_up(by_rule * self._largest_ratio, ours) - 1
        return max(by_rule + self._plausible_bill - self.ours.tokens + self.drift, rounded_up, rounded_down)

    @property
    def _needs_no_correction(self) -> bool:
        """Whether the rule is exact and agreed with this bill and every one before, so that nothing is corrected."""
        return self.margin == self.drift == 0 and self.ours.grade is Grade.EXACT

    @property
    def _largest_ratio(self) -> Tokens:
        """The first number of `_ratio` if one token more had been billed, within the bounds of a factor."""
        billed, ours = self._ratio
        return billed if self._needs_no_correction else min(billed + 2, 2 * ours)

    @property
    def _ratio(self) -> tuple[Tokens, Tokens]:
        """`factor` as two whole numbers above 0, because products of floats are sometimes off by one."""
        ours = max(self.ours.tokens, 1)
        return min(max(2 * self.billed, ours), 4 * ours), 2 * ours

    def _grade_correction(self, ours: Count, settled: Tokens) -> Grade:
        if self._plausible_bill != self.billed:
            return Grade.ESTIMATED
        if settled == self.ours.tokens and not self.drift:
            return Grade.EXACT  # the very request that was billed
        return ours.grade if self._needs_no_correction else max(ours.grade, Grade.BOUNDED)

    @property
    def _plausible_bill(self) -> Tokens:
        """The bill, but at least `LEAST` of the count: a smaller bill lacks something, such as cached tokens."""
        return max(self.billed, ceil(self.ours.tokens * LEAST))

    def note(self, context: Context[Any]) -> str:
        """A line for the report: what was billed, how far the rule was off, and the corrected count."""
        count = self.count(context)
        share = 100 * self.margin / max(self.ours.tokens, 1)
        continued = _hash_request(context, self.request.turns) == self.request
        how = "its first part as billed" if continued else "another request, scaled within bounds"
        return (
            f"calibrated: {self.billed} billed where {self.ours.tokens} were counted "
            f"({self.margin:+d}, {share:+.1f} %); {context.by_rule.tokens} counted now, {count.tokens} expected ({how})"
        )


def _divide_up(number: int, by: int) -> int:
    return -(-number // by)


def calibrate(context: Context[Any], usage: object) -> CalibratedCounter:
    """A counter that starts from the bill of `context`, which must be exactly the request that was sent.

    Pass it to `Assembler.anchor`; a budget takes no bill as its counter.

    `usage` is the provider's usage (an object or a dict; from Ollama's own API the whole answer), the number of input
    tokens, cached ones included, or what `overflow_of(error)` read from a refusal: the next build then fits what the
    provider accepts. The bill is compared with the count by our rule, even if the context's own count started from an
    earlier bill. The limit that a refusal stated and `drift` are carried from bill to bill, until another refusal
    states another limit. Raises `TokenCountError` for a usage without a number above 0, and `BudgetError` if `context`
    is not a context.
    """
    request, ours, limit, known = _hash_request(context), context.by_rule, context.input_limit, context.calibration
    known = known if known is not None and known.is_of(context.dialect, context.model) else None
    most = None if known is None else known.most
    if usage is None:
        raise TokenCountError(
            "usage",
            "has no input tokens in a NoneType: pass the response's usage. If overflow_of(error) returned None, it "
            "could not read the refusal: pass Overflow(used=…, limit=…) with the numbers of the error",
        )
    if not isinstance(usage, Overflow):
        billed = input_tokens(usage, context.dialect)
        drift = _find_drift(known, billed - ours.tokens)
        return CalibratedCounter(request, ours, billed, context.inside.recipe, limit, most, drift)
    most_taken = most if usage.limit is None else usage.limit
    allowed = min((number for number in (most_taken, limit) if number is not None), default=ours.tokens)
    if usage == Overflow():
        most_taken = int(min(allowed, ours.tokens) / ASSUMED_EXCESS)
    billed = _estimate_refused_bill(usage, ours.tokens, allowed)
    drift = 0 if known is None else known.drift
    return CalibratedCounter(request, ours, billed, context.inside.recipe, limit, most_taken, drift)


def _find_drift(known: CalibratedCounter | None, margin: int) -> Tokens:
    """The largest drift so far: from the known bill to one with this margin, or earlier."""
    if known is None:
        return 0
    grown = margin - known.margin
    return max(known.drift, grown if grown <= MOST_DRIFT else 0)


def _estimate_refused_bill(overflow: Overflow, ours: Tokens, taken: Tokens) -> Tokens:
    """The bill of a refused request. If the provider gave no count: `ASSUMED_EXCESS` times what it accepts."""
    if overflow.used is not None:
        return max(overflow.used, 1)
    if overflow.excess is not None:
        return max(ours, taken + overflow.excess, 1)
    return max(ours, 1 if overflow.limit is None else ceil(taken * ASSUMED_EXCESS))


def _hash_request(context: Context[Any], turns: int | None = None) -> Fingerprint:
    if not offers(context, "unmarked"):
        raise BudgetError(wrong("context", "the Context that build() returned", context))
    return Fingerprint.of(context.unmarked(), dialect=context.dialect, model=context.model, turns=turns)


class _Api(Protocol):
    @property
    def usage(self) -> tuple[tuple[str, ...], ...]: ...


_APIS: Mapping[str, _Api] = FromFolders("assembler.dialects", "api", "API")
"""The declarations of each API, by dialect."""


def input_tokens(usage: object, dialect: str = "") -> Tokens:
    """The input tokens of a provider's usage, cached ones included. The fields of the dialect are tried first.

    Raises `TokenCountError` if it has none.
    """
    with OfTheCaller("usage", lambda why: TokenCountError("usage", f"cannot be read: {why.removeprefix('usage: ')}")):
        return _read_input_tokens(usage, dialect)


def _read_input_tokens(usage: object, dialect: str) -> Tokens:
    number = _whole_or_none(usage)
    if number is None:
        lines = (line for name in sorted(_APIS, key=lambda name: name != dialect) for line in _APIS[name].usage)
        fields = next((line for line in lines if _whole_or_none(_read_field(usage, line[0])) is not None), None)
        number = None if fields is None else sum(_whole_or_none(_read_field(usage, name)) or 0 for name in fields)
    if number is None or number <= 0:
        found = f"{number} input tokens" if number is not None else f"no input tokens in {named_type(usage)}"
        inside = next((place for place in _PLACES if _read_field(usage, place) is not None), None)
        step = "the response's usage, or the number of its input tokens" if inside is None else f"its .{inside}"
        raise TokenCountError("usage", f"has {found}: pass {step}")
    return number


_PLACES = (
    *("usage", "usage_metadata", "usageMetadata"),
    *("response.usage", "message.usage", "delta.usage", "metadata.usage", "meta"),
)
"""Where an answer or the last event of a stream holds its usage."""


def _whole_or_none(number: object) -> int | None:
    """A whole number as an int, even from a float: Cohere's SDK counts in these."""
    return int(number) if isinstance(number, float) and number.is_integer() else index_of(number)


def _read_field(usage: object, path: str) -> object:
    """What a usage holds under a name, or under names with dots between them."""
    for name in path.split("."):
        fields = fields_of(usage)
        usage = getattr(usage, name, None) if fields is None else fields.get(name)
    return usage
